//! Where the caret goes.

use super::{Text, rows::Rows};

/// A jump that waits for the character to jump to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jump {
    /// Towards the end.
    Forward,
    /// Towards the start.
    Backward,
}

impl Jump {
    /// The nearest place of `character` behind or before `from`, if there is one.
    pub fn find(self, text: &Text, from: usize, character: char) -> Option<usize> {
        let whole = text.as_str();
        let fits = |at: &usize| text.edge(*at) == *at;
        match self {
            Self::Forward => {
                let from = text.next(from);
                whole[from..].match_indices(character).map(|(at, _)| from + at).find(fits)
            }
            Self::Backward => whole[..from].rmatch_indices(character).map(|(at, _)| at).find(fits),
        }
    }
}

/// The offset at `column`, `by` rows above the caret; it goes before a marker there. None when the caret is
/// in the first row.
pub fn up(text: &Text, rows: &Rows, caret: usize, column: usize, by: usize) -> Option<usize> {
    let mut row = rows.above(rows.row_of(text, caret))?;
    for _ in 1..by {
        let Some(above) = rows.above(row) else { break };
        row = above;
    }
    let at = rows.offset(text, row, column);
    Some(text.block_around(at).map_or_else(|| text.edge(at), |block| block.range.start))
}

/// The offset at `column`, `by` rows below the caret; it goes behind a marker there. None when the caret is
/// in the last row.
pub fn down(text: &Text, rows: &Rows, caret: usize, column: usize, by: usize) -> Option<usize> {
    let mut row = rows.below(rows.row_of(text, caret))?;
    for _ in 1..by {
        let Some(below) = rows.below(row) else { break };
        row = below;
    }
    Some(text.edge(rows.offset(text, row, column)))
}
