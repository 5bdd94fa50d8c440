//! Pictures of the conversation: what the terminal is given of them, and how many cells they take.
//!
//! A picture is laid out as rows of blanks, each of which says which part of the picture belongs there
//! ([`PictureRow`]). So everything else treats it as text, and a terminal that cannot show it shows blanks at worst.

use std::sync::{Arc, Mutex, PoisonError};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ratatui::style::Style;

use super::text::{StyledLine, StyledSpan};
use crate::{protocol::message::ImageBlock, tools::picture::preview::preview};

/// Rows of a picture at most, so that it fits on small screens.
const MOST_ROWS: u16 = 24;
/// Pixels of a side that a terminal is given at most: 60 columns rarely have more.
const SIDE: u32 = 800;
/// Bytes of base64 that are decoded at all.
const LONGEST: usize = 16 << 20;
/// Bytes of pictures that are kept beside those that lines hold.
const KEPT: usize = 8 << 20;
/// A cell in pixels, as long as the terminal does not say it.
const CELL: (u16, u16) = (8, 16);

/// A picture as a terminal is given it.
#[derive(Debug)]
pub struct Picture {
    /// A hash of its content, never 0: what the terminal knows it by.
    pub id: u32,
    /// A PNG in base64.
    pub png: Box<str>,
    /// The PNG's width and height in pixels.
    pub size: (u32, u32),
    /// Pixels of the picture that it was made of.
    original: (u32, u32),
}

#[cfg(test)]
impl Picture {
    /// One that nothing was made of.
    pub fn testing(id: u32, png: &str, size: (u32, u32)) -> Self {
        Self { id, png: png.into(), size, original: size }
    }
}

impl PartialEq for Picture {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// A row of cells of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureRow {
    /// The picture.
    pub picture: Arc<Picture>,
    /// Columns of all its rows.
    pub columns: u16,
    /// How many rows it has.
    pub rows: u16,
    /// Which of them this is, from 0.
    pub row: u16,
}

/// The pictures that are known, and how they are laid out.
#[derive(Debug)]
pub struct Pictures {
    /// The terminal shows pictures.
    pub possible: bool,
    /// Columns that a picture takes at most; 0 when none is to be shown.
    pub columns: u16,
    /// A cell in pixels: width, height.
    cell: (u16, u16),
    known: Mutex<Vec<(u32, Option<Arc<Picture>>)>>,
}

impl Default for Pictures {
    /// None are shown.
    fn default() -> Self {
        Self { possible: false, columns: 0, cell: CELL, known: Mutex::default() }
    }
}

impl Pictures {
    /// Takes a cell's size in pixels; whether it is another one.
    pub fn set_cell(&mut self, width: u16, height: u16) -> bool {
        let is_size = width > 0 && height > 0;
        is_size && std::mem::replace(&mut self.cell, (width, height)) != (width, height)
    }

    /// Whether any is shown.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.possible && self.columns > 0
    }

    /// What the layout of all of them depends on.
    #[must_use]
    pub fn layout(&self) -> (u16, (u16, u16)) {
        (self.columns, self.cell)
    }

    /// The rows of a picture that has `room` columns; none when it cannot be shown.
    #[must_use]
    pub fn rows(&self, image: &ImageBlock, room: usize, style: Style) -> Vec<StyledLine> {
        let most = self.columns.min(u16::try_from(room).unwrap_or(u16::MAX));
        if most == 0 {
            return Vec::new();
        }
        let Some(picture) = self.picture(image) else { return Vec::new() };
        let (columns, rows) = cells(picture.original, self.cell, most);
        let line = |row| {
            let part = PictureRow { picture: picture.clone(), columns, rows, row };
            let blanks = StyledSpan::new(" ".repeat(usize::from(columns)), style);
            StyledLine::from_spans(vec![StyledSpan { picture: Some(Box::new(part)), ..blanks }])
        };
        (0..rows).map(line).collect()
    }

    /// The picture of a block, which is made once while it is kept.
    fn picture(&self, image: &ImageBlock) -> Option<Arc<Picture>> {
        if image.data.len() > LONGEST {
            return None;
        }
        let id = crc32fast::hash(image.data.as_bytes()).max(1);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().position(|(other, _)| *other == id).map(|at| known.remove(at).1);
        let picture = found.unwrap_or_else(|| made(id, image).map(Arc::new));
        known.push((id, picture.clone()));
        let bytes = |known: &[(u32, Option<Arc<Picture>>)]| -> usize {
            known.iter().map(|(_, picture)| picture.as_ref().map_or(64, |picture| picture.png.len())).sum()
        };
        while known.len() > 1 && bytes(&known) > KEPT {
            known.remove(0);
        }
        picture
    }
}

