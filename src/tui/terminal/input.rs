//! What comes from a terminal.

use crate::tui::keys::{Key, Modifiers};

/// Something that came from the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputEvent {
    /// A key was pressed, or repeats. Releases are left out.
    Key(Key),
    /// Text was pasted: all of it, as the terminal sent it, with its line ends.
    Paste(String),
    /// The mouse did something.
    Mouse(Mouse),
    /// The terminal has this size now.
    Resize {
        /// Columns, at least 1.
        columns: u16,
        /// Rows, at least 1.
        rows: u16,
    },
    /// The terminal's window got the focus, or lost it.
    Focus(bool),
    /// The terminal answered a question of ours.
    Report(Report),
    /// The process was stopped and goes on: the terminal is ours again, and nothing of the screen is left.
    Resumed,
    /// The terminal is gone.
    Closed,
}

/// What a terminal says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The colour of the text (OSC 10): red, green, blue.
    Foreground([u8; 3]),
    /// The colour behind it (OSC 11).
    Background([u8; 3]),
    /// One of the 16 colours (OSC 4).
    Palette(u8, [u8; 3]),
    /// The flags of the kitty keyboard protocol: the terminal knows it.
    KittyKeyboard(u8),
    /// The state of a private mode (DECRPM): the mode, and whether the terminal knows it.
    Mode(u16, bool),
    /// The terminal prefers dark or light now (`true` = dark).
    Appearance(bool),
    /// Primary device attributes: it has answered all that was asked before.
    Attributes(Vec<u16>),
    /// Its name and version (XTVERSION).
    Version(String),
    /// A cell's size in pixels: width, height.
    CellSize(u16, u16),
}

/// A mouse event. Positions are cells from the upper left corner, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    /// What happened.
    pub kind: MouseKind,
    /// The column.
    pub column: u16,
    /// The row.
    pub row: u16,
    /// What was held.
    pub modifiers: Modifiers,
}

/// What a mouse did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseKind {
    /// A button went down.
    Down(MouseButton),
    /// A button came up.
    Up(MouseButton),
    /// It moved with a button held.
    Drag(MouseButton),
    /// The wheel turned up.
    WheelUp,
    /// The wheel turned down.
    WheelDown,
}

/// A button of the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseButton {
    /// The left one.
    Left,
    /// The middle one.
    Middle,
    /// The right one.
    Right,
}
