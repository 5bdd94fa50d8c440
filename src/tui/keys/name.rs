//! The names of keys in `keybindings.json`, such as `ctrl+shift+p`.

use std::{fmt, str::FromStr};

use super::{Key, KeyCode, Modifiers};

/// Names of keys that are no character. The first name of a key is the one that is shown.
const NAMES: &[(&str, KeyCode)] = &[
    ("enter", KeyCode::Enter),
    ("return", KeyCode::Enter),
    ("escape", KeyCode::Escape),
    ("esc", KeyCode::Escape),
    ("tab", KeyCode::Tab),
    ("space", KeyCode::Char(' ')),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageUp", KeyCode::PageUp),
    ("pageDown", KeyCode::PageDown),
];

/// Names of modifiers, in the order in which they are shown.
const MODIFIERS: [(&str, Modifiers); 4] =
    [("ctrl", Modifiers::CTRL), ("shift", Modifiers::SHIFT), ("alt", Modifiers::ALT), ("super", Modifiers::SUPER)];

/// The highest function key.
const LAST_FUNCTION_KEY: u8 = 35;

/// A text that names no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a key such as ctrl+p, shift+enter, pageUp or f5, found \"{0}\"")]
pub struct KeyNameError(String);

impl Key {
    /// Reads a name: modifiers and a key, joined by `+`. Case does not count.
    ///
    /// # Errors
    /// It names no key.
    pub fn parse(name: &str) -> Result<Self, KeyNameError> {
        let mut modifiers = Modifiers::NONE;
        let mut rest = name.trim();
        while let Some((modifier, behind)) = MODIFIERS.iter().find_map(|(word, modifier)| {
            let (head, behind) = rest.split_once('+')?;
            (head.trim().eq_ignore_ascii_case(word) && !behind.is_empty()).then_some((*modifier, behind.trim_start()))
        }) {
            modifiers = modifiers | modifier;
            rest = behind;
        }
        match code(rest) {
            Some(code) => Ok(Self::with(code, modifiers)),
            None => Err(KeyNameError(name.to_owned())),
        }
    }
}

impl FromStr for Key {
    type Err = KeyNameError;

    fn from_str(name: &str) -> Result<Self, KeyNameError> {
        Self::parse(name)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, modifiers } = self.canonical();
        for (word, modifier) in MODIFIERS {
            if modifiers.contains(modifier) {
                write!(f, "{word}+")?;
            }
        }
        match (NAMES.iter().find(|(_, known)| *known == code), code) {
            (Some((name, _)), _) => f.write_str(name),
            (None, KeyCode::Char(character)) => write!(f, "{character}"),
            (None, KeyCode::Function(number)) => write!(f, "f{number}"),
            // Every other code has a name, which the tests see to.
            (None, _) => Ok(()),
        }
    }
}

fn code(name: &str) -> Option<KeyCode> {
    let mut characters = name.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        let is_key = !character.is_control() && !character.is_whitespace();
        return is_key.then(|| KeyCode::Char(lower(character)));
    }
    if let Some((_, code)) = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return Some(*code);
    }
    let number = name.strip_prefix(['f', 'F'])?;
    let number: u8 = number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())??;
    (1..=LAST_FUNCTION_KEY).contains(&number).then_some(KeyCode::Function(number))
}

/// A letter in lower case, where that is one character.
pub(super) fn lower(character: char) -> char {
    let mut lower = character.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_shown() {
        let ctrl_alt = Modifiers::CTRL | Modifiers::ALT;
        for (name, key, shown) in [
            ("a", Key::plain(KeyCode::Char('a')), "a"),
            ("Ctrl+P", Key::with(KeyCode::Char('p'), Modifiers::CTRL), "ctrl+p"),
            ("shift+ctrl+p", Key::with(KeyCode::Char('p'), Modifiers::CTRL | Modifiers::SHIFT), "ctrl+shift+p"),
            ("ctrl+alt+]", Key::with(KeyCode::Char(']'), ctrl_alt), "ctrl+alt+]"),
            ("ctrl+-", Key::with(KeyCode::Char('-'), Modifiers::CTRL), "ctrl+-"),
            ("+", Key::plain(KeyCode::Char('+')), "+"),
            ("ctrl++", Key::with(KeyCode::Char('+'), Modifiers::CTRL), "ctrl++"),
            ("esc", Key::plain(KeyCode::Escape), "escape"),
            ("Return", Key::plain(KeyCode::Enter), "enter"),
            ("pageup", Key::plain(KeyCode::PageUp), "pageUp"),
            ("shift+F12", Key::with(KeyCode::Function(12), Modifiers::SHIFT), "shift+f12"),
            ("f", Key::plain(KeyCode::Char('f')), "f"),
            ("super+space", Key::with(KeyCode::Char(' '), Modifiers::SUPER), "super+space"),
            (" alt + enter ", Key::with(KeyCode::Enter, Modifiers::ALT), "alt+enter"),
            ("ctrl+ä", Key::with(KeyCode::Char('ä'), Modifiers::CTRL), "ctrl+ä"),
        ] {
            assert_eq!(Key::parse(name), Ok(key), "{name}");
            assert_eq!(key.to_string(), shown, "{name}");
            assert_eq!(shown.parse(), Ok(key), "{shown}");
        }
    }

    #[test]
    fn what_names_no_key_is_refused() {
        for name in ["", " ", "ctrl", "ctrl+", "hyper+x", "ctrl+xy", "f0", "f36", "f+1", "f1x", "\u{1b}", "ctrl+\n"] {
            assert!(Key::parse(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn an_upper_case_letter_is_shown_as_it_is_bound() {
        assert_eq!(Key::plain(KeyCode::Char('L')).to_string(), "shift+l");
    }
}
