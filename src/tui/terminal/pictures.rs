//! Pictures on the screen: by kitty's protocol and by iTerm2's.
//!
//! A frame says which pictures show where. Here that becomes bytes. kitty's terminals are given each picture once and told
//! where to place which part of it; iTerm2 is given it anew wherever it shows, and only whole.

use std::{fmt::Write as _, sync::Arc};

use crossterm::cursor::MoveTo;
use ratatui::layout::Rect;

use super::{Images, modes::command};
use crate::tui::{
    picture::{Picture, PictureRow},
    text::{StyledLine, width_of},
};

/// Has kitty's terminals forget all pictures.
pub(super) const FORGET: &str = "\x1b_Ga=d,d=A,q=2\x1b\\";
/// The same for where they are shown only.
const HIDE: &str = "\x1b_Ga=d,d=a,q=2\x1b\\";
/// Bytes in a sequence at most, as the protocol wants it.
const CHUNK: usize = 4096;
/// Bytes of pictures that a terminal is left with at most.
const LEFT: usize = 32 << 20;

/// Rows of a picture on the screen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placement {
    picture: Arc<Picture>,
    /// Rows of the whole picture.
    rows: u16,
    /// The first of them that shows.
    from: u16,
    /// The cells where it shows.
    area: Rect,
}

impl Placement {
    /// A row of a picture at a cell.
    pub fn of(part: &PictureRow, x: u16, y: u16) -> Self {
        let area = Rect::new(x, y, part.columns, 1);
        Self { picture: part.picture.clone(), rows: part.rows, from: part.row, area }
    }

    /// Takes in the row below it; false when `other` is not that.
    pub fn join(&mut self, other: &Self) -> bool {
        let below = Self { from: self.from + self.area.height, ..self.clone() };
        let area = Rect { y: self.area.bottom(), height: 1, ..self.area };
        let is_next = below.picture == other.picture && below.from == other.from && area == other.area;
        self.area.height += u16::from(is_next);
        is_next
    }

    /// The cells where it shows.
    pub fn area(&self) -> Rect {
        self.area
    }

    fn is_whole(&self) -> bool {
        self.area.height == self.rows
    }

    /// The first row of pixels that shows, and how many do.
    fn pixels(&self) -> (u32, u32) {
        let at = |row: u16| u64::from(self.picture.size.1) * u64::from(row) / u64::from(self.rows.max(1));
        let (top, bottom) = (at(self.from), at(self.from + self.area.height));
        let small = |pixels: u64| u32::try_from(pixels).unwrap_or(u32::MAX);
        (small(top), small(bottom - top).max(1))
    }

    /// Has kitty's terminals show it where the cursor is: the `number`th of this picture.
    fn place(&self, number: usize, out: &mut String) {
        let Rect { width, height, .. } = self.area;
        let _ = write!(out, "\x1b_Ga=p,i={},p={number},", self.picture.id);
        if !self.is_whole() {
            let (top, pixels) = self.pixels();
            let _ = write!(out, "y={top},h={pixels},");
        }
        let _ = write!(out, "c={width},r={height},C=1,q=2\x1b\\");
    }

    /// Gives it to iTerm2, which shows it where the cursor is.
    fn draw(&self, out: &mut String) {
        let Rect { width, height, .. } = self.area;
        let _ = write!(out, "\x1b]1337;File=inline=1;width={width};height={height};");
        let _ = write!(out, "preserveAspectRatio=0;doNotMoveCursor=1:{}\x07", self.picture.png);
    }
}

/// Gives a picture to kitty's terminals, to be placed later.
fn give(picture: &Picture, out: &mut String) {
    let mut rest: &str = &picture.png;
    let mut head = format!("a=t,f=100,i={},", picture.id);
    loop {
        let (chunk, behind) = rest.split_at(rest.len().min(CHUNK));
        rest = behind;
        let more = u8::from(!rest.is_empty());
        let _ = write!(out, "\x1b_G{head}m={more},q=2;{chunk}\x1b\\");
        head.clear();
        if rest.is_empty() {
            return;
        }
    }
}

/// What it takes to show other pictures.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Change {
    /// Bytes that show nothing yet.
    pub before: String,
    /// Bytes to be written when the text is there.
    pub behind: String,
    /// Cells in which a picture was drawn that is not there any more.
    pub gone: Vec<Rect>,
    /// No picture shows, before and after.
    pub is_bare: bool,
}

/// The pictures that the terminal has.
#[derive(Debug, Default)]
pub(super) struct Gallery {
    shown: Vec<Placement>,
    /// Numbers and bytes of those that kitty's terminals were given, the one placed last at the end.
    given: Vec<(u32, usize)>,
    /// What the terminal has of them is not known.
    is_lost: bool,
    /// The screen was erased; terminals differ in what becomes of pictures then.
    is_erased: bool,
}

impl Gallery {
    /// Nothing is known any more of what the terminal has.
    pub fn lost(self) -> Self {
        Self { is_lost: self.is_lost || !self.given.is_empty(), ..Self::default() }
    }

    /// The screen was erased.
    pub fn erased(&mut self) {
        self.is_erased |= !std::mem::take(&mut self.shown).is_empty();
    }

