//! Text of the screen that is selected with the mouse.

use ratatui::style::{Modifier, Style};

use super::{terminal::Frame, text::width_of};

/// A selection, in cells of the screen. It goes from one place to another, line by line as text does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Where it was begun: column and row.
    pub from: (u16, u16),
    /// Where it ends.
    pub to: (u16, u16),
    /// Its text, as of the last frame.
    pub text: String,
}

impl Selection {
    /// One that begins at a cell.
    #[must_use]
    pub fn at(column: u16, row: u16) -> Self {
        Self { from: (column, row), to: (column, row), text: String::new() }
    }

    /// Whether it covers more than the cell that it began at.
    #[must_use]
    pub fn is_something(&self) -> bool {
        self.from != self.to
    }

    /// Marks it in a frame, and takes its text from there.
    pub fn draw(&mut self, frame: &mut Frame) {
        if !self.is_something() {
            return;
        }
        let area = frame.area();
        let order = |place: (u16, u16)| (place.1, place.0);
        let (first, last) =
            if order(self.from) <= order(self.to) { (self.from, self.to) } else { (self.to, self.from) };
        let mut rows = Vec::new();
        for y in first.1..=last.1.min(area.height.saturating_sub(1)) {
            let from = if y == first.1 { first.0 } else { 0 };
            let to = if y == last.1 { last.0 } else { area.width.saturating_sub(1) };
            rows.push(mark(frame, y, from, to.min(area.width.saturating_sub(1))));
        }
        self.text = rows.join("\n");
    }
}

/// Marks the cells of a row and gives their text without blanks at its end.
fn mark(frame: &mut Frame, row: u16, from: u16, to: u16) -> String {
    let style = Style::new().add_modifier(Modifier::REVERSED);
    let mut text = String::new();
    let mut behind = 0;
    for column in from..=to {
        let cell = &mut frame.buffer[(column, row)];
        cell.set_style(style);
        if behind > 0 {
            behind -= 1;
            continue;
        }
        text.push_str(cell.symbol());
        behind = width_of(cell.symbol()).saturating_sub(1);
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::text::StyledLine;

    #[test]
    fn the_text_is_that_of_the_cells_in_either_direction() {
        let mut frame = Frame::new(10, 3);
        let area = frame.area();
        for (row, text) in [(0, "hello"), (1, "日本語 x"), (2, "end")] {
            frame.line(area, row, &StyledLine::of(text, Style::new()));
        }
        for (from, to, text) in [
            ((1, 0), (3, 0), "ell"),
            ((3, 0), (1, 0), "ell"),
            ((3, 0), (3, 1), "lo\n日本"),
            ((0, 1), (9, 2), "日本語 x\nend"),
            ((0, 0), (0, 0), ""),
            ((0, 2), (200, 200), "end"),
        ] {
            let mut selection = Selection { from, to, text: String::new() };
            selection.draw(&mut frame);
            assert_eq!(selection.text, text, "{from:?} {to:?}");
        }
    }
}
