//! A row of a frame as glyphs, each of which covers one or two columns.

use std::sync::Arc;

use ratatui::buffer::Cell;

use super::{Frame, glyph::Shape};

/// A column of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Column<'a> {
    /// A glyph begins here.
    Glyph {
        /// Its cell.
        cell: &'a Cell,
        /// Where it leads.
        link: Option<&'a Arc<str>>,
        /// Columns that it covers.
        shape: Shape,
    },
    /// The glyph before covers it.
    Behind,
}

/// A row.
pub(super) struct Row<'a> {
    /// One for each column.
    pub columns: Vec<Column<'a>>,
}

impl<'a> Row<'a> {
    /// The row of a frame.
    pub fn of(frame: &'a Frame, y: u16) -> Self {
        let width = usize::from(frame.area().width);
        let mut columns = Vec::with_capacity(width);
        for x in 0..frame.area().width {
            if columns.len() > usize::from(x) {
                continue;
            }
            let cell = &frame.buffer[(x, y)];
            let shape = shape_in(cell.symbol(), width - usize::from(x));
            columns.push(Column::Glyph { cell, link: frame.link(x, y), shape });
            if shape.width == 2 {
                columns.push(Column::Behind);
            }
        }
        Self { columns }
    }

    /// Columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// What is written for the glyph that begins there.
    pub fn symbol(&self, x: usize) -> &'a str {
        let Column::Glyph { cell, shape, .. } = self.columns[x] else { return "" };
        let is_shown = Shape::of(cell.symbol()).is_some_and(|own| own.width == shape.width);
        if is_shown { cell.symbol() } else { " " }
    }

    /// Which columns differ from those of another row. A glyph of two columns differs as a whole.
    pub fn differences(&self, other: &Row<'_>) -> Vec<bool> {
        let mut dirty: Vec<bool> = self.columns.iter().zip(&other.columns).map(|(one, other)| one != other).collect();
        self.widen(&mut dirty);
        dirty
    }

    /// Makes glyphs dirty as a whole.
    pub fn widen(&self, dirty: &mut [bool]) {
        for (x, column) in self.columns.iter().enumerate() {
            if *column == Column::Behind {
                let either = dirty[x - 1] || dirty[x];
                dirty[x - 1] = either;
                dirty[x] = either;
            }
        }
    }

    /// The first column from which on there are only blanks in the default style.
    pub fn blank_from(&self, is_default: impl Fn(&Cell) -> bool) -> usize {
        let is_blank = |column: &Column<'_>| match column {
            Column::Glyph { cell, link: None, .. } => cell.symbol() == " " && is_default(cell),
            _ => false,
        };
        self.columns.iter().rposition(|column| !is_blank(column)).map_or(0, |last| last + 1)
    }
}

/// The shape of a symbol where that many columns are left: what shows nothing, or does not fit, is a blank.
fn shape_in(symbol: &str, left: usize) -> Shape {
    Shape::of(symbol).filter(|shape| usize::from(shape.width) <= left).unwrap_or(Shape::NARROW)
}
