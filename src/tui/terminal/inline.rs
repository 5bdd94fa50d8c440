//! The screen within the terminal's own scrollback: finished lines above, and a live area below them that is drawn again
//! in place.
//!
//! Where the live area is on the terminal is not known, and not asked: the cursor is moved only relative to where it was
//! left. Finished lines are written once, and nothing is ever erased but the live area.

use crossterm::{
    cursor::{Hide, Show},
    terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate},
};

use super::{
    Frame,
    capabilities::{Capabilities, Images},
    ink::Ink,
    modes::command,
    pictures::Prints,
    row::{Column, Row},
};
use crate::tui::text::StyledLine;

/// Draws a live area below finished lines.
#[derive(Debug)]
pub struct InlinePainter {
    columns: u16,
    rows: u16,
    /// Whether the terminal lays out anew what it shows when it becomes narrower.
    reflows: bool,
    finished: Vec<StyledLine>,
    /// The live area as the terminal shows it.
    live: Option<Frame>,
    /// The row of the live area in which the cursor is.
    row: u16,
    is_hidden: bool,
    prints: Prints,
}

impl InlinePainter {
    /// Nothing was drawn yet; the cursor is at the start of a row.
    #[must_use]
    pub fn new(columns: u16, rows: u16, reflows: bool) -> Self {
        Self {
            columns,
            rows,
            reflows,
            finished: Vec::new(),
            live: None,
            row: 0,
            is_hidden: false,
            prints: Prints::default(),
        }
    }

    /// Takes lines that are finished. They are written with the next frame.
    pub fn commit(&mut self, lines: &[StyledLine]) {
        self.finished.extend_from_slice(lines);
    }

    /// The bytes that write the finished lines and show the live area. A frame that is higher than the terminal shows its
    /// lower part.
    pub fn paint(&mut self, live: Frame, capabilities: &Capabilities) -> Vec<u8> {
        let live = lower_part(live, self.columns, self.rows);
        let mut ink = Ink::new(capabilities);
        let fits = self.live.as_ref().is_some_and(|shown| shown.area() == live.area());
        let cursor_stays = fits && self.live.as_ref().is_some_and(|shown| shown.cursor == live.cursor);
        if fits && self.finished.is_empty() {
            self.redraw(&live, &mut ink);
        } else {
            self.draw(&live, capabilities.images, &mut ink);
        }
        if !(cursor_stays && ink.is_empty()) {
            self.place_cursor(&live, &mut ink);
        }
        self.live = Some(live);
        let drawn = ink.finish();
        if drawn.is_empty() {
            return Vec::new();
        }
        if !capabilities.synchronized {
            return drawn.into_bytes();
        }
        let mut update = String::with_capacity(drawn.len() + 16);
        command(&mut update, BeginSynchronizedUpdate);
        update.push_str(&drawn);
        command(&mut update, EndSynchronizedUpdate);
        update.into_bytes()
    }

