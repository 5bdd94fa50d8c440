//! A text with pasted blocks in it.

use std::{ops::Range, sync::Arc};

use memchr::memchr_iter;
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};

/// A pasted block: a marker stands in the text for it, as one character that cannot be entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where its marker is.
    pub range: Range<usize>,
    /// What was pasted.
    pub content: Arc<str>,
}

impl Block {
    fn moved(&self, by: impl Fn(usize) -> usize) -> Self {
        Self { range: by(self.range.start)..by(self.range.end), content: Arc::clone(&self.content) }
    }
}

/// A piece of text on its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fragment {
    string: String,
    /// By place; none overlaps another.
    blocks: Vec<Block>,
}

impl Fragment {
    /// A marker that stands for `content`.
    #[must_use]
    pub fn block(marker: String, content: impl Into<Arc<str>>) -> Self {
        let range = 0..marker.len();
        Self { string: marker, blocks: vec![Block { range, content: content.into() }] }
    }

    /// Bytes that it takes in the text.
    #[must_use]
    pub fn len(&self) -> usize {
        self.string.len()
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.string.is_empty()
    }

    /// Whether it is one marker.
    #[must_use]
    pub fn is_block(&self) -> bool {
        matches!(self.blocks.as_slice(), [block] if block.range.len() == self.len())
    }

    /// How many markers are in it.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Its text, with markers.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.string
    }

    /// This and then `other`.
    #[must_use]
    pub fn followed_by(mut self, other: &Self) -> Self {
        let by = self.len();
        self.string.push_str(&other.string);
        self.blocks.extend(other.blocks.iter().map(|block| block.moved(|at| at + by)));
        self
    }

    /// Its text with the blocks in the place of their markers.
    #[must_use]
    pub fn expanded(&self) -> String {
        let mut out = String::with_capacity(self.string.len());
        let mut from = 0;
        for block in &self.blocks {
            out.push_str(&self.string[from..block.range.start]);
            out.push_str(&block.content);
            from = block.range.end;
        }
        out.push_str(&self.string[from..]);
        out
    }
}

impl From<&str> for Fragment {
    fn from(text: &str) -> Self {
        Self { string: text.to_owned(), blocks: Vec::new() }
    }
}

/// The whole text: a string, where its lines start, and its blocks. It is changed by [`Text::replace`] alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    whole: Fragment,
    /// The offsets at which lines start: the first is 0.
    starts: Vec<usize>,
}

impl Default for Text {
    fn default() -> Self {
        Self { whole: Fragment::default(), starts: vec![0] }
    }
}

