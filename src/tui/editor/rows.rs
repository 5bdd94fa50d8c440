//! The rows of the text at a width, kept from one key to the next.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use super::{
    Geometry, Text,
    wrap::{shown, shown_width, wrap},
};
use crate::tui::text::width_of;

/// How the lines of a text break into rows, and which rows are seen. It can always be computed from the text; it is
/// kept because a key changes one line of maybe many.
#[derive(Clone, Debug)]
pub struct Rows {
    /// Columns of text in a row.
    columns: usize,
    lines: Vec<LineRows>,
    /// The first row that is seen.
    top: usize,
}

/// The rows of a line.
#[derive(Clone, Debug)]
struct LineRows {
    /// Where rows start in the line, but for the first.
    breaks: Vec<usize>,
    /// The offset from which on they are out of date.
    stale: Option<usize>,
}

impl LineRows {
    fn unknown() -> Self {
        Self { breaks: Vec::new(), stale: Some(0) }
    }

    fn count(&self) -> usize {
        self.breaks.len() + 1
    }

    /// The row that holds an offset.
    fn row_of(&self, at: usize) -> usize {
        self.breaks.partition_point(|start| *start <= at)
    }

    fn refresh(&mut self, line: &str, columns: usize) {
        let Some(stale) = self.stale.take() else { return };
        // Where a row starts depends on its predecessor, itself and the first character of the next. A change may also
        // join with the character before it.
        let row = self.row_of(stale.saturating_sub(1));
        self.breaks.truncate(row.saturating_sub(2));
        let from = self.breaks.last().copied().unwrap_or(0);
        wrap(line, columns, from, &mut self.breaks);
    }
}

/// A row of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The line, from 0.
    pub line: usize,
    /// The row of it, from 0.
    pub row: usize,
}

impl Default for Rows {
    fn default() -> Self {
        Self { columns: 0, lines: vec![LineRows::unknown()], top: 0 }
    }
}

impl Rows {
    /// The text of line `line` changed from the offset `at` in it on; behind it `gone` lines went and `come` came.
    pub fn changed(&mut self, line: usize, at: usize, gone: usize, come: usize) {
        let first = &mut self.lines[line];
        first.stale = Some(first.stale.map_or(at, |stale| stale.min(at)));
        let unknown = std::iter::repeat_with(LineRows::unknown).take(come);
        self.lines.splice(line + 1..line + 1 + gone, unknown);
    }

    /// Brings the rows up to date. A column is kept free for the caret behind the last character of a row.
    pub fn refresh(&mut self, text: &Text, width: u16) {
        let columns = usize::from(width).saturating_sub(1).max(1);
        if columns != self.columns {
            self.columns = columns;
            self.lines.iter_mut().for_each(|line| *line = LineRows::unknown());
        }
        for (number, line) in self.lines.iter_mut().enumerate() {
            if line.stale.is_some() {
                line.refresh(&text.as_str()[text.line(number)], columns);
            }
        }
    }

    /// The row that holds an offset.
    #[must_use]
    pub fn row_of(&self, text: &Text, at: usize) -> Row {
        let line = text.line_of(at);
        Row { line, row: self.lines[line].row_of(at - text.line(line).start) }
    }

    /// Where a row is in the text.
    #[must_use]
    pub fn range(&self, text: &Text, row: Row) -> Range<usize> {
        let line = text.line(row.line);
        let breaks = &self.lines[row.line].breaks;
        let start = row.row.checked_sub(1).map_or(line.start, |before| line.start + breaks[before]);
        let end = breaks.get(row.row).map_or(line.end, |next| line.start + next);
        start..end
    }

    /// The row above; none above the first.
    #[must_use]
    pub fn above(&self, row: Row) -> Option<Row> {
        match (row.row.checked_sub(1), row.line.checked_sub(1)) {
            (Some(before), _) => Some(Row { row: before, ..row }),
            (None, Some(line)) => Some(Row { line, row: self.lines[line].count() - 1 }),
            (None, None) => None,
        }
    }

    /// The row below; none below the last.
    #[must_use]
    pub fn below(&self, row: Row) -> Option<Row> {
        if row.row + 1 < self.lines[row.line].count() {
            return Some(Row { row: row.row + 1, ..row });
        }
        (row.line + 1 < self.lines.len()).then_some(Row { line: row.line + 1, row: 0 })
    }

    /// The column of an offset in its row.
    #[must_use]
    pub fn column(&self, text: &Text, at: usize) -> usize {
        let row = self.range(text, self.row_of(text, at));
        shown_width(&text.as_str()[row.start..at])
    }

    /// The offset in a row that is nearest to a column from the left. It may be inside a marker.
    #[must_use]
    pub fn offset(&self, text: &Text, row: Row, column: usize) -> usize {
        let range = self.range(text, row);
        let is_last = row.row + 1 == self.lines[row.line].count();
        let mut at = range.start;
        let mut taken = 0;
        for grapheme in text.as_str()[range.clone()].graphemes(true) {
            taken += width_of(&shown(grapheme));
            // Behind the last character of a row is the start of the next.
            let starts_next = !is_last && at + grapheme.len() == range.end;
            if taken > column || starts_next {
                break;
            }
            at += grapheme.len();
        }
        at
    }

    /// The rows that are seen when row `caret` must be: the first of them, how many are above, and how many in all.
    pub fn seen(&mut self, caret: Row, geometry: Geometry) -> (Row, usize, usize) {
        let rows = usize::from(geometry.rows).max(1);
        let counts = self.lines.iter().map(LineRows::count);
        let total: usize = counts.clone().sum();
        let caret = counts.clone().take(caret.line).sum::<usize>() + caret.row;
        self.top = self.top.min(total.saturating_sub(rows)).min(caret).max((caret + 1).saturating_sub(rows));
        let mut left = self.top;
        for (line, count) in counts.enumerate() {
            if left < count {
                return (Row { line, row: left }, self.top, total);
            }
            left -= count;
        }
        (Row { line: 0, row: 0 }, 0, total)
    }
}
