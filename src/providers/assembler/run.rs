//! Blocks of APIs that send pieces and say nothing of blocks: pieces of one kind in a row make one.

use super::Assembler;

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Thinking,
}

/// The block that the next piece of its kind is added to, and its place.
#[derive(Debug, Default)]
pub(crate) struct Run(Option<(Kind, usize)>);

impl Run {
    /// Adds a piece, which may be empty, to the open block or to a new one; gives the place.
    pub(crate) fn add(&mut self, kind: Kind, text: &str, out: &mut Assembler) -> usize {
        let place = match self.0 {
            Some((open, place)) if open == kind => place,
            _ => self.open(kind, out),
        };
        match kind {
            _ if text.is_empty() => {}
            Kind::Text => out.text_delta(place, text),
            Kind::Thinking => out.thinking_delta(place, text),
        }
        place
    }

    fn open(&mut self, kind: Kind, out: &mut Assembler) -> usize {
        self.close(out);
        let place = match kind {
            Kind::Text => out.text_start(),
            Kind::Thinking => out.thinking_start(),
        };
        self.0 = Some((kind, place));
        place
    }

    /// Something else begins: ends the block, if one is open.
    pub(crate) fn close(&mut self, out: &mut Assembler) {
        if let Some((_, place)) = self.0.take() {
            out.end_block(place);
        }
    }
}
