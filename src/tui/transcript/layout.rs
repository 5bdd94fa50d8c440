//! An item as lines, and the lines that are kept.

use std::{collections::HashMap, ops::Range, path::Path, sync::Arc};

use ratatui::style::Modifier;

use super::{Transcript, entry, item::Item};
use crate::{
    protocol::event::NoticeLevel,
    resources::markup::markdown::Document,
    tui::{
        settings::ScreenSettings,
        text::{MarkdownOptions, StyledLine, markdown, plain},
        theme::{Theme, ThemeColor},
        view::header::StartView,
    },
};

/// Items whose lines are kept at most. A screen shows far fewer.
const KEPT: usize = 512;

/// What lines depend on beside the item.
pub struct LayoutContext<'m> {
    /// Columns.
    pub width: usize,
    /// Colours.
    pub theme: &'m Theme,
    /// Settings.
    pub settings: &'m ScreenSettings,
    /// The keys that show tool output whole.
    pub expand_key: &'m str,
    /// The folder that paths are relative to.
    pub cwd: &'m Path,
    /// The user's home folder.
    pub home: Option<&'m Path>,
    /// Milliseconds since the screen began.
    pub now: u64,
    /// The start page.
    pub header: &'m StartView<'m>,
}

impl LayoutContext<'_> {
    /// Columns between the margins.
    #[must_use]
    pub fn inner(&self) -> usize {
        self.width.saturating_sub(2 * self.margin()).max(1)
    }

    /// Columns of a margin; none where there is no room.
    #[must_use]
    pub fn margin(&self) -> usize {
        if self.width < 12 { 0 } else { usize::from(self.settings.output_pad) }
    }

    /// How thinking is drawn.
    #[must_use]
    pub fn thinking_options(&self) -> MarkdownOptions {
        let style = self.theme.fg(ThemeColor::ThinkingText).add_modifier(Modifier::ITALIC);
        MarkdownOptions { text: Some(style), ..self.markdown_options() }
    }

    /// How markdown is drawn.
    #[must_use]
    pub fn markdown_options(&self) -> MarkdownOptions {
        MarkdownOptions { code_block_indent: self.settings.code_indent.clone(), ..MarkdownOptions::default() }
    }

    /// A message in markdown, as lines between the margins.
    #[must_use]
    pub fn markdown(&self, text: &str) -> Vec<StyledLine> {
        markdown(&Document::parse(text), self.inner(), self.theme, &self.markdown_options())
    }

    /// The lines between the margins.
    #[must_use]
    pub fn with_margin(&self, lines: Vec<StyledLine>) -> Vec<StyledLine> {
        let margin = " ".repeat(self.margin());
        let pad = |mut line: StyledLine| {
            if !margin.is_empty() {
                line.spans.insert(0, crate::tui::text::StyledSpan::new(margin.clone(), ratatui::style::Style::new()));
            }
            line
        };
        lines.into_iter().map(pad).collect()
    }
}

/// Lines of items.
#[derive(Default)]
pub struct LayoutCache {
    width: usize,
    theme: String,
    lines: HashMap<usize, Arc<Vec<StyledLine>>>,
}

impl LayoutCache {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.lines.clear();
    }

    /// Forgets the items from `first` on.
    pub fn forget_from(&mut self, first: usize) {
        self.lines.retain(|item, _| *item < first);
    }

    fn fit(&mut self, context: &LayoutContext<'_>) {
        if self.width != context.width || self.theme != context.theme.name {
            self.clear();
            self.width = context.width;
            self.theme.clone_from(&context.theme.name);
        }
    }

    fn keep(&mut self, item: usize, lines: &Arc<Vec<StyledLine>>) {
        if self.lines.len() >= KEPT {
            self.lines.retain(|known, _| known.abs_diff(item) < KEPT / 4);
        }
        self.lines.insert(item, lines.clone());
    }
}

impl Transcript {
    /// Items, and the blocks that run behind them.
    #[must_use]
    pub fn count(&self) -> usize {
        self.items.len() + self.live.count()
    }

    /// How many lines an item has, or a block that runs. Most begin with a blank line that parts them from the one
    /// before.
    pub fn rows_of(&mut self, at: usize, context: &LayoutContext<'_>) -> usize {
        match at.checked_sub(self.items.len()) {
            Some(block) => self.live.rows(block, self.shows_thinking(context), context),
            None => self.lines_of(at, context).len(),
        }
    }

    /// Some of its lines. Of a long answer that streams in no more is touched than these.
    pub fn lines_between(&mut self, at: usize, range: Range<usize>, context: &LayoutContext<'_>) -> Vec<StyledLine> {
        match at.checked_sub(self.items.len()) {
            Some(block) => self.live.lines(block, range, self.shows_thinking(context), context),
            None => self.lines_of(at, context).get(range).unwrap_or_default().to_vec(),
        }
    }

    /// The lines of an item.
    fn lines_of(&mut self, at: usize, context: &LayoutContext<'_>) -> Arc<Vec<StyledLine>> {
        self.cache.fit(context);
        if let Some(lines) = self.cache.lines.get(&at) {
            return lines.clone();
        }
        let lines = match &self.items[at] {
            Item::Header => context.header.lines(context.width, context.theme),
            Item::Notice(notice) => notice_lines(notice.level, &notice.text, context),
            Item::Entry(position) => entry::lines(self, at, *position, context),
        };
        let lines = Arc::new(lines);
        // Timers of running calls are in the lines.
        if !matches!(self.items[at], Item::Header) && !(self.live.is_moving() && at >= self.live_from()) {
            self.cache.keep(at, &lines);
        }
        lines
    }

    /// The first item whose lines may show what runs.
    fn live_from(&self) -> usize {
        if self.live.calls.is_empty() { self.items.len() } else { self.last_answer() }
    }

    /// Whether thinking is shown whole.
    #[must_use]
    pub fn shows_thinking(&self, context: &LayoutContext<'_>) -> bool {
        context.settings.hide_thinking == self.thinking_toggled
    }
}

/// A notice as lines.
#[must_use]
pub fn notice_lines(level: NoticeLevel, text: &str, context: &LayoutContext<'_>) -> Vec<StyledLine> {
    let (color, lead) = match level {
        NoticeLevel::Info => (ThemeColor::Muted, ""),
        NoticeLevel::Warning => (ThemeColor::Warning, "Warning: "),
        NoticeLevel::Error => (ThemeColor::Error, "Error: "),
    };
    let lead = if text.starts_with(lead.trim_end()) { "" } else { lead };
    let mut lines = vec![StyledLine::default()];
    let body = plain(&format!("{lead}{text}"), context.inner(), context.theme.fg(color));
    lines.extend(context.with_margin(body));
    lines
}
