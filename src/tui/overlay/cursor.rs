//! Which row of a list is marked, and which rows are seen.

use std::ops::Range;

use crate::tui::keys::{Action, Key, Keymap};

/// The marked row of a list of rows, some of which cannot be marked: headings, and what is not to be chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    at: usize,
    count: usize,
}

impl Cursor {
    /// The marked row, where it can be marked.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// The number of rows.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// There are so many rows now: the mark goes to `at`, or to the nearest row that can be marked.
    pub fn place(&mut self, at: usize, count: usize, stops: impl Fn(usize) -> bool) {
        self.count = count;
        self.at = at.min(count.saturating_sub(1));
        if !(self.at < count && stops(self.at)) {
            let behind = (self.at..count).find(|row| stops(*row));
            let before = || (0..self.at).rev().find(|row| stops(*row));
            self.at = behind.or_else(before).unwrap_or(self.at);
        }
    }

    /// A key that moves the mark is taken; whether it was one. A page is `page` rows. Up from the first row leads to the
    /// last one, and down from the last to the first.
    pub fn on_key(&mut self, key: Key, keymap: &Keymap, page: usize, stops: impl Fn(usize) -> bool) -> bool {
        let page = isize::try_from(page.max(1)).unwrap_or(isize::MAX);
        let moved = |action| match action {
            Action::SelectUp => Some(-1),
            Action::SelectDown => Some(1),
            Action::SelectPageUp => Some(-page),
            Action::SelectPageDown => Some(page),
            _ => None,
        };
        let Some(by) = keymap.actions(key).find_map(moved) else { return false };
        match by {
            -1 | 1 => self.step(by, stops),
            _ => self.place(self.at.saturating_add_signed(by), self.count, stops),
        }
        true
    }

    fn step(&mut self, by: isize, stops: impl Fn(usize) -> bool) {
        let mut at = self.at;
        for _ in 0..self.count {
            at = match by {
                1 if at + 1 >= self.count => 0,
                1 => at + 1,
                _ => at.checked_sub(1).unwrap_or(self.count - 1),
            };
            if stops(at) {
                self.at = at;
                return;
            }
        }
    }

    /// The rows that are seen where there is room for `rows`: those around the marked one.
    #[must_use]
    pub fn window(&self, rows: usize) -> Range<usize> {
        let start = self.at.saturating_sub(rows / 2).min(self.count.saturating_sub(rows));
        start..self.count.min(start + rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::overlay::testing::keys;

    #[test]
    fn keys_move_the_mark_over_the_rows_that_can_be_marked() {
        let rows = |at: usize| !matches!(at, 0 | 4);
        for (pressed, expected) in [
            ("", 1),
            ("down", 2),
            ("down down down", 5),
            ("up", 9),
            ("up down", 1),
            ("pagedown", 5),
            ("pagedown pageup", 2),
            ("pagedown pagedown pagedown", 9),
            ("pageup pageup", 1),
            ("x", 1),
        ] {
            let mut cursor = Cursor::default();
            cursor.place(0, 10, rows);
            for key in keys(pressed) {
                cursor.on_key(key, &Keymap::default(), 3, rows);
            }
            assert_eq!(cursor.at(), expected, "{pressed}");
        }
    }

    #[test]
    fn a_list_without_rows_that_can_be_marked_takes_keys_all_the_same() {
        for count in [0, 3] {
            let mut cursor = Cursor::default();
            cursor.place(7, count, |_| false);
            for key in keys("up down pageup pagedown") {
                assert!(cursor.on_key(key, &Keymap::default(), 3, |_| false));
            }
        }
    }

    #[test]
    fn the_rows_around_the_mark_are_seen() {
        for (at, count, rows, expected) in
            [(0, 10, 4, 0..4), (5, 10, 4, 3..7), (9, 10, 4, 6..10), (1, 3, 4, 0..3), (0, 0, 4, 0..0), (5, 10, 0, 5..5)]
        {
            let mut cursor = Cursor::default();
            cursor.place(at, count, |_| true);
            assert_eq!(cursor.window(rows), expected, "{at} of {count} in {rows}");
        }
    }
}