    /// What it takes to show `next`. `is_touched` says whether text was written within an area: what became of a picture
    /// there is not known.
    pub fn change(&mut self, next: &[Placement], images: Option<Images>, is_touched: impl Fn(Rect) -> bool) -> Change {
        if next.is_empty() && self.shown.is_empty() && !self.is_lost && !self.is_erased {
            return Change { is_bare: true, ..Change::default() };
        }
        match images {
            Some(Images::Kitty) => self.place(next, is_touched),
            Some(Images::Iterm2) => self.draw(next, is_touched),
            None => Change { is_bare: true, ..Change::default() },
        }
    }

    fn place(&mut self, next: &[Placement], is_touched: impl Fn(Rect) -> bool) -> Change {
        let mut change = Change::default();
        let is_erased = std::mem::take(&mut self.is_erased);
        if std::mem::take(&mut self.is_lost) {
            change.before.push_str(FORGET);
            self.given.clear();
        } else if is_erased {
            change.behind.push_str(HIDE);
        }
        let (before, after) = (numbered(&self.shown), numbered(next));
        for (number, placement) in &before {
            let id = placement.picture.id;
            if !after.iter().any(|(other, shown)| (*other, shown.picture.id) == (*number, id)) {
                let _ = write!(change.behind, "\x1b_Ga=d,d=i,i={id},p={number},q=2\x1b\\");
            }
        }
        for (number, placement) in &after {
            if before.contains(&(*number, *placement)) && !is_touched(placement.area) {
                continue;
            }
            take(&mut self.given, &placement.picture, &mut change.before);
            command(&mut change.behind, MoveTo(placement.area.x, placement.area.y));
            placement.place(*number, &mut change.behind);
        }
        self.let_go(next, &mut change.before);
        self.shown = next.to_vec();
        change
    }

    /// Has the terminal forget pictures that were shown long ago.
    fn let_go(&mut self, next: &[Placement], out: &mut String) {
        let mut bytes: usize = self.given.iter().map(|(_, bytes)| bytes).sum();
        self.given.retain(|(id, size)| {
            let stays = bytes <= LEFT || next.iter().any(|placement| placement.picture.id == *id);
            if !stays {
                bytes -= size;
                let _ = write!(out, "\x1b_Ga=d,d=I,i={id},q=2\x1b\\");
            }
            stays
        });
    }

    fn draw(&mut self, next: &[Placement], is_touched: impl Fn(Rect) -> bool) -> Change {
        (self.is_lost, self.is_erased) = (false, false);
        let next: Vec<_> = next.iter().filter(|placement| placement.is_whole()).cloned().collect();
        let mut change = Change::default();
        self.shown.retain(|placement| {
            let stays = next.contains(placement) && !is_touched(placement.area);
            if !stays {
                change.gone.push(placement.area);
            }
            stays
        });
        for placement in next.iter().filter(|placement| !self.shown.contains(placement)) {
            command(&mut change.behind, MoveTo(placement.area.x, placement.area.y));
            placement.draw(&mut change.behind);
        }
        self.shown = next;
        change
    }
}

/// Pictures in text that is written once and scrolls away: they go with it, and stay when the program is gone.
#[derive(Debug, Default)]
pub(super) struct Prints {
    given: Vec<(u32, usize)>,
    /// How many pictures were written.
    count: usize,
    /// Rows of a picture that were written, one below the other.
    above: Option<Placement>,
}

impl Prints {
    /// Nothing is known any more of what the terminal has.
    pub fn lost(&mut self) {
        (self.given, self.above) = (Vec::new(), None);
    }

    /// A line was written, and the cursor is at the start of the row below it. Shows the picture whose last row it is, on
    /// a screen that is higher than it.
    pub fn written(&mut self, line: &StyledLine, screen_rows: u16, images: Option<Images>, out: &mut String) {
        let before = line.spans.iter().take_while(|span| span.picture.is_none());
        let x = before.map(|span| width_of(&span.text)).sum::<usize>();
        let Some(part) = line.spans.iter().find_map(|span| span.picture.as_ref()) else {
            self.above = None;
            return;
        };
        let row = Placement::of(part, u16::try_from(x).unwrap_or(u16::MAX), part.row);
        if !self.above.as_mut().is_some_and(|above| above.join(&row)) {
            self.above = Some(row);
        }
        let whole = self.above.take_if(|above| above.is_whole() && above.rows < screen_rows);
        let (Some(whole), Some(images)) = (whole, images) else { return };
        if images == Images::Kitty {
            take(&mut self.given, &whole.picture, out);
        }
        let (x, rows) = (whole.area.x, whole.rows);
        let _ = write!(out, "\x1b[{rows}A\x1b[{}G", x + 1);
        self.count += 1;
        match images {
            Images::Kitty => whole.place(self.count, out),
            Images::Iterm2 => whole.draw(out),
        }
        let _ = write!(out, "\x1b[{rows}B\r");
    }
}

/// Notes that a picture is used, and gives it to the terminal when it does not have it.
fn take(given: &mut Vec<(u32, usize)>, picture: &Picture, out: &mut String) {
    match given.iter().position(|(id, _)| *id == picture.id) {
        Some(at) => given[at..].rotate_left(1),
        None => {
            give(picture, out);
            given.push((picture.id, picture.png.len()));
        }
    }
}

/// Which one of its picture each placement is, from 1.
fn numbered(placements: &[Placement]) -> Vec<(usize, &Placement)> {
    let number = |at: usize| placements[..=at].iter().filter(|other| other.picture == placements[at].picture).count();
    placements.iter().enumerate().map(|(at, placement)| (number(at), placement)).collect()
}

#[cfg(test)]
mod tests;