    /// The terminal has another size. What it made of the live area is erased and drawn again with the next frame.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        if let Some(live) = self.live.take().filter(|_| columns < self.columns && self.reflows) {
            // Each row above the cursor takes as many as it needs at the new width.
            let rows_of = |y| used(&Row::of(&live, y)).div_ceil(usize::from(columns)).max(1);
            let above: usize = (0..self.row).map(rows_of).sum();
            let column = live.cursor.map_or(0, |cursor| cursor.x / columns);
            self.row = u16::try_from(above).unwrap_or(u16::MAX).saturating_add(column);
        }
        self.live = None;
        (self.columns, self.rows) = (columns, rows);
    }

    /// Nothing of the live area is there any more, and the cursor is at the start of a row.
    pub fn invalidate(&mut self) {
        (self.live, self.row, self.is_hidden) = (None, 0, false);
        self.prints.lost();
    }

    /// The bytes that write the finished lines and take the live area away. The cursor is at the start of a row then.
    pub fn clear(&mut self, capabilities: &Capabilities) -> Vec<u8> {
        let mut ink = Ink::new(capabilities);
        self.climb(&mut ink);
        self.write_finished(capabilities.images, &mut ink);
        self.live = None;
        let bytes = ink.finish();
        bytes.into_bytes()
    }

    /// To the first column of the live area's first row, and nothing below it.
    fn climb(&mut self, ink: &mut Ink) {
        ink.raw("\r");
        if self.row > 0 {
            ink.control(self.row, 'A');
        }
        ink.command(Clear(ClearType::FromCursorDown));
        self.row = 0;
    }

    fn write_finished(&mut self, images: Option<Images>, ink: &mut Ink) {
        for line in std::mem::take(&mut self.finished) {
            let mut frame = Frame::new(self.columns, 1);
            frame.line(frame.area(), 0, &line);
            let row = Row::of(&frame, 0);
            write(&row, 0, used(&row), ink);
            ink.plain();
            ink.raw("\r\n");
            let mut picture = String::new();
            self.prints.written(&line, self.rows, images, &mut picture);
            ink.raw(&picture);
        }
    }

    /// Draws everything anew.
    fn draw(&mut self, live: &Frame, images: Option<Images>, ink: &mut Ink) {
        self.hide(ink);
        self.climb(ink);
        self.write_finished(images, ink);
        for y in 0..live.area().height {
            if y > 0 {
                ink.plain();
                ink.raw("\r\n");
            }
            let row = Row::of(live, y);
            write(&row, 0, used(&row), ink);
            self.row = y;
        }
    }

    /// Writes what differs from what is shown, row by row.
    fn redraw(&mut self, live: &Frame, ink: &mut Ink) {
        let Some(shown) = self.live.take() else { return };
        for y in (0..live.area().height).filter(|y| !shown.row_eq(live, *y)) {
            let row = Row::of(live, y);
            let before = Row::of(&shown, y);
            let differs = row.differences(&before);
            let Some(first) = differs.iter().position(|differs| *differs) else { continue };
            // Behind a glyph on whose width terminals disagree everything is written again.
            let is_odd = |column: &Column<'_>| matches!(column, Column::Glyph { shape, .. } if !shape.is_plain);
            let last = match row.columns[first..].iter().chain(&before.columns[first..]).any(is_odd) {
                true => row.len(),
                false => differs.iter().rposition(|differs| *differs).map_or(row.len(), |last| last + 1),
            };
            let end = used(&row);
            self.go(y, ink);
            ink.control(column(first) + 1, 'G');
            write(&row, first, last.min(end), ink);
            if last > end {
                ink.plain();
                if first > end {
                    ink.control(column(end) + 1, 'G');
                }
                ink.command(Clear(ClearType::UntilNewLine));
            }
        }
    }

    /// To a row of the live area, which is on the screen.
    fn go(&mut self, y: u16, ink: &mut Ink) {
        match y.cmp(&self.row) {
            std::cmp::Ordering::Less => ink.control(self.row - y, 'A'),
            std::cmp::Ordering::Greater => ink.control(y - self.row, 'B'),
            std::cmp::Ordering::Equal => {}
        }
        self.row = y;
    }

    fn hide(&mut self, ink: &mut Ink) {
        if !std::mem::replace(&mut self.is_hidden, true) {
            ink.command(Hide);
        }
    }

    fn place_cursor(&mut self, live: &Frame, ink: &mut Ink) {
        let Some(cursor) = live.cursor else { return self.hide(ink) };
        ink.plain();
        self.go(cursor.y, ink);
        ink.control(cursor.x + 1, 'G');
        if std::mem::replace(&mut self.is_hidden, false) {
            ink.command(Show);
        }
    }
}

/// The lower part of a frame that is too high, cut to the columns.
fn lower_part(frame: Frame, columns: u16, rows: u16) -> Frame {
    let area = frame.area();
    if area.height <= rows && area.width <= columns {
        return frame;
    }
    let (width, height) = (area.width.min(columns), area.height.min(rows));
    frame.part(width, area.height - height)
}

/// Columns of a row up to the last that is no blank in the default style.
fn used(row: &Row<'_>) -> usize {
    row.blank_from(|cell| cell.style() == ratatui::buffer::Cell::EMPTY.style())
}

fn column(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}

/// Writes a row's glyphs from one column up to another; the cursor is at the first.
fn write(row: &Row<'_>, from: usize, to: usize, ink: &mut Ink) {
    for x in from..to {
        let Column::Glyph { cell, link, shape } = row.columns[x] else { continue };
        let pen = ink.pen_of(cell.style());
        if !shape.is_plain && shape.width == 2 {
            // A terminal that takes one column for it leaves what was in the second.
            ink.write("  ", pen, link);
            ink.control(column(x) + 1, 'G');
        }
        ink.write(row.symbol(x), pen, link);
        if !shape.is_plain {
            // A terminal that takes more has written where only blanks may follow.
            ink.plain();
            ink.control(column(x) + shape.width + 1, 'G');
            ink.command(Clear(ClearType::UntilNewLine));
        }
    }
}

#[cfg(test)]
mod tests;
