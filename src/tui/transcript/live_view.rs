//! What runs, as lines.

use std::ops::Range;

use serde_json::Value;

use super::{
    answer::{CallState, call_lines, hidden_thinking},
    bash::{BashView, end_of},
    layout::{LayoutContext, Shown},
    lines::parted,
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
    pub(super) fn rows(&mut self, at: usize, shown: Shown, context: &LayoutContext<'_>) -> usize {
        match self.text_of(at, shown, context) {
            Some((text, options)) => match text.lines(context.inner(), context.theme, &options).len() {
                0 => 0,
                rows => rows + 1,
            },
            None => self.other_lines(at, shown, context).len(),
        }
    }

    /// Some of its lines.
    pub(super) fn lines(
        &mut self,
        at: usize,
        range: Range<usize>,
        shown: Shown,
        context: &LayoutContext<'_>,
    ) -> Vec<StyledLine> {
        let Some((text, options)) = self.text_of(at, shown, context) else {
            return self.other_lines(at, shown, context).get(range).unwrap_or_default().to_vec();
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
        shown: Shown,
        context: &LayoutContext<'_>,
    ) -> Option<(&mut StreamingMarkdown, MarkdownOptions)> {
        match self.message.as_mut()?.blocks.get_mut(at)? {
            LiveBlock::Text(text) => Some((text, context.markdown_options())),
            LiveBlock::Thinking(text) if shown.thinking => Some((text, context.thinking_options())),
            _ => None,
        }
    }

    /// The lines of a block that is no text that is shown.
    fn other_lines(&mut self, at: usize, shown: Shown, context: &LayoutContext<'_>) -> Vec<StyledLine> {
        let blocks = self.blocks();
        let Some(message) = self.message.as_mut().filter(|_| at < blocks) else {
            let command = self.commands.get(at.saturating_sub(blocks));
            return command.map_or_else(Vec::new, |command| command.lines(shown.expanded, context));
        };
        let is_thought =
            |block: &LiveBlock| matches!(block, LiveBlock::Thinking(text) if !text.text().trim().is_empty());
        let says_hidden = message.blocks[..at].iter().any(is_thought);
        match &mut message.blocks[at] {
            block @ LiveBlock::Thinking(_) if is_thought(block) && !says_hidden => parted(hidden_thinking(context)),
            // Only what is near its end is shown while it is written.
            LiveBlock::Call { name, raw, arguments } => match arguments.read(raw) {
                Value::Object(arguments) => parted(call_lines(name, arguments, CallState::Writing, false, context)),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }
}

impl LiveCommand {
    fn lines(&self, expanded: bool, context: &LayoutContext<'_>) -> Vec<StyledLine> {
        let (end, failed) = match &self.ended {
            None => ("Running... (escape to cancel)".to_owned(), false),
            Some(result) => end_of(result.cancelled, result.exit_code),
        };
        let full_output = self.ended.as_ref().and_then(|result| result.full_output_path.as_deref());
        let view = BashView {
            command: &self.command,
            output: &self.output,
            excluded: self.excluded,
            end,
            failed,
            full_output,
        };
        view.lines(expanded, context)
    }
}
