//! Bytes that draw: moves, styles and links, each written only where it changes something.

use std::{fmt::Write as _, sync::Arc};

use crossterm::{Command, cursor::MoveTo};
use ratatui::style::Style;

use super::{capabilities::Capabilities, modes, sgr::Pen};
use crate::tui::theme::ColorLevel;

/// Bytes of a link's target that terminals take. A longer one is no link.
const LONGEST_LINK: usize = 2083;

/// What was written, and what state it leaves the terminal in.
#[derive(Debug)]
pub(super) struct Ink {
    text: String,
    pen: Pen,
    link: Option<Arc<str>>,
    colors: ColorLevel,
    hyperlinks: bool,
}

impl Ink {
    /// Nothing yet, on a terminal in its default style.
    pub fn new(capabilities: &Capabilities) -> Self {
        Self {
            text: String::new(),
            pen: Pen::default(),
            link: None,
            colors: capabilities.colors,
            hyperlinks: capabilities.hyperlinks,
        }
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Writes what is no style and no link: a move, an erasure.
    pub fn raw(&mut self, sequence: &str) {
        self.text.push_str(sequence);
    }

    /// Writes a command that is no style and no link.
    pub fn command(&mut self, command: impl Command) {
        modes::command(&mut self.text, command);
    }

    /// Writes a sequence with a number, which is left out when it is 1: `CSI number letter`.
    pub fn control(&mut self, number: u16, letter: char) {
        let _ = match number {
            1 => write!(self.text, "\x1b[{letter}"),
            _ => write!(self.text, "\x1b[{number}{letter}"),
        };
    }

    /// Moves the cursor to a cell, from 0.
    pub fn place(&mut self, column: u16, row: u16) {
        match (column, row) {
            // Shorter than what the command writes.
            (0, 0) => self.text.push_str("\x1b[H"),
            (0, _) => {
                let _ = write!(self.text, "\x1b[{}H", row + 1);
            }
            _ => self.command(MoveTo(column, row)),
        }
    }

    /// The pen that a style needs.
    pub fn pen_of(&self, style: Style) -> Pen {
        Pen::of(style, self.colors)
    }

    /// The pen as it is.
    pub fn pen(&self) -> Pen {
        self.pen
    }

    /// Whether the link is that one.
    pub fn has_link(&self, link: Option<&Arc<str>>) -> bool {
        !self.hyperlinks || self.link.as_ref() == link
    }

    /// Writes text in a style, which leads somewhere or nowhere.
    pub fn write(&mut self, text: &str, pen: Pen, link: Option<&Arc<str>>) {
        self.style(pen, link);
        self.text.push_str(text);
    }

    /// Back to the default style.
    pub fn plain(&mut self) {
        self.style(Pen::default(), None);
    }

    fn style(&mut self, pen: Pen, link: Option<&Arc<str>>) {
        if !self.has_link(link) {
            let target = link.map(|link| target(link)).unwrap_or_default();
            let _ = write!(self.text, "\x1b]8;;{target}\x1b\\");
            self.link = link.cloned();
        }
        self.pen.change(pen, &mut self.text);
    }

    /// What was written, in the default style at its end.
    pub fn finish(mut self) -> String {
        self.plain();
        self.text
    }
}

/// A link's target with nothing in it that ends the sequence: what is not printable ASCII is percent-coded.
fn target(link: &str) -> String {
    if link.len() > LONGEST_LINK {
        return String::new();
    }
    let mut target = String::with_capacity(link.len());
    for byte in link.bytes() {
        match byte {
            0x21..0x7f => target.push(char::from(byte)),
            _ => {
                let _ = write!(target, "%{byte:02X}");
            }
        }
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fc_064_a_target_holds_nothing_that_ends_its_sequence() {
        for (link, expected) in [
            ("https://example.org/a;b?c#d", "https://example.org/a;b?c#d"),
            ("http://x/\x1b\\\x1b]0;PWNED\x07", "http://x/%1B\\%1B]0;PWNED%07"),
            ("http://x/ä b\u{9c}", "http://x/%C3%A4%20b%C2%9C"),
            (&*"x".repeat(3000), ""),
        ] {
            assert_eq!(target(link), expected);
        }
    }
}
