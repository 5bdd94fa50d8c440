//! Markdown that is still being written.
//!
//! What can't change any more is laid out once: every block but the last, every item but the last of a list that is
//! the last block, every complete line of code whose fence is open. Only the rest is read again when the text grows,
//! so that the cost of a frame does not depend on what came before.
//!
//! While a message is written, three things may look different from what they are in the end: links whose definitions
//! stand in another block, marks that begin and end far apart in one very long paragraph, and tables that are longer
//! than a book's chapter. [`StreamingMarkdown::finish`] makes them right.

use super::{
    StyledLine,
    markdown::{Fence, Layout, MarkdownOptions, markdown},
};
use crate::{
    resources::markup::{Document, MarkdownBlock},
    tui::theme::Theme,
};

/// Bytes of a paragraph that are read again when it grows. What is before them is taken as it is.
const PARAGRAPH: usize = 8 << 10;
/// The same of other blocks, which rarely grow so long.
const BLOCK: usize = 64 << 10;

/// A message that grows, and its rows.
#[derive(Debug, Default)]
pub struct StreamingMarkdown {
    text: String,
    is_complete: bool,
    /// For what the rows were made; none when all must be made again.
    made_for: Option<(usize, Theme, MarkdownOptions)>,
    /// Bytes of the text that the rows show.
    shown: usize,
    rows: Vec<StyledLine>,
    /// Whether the rows are those of the whole message.
    is_whole: bool,
    settled: Settled,
}

/// The beginning of the message that is laid out for good.
#[derive(Debug, Default)]
struct Settled {
    /// Bytes of the text.
    bytes: usize,
    /// Its rows.
    rows: usize,
    /// What the text behind it goes on with.
    open: Open,
    /// Bytes of the text in which no more could be settled.
    tried: usize,
    /// Its definitions of links.
    definitions: Vec<(String, String, Option<String>)>,
    /// Whether its rows may differ from those of the whole message.
    is_rough: bool,
}

/// What comes next.
#[derive(Debug, Default)]
enum Open {
    /// A block.
    #[default]
    Block,
    /// More of the block before: the next item of a list has this number.
    More(Option<u64>),
    /// Code, up to the end of its fence.
    Fence(Fence),
}

impl StreamingMarkdown {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds to the text.
    pub fn append(&mut self, delta: &str) {
        self.text.push_str(delta);
        self.is_complete = false;
        if self.is_whole {
            self.made_for = None;
        }
    }

    /// The text so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Says that the text is complete. The rows are then those of [`markdown`] for the whole text.
    pub fn finish(&mut self) {
        self.is_complete = true;
    }

    /// How many of the rows that [`StreamingMarkdown::lines`] gave last stay as they are while the text grows.
    #[must_use]
    pub fn settled_rows(&self) -> usize {
        self.settled.rows
    }

    /// The rows of at most `width` columns.
    pub fn lines(&mut self, width: usize, theme: &Theme, options: &MarkdownOptions) -> &[StyledLine] {
        let is_made = self.made_for.as_ref().is_some_and(|(w, t, o)| (*w, t, o) == (width, theme, options));
        if !is_made {
            self.made_for = Some((width, theme.clone(), options.clone()));
            self.shown = usize::MAX;
            self.is_whole = false;
            self.rows.clear();
            self.settled = Settled::default();
        }
        if self.is_complete && !self.is_whole && !self.is_exact() {
            self.rows = markdown(&Document::parse(&self.text), width, theme, options);
            self.settled.rows = self.rows.len();
            self.is_whole = true;
        } else if !self.is_whole && self.shown != self.text.len() {
            let layout = Layout::new(theme, options);
            self.rows.truncate(self.settled.rows);
            self.settle(&layout, width);
            self.settled.rows = self.rows.len();
            self.rest(&layout, width);
            self.shown = self.text.len();
            self.is_whole = self.is_complete;
        }
        &self.rows
    }

    /// Whether the rows of the pieces are those of the whole. Characters that the reader of markdown replaces or takes for
    /// the end of a line are left to it, and so are blanks at the end of code that nothing closes.
    fn is_exact(&self) -> bool {
        let no_definitions = self.settled.definitions.is_empty() && !self.text.contains("]:");
        let ends_in_code = matches!(self.settled.open, Open::Fence(_)) && self.text.ends_with([' ', '\t']);
        !self.settled.is_rough && no_definitions && !ends_in_code && !self.text.contains(['\r', '\0'])
    }

    /// Lays out for good what can't change any more.
    fn settle(&mut self, layout: &Layout<'_>, width: usize) {
        loop {
            let goes_on = match self.settled.open {
                Open::Fence(_) => self.settle_code(layout, width),
                Open::Block | Open::More(_) => self.settle_blocks(layout, width),
            };
            if !goes_on && !self.settle_long_line(layout, width) {
                return;
            }
        }
    }

