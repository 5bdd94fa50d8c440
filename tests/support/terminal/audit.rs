//! Looks at everything that a program wrote: nothing of what others said may act on a terminal.

use std::collections::BTreeMap;

use super::sequences::Sequence;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// How often each CSI sequence came, written as it is sent (`?2004h`).
    pub csi: BTreeMap<String, usize>,
    /// Operating system commands.
    pub osc: Vec<String>,
    /// What has no place in the output of a program that draws a screen.
    pub odd: Vec<String>,
}

/// Control characters that move the cursor.
const MOVES: [char; 4] = ['\r', '\n', '\t', '\u{8}'];

impl Audit {
    /// Folds a sequence in.
    pub fn apply(&mut self, sequence: &Sequence) {
        match sequence {
            Sequence::Csi(parameters, end) => *self.csi.entry(format!("{parameters}{end}")).or_default() += 1,
            Sequence::Osc(text) => self.osc.push(text.clone()),
            Sequence::Control(character) if MOVES.contains(character) => {}
            // Keys of the number pad, character sets, cursor kept and put back: harmless, and common at the end.
            Sequence::Escape(text) if matches!(text.as_str(), "=" | ">" | "7" | "8" | "M" | "(B") => {}
            // Questions about what the terminal can do.
            Sequence::Text('P', text) if text.starts_with("+q") || text.starts_with("$q") => {}
            other => self.odd.push(format!("{other:?}")),
        }
    }

    /// Panics when something came through that no program of this kind says by itself.
    pub fn assert_clean(&self) {
        assert!(self.odd.is_empty(), "in the output: {:?}", self.odd);
        for forbidden in ["3J", "?9999h", "9999z"] {
            assert!(!self.csi.contains_key(forbidden), "CSI {forbidden} is in the output");
        }
        for text in &self.osc {
            let number = text.split(';').next().unwrap_or_default();
            assert!(["0", "2", "4", "8", "10", "11", "7501", "9"].contains(&number), "OSC {text:?} is in the output");
            assert!(!text.chars().any(char::is_control), "a control character in OSC {text:?}");
        }
    }

    /// How often a CSI sequence came.
    pub fn csi_count(&self, sequence: &str) -> usize {
        self.csi.get(sequence).copied().unwrap_or(0)
    }

    /// Kinds of colours that were used: `16`, `256` and `true`.
    pub fn color_kinds(&self) -> Vec<&'static str> {
        let styles = self.csi.keys().filter_map(|csi| csi.strip_suffix('m'));
        let styles = styles.filter(|style| style.chars().all(|c| c.is_ascii_digit() || c == ';' || c == ':'));
        let mut kinds: Vec<_> = styles.flat_map(kinds_of).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }
}

fn kinds_of(style: &str) -> Vec<&'static str> {
    let mut numbers = style.split([';', ':']).filter_map(|number| number.parse::<u16>().ok());
    let mut kinds = Vec::new();
    while let Some(number) = numbers.next() {
        match number {
            38 | 48 | 58 => {
                let is_true = numbers.next() == Some(2);
                kinds.push(if is_true { "true" } else { "256" });
                numbers.nth(if is_true { 2 } else { 0 });
            }
            30..=37 | 40..=47 | 90..=97 | 100..=107 => kinds.push("16"),
            _ => {}
        }
    }
    kinds
}
