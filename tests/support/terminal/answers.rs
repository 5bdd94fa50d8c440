//! What a terminal answers when a program asks it.

use super::{modes::Modes, sequences::Sequence};

/// How a terminal behaves towards questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answers {
    /// It answers what xterm answers.
    #[default]
    Xterm,
    /// It also knows the kitty keyboard protocol.
    Kitty,
    /// It never answers.
    Silent,
}

/// A terminal's foreground and background, as OSC 10 and 11 tell them.
#[derive(Clone, Copy, Debug)]
pub struct Colors {
    /// Of text.
    pub foreground: &'static str,
    /// Behind it.
    pub background: &'static str,
}

/// Light text on a dark ground.
pub const DARK: Colors = Colors { foreground: "dddd/dddd/dddd", background: "1e1e/1e1e/1e1e" };
/// Dark text on a light ground.
pub const LIGHT: Colors = Colors { foreground: "1111/1111/1111", background: "ffff/ffff/ffff" };

/// Private modes that the terminal says it knows.
const KNOWN: [u16; 10] = [1, 7, 25, 1000, 1002, 1003, 1006, 1049, 2004, 2026];

/// The answer to a question; empty when it is none, or one that this terminal does not answer. `cursor` is the row and
/// the column, from 0.
pub fn answer(
    answers: Answers,
    colors: Colors,
    sequence: &Sequence,
    modes: &Modes,
    cursor: (u16, u16),
    size: (u16, u16),
) -> String {
    if answers == Answers::Silent {
        return String::new();
    }
    match sequence {
        Sequence::Csi(parameters, end) => match (parameters.as_str(), end.as_str()) {
            ("" | "0", "c") => "\x1b[?62;22c".into(),
            (">" | ">0", "c") => "\x1b[>41;388;0c".into(),
            (">" | ">0", "q") => "\x1bP>|vt 1.0\x1b\\".into(),
            ("5", "n") => "\x1b[0n".into(),
            ("6", "n") => format!("\x1b[{};{}R", cursor.0 + 1, cursor.1 + 1),
            ("?996", "n") => "\x1b[?997;1n".into(),
            ("16", "t") => "\x1b[6;16;8t".into(),
            ("18", "t") => format!("\x1b[8;{};{}t", size.1, size.0),
            ("?", "u") if answers == Answers::Kitty => format!("\x1b[?{}u", modes.kitty_flags()),
            (mode, "$p") => mode_report(mode, modes),
            _ => String::new(),
        },
        Sequence::Osc(text) => match text.split_once(';') {
            Some(("10", "?")) => format!("\x1b]10;rgb:{}\x1b\\", colors.foreground),
            Some(("11", "?")) => format!("\x1b]11;rgb:{}\x1b\\", colors.background),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

fn mode_report(mode: &str, modes: &Modes) -> String {
    let Some(mode) = mode.strip_prefix('?').and_then(|mode| mode.parse::<u16>().ok()) else { return String::new() };
    let state = match (KNOWN.contains(&mode), modes.is_set(mode)) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => 2,
    };
    format!("\x1b[?{mode};{state}$y")
}
