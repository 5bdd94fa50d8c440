//! What a program has changed of a terminal and not yet changed back.

use std::collections::BTreeMap;

use super::sequences::Sequence;

/// The alternate screen, with the cursor's place kept.
pub const ALTERNATE_SCREEN: u16 = 1049;
/// The cursor is visible.
pub const CURSOR: u16 = 25;
/// Pastes are marked.
pub const BRACKETED_PASTE: u16 = 2004;
/// What is written is shown when the mode ends.
pub const SYNCHRONISED: u16 = 2026;
/// Lines go on at the right margin.
const AUTOWRAP: u16 = 7;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Modes {
    /// The private modes that were ever touched.
    private: BTreeMap<u16, bool>,
    /// What the kitty keyboard protocol has pushed on the main and on the alternate screen.
    kitty: [Vec<u8>; 2],
    /// The level of `modifyOtherKeys`.
    other_keys: u8,
    title: String,
}

impl Modes {
    /// Folds a sequence in.
    pub fn apply(&mut self, sequence: &Sequence) {
        match sequence {
            Sequence::Csi(parameters, end) => self.csi(parameters, end),
            Sequence::Osc(text) => {
                if let Some(title) = text.strip_prefix("0;").or_else(|| text.strip_prefix("2;")) {
                    title.clone_into(&mut self.title);
                }
            }
            _ => {}
        }
    }

    fn csi(&mut self, parameters: &str, end: &str) {
        let Some((prefix, numbers)) = parameters.split_at_checked(1) else { return };
        let first = numbers.split(';').next().and_then(|number| number.parse::<u8>().ok());
        match (prefix, end) {
            ("?", "h" | "l") => {
                let modes = numbers.split(';').filter_map(|number| number.parse().ok());
                self.private.extend(modes.map(|mode: u16| (mode, end == "h")));
            }
            (">", "u") => self.stack().push(first.unwrap_or(0)),
            ("<", "u") => {
                let left = self.stack().len().saturating_sub(usize::from(first.unwrap_or(1)));
                self.stack().truncate(left);
            }
            (">", "m") if first == Some(4) => {
                let level = numbers.split(';').nth(1).and_then(|level| level.parse().ok());
                self.other_keys = level.unwrap_or(0);
            }
            _ => {}
        }
    }

    fn stack(&mut self) -> &mut Vec<u8> {
        let screen = usize::from(self.is_set(ALTERNATE_SCREEN));
        &mut self.kitty[screen]
    }

    /// Whether a private mode is set.
    pub fn is_set(&self, mode: u16) -> bool {
        self.private.get(&mode).copied().unwrap_or(at_rest(mode))
    }

    /// Whether a private mode was ever set or reset.
    pub fn was_touched(&self, mode: u16) -> bool {
        self.private.contains_key(&mode)
    }

    /// The flags of the kitty keyboard protocol that are in force.
    pub fn kitty_flags(&self) -> u8 {
        self.kitty[usize::from(self.is_set(ALTERNATE_SCREEN))].last().copied().unwrap_or(0)
    }

    /// The terminal's title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What is not as it was before the program began, by name.
    pub fn left(&self) -> Vec<String> {
        let private = self.private.iter().filter(|(mode, on)| at_rest(**mode) != **on);
        let mut left: Vec<_> = private.map(|(mode, on)| format!("?{mode}{}", if *on { 'h' } else { 'l' })).collect();
        let stacks = self.kitty.iter().zip(["main", "alternate"]).filter(|(stack, _)| !stack.is_empty());
        left.extend(stacks.map(|(stack, screen)| format!("kitty keys {stack:?} on the {screen} screen")));
        if self.other_keys > 0 {
            left.push(format!("modifyOtherKeys {}", self.other_keys));
        }
        left
    }
}

/// What a mode is in a terminal that nobody changed.
fn at_rest(mode: u16) -> bool {
    mode == CURSOR || mode == AUTOWRAP
}
