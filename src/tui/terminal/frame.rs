//! What the screen shall look like: cells, links, and the place of the cursor.

use std::sync::Arc;

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::tui::text::{StyledLine, width_of};

/// A picture of the whole screen. Views draw into it, and the painter writes what differs from the one before.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The cells.
    pub buffer: Buffer,
    /// Where the cells of links lead, by cell: none for most. Empty when there is no link at all.
    links: Vec<Option<Arc<str>>>,
    /// Where the cursor shows; none hides it.
    pub cursor: Option<Position>,
}

impl Frame {
    /// An empty one.
    #[must_use]
    pub fn new(columns: u16, rows: u16) -> Self {
        Self { buffer: Buffer::empty(Rect::new(0, 0, columns, rows)), links: Vec::new(), cursor: None }
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

    fn put(&mut self, x: u16, y: u16, width: u16, grapheme: &str, style: Style, link: Option<&Arc<str>>) {
        self.buffer[(x, y)].set_symbol(grapheme).set_style(style);
        for behind in x + 1..x + width {
            self.buffer[(behind, y)].set_symbol(" ").set_style(style);
        }
        if let Some(link) = link {
            if self.links.is_empty() {
                self.links.resize(self.buffer.content.len(), None);
            }
            for column in x..x + width {
                let at = usize::from(y) * usize::from(self.buffer.area.width) + usize::from(column);
                self.links[at] = Some(link.clone());
            }
        }
    }

    /// Blanks an area and what it says of links, for whatever is drawn over it.
    pub fn clear(&mut self, area: Rect, style: Style) {
        let area = area.intersection(self.buffer.area);
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
