//! Which lines of the conversation are visible.

use std::ops::Range;

use super::{Transcript, layout::LayoutContext};
use crate::tui::text::StyledLine;

/// Where the view is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scroll {
    /// At the end; it follows what comes.
    #[default]
    Bottom,
    /// This line of this item is the first visible one.
    At {
        /// The item.
        item: usize,
        /// The line of it.
        line: usize,
    },
}

/// Some lines of an item that are visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The item.
    pub item: usize,
    /// Its lines that are visible.
    pub range: Range<usize>,
}

impl Transcript {
    /// The parts that fill `height` rows, from the top. Sets the view to the end when there is no more to show.
    pub fn visible(&mut self, height: usize, context: &LayoutContext<'_>) -> Vec<Part> {
        if let Scroll::At { item, line } = self.scroll {
            let parts = self.downwards(item, line, height, context);
            if parts.iter().map(|part| part.range.len()).sum::<usize>() >= height {
                return parts;
            }
            self.scroll = Scroll::Bottom;
        }
        self.upwards(self.count(), 0, height, context)
    }

    /// The lines of parts.
    pub fn lines(&mut self, parts: &[Part], context: &LayoutContext<'_>) -> Vec<StyledLine> {
        parts.iter().flat_map(|part| self.lines_between(part.item, part.range.clone(), context)).collect()
    }

    /// The parts before line `line` of `item`, up to `height` lines.
    pub(super) fn upwards(
        &mut self,
        item: usize,
        line: usize,
        height: usize,
        context: &LayoutContext<'_>,
    ) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut missing = height;
        let (mut at, mut end) = (item, Some(line));
        while missing > 0 {
            let until = match end.take().filter(|line| *line > 0) {
                Some(line) => line.min(self.rows_of(at, context)),
                None if at == 0 => break,
                None => {
                    at -= 1;
                    self.rows_of(at, context)
                }
            };
            if until > 0 {
                let range = until.saturating_sub(missing)..until;
                missing -= range.len();
                parts.push(Part { item: at, range });
            }
        }
        parts.reverse();
        parts
    }

    /// The parts from line `line` of `item` on, up to `height` lines.
    fn downwards(&mut self, item: usize, line: usize, height: usize, context: &LayoutContext<'_>) -> Vec<Part> {
        let mut parts = Vec::new();
        let (mut missing, mut from) = (height, line);
        for at in item..self.count() {
            let rows = self.rows_of(at, context);
            let range = from.min(rows)..(from + missing).min(rows);
            from = 0;
            if !range.is_empty() {
                missing -= range.len();
                parts.push(Part { item: at, range });
            }
            if missing == 0 {
                break;
            }
        }
        parts
    }

    /// Moves the view by lines: up when negative. `height` is that of the view.
    pub fn scroll_by(&mut self, lines: isize, height: usize, context: &LayoutContext<'_>) {
        let Some(top) = self.visible(height, context).into_iter().next() else { return };
        let (item, line) = (top.item, top.range.start);
        if lines < 0 {
            let above = self.upwards(item, line, lines.unsigned_abs(), context);
            let first = above.first().map_or((item, line), |part| (part.item, part.range.start));
            self.scroll = Scroll::At { item: first.0, line: first.1 };
        } else if self.scroll != Scroll::Bottom {
            let steps = self.downwards(item, line, lines.unsigned_abs() + 1, context);
            if let Some(last) = steps.last() {
                self.scroll = Scroll::At { item: last.item, line: last.range.end - 1 };
            }
        }
        // Whoever sees the end follows it.
        if lines > 0 {
            drop(self.visible(height, context));
        } else if self.is_at_end(height, context) {
            self.scroll = Scroll::Bottom;
        }
    }

    fn is_at_end(&mut self, height: usize, context: &LayoutContext<'_>) -> bool {
        let Scroll::At { item, line } = self.scroll else { return true };
        let seen: usize = self.downwards(item, line, height + 1, context).iter().map(|part| part.range.len()).sum();
        seen <= height && self.upwards(item, line, 1, context).is_empty()
    }

    /// Shows the beginning.
    pub fn to_top(&mut self) {
        self.scroll = Scroll::At { item: 0, line: 0 };
    }

    /// Shows the end, and follows it.
    pub fn to_bottom(&mut self) {
        self.scroll = Scroll::Bottom;
    }

    /// Shows the entry at a place of the file, with the first line of it that holds `query` (in small letters) in the
    /// upper part of the view.
    pub fn show(&mut self, position: usize, query: &str, height: usize, context: &LayoutContext<'_>) {
        let Some(item) = self.items.iter().position(|item| item.position() == Some(position)) else { return };
        let rows = self.rows_of(item, context);
        let lines = self.lines_between(item, 0..rows, context);
        let line = lines.iter().position(|line| line.text().to_lowercase().contains(query)).unwrap_or(0);
        self.scroll = Scroll::At { item, line };
        let above = self.upwards(item, line, height / 3, context);
        if let Some(first) = above.first() {
            self.scroll = Scroll::At { item: first.item, line: first.range.start };
        }
    }

    /// Puts the last prompt above the view on top.
    pub fn to_previous_prompt(&mut self, height: usize, context: &LayoutContext<'_>) {
        let Some(top) = self.visible(height, context).into_iter().next() else { return };
        // A prompt whose first line is just visible is the one that was gone to before.
        let before = if top.range.start > 1 { top.item + 1 } else { top.item };
        if let Some(item) = (0..before).rev().find(|at| self.is_prompt(*at)) {
            self.scroll = Scroll::At { item, line: 1 };
        }
    }

    /// Puts the next prompt below the top on top; shows the end behind the last.
    pub fn to_next_prompt(&mut self, height: usize, context: &LayoutContext<'_>) {
        let Some(top) = self.visible(height, context).into_iter().next() else { return };
        match (top.item + 1..self.items.len()).find(|at| self.is_prompt(*at)) {
            Some(item) => self.scroll = Scroll::At { item, line: 1 },
            None => self.scroll = Scroll::Bottom,
        }
    }
}
