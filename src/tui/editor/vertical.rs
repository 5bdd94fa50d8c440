//! Up and down: through the rows of the text, and from its ends into the history.

use std::{cell::RefCell, mem};

use super::{Editor, Fragment, Geometry, Text, motion, rows::Rows, writing::Last};

impl Editor {
    /// To the row above, or into the history.
    pub(super) fn cursor_up(&mut self, last: &Last, geometry: Geometry) {
        let rows = fresh(&mut self.rows, &self.text, geometry);
        let is_first = rows.above(rows.row_of(&self.text, self.caret)).is_none();
        if *last == Last::Recalled || (is_first && (self.caret == 0 || self.history.is_looking())) {
            self.recall_older();
        } else if is_first {
            self.go(0);
        } else {
            self.rows_up(1, geometry);
        }
    }

    /// To the row below, or back from the history.
    pub(super) fn cursor_down(&mut self, last: &Last, geometry: Geometry) {
        let rows = fresh(&mut self.rows, &self.text, geometry);
        let is_last = rows.below(rows.row_of(&self.text, self.caret)).is_none();
        if self.history.is_looking() && (is_last || *last == Last::Recalled) {
            self.recall_newer();
        } else if is_last {
            self.go(self.text.len());
        } else {
            self.rows_down(1, geometry);
        }
    }

    /// As many rows up as are seen; from the first row to the start.
    pub(super) fn page_up(&mut self, geometry: Geometry) {
        if !self.rows_up(usize::from(geometry.rows), geometry) {
            self.go(0);
        }
    }

    /// As many rows down as are seen; from the last row to the end.
    pub(super) fn page_down(&mut self, geometry: Geometry) {
        if !self.rows_down(usize::from(geometry.rows), geometry) {
            self.go(self.text.len());
        }
    }

    /// Some rows up; false in the first row.
    pub(super) fn rows_up(&mut self, rows: usize, geometry: Geometry) -> bool {
        let column = self.goal_column(geometry);
        let at = motion::up(&self.text, self.rows.get_mut(), self.caret, column, rows);
        self.go_in_column(at, column)
    }

    /// Some rows down; false in the last row.
    pub(super) fn rows_down(&mut self, rows: usize, geometry: Geometry) -> bool {
        let column = self.goal_column(geometry);
        let at = motion::down(&self.text, self.rows.get_mut(), self.caret, column, rows);
        self.go_in_column(at, column)
    }

    fn go_in_column(&mut self, at: Option<usize>, column: usize) -> bool {
        if let Some(at) = at {
            self.go(at);
            self.goal = Some(column);
        }
        at.is_some()
    }

    fn goal_column(&mut self, geometry: Geometry) -> usize {
        let rows = fresh(&mut self.rows, &self.text, geometry);
        self.goal.unwrap_or_else(|| rows.column(&self.text, self.caret))
    }

    /// Puts the next older prompt of the history into the place of the text.
    pub(super) fn recall_older(&mut self) {
        if let Some(prompt) = self.history.older(|| self.text.whole().clone()) {
            self.recall(&prompt);
        }
    }

    /// Puts the next newer prompt, or the draft, into the place of the text.
    pub(super) fn recall_newer(&mut self) {
        if let Some(prompt) = self.history.newer() {
            self.recall(&prompt);
        }
    }

    fn recall(&mut self, prompt: &Fragment) {
        // A change leaves the history; this one is of the history itself.
        let history = mem::take(&mut self.history);
        self.put(0..self.text.len(), prompt);
        self.history = history;
        self.last = Last::Recalled;
    }
}

/// The rows of a text, brought up to date.
fn fresh<'a>(rows: &'a mut RefCell<Rows>, text: &Text, geometry: Geometry) -> &'a mut Rows {
    let rows = rows.get_mut();
    rows.refresh(text, geometry.width);
    rows
}
