//! What is over: in a terminal that keeps its own history, such items are written once and not touched again.

use super::{Transcript, layout::LayoutContext, scroll::Part};
use crate::tui::text::StyledLine;

impl Transcript {
    /// The lines of what is over and was not written yet; from now on they count as written. Of many no more than the
    /// last `most` are given.
    pub fn commit(&mut self, most: usize, context: &LayoutContext<'_>) -> Vec<StyledLine> {
        let open = self.first_open();
        let mut parts = Vec::new();
        let mut room = most;
        for item in (self.committed..open).rev() {
            let rows = self.rows_of(item, context);
            let range = rows.saturating_sub(room)..rows;
            room -= range.len();
            if !range.is_empty() {
                parts.push(Part { item, range });
            }
            if room == 0 {
                break;
            }
        }
        parts.reverse();
        self.committed = self.committed.max(open);
        self.lines(&parts, context)
    }

    /// The last `most` lines of what is not over.
    pub fn uncommitted(&mut self, most: usize, context: &LayoutContext<'_>) -> Vec<StyledLine> {
        let first = self.committed;
        let mut parts = self.upwards(self.count(), 0, most, context);
        parts.retain(|part| part.item >= first);
        self.lines(&parts, context)
    }

    /// Changes how everything looks. What was written of the last turn is written once more, when it looks different
    /// now.
    pub fn look_again(&mut self, change: impl FnOnce(&mut Self), context: &LayoutContext<'_>) {
        let Some(prompt) = (0..self.items.len()).rev().find(|at| self.is_prompt(*at)) else {
            change(self);
            self.committed = 0;
            return;
        };
        let from = prompt.min(self.committed);
        let before = self.written_from(from, context);
        change(self);
        if before != self.written_from(from, context) {
            self.committed = from;
        }
    }

    /// The lines of what was written, from an item on.
    fn written_from(&mut self, from: usize, context: &LayoutContext<'_>) -> Vec<StyledLine> {
        let mut parts = Vec::new();
        for item in from..self.committed {
            let rows = self.rows_of(item, context);
            parts.push(Part { item, range: 0..rows });
        }
        self.lines(&parts, context)
    }

    /// The first item that may still change: the answer whose calls run.
    fn first_open(&self) -> usize {
        let goes_on = |answer: &usize| self.live.runs && !(answer + 1..self.items.len()).any(|at| self.is_prompt(at));
        self.last_answer.filter(goes_on).unwrap_or(self.items.len())
    }
}
