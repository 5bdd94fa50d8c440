//! What is seen of the text.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use super::{Text, wrap::shown};
use crate::tui::{
    text::{StyledLine, width_of},
    theme::{Theme, ThemeColor},
};

/// The part of the text that is seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditorView {
    /// Its rows, at least one. None is wider than the room, and no control character is in them.
    pub rows: Vec<EditorRow>,
    /// Where the caret is in them: column and row.
    pub cursor: (u16, u16),
    /// Rows that are hidden above.
    pub above: usize,
    /// Rows that are hidden below.
    pub below: usize,
}

/// A row of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditorRow {
    /// Its pieces.
    pub pieces: Vec<Piece>,
}

/// A piece of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// What it is.
    pub kind: PieceKind,
}

/// What a piece of a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// Text as it was written.
    Text,
    /// The marker of a pasted block.
    Marker,
    /// What is shown for a character that would be unseen or do something.
    Hidden,
    /// Text that is selected.
    Selected,
}

impl EditorView {
    /// The rows in the colours of a theme.
    #[must_use]
    pub fn lines(&self, theme: &Theme) -> Vec<StyledLine> {
        let style = |kind| match kind {
            PieceKind::Text => theme.fg(ThemeColor::Text),
            PieceKind::Marker => theme.fg(ThemeColor::Accent),
            PieceKind::Hidden => theme.fg(ThemeColor::Warning),
            PieceKind::Selected => theme.on(ThemeColor::Text, ThemeColor::SelectedBg),
        };
        let line = |row: &EditorRow| {
            let mut line = StyledLine::default();
            row.pieces.iter().for_each(|piece| line.push(piece.text.clone(), style(piece.kind)));
            line
        };
        self.rows.iter().map(line).collect()
    }
}

impl EditorRow {
    /// Its text.
    #[must_use]
    pub fn text(&self) -> String {
        self.pieces.iter().map(|piece| &*piece.text).collect()
    }

    /// The part of the text that is at `range`, cut at `width` columns.
    pub(super) fn of(text: &Text, range: Range<usize>, width: usize, selected: &Range<usize>) -> Self {
        let blocks = text.blocks(&range);
        let mut pieces: Vec<Piece> = Vec::new();
        let mut taken = 0;
        for (at, grapheme) in text.as_str()[range.clone()].grapheme_indices(true) {
            let at = range.start + at;
            let shown = shown(grapheme);
            taken += width_of(&shown);
            if taken > width {
                break;
            }
            let kind = if selected.contains(&at) {
                PieceKind::Selected
            } else if blocks.iter().any(|block| block.range.contains(&at)) {
                PieceKind::Marker
            } else if matches!(shown, std::borrow::Cow::Owned(_)) {
                PieceKind::Hidden
            } else {
                PieceKind::Text
            };
            match pieces.last_mut() {
                Some(last) if last.kind == kind => last.text.push_str(&shown),
                _ => pieces.push(Piece { text: shown.into_owned(), kind }),
            }
        }
        Self { pieces }
    }
}
