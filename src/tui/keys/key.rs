//! A key as it was pressed.

use std::ops::BitOr;

/// What was pressed, without modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyCode {
    /// A character, as it would be typed without modifiers: lower case with [`Modifiers::SHIFT`] for letters that come
    /// with ctrl or alt, the typed character (upper case, without the modifier) for plain text.
    Char(char),
    /// Enter, also that of the keypad.
    Enter,
    /// Escape.
    Escape,
    /// Tab; with shift it is the back tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Insert.
    Insert,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// A function key, from 1.
    Function(u8),
}

/// Modifiers that were held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Modifiers(u8);

impl Modifiers {
    /// None.
    pub const NONE: Self = Self(0);
    /// Shift.
    pub const SHIFT: Self = Self(1);
    /// Alt, option, meta.
    pub const ALT: Self = Self(2);
    /// Control.
    pub const CTRL: Self = Self(4);
    /// Super, command, windows.
    pub const SUPER: Self = Self(8);

    /// Whether all of `other` are held.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether none is held.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Without those of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for Modifiers {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A key with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// What.
    pub code: KeyCode,
    /// What was held.
    pub modifiers: Modifiers,
}

impl Key {
    /// A key without modifiers.
    #[must_use]
    pub const fn plain(code: KeyCode) -> Self {
        Self { code, modifiers: Modifiers::NONE }
    }

    /// A key with modifiers.
    #[must_use]
    pub const fn with(code: KeyCode, modifiers: Modifiers) -> Self {
        Self { code, modifiers }
    }

    /// The character that it types; none for keys that do something else.
    #[must_use]
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(character) if self.modifiers.without(Modifiers::SHIFT).is_empty() => Some(character),
            _ => None,
        }
    }
}
