//! What the screen shall look like: cells, links, and the place of the cursor.

use std::{ops::Range, sync::Arc};

use ratatui::{
    buffer::{Buffer, Cell},
    layout::{Position, Rect},
    style::Style,
};
use unicode_segmentation::UnicodeSegmentation as _;

use super::pictures::Placement;
use crate::tui::{
    picture::PictureRow,
    text::{StyledLine, is_plain, width_of},
};

/// A picture of the whole screen. Views draw into it, and the painter writes what differs from the one before.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The cells.
    pub buffer: Buffer,
    /// Where the cells of links lead, by cell: none for most. Empty when there is no link at all.
    links: Vec<Option<Arc<str>>>,
    /// Pictures over blank cells, from the top.
    pub(super) pictures: Vec<Placement>,
    /// Where the cursor shows; none hides it.
    pub cursor: Option<Position>,
}

impl Frame {
    /// An empty one.
    #[must_use]
    pub fn new(columns: u16, rows: u16) -> Self {
        Self {
            buffer: Buffer::empty(Rect::new(0, 0, columns, rows)),
            links: Vec::new(),
            pictures: Vec::new(),
            cursor: None,
        }
    }

    /// The whole screen.
    #[must_use]
    pub fn area(&self) -> Rect {
        self.buffer.area
    }

    /// Where the cell leads.
    #[must_use]
    pub fn link(&self, column: u16, row: u16) -> Option<&Arc<str>> {
        let at = usize::from(row) * usize::from(self.buffer.area.width) + usize::from(column);
        self.links.get(at)?.as_ref()
    }

    /// Draws a line at the left of `area`'s row `row` (from 0); what does not fit is left out. A wide character that
    /// fits only by half leaves a blank. A row that is not in the area is left alone.
    pub fn line(&mut self, area: Rect, row: u16, line: &StyledLine) {
        let area = area.intersection(self.buffer.area);
        if row >= area.height {
            return;
        }
        let y = area.y + row;
        if let Some(fill) = line.fill {
            self.buffer.set_style(Rect::new(area.x, y, area.width, 1), fill);
        }
        let mut x = area.x;
        for span in &line.spans {
            if let Some(part) = span.picture.as_ref().filter(|part| x.saturating_add(part.columns) <= area.right()) {
                self.show(part, x, y);
            }
            if is_plain(&span.text) {
                let fits = u16::try_from(span.text.len()).unwrap_or(u16::MAX).min(area.right().saturating_sub(x));
                self.put_plain(x, y, &span.text[..usize::from(fits)], span.style, span.link.as_ref());
                if usize::from(fits) < span.text.len() {
                    return;
                }
                x += fits;
                continue;
            }
            for grapheme in span.text.graphemes(true) {
                let width = u16::try_from(width_of(grapheme)).unwrap_or(u16::MAX);
                if width == 0 {
                    continue;
                }
                if x.saturating_add(width) > area.right() {
                    return;
                }
                self.put(x, y, width, grapheme, span.style, span.link.as_ref());
                x += width;
            }
        }
    }

    /// Shows a row of a picture. Rows below one another become one placement.
    fn show(&mut self, part: &PictureRow, x: u16, y: u16) {
        let placement = Placement::of(part, x, y);
        if !self.pictures.iter_mut().any(|above| above.join(&placement)) {
            self.pictures.push(placement);
        }
    }

    fn put(&mut self, x: u16, y: u16, width: u16, grapheme: &str, style: Style, link: Option<&Arc<str>>) {
        self.buffer[(x, y)].set_symbol(grapheme).set_style(style);
        for behind in x + 1..x + width {
            self.buffer[(behind, y)].set_symbol(" ").set_style(style);
        }
        if let Some(link) = link {
            self.set_link(x..x + width, y, link);
        }
    }

