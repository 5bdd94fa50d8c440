//! The whole screen: the bytes that make one frame of the one before.

use crossterm::{
    cursor::{Hide, Show},
    terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate},
};
use ratatui::layout::{Position, Rect};

use super::{
    Frame,
    capabilities::Capabilities,
    ink::Ink,
    modes::command,
    pictures::Gallery,
    row::{Column, Row},
    scroll,
};

/// Unchanged cells that are written again rather than jumped over: the jump is no shorter.
const SHORT_GAP: u16 = 3;

/// Blanks that are erased rather than written.
const FEW_BLANKS: usize = 4;

/// Bytes that a terminal shows at once, whether it knows synchronised updates or not.
const FEW_BYTES: usize = 64;

/// Knows what the terminal shows, and writes what differs.
#[derive(Debug, Default)]
pub struct Painter {
    /// What the terminal shows; none when that is not known.
    shown: Option<Frame>,
    /// Where the cursor is, where that is known.
    at: Option<Position>,
    /// Whether the cursor shows, where that is known.
    is_visible: Option<bool>,
    /// The pictures that the terminal has and shows.
    gallery: Gallery,
}

impl Painter {
    /// Nothing is known of the screen any more: the next frame is painted whole.
    pub fn invalidate(&mut self) {
        *self = Self { gallery: std::mem::take(&mut self.gallery).lost(), ..Self::default() };
    }

    /// The bytes that show `next`; empty when it shows already.
    pub fn paint(&mut self, next: Frame, capabilities: &Capabilities) -> Vec<u8> {
        let mut ink = Ink::new(capabilities);
        let shown = self.shown.take().filter(|shown| shown.area() == next.area());
        let mut shown = shown.unwrap_or_else(|| {
            ink.raw("\x1b[m");
            ink.command(Clear(ClearType::All));
            self.at = None;
            self.gallery.erased();
            Frame::new(next.area().width, next.area().height)
        });
        let change = {
            let is_touched = |area: Rect| (area.top()..area.bottom()).any(|y| !shown.row_eq(&next, y));
            self.gallery.change(&next.pictures, capabilities.images, is_touched)
        };
        change.gone.iter().for_each(|area| shown.forget(*area));
        // The Linux console knows no scrolling by itself. What becomes of pictures in it, terminals do not agree on.
        if capabilities.modern
            && change.is_bare
            && let Some(scroll) = scroll::find(&shown, &next)
        {
            ink.raw(&scroll.sequence());
            scroll.apply(&mut shown);
            self.at = Some(Position::ORIGIN);
        }
        for y in 0..next.area().height {
            self.row(&shown, &next, y, &mut ink);
        }
        if !change.behind.is_empty() {
            ink.plain();
            ink.raw(&change.behind);
            self.at = None;
        }
        let drawn = ink.finish();
        let sequence = change.before + &self.wrap(drawn, next.cursor, capabilities);
        self.shown = Some(next);
        sequence.into_bytes()
    }

    fn row(&mut self, shown: &Frame, next: &Frame, y: u16, ink: &mut Ink) {
        if shown.row_eq(next, y) {
            return;
        }
        let row = Row::of(next, y);
        let mut dirty = row.differences(&Row::of(shown, y));
        let blank = row.blank_from(|cell| ink.pen_of(cell.style()).is_default());
        let mut x = 0;
        while x < row.len() {
            let Column::Glyph { cell, link, shape } = row.columns[x] else {
                x += 1;
                continue;
            };
            if !dirty[x] {
                x += usize::from(shape.width);
                continue;
            }
            let column = u16::try_from(x).unwrap_or(u16::MAX);
            self.go(&row, column, y, ink);
            if x >= blank && dirty[x..].iter().filter(|dirty| **dirty).count() > FEW_BLANKS {
                ink.plain();
                ink.command(Clear(ClearType::UntilNewLine));
                return;
            }
            let pen = ink.pen_of(cell.style());
            if !shape.is_plain && shape.width == 2 {
                // A terminal that takes one column for it leaves what was in the second.
                ink.write("  ", pen, link);
                ink.place(column, y);
            }
            ink.write(row.symbol(x), pen, link);
            let behind = column + shape.width;
            self.at = (shape.is_plain && behind < next.area().width).then_some(Position::new(behind, y));
            // A terminal that takes more columns for it has destroyed what was there.
            let reach = row.len().min(x + usize::from(shape.reach));
            dirty[x + usize::from(shape.width)..]
                .iter_mut()
                .take(reach.saturating_sub(x + usize::from(shape.width)))
                .for_each(|dirty| *dirty = true);
            row.widen(&mut dirty);
            x += usize::from(shape.width);
        }
    }

    /// Brings the cursor to a cell of the row, the shortest way.
    fn go(&mut self, row: &Row<'_>, x: u16, y: u16, ink: &mut Ink) {
        match self.at {
            Some(at) if at == Position::new(x, y) => {}
            Some(at) if at.y == y && at.x < x => {
                let gap = usize::from(at.x)..usize::from(x);
                let is_cheap = x - at.x <= SHORT_GAP
                    && row.columns[gap.clone()].iter().all(|column| match column {
                        Column::Glyph { cell, link, shape } => {
                            shape.is_plain
                                && shape.width == 1
                                && ink.pen_of(cell.style()) == ink.pen()
                                && ink.has_link(*link)
                        }
                        Column::Behind => false,
                    });
                if is_cheap {
                    for at in gap {
                        ink.raw(row.symbol(at));
                    }
                } else {
                    ink.control(x - at.x, 'C');
                }
            }
            Some(at) if x == 0 && at.y + 1 == y => ink.raw("\r\n"),
            _ => ink.place(x, y),
        }
        self.at = Some(Position::new(x, y));
    }

    /// Puts the cursor where it belongs, and all of it between the ends of a synchronised update.
    fn wrap(&mut self, drawn: String, cursor: Option<Position>, capabilities: &Capabilities) -> String {
        let mut behind = Ink::new(capabilities);
        let mut update = String::with_capacity(drawn.len() + 64);
        if capabilities.synchronized && !drawn.is_empty() {
            command(&mut update, BeginSynchronizedUpdate);
        }
        if let Some(cursor) = cursor
            && self.at != Some(cursor)
        {
            behind.place(cursor.x, cursor.y);
            self.at = Some(cursor);
        }
        // Without synchronised updates the cursor is seen wandering.
        let wanders = !capabilities.synchronized && drawn.len() > FEW_BYTES && self.is_visible != Some(false);
        if wanders {
            command(&mut update, Hide);
            self.is_visible = Some(false);
        }
        if self.is_visible != Some(cursor.is_some()) {
            match cursor {
                Some(_) => behind.command(Show),
                None => behind.command(Hide),
            }
            self.is_visible = Some(cursor.is_some());
        }
        update.push_str(&drawn);
        update.push_str(&behind.finish());
        if capabilities.synchronized && !drawn.is_empty() {
            command(&mut update, EndSynchronizedUpdate);
        }
        update
    }
}

#[cfg(test)]
mod tests;
