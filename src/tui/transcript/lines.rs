//! The lines of an item.

use std::{collections::HashMap, ops::Range, sync::Arc};

use crate::tui::text::StyledLine;

/// Lines in parts: the blocks of an answer, or all of anything else. Whoever wants some of them copies no others.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    parts: Vec<Arc<Vec<StyledLine>>>,
    count: usize,
}

impl Lines {
    /// Adds a part.
    pub fn push(&mut self, part: impl Into<Arc<Vec<StyledLine>>>) {
        let part = part.into();
        self.count += part.len();
        self.parts.push(part);
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether pictures are among them.
    #[must_use]
    pub fn has_pictures(&self) -> bool {
        let mut lines = self.parts.iter().flat_map(|part| part.iter());
        lines.any(|line| line.spans.iter().any(|span| span.picture.is_some()))
    }

    /// Some of them.
    #[must_use]
    pub fn between(&self, range: Range<usize>) -> Vec<StyledLine> {
        let mut lines = Vec::with_capacity(range.len().min(self.count));
        let mut start = 0;
        for part in &self.parts {
            let from = range.start.saturating_sub(start).min(part.len());
            let to = range.end.saturating_sub(start).min(part.len());
            lines.extend_from_slice(part.get(from..to).unwrap_or_default());
            start += part.len();
        }
        lines
    }
}

impl From<Vec<StyledLine>> for Lines {
    fn from(lines: Vec<StyledLine>) -> Self {
        let mut all = Self::default();
        all.push(lines);
        all
    }
}

/// Lines of those blocks of an answer that stay as they are while its calls run, by their places in it.
pub type Settled = HashMap<usize, Arc<Vec<StyledLine>>>;

/// Lines with a blank one before them, which parts them from what is above; nothing stays nothing.
#[must_use]
pub fn parted(mut lines: Vec<StyledLine>) -> Vec<StyledLine> {
    if !lines.is_empty() {
        lines.insert(0, StyledLine::default());
    }
    lines
}

#[cfg(test)]
mod tests {
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn some_lines_are_taken_from_several_parts() {
        let mut lines = Lines::default();
        for part in [&["a", "b"][..], &[], &["c", "d", "e"]] {
            lines.push(part.iter().map(|text| StyledLine::of(*text, Style::new())).collect::<Vec<_>>());
        }
        let text = |range| lines.between(range).iter().map(StyledLine::text).collect::<String>();
        let table = [(0..5, "abcde"), (1..3, "bc"), (2..2, ""), (3..9, "de"), (0..1, "a"), (7..9, "")];
        for (range, expected) in table {
            assert_eq!(text(range.clone()), expected, "{range:?}");
        }
        assert_eq!(lines.count(), 5);
    }
}