fn made(id: u32, image: &ImageBlock) -> Option<Picture> {
    let preview = preview(STANDARD.decode(&image.data).ok()?, SIDE)?;
    let png = STANDARD.encode(&preview.png).into_boxed_str();
    Some(Picture { id, png, size: preview.size, original: preview.original })
}

/// Columns and rows of a picture of these pixels: as many as it needs, `most` columns at most, in its own shape.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
fn cells((width, height): (u32, u32), (cell_width, cell_height): (u16, u16), most: u16) -> (u16, u16) {
    let shape = f64::from(height) * f64::from(cell_width) / (f64::from(width) * f64::from(cell_height));
    let natural = (f64::from(width) / f64::from(cell_width)).ceil();
    // Rows for each column are `shape`.
    let columns = natural.min(f64::from(most)).min(f64::from(MOST_ROWS) / shape).round().clamp(1.0, f64::from(most));
    let rows = (columns * shape).round().clamp(1.0, f64::from(MOST_ROWS));
    (columns as u16, rows as u16)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A picture file.
    fn image(width: u32, height: u32, format: image::ImageFormat) -> ImageBlock {
        let mut file = Cursor::new(Vec::new());
        image::DynamicImage::new_rgb8(width, height).write_to(&mut file, format).unwrap();
        ImageBlock { data: STANDARD.encode(file.into_inner()), mime_type: "image/x".into() }
    }

    #[test]
    fn a_picture_keeps_its_shape_in_cells_of_any_size() {
        for (pixels, cell, most, expected) in [
            ((800, 600), (8, 16), 60, (60, 23)),
            ((80, 32), (8, 16), 60, (10, 2)),
            ((80, 32), (16, 32), 60, (5, 1)),
            ((1000, 10), (8, 16), 60, (60, 1)),
            ((10, 10_000), (8, 16), 60, (1, 24)),
            ((600, 1200), (10, 20), 60, (24, 24)),
            ((1, 1), (8, 16), 60, (1, 1)),
            ((800, 600), (8, 16), 1, (1, 1)),
        ] {
            assert_eq!(cells(pixels, cell, most), expected, "{pixels:?} {cell:?} {most}");
        }
    }

    #[test]
    fn a_picture_is_rows_of_blanks_that_say_what_belongs_there() {
        let pictures = Pictures { possible: true, columns: 60, ..Pictures::default() };
        let block = image(80, 32, image::ImageFormat::Jpeg);
        let rows = pictures.rows(&block, 40, Style::new());
        assert_eq!(rows.iter().map(StyledLine::text).collect::<Vec<_>>(), [" ".repeat(10), " ".repeat(10)]);
        let part = |row: usize| rows[row].spans[0].picture.clone().unwrap();
        assert_eq!((part(0).row, part(1).row, part(1).rows), (0, 1, 2));
        assert_eq!(part(0).picture.size, (80, 32));
        let again = pictures.rows(&block, 5, Style::new());
        let same = again[0].spans[0].picture.clone().unwrap();
        assert!(Arc::ptr_eq(&same.picture, &part(0).picture) && same.columns == 5, "it is made once");
    }

    #[test]
    fn what_is_no_picture_has_no_rows_and_old_ones_are_let_go() {
        let pictures = Pictures { possible: true, columns: 60, ..Pictures::default() };
        for data in ["", "!!", "aGVsbG8="] {
            let block = ImageBlock { data: data.into(), mime_type: "image/png".into() };
            assert_eq!(pictures.rows(&block, 60, Style::new()), [], "{data}");
        }
        let big = "x".repeat(KEPT);
        let huge = Picture { id: 7, png: big.into(), size: (1, 1), original: (1, 1) };
        pictures.known.lock().unwrap().push((7, Some(Arc::new(huge))));
        assert_eq!(pictures.rows(&image(8, 8, image::ImageFormat::Png), 60, Style::new()).len(), 1);
        assert_eq!(pictures.known.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_size_of_nothing_is_none() {
        let mut pictures = Pictures::default();
        assert!(!pictures.set_cell(0, 10) && !pictures.set_cell(8, 16) && pictures.set_cell(9, 18));
        assert_eq!(pictures.layout(), (0, (9, 18)));
    }
}
