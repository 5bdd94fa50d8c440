//! The text that is being written.
//!
//! [`Editor`] is the whole of it: a value that takes actions and characters, and says what is to be seen. It knows no
//! keys and no clock. Positions are byte offsets in the text and always at the edge of a grapheme: a caret is never
//! inside a character, nor inside the marker of a pasted block.

mod action;
mod history;
mod kill_ring;
mod motion;
mod paste;
mod rows;
#[cfg(test)]
mod tests;
mod text;
mod undo;
mod vertical;
mod view;
mod vim;
mod words;
mod wrap;
mod writing;

pub use action::EditorAction;
pub use history::{History, MAX_HISTORY};
pub use text::{Block, Fragment, Text};
pub use view::{EditorRow, EditorView, Piece, PieceKind};
pub use vim::{VimMode, VimOutcome};
pub use writing::Editor;

/// The room that the text is shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Columns, the caret's behind the last character included; at least 1.
    pub width: u16,
    /// Rows at most; at least 1.
    pub rows: u16,
}

/// Rows that the text may take of a screen: three tenths of it, and 5 where there is room.
#[must_use]
pub fn max_rows(screen_rows: u16) -> u16 {
    let share = u32::from(screen_rows) * 3 / 10;
    u16::try_from(share).unwrap_or(u16::MAX).max(5)
}
