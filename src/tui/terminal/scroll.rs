//! Rows that moved as a block: the terminal moves them itself, instead of being sent them again.

use std::{
    fmt::Write as _,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use crossterm::terminal::{ScrollDown, ScrollUp};

use super::{Frame, modes::command};

/// Rows that must be saved for it to be worth the sequence.
const FEW_ROWS: usize = 3;

/// A block of rows that moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scroll {
    /// The first row of the region.
    top: u16,
    /// The row behind its last.
    bottom: u16,
    /// Rows that it moved up; down when negative.
    up: i32,
}

impl Scroll {
    /// The sequence that moves it. The cursor is at home then.
    pub fn sequence(self) -> String {
        let mut sequence = String::new();
        let rows = u16::try_from(self.up.unsigned_abs()).unwrap_or(u16::MAX);
        let _ = write!(sequence, "\x1b[{};{}r", self.top + 1, self.bottom);
        match self.up > 0 {
            true => command(&mut sequence, ScrollUp(rows)),
            false => command(&mut sequence, ScrollDown(rows)),
        }
        sequence.push_str("\x1b[r");
        sequence
    }

    /// Moves it in what is shown.
    pub fn apply(self, shown: &mut Frame) {
        shown.scroll(self.top, self.bottom, self.up);
    }
}

/// The move that saves most rows; none when none saves enough.
pub(super) fn find(shown: &Frame, next: &Frame) -> Option<Scroll> {
    let rows = usize::from(next.area().height);
    let changed: Vec<bool> = (0..next.area().height).map(|y| !shown.row_eq(next, y)).collect();
    if changed.iter().filter(|changed| **changed).count() <= FEW_ROWS {
        return None;
    }
    let hashes = |frame: &Frame| (0..frame.area().height).map(|y| hash(frame, y)).collect::<Vec<_>>();
    let (before, after) = (hashes(shown), hashes(next));
    let mut best = None;
    let mut most = FEW_ROWS;
    for by in 1..rows {
        for is_up in [true, false] {
            // Row `at` of one is row `at + by` of the other.
            let (upper, lower) = if is_up { (&after, &before) } else { (&before, &after) };
            let (mut top, mut saved) = (0, 0);
            for at in 0..rows - by {
                if upper[at] != lower[at + by] {
                    (top, saved) = (at + 1, 0);
                    continue;
                }
                saved += usize::from(changed[if is_up { at } else { at + by }]);
                if saved > most {
                    most = saved;
                    best = Some((top, at + by + 1, by, is_up));
                }
            }
        }
    }
    let (top, bottom, by, is_up) = best?;
    let number = |rows: usize| u16::try_from(rows).ok();
    let by = i32::from(number(by)?);
    Some(Scroll { top: number(top)?, bottom: number(bottom)?, up: if is_up { by } else { -by } })
}

fn hash(frame: &Frame, y: u16) -> u64 {
    let mut hasher = DefaultHasher::new();
    for x in 0..frame.area().width {
        frame.buffer[(x, y)].hash(&mut hasher);
        frame.link(x, y).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use ratatui::style::Style;

    use super::*;
    use crate::tui::text::StyledLine;

    fn frame(lines: &[&str]) -> Frame {
        let mut frame = Frame::new(10, u16::try_from(lines.len()).unwrap());
        for (y, line) in lines.iter().enumerate() {
            let area = frame.area();
            frame.line(area, u16::try_from(y).unwrap(), &StyledLine::of(line.to_string(), Style::new()));
        }
        frame
    }

    #[test]
    fn a_block_that_moved_is_found_and_moved() {
        for (before, after, moved) in [
            (["1", "2", "3", "4", "5", "-"], ["2", "3", "4", "5", "6", "-"], Some((0, 5, 1))),
            (["1", "2", "3", "4", "5", "-"], ["0", "1", "2", "3", "4", "-"], Some((0, 5, -1))),
            (["-", "1", "2", "3", "4", "5"], ["-", "3", "4", "5", "6", "7"], None),
            (["-", "1", "2", "3", "4", "5"], ["=", "2", "3", "4", "5", "6"], Some((1, 6, 1))),
            (["1", "2", "3", "4", "5", "6"], ["a", "b", "c", "d", "e", "f"], None),
            (["1", "", "", "", "", ""], ["", "", "", "", "", "1"], None),
        ] {
            let (mut shown, next) = (frame(&before), frame(&after));
            let found = find(&shown, &next);
            assert_eq!(found.map(|it| (it.top, it.bottom, it.up)), moved, "{after:?}");
            if let Some(found) = found {
                found.apply(&mut shown);
                let kept = (0..6).filter(|y| shown.row_eq(&next, *y)).count();
                assert_eq!(kept, 5 - usize::from(after[0] == "="), "{after:?}");
            }
        }
    }
}