    /// Settles blocks. Only complete lines say what a block is. Gives whether a fence was opened.
    fn settle_blocks(&mut self, layout: &Layout<'_>, width: usize) -> bool {
        let from = self.settled.bytes;
        let Some(length) = self.text[from..].rfind('\n').map(|at| at + 1) else { return false };
        if from + length == self.settled.tried {
            return false;
        }
        self.settled.tried = from + length;
        let head = &self.text[from..from + length];
        let (document, places) = Document::parse_with_places(head);
        let line_start = |at: usize| head[..at].rfind('\n').map_or(0, |end| end + 1);
        let Some((last, before)) = document.blocks.split_last() else { return false };
        if places.blocks.len() != document.blocks.len() {
            return false;
        }
        let last_start = line_start(places.blocks[before.len()]);
        let mut cut = 0;
        for block in before {
            self.settled.open.place(&mut self.rows, block, layout, width);
            self.settled.open = Open::Block;
            cut = last_start;
        }
        let limit = if matches!(last, MarkdownBlock::Paragraph(_)) { PARAGRAPH } else { BLOCK };
        let mut opened = false;
        match last {
            MarkdownBlock::List { start, items } if items.len() > 1 && places.items.len() == items.len() => {
                let settled = items.len() - 1;
                let start = self.settled.open.number(*start);
                let part = MarkdownBlock::List { start, items: items[..settled].to_vec() };
                self.settled.open.place(&mut self.rows, &part, layout, width);
                self.settled.open = Open::More(start.map(|start| start.saturating_add(settled as u64)));
                cut = line_start(places.items[settled]);
            }
            MarkdownBlock::Code { info, .. } => {
                if let Some(fence) = Fence::opened_by(&head[last_start..], info) {
                    self.settled.open.begin(&mut self.rows);
                    self.rows.extend(layout.fence(info, width));
                    cut = last_start + head[last_start..].find('\n').map_or(head.len() - last_start, |end| end + 1);
                    self.settled.open = Open::Fence(fence);
                    opened = true;
                }
            }
            _ if length - last_start > limit => {
                self.settled.open.place(&mut self.rows, last, layout, width);
                self.settled.open = Open::More(None);
                self.settled.is_rough = true;
                cut = length;
            }
            _ => {}
        }
        let settled = places.definitions.iter().take_while(|at| **at < cut).count();
        self.settled.definitions.extend(document.definitions.into_iter().take(settled));
        self.settled.bytes = from + cut;
        opened
    }

    /// Settles complete lines of code. Gives whether its fence was closed.
    fn settle_code(&mut self, layout: &Layout<'_>, width: usize) -> bool {
        let Open::Fence(fence) = &mut self.settled.open else { return false };
        while let Some(length) = self.text[self.settled.bytes..].find('\n') {
            let line = &self.text[self.settled.bytes..][..length];
            self.settled.bytes += length + 1;
            if fence.is_closed_by(line) {
                self.rows.extend(layout.fence("", width));
                self.settled.open = Open::Block;
                return true;
            }
            self.rows.extend(fence.line(line, layout, width));
        }
        false
    }

    /// Settles what there is of a line whose end is long in coming. Gives whether there was one.
    fn settle_long_line(&mut self, layout: &Layout<'_>, width: usize) -> bool {
        let rest = &self.text[self.settled.bytes..];
        let line = rest.rfind('\n').map_or(0, |end| end + 1);
        if rest.len() - line <= BLOCK {
            return false;
        }
        let cut = rest.rfind(' ').filter(|at| rest.len() - at < PARAGRAPH).map_or(rest.len(), |at| at + 1);
        let part = &rest[..cut];
        if let Open::Fence(fence) = &mut self.settled.open {
            self.rows.extend(fence.line(part, layout, width));
        } else {
            let document = Document::parse(part);
            for block in &document.blocks {
                self.settled.open.place(&mut self.rows, block, layout, width);
                self.settled.open = Open::Block;
            }
            self.settled.open = Open::More(None);
            self.settled.definitions.extend(document.definitions);
        }
        self.settled.bytes += cut;
        self.settled.is_rough = true;
        true
    }

    /// Lays out what may still change.
    fn rest(&mut self, layout: &Layout<'_>, width: usize) {
        let rest = &self.text[self.settled.bytes..];
        let mut definitions = self.settled.definitions.clone();
        if let Open::Fence(fence) = &self.settled.open {
            if !rest.is_empty() && !fence.is_closed_by(rest) {
                self.rows.extend(fence.clone().line(rest, layout, width));
            }
            self.rows.extend(layout.fence("", width));
        } else {
            let document = Document::parse(rest);
            let mut blocks = document.blocks.iter();
            if let Some(first) = blocks.next() {
                self.settled.open.place(&mut self.rows, first, layout, width);
            }
            blocks.for_each(|block| layout.next_block(&mut self.rows, block, width));
            definitions.extend(document.definitions);
        }
        layout.definitions(&mut self.rows, &definitions, width);
    }
}

impl Open {
    /// The number of the first item of a list that begins with `start` where it is read.
    fn number(&self, start: Option<u64>) -> Option<u64> {
        match self {
            Self::More(Some(number)) if start.is_some() => Some(*number),
            _ => start,
        }
    }

    /// An empty row before what follows, if it is a block of its own.
    fn begin(&self, rows: &mut Vec<StyledLine>) {
        if !rows.is_empty() && !matches!(self, Self::More(_)) {
            rows.push(StyledLine::default());
        }
    }

    /// Adds the rows of the next block.
    fn place(&self, rows: &mut Vec<StyledLine>, block: &MarkdownBlock, layout: &Layout<'_>, width: usize) {
        self.begin(rows);
        match block {
            MarkdownBlock::List { start, items } => rows.extend(layout.list(self.number(*start), items, width.max(1))),
            block => rows.extend(layout.block(block, width.max(1))),
        }
    }
}

#[cfg(test)]
mod tests;
