//! One form for keys that are the same key in different words.

use super::{Key, KeyCode, Modifiers, name::lower};

/// Symbols that need shift on a US keyboard, which is what terminals assume of `ctrl+shift+symbol`. Whether shift is told
/// along with them says nothing.
const SHIFTED_SYMBOLS: &str = "~!@#$%^&*()_+{}|:\"<>?";

impl Key {
    /// The form by which keys are compared: an upper-case letter is its lower case with shift, a symbol that needs shift
    /// has none, and what terminals cannot tell apart is one key (`ctrl+_` and `ctrl+-` are the byte 1F, `ctrl+@` and
    /// `ctrl+space` the byte 0).
    #[must_use]
    pub fn canonical(self) -> Self {
        let KeyCode::Char(character) = self.code else { return self };
        let lower = lower(character);
        if lower != character {
            return Self::with(KeyCode::Char(lower), self.modifiers | Modifiers::SHIFT);
        }
        let mut modifiers = self.modifiers;
        if SHIFTED_SYMBOLS.contains(character) {
            modifiers = modifiers.without(Modifiers::SHIFT);
        }
        let character = match character {
            '_' if modifiers.contains(Modifiers::CTRL) => '-',
            '@' if modifiers.contains(Modifiers::CTRL) => ' ',
            other => other,
        };
        Self::with(KeyCode::Char(character), modifiers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_the_same_have_one_form() {
        let ctrl_shift = Modifiers::CTRL | Modifiers::SHIFT;
        let ctrl = Modifiers::CTRL;
        for (character, modifiers, form, with) in [
            ('L', Modifiers::NONE, 'l', Modifiers::SHIFT),
            ('l', Modifiers::SHIFT, 'l', Modifiers::SHIFT),
            ('P', ctrl, 'p', ctrl_shift),
            ('p', ctrl_shift, 'p', ctrl_shift),
            ('?', Modifiers::SHIFT, '?', Modifiers::NONE),
            ('1', Modifiers::SHIFT, '1', Modifiers::SHIFT),
            ('_', ctrl_shift, '-', ctrl),
            ('_', Modifiers::NONE, '_', Modifiers::NONE),
            ('@', ctrl, ' ', ctrl),
            ('É', Modifiers::NONE, 'é', Modifiers::SHIFT),
            ('ß', Modifiers::NONE, 'ß', Modifiers::NONE),
        ] {
            let key = Key::with(KeyCode::Char(character), modifiers).canonical();
            assert_eq!(key, Key::with(KeyCode::Char(form), with), "{character:?}");
            assert_eq!(key.canonical(), key);
        }
    }
}