    /// Puts a text whose bytes are characters of one column: most of what is drawn.
    fn put_plain(&mut self, x: u16, y: u16, text: &str, style: Style, link: Option<&Arc<str>>) {
        let from = usize::from(y) * usize::from(self.buffer.area.width) + usize::from(x);
        for (cell, byte) in self.buffer.content[from..].iter_mut().zip(text.bytes()) {
            cell.set_char(char::from(byte)).set_style(style);
        }
        if let Some(link) = link {
            self.set_link(x..x + u16::try_from(text.len()).unwrap_or(u16::MAX), y, link);
        }
    }

    /// The left `width` columns from the row `top` on.
    pub(super) fn part(&self, width: u16, top: u16) -> Self {
        let mut part = Self::new(width, self.buffer.area.height - top);
        for y in 0..part.buffer.area.height {
            for x in 0..width {
                part.buffer[(x, y)] = self.buffer[(x, y + top)].clone();
                if let Some(link) = self.link(x, y + top) {
                    part.set_link(x..x + 1, y, link);
                }
            }
        }
        let inside = |cursor: &Position| cursor.y >= top && cursor.x < width;
        part.cursor = self.cursor.filter(inside).map(|cursor| Position::new(cursor.x, cursor.y - top));
        part
    }

    fn set_link(&mut self, columns: Range<u16>, y: u16, link: &Arc<str>) {
        if self.links.is_empty() {
            self.links.resize(self.buffer.content.len(), None);
        }
        let row = usize::from(y) * usize::from(self.buffer.area.width);
        for column in columns {
            self.links[row + usize::from(column)] = Some(link.clone());
        }
    }

    /// Whether a row looks the same as that of another frame of the same width.
    pub(super) fn row_eq(&self, other: &Self, y: u16) -> bool {
        let cells = self.cells_of(y, y + 1);
        let no_links = self.links.is_empty() && other.links.is_empty();
        let same_link = |x| self.link(x, y) == other.link(x, y);
        self.buffer.content[cells.clone()] == other.buffer.content[cells]
            && (no_links || (0..self.buffer.area.width).all(same_link))
    }

    /// Moves the rows from `top` up to and without `bottom` by some rows up, or down when that is negative; what comes in
    /// is blank.
    pub(super) fn scroll(&mut self, top: u16, bottom: u16, up: i32) {
        let cells = self.cells_of(top, bottom);
        let by = usize::from(self.buffer.area.width) * usize::try_from(up.unsigned_abs()).unwrap_or(usize::MAX);
        let by = by.min(cells.len());
        let came_in = if up > 0 { cells.end - by..cells.end } else { cells.start..cells.start + by };
        let turn = if up > 0 { by } else { cells.len() - by };
        self.buffer.content[cells.clone()].rotate_left(turn);
        self.buffer.content[came_in.clone()].fill(Cell::EMPTY);
        if let Some(links) = self.links.get_mut(cells) {
            links.rotate_left(turn);
            self.links[came_in].fill(None);
        }
    }

    /// Makes the cells of an area differ from whatever is drawn there next.
    pub(super) fn forget(&mut self, area: Rect) {
        for cell in area.intersection(self.buffer.area).positions() {
            self.buffer[cell].set_symbol("\u{fffc}");
        }
    }

    fn cells_of(&self, top: u16, bottom: u16) -> Range<usize> {
        let width = usize::from(self.buffer.area.width);
        usize::from(top) * width..usize::from(bottom) * width
    }

    /// Blanks an area and what it says of links, for whatever is drawn over it.
    pub fn clear(&mut self, area: Rect, style: Style) {
        let area = area.intersection(self.buffer.area);
        self.pictures.retain(|placement| !placement.area().intersects(area));
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                let cell = &mut self.buffer[(x, y)];
                cell.reset();
                cell.set_style(style);
                let at = usize::from(y) * usize::from(self.buffer.area.width) + usize::from(x);
                if let Some(link) = self.links.get_mut(at) {
                    *link = None;
                }
            }
        }
    }
}
