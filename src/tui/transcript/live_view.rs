//! What runs, as lines.

use std::ops::Range;

use serde_json::Value;

use super::{
    entry::{BashView, CallState, bash_lines, call_lines, end_of, hidden_thinking},
    layout::LayoutContext,
    live::{Live, LiveBlock, LiveCommand},
};
use crate::tui::text::{MarkdownOptions, StreamingMarkdown, StyledLine};

impl Live {
    /// Blocks of the streaming answer, and commands.
    #[must_use]
    pub fn count(&self) -> usize {
        self.blocks() + self.commands.len()
    }

    fn blocks(&self) -> usize {
        self.message.as_ref().map_or(0, |message| message.blocks.len())
    }

    /// How many lines a block has.
    pub(super) fn rows(&mut self, at: usize, thinking: bool, context: &LayoutContext<'_>) -> usize {
        match self.text_of(at, thinking, context) {
            Some((text, options)) => parted(text.lines(context.inner(), context.theme, &options).len()),
            None => self.other_lines(at, context).len(),
        }
    }

    /// Some of its lines.
    pub(super) fn lines(
        &mut self,
        at: usize,
        range: Range<usize>,
        thinking: bool,
        context: &LayoutContext<'_>,
    ) -> Vec<StyledLine> {
        let Some((text, options)) = self.text_of(at, thinking, context) else {
            return self.other_lines(at, context).get(range).unwrap_or_default().to_vec();
        };
        let lines = text.lines(context.inner(), context.theme, &options);
        let blank = (range.start == 0 && !range.is_empty()).then(StyledLine::default);
        let body = range.start.saturating_sub(1)..range.end.saturating_sub(1);
        let body = lines.get(body).unwrap_or_default().to_vec();
        blank.into_iter().chain(context.with_margin(body)).collect()
    }

    /// The text of a block that grows, and how it is drawn; none for anything else.
    fn text_of(
        &mut self,
        at: usize,
        thinking: bool,
        context: &LayoutContext<'_>,
    ) -> Option<(&mut StreamingMarkdown, MarkdownOptions)> {
        match self.message.as_mut()?.blocks.get_mut(at)? {
            LiveBlock::Text(text) => Some((text, context.markdown_options())),
            LiveBlock::Thinking(text) if thinking => Some((text, context.thinking_options())),
            _ => None,
        }
    }

    fn other_lines(&mut self, at: usize, context: &LayoutContext<'_>) -> Vec<StyledLine> {
        let blocks = self.blocks();
        let body = match self.message.as_mut().and_then(|message| message.blocks.get_mut(at)) {
            Some(LiveBlock::Thinking(_)) => hidden_thinking(context),
            Some(LiveBlock::Call { name, raw, arguments }) => match arguments.read(raw) {
                Value::Object(arguments) => call_lines(name, arguments, CallState::Writing, false, context),
                _ => Vec::new(),
            },
            Some(_) => Vec::new(),
            None => match self.commands.get(at.saturating_sub(blocks)) {
                Some(command) => return command.lines(context),
                None => Vec::new(),
            },
        };
        if body.is_empty() { body } else { std::iter::once(StyledLine::default()).chain(body).collect() }
    }
}

/// Lines with the blank one before them.
fn parted(lines: usize) -> usize {
    if lines == 0 { 0 } else { lines + 1 }
}

impl LiveCommand {
    fn lines(&self, context: &LayoutContext<'_>) -> Vec<StyledLine> {
        let (end, failed) = match &self.ended {
            None => ("Running... (escape to cancel)".to_owned(), false),
            Some(result) => end_of(result.cancelled, result.exit_code),
        };
        let view = BashView {
            command: &self.command,
            output: &self.output,
            excluded: self.excluded,
            end: Some(end),
            failed,
            full_output: None,
        };
        bash_lines(&view, false, context)
    }
}