impl Text {
    /// With markers.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.whole.string
    }

    /// All of it.
    #[must_use]
    pub fn whole(&self) -> &Fragment {
        &self.whole
    }

    /// Bytes, with markers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.whole.len()
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty()
    }

    /// A copy of a part. Its ends are at the edges of characters.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Fragment {
        let blocks = self.blocks_in(&range);
        let blocks = self.whole.blocks[blocks].iter().map(|block| block.moved(|at| at - range.start)).collect();
        Fragment { string: self.whole.string[range].to_owned(), blocks }
    }

    /// Puts `with` into the place of `range`, whose ends are not inside a character or marker, and gives what was there.
    pub fn replace(&mut self, range: Range<usize>, with: &Fragment) -> Fragment {
        let was = self.part(range.clone());
        let behind = |at: usize| at - range.len() + with.len();

        let gone =
            self.starts.partition_point(|at| *at <= range.start)..self.starts.partition_point(|at| *at <= range.end);
        self.starts[gone.end..].iter_mut().for_each(|at| *at = behind(*at));
        self.starts.splice(gone, memchr_iter(b'\n', with.string.as_bytes()).map(|at| range.start + at + 1));

        let gone = self.blocks_in(&range);
        self.whole.blocks[gone.end..].iter_mut().for_each(|block| *block = block.moved(behind));
        self.whole.blocks.splice(gone, with.blocks.iter().map(|block| block.moved(|at| at + range.start)));

        self.whole.string.replace_range(range, &with.string);
        was
    }

    /// Which blocks have their markers in a range. An empty range has none.
    fn blocks_in(&self, range: &Range<usize>) -> Range<usize> {
        let first = self.whole.blocks.partition_point(|block| block.range.end <= range.start);
        let end = self.whole.blocks.partition_point(|block| block.range.start < range.end);
        first..end.max(first)
    }

    /// The blocks whose markers touch a range, by place.
    pub fn blocks(&self, range: &Range<usize>) -> &[Block] {
        &self.whole.blocks[self.blocks_in(range)]
    }

    /// The block whose marker an offset is inside.
    #[must_use]
    pub fn block_around(&self, at: usize) -> Option<&Block> {
        self.neighbours(at).1.filter(|block| block.range.start < at)
    }

    /// How many lines; at least 1.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.starts.len()
    }

    /// The line that holds an offset, from 0.
    #[must_use]
    pub fn line_of(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at) - 1
    }

    /// Where a line is, without its newline.
    #[must_use]
    pub fn line(&self, line: usize) -> Range<usize> {
        let end = self.starts.get(line + 1).map_or(self.len(), |next| next - 1);
        self.starts[line]..end
    }

    /// The edge of a character that follows an edge; at the end it stays.
    #[must_use]
    pub fn next(&self, at: usize) -> usize {
        let Some(rest) = self.as_str().get(at..) else { return self.len() };
        if rest.starts_with('\n') {
            return at + 1;
        }
        let (before, behind) = self.neighbours(at);
        match behind {
            Some(block) if block.range.start == at => block.range.end,
            _ => {
                let end = self.plain(at, before, behind).end;
                at + self.as_str()[at..end].graphemes(true).next().map_or(0, str::len)
            }
        }
    }

    /// The edge of a character before an edge; at the start it stays.
    #[must_use]
    pub fn previous(&self, at: usize) -> usize {
        if self.as_str()[..at].ends_with('\n') {
            return at - 1;
        }
        let (before, behind) = self.neighbours(at);
        match before {
            Some(block) if block.range.end == at => block.range.start,
            _ => {
                let plain = self.plain(at, before, behind);
                at - self.as_str()[plain.start..at].graphemes(true).next_back().map_or(0, str::len)
            }
        }
    }

    /// `at` if it is the edge of a character, or else the edge behind it.
    #[must_use]
    pub fn edge(&self, at: usize) -> usize {
        let at = at.min(self.len());
        let at = (at..self.len()).find(|at| self.as_str().is_char_boundary(*at)).unwrap_or(self.len());
        if let Some(block) = self.block_around(at) {
            return block.range.end;
        }
        let (before, behind) = self.neighbours(at);
        let plain = self.plain(at, before, behind);
        if at == plain.start || at == plain.end {
            return at;
        }
        let text = &self.as_str()[plain.clone()];
        let mut cursor = GraphemeCursor::new(at - plain.start, text.len(), true);
        match cursor.is_boundary(text, 0) {
            Ok(true) => at,
            _ => cursor.next_boundary(text, 0).ok().flatten().map_or(plain.end, |edge| plain.start + edge),
        }
    }

    /// The last block that ends at an offset or before it, and the first that ends behind it.
    fn neighbours(&self, at: usize) -> (Option<&Block>, Option<&Block>) {
        let next = self.whole.blocks.partition_point(|block| block.range.end <= at);
        (next.checked_sub(1).map(|before| &self.whole.blocks[before]), self.whole.blocks.get(next))
    }

    /// The text around an offset up to the next newline or block on either side.
    fn plain(&self, at: usize, before: Option<&Block>, behind: Option<&Block>) -> Range<usize> {
        let line = self.line(self.line_of(at));
        let start = before.map_or(line.start, |block| block.range.end.max(line.start));
        let end = behind.map_or(line.end, |block| block.range.start.min(line.end));
        start..end
    }
}
