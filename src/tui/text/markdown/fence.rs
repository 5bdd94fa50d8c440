//! Code whose end has not come yet.

use super::{super::StyledLine, Layout, highlighter};
use crate::resources::markup::Highlighter;

/// A fence that is open, and what its lines need.
#[derive(Clone, Debug)]
pub(in super::super) struct Fence {
    mark: char,
    length: usize,
    highlighter: Option<Highlighter>,
}

impl Fence {
    /// The fence that the first line of a block of code is, when it stands at the beginning of the line: what an indented
    /// one means for its lines is left to the reader of markdown. `info` are the words behind it.
    pub(in super::super) fn opened_by(block: &str, info: &str) -> Option<Self> {
        let mark = block.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let length = length_of(block, mark);
        (length >= 3).then(|| Self { mark, length, highlighter: highlighter(info) })
    }

    /// Whether the line is its end.
    pub(in super::super) fn is_closed_by(&self, line: &str) -> bool {
        let indent = indent_of(line);
        let length = length_of(&line[indent..], self.mark);
        indent < 4 && length >= self.length && line[indent + length..].trim_matches([' ', '\t']).is_empty()
    }

    /// The rows of the next line of code.
    pub(in super::super) fn line(&mut self, line: &str, layout: &Layout<'_>, width: usize) -> Vec<StyledLine> {
        layout.code_line(line, self.highlighter.as_mut(), width)
    }
}

/// Blanks that the text begins with.
fn indent_of(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

/// Marks that the text begins with.
fn length_of(text: &str, mark: char) -> usize {
    text.len() - text.trim_start_matches(mark).len()
}
