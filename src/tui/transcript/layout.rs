//! An item as lines, and the lines that are kept.

use std::{
    collections::{HashMap, VecDeque},
    ops::Range,
    path::Path,
    sync::Arc,
};

use ratatui::style::Modifier;

use super::{
    Transcript, entry,
    item::Item,
    lines::{Lines, Settled, parted},
};
use crate::{
    protocol::event::NoticeLevel,
    resources::markup::markdown::Document,
    tui::{
        picture::Pictures,
        settings::ScreenSettings,
        text::{MarkdownOptions, StyledLine, cut, markdown, one_line, plain},
        theme::{Theme, ThemeColor},
        view::header::StartView,
    },
};

/// Items whose lines are kept at most. A screen shows far fewer.
const KEPT: usize = 512;
/// Of these, items with pictures.
const KEPT_PICTURED: usize = 8;

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
    /// Pictures, where they are shown.
    pub pictures: Option<&'m Pictures>,
}

/// How much of what runs is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    /// Thinking is shown whole.
    pub thinking: bool,
    /// Output is shown whole.
    pub expanded: bool,
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

    /// A text in one row, cut where there is no room for it. What a terminal obeys is shown by its code point.
    #[must_use]
    pub fn row(&self, text: &str, style: ratatui::style::Style) -> StyledLine {
        cut(&StyledLine::of(one_line(text), style), self.inner())
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

/// Milliseconds that the lines of something that runs are kept, unless there is news of it. What moves by itself in
/// them are whole seconds.
const MOVES_MS: u64 = 100;

/// Lines of items.
#[derive(Default)]
pub struct LayoutCache {
    made_for: Option<MadeFor>,
    lines: HashMap<usize, Kept>,
    /// What stays as it is of the answer whose calls run, and which item that is.
    pub(super) settled: (usize, Settled),
    /// Items with pictures, the newest last: megabytes may be in them.
    pictured: VecDeque<usize>,
    /// Items that were laid out so far: what frames cost.
    #[cfg(test)]
    laid_out: usize,
}

/// The lines of an item.
struct Kept {
    lines: Arc<Lines>,
    /// The time that they are good for; none when they do not change as time passes.
    at: Option<u64>,
}

/// What all lines depend on. Two themes may have one name: that of the terminal's own colours.
#[derive(Clone, PartialEq)]
struct MadeFor {
    width: usize,
    theme: Theme,
    hide_thinking: bool,
    output_pad: u16,
    code_indent: String,
    pictures: Option<(u16, (u16, u16))>,
}

impl MadeFor {
    fn is_that_of(&self, context: &LayoutContext<'_>) -> bool {
        self.width == context.width
            && self.theme == *context.theme
            && self.hide_thinking == context.settings.hide_thinking
            && self.output_pad == context.settings.output_pad
            && self.code_indent == context.settings.code_indent
            && self.pictures == context.pictures.map(Pictures::layout)
    }

    fn of(context: &LayoutContext<'_>) -> Self {
        Self {
            width: context.width,
            theme: context.theme.clone(),
            hide_thinking: context.settings.hide_thinking,
            output_pad: context.settings.output_pad,
            code_indent: context.settings.code_indent.clone(),
            pictures: context.pictures.map(Pictures::layout),
        }
    }
}

impl LayoutCache {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.settled = (0, Settled::default());
        self.pictured.clear();
    }

    /// Forgets the items from `first` on, except for the texts of answers, which never change. Costs time in what is
    /// kept, which is little.
    pub fn forget_from(&mut self, first: usize) {
        self.lines.retain(|item, _| *item < first);
    }

    fn fit(&mut self, context: &LayoutContext<'_>) {
        if !self.made_for.as_ref().is_some_and(|made_for| made_for.is_that_of(context)) {
            self.clear();
            self.made_for = Some(MadeFor::of(context));
        }
    }

    /// The lines of an item, as far as they are known and good for this time.
    pub(super) fn known(&self, item: usize, now: u64) -> Option<Arc<Lines>> {
        let kept = self.lines.get(&item)?;
        kept.at.is_none_or(|at| now < at + MOVES_MS).then(|| kept.lines.clone())
    }

    fn keep(&mut self, item: usize, lines: Arc<Lines>, at: Option<u64>) {
        if self.lines.len() >= KEPT {
            self.lines.retain(|known, _| known.abs_diff(item) < KEPT / 4);
        }
        if lines.has_pictures() {
            self.pictured.push_back(item);
            if self.pictured.len() > KEPT_PICTURED {
                self.pictured.pop_front().map(|item| self.lines.remove(&item));
            }
        }
        self.lines.insert(item, Kept { lines, at });
    }

    /// What is settled of an answer; nothing when another one was looked at last.
    fn take_settled(&mut self, item: usize) -> Settled {
        let (of, settled) = std::mem::take(&mut self.settled);
        if of == item { settled } else { Settled::default() }
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
            Some(block) => self.live.rows(block, self.shown(context), context),
            None => self.lines_of(at, context).count(),
        }
    }

    /// Some of its lines. Of a long answer that streams in no more is touched than these.
    pub fn lines_between(&mut self, at: usize, range: Range<usize>, context: &LayoutContext<'_>) -> Vec<StyledLine> {
        match at.checked_sub(self.items.len()) {
            Some(block) => self.live.lines(block, range, self.shown(context), context),
            None => self.lines_of(at, context).between(range),
        }
    }

    /// The lines of an item.
    fn lines_of(&mut self, at: usize, context: &LayoutContext<'_>) -> Arc<Lines> {
        self.cache.fit(context);
        if let Some(lines) = self.cache.known(at, context.now) {
            return lines;
        }
        #[cfg(test)]
        {
            self.cache.laid_out += 1;
        }
        // Timers of running calls are in the lines.
        let moves = self.live.is_moving() && at >= self.live_from();
        let lines = Arc::new(match &self.items[at] {
            Item::Header => context.header.lines(context.width, context.theme).into(),
            Item::Notice(notice) => notice_lines(notice.level, &notice.text, context).into(),
            Item::Entry(position) if moves => {
                let position = *position;
                let mut settled = self.cache.take_settled(at);
                let lines = entry::lines(self, at, position, &mut settled, context);
                // What follows the answer settles nothing.
                if !settled.is_empty() {
                    self.cache.settled = (at, settled);
                }
                lines
            }
            Item::Entry(position) => entry::lines(self, at, *position, &mut Settled::default(), context),
        });
        if !matches!(self.items[at], Item::Header) {
            self.cache.keep(at, lines.clone(), moves.then_some(context.now));
        }
        lines
    }

    /// Items that were laid out so far.
    #[cfg(test)]
    pub(in crate::tui) fn laid_out(&self) -> usize {
        self.cache.laid_out
    }

    /// The first item whose lines may show what runs.
    fn live_from(&self) -> usize {
        if self.live.calls.is_empty() { self.items.len() } else { self.last_answer.unwrap_or(0) }
    }

    /// Whether thinking is shown whole.
    #[must_use]
    pub fn shows_thinking(&self, context: &LayoutContext<'_>) -> bool {
        context.settings.hide_thinking == self.thinking_toggled
    }

    fn shown(&self, context: &LayoutContext<'_>) -> Shown {
        Shown { thinking: self.shows_thinking(context), expanded: self.expanded }
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
    parted(context.with_margin(plain(&format!("{lead}{text}"), context.inner(), context.theme.fg(color))))
}
