//! Markdown as lines.
//!
//! | module | what |
//! |---|---|
//! | `fence` | code whose end has not come yet |
//! | `inline` | the spans of a paragraph |
//! | `table` | tables |

use ratatui::style::{Modifier, Style};

use super::{
    StyledLine, StyledSpan,
    code::{code_line, gutter},
    one_line, width_of,
    wrap::{Hang, fold, wrap},
};
use crate::{
    resources::markup::{Document, Highlighter, Language, MarkdownBlock, Span, markdown::Item},
    tui::theme::{Theme, ThemeColor},
};

mod fence;
mod inline;
mod table;
#[cfg(test)]
mod tests;

pub(super) use fence::Fence;

/// Columns that must be left for text beside a mark, a bar or an indentation; where they are not, it stands above.
const ROOM: usize = 6;
/// The widest rule.
const WIDEST_RULE: usize = 80;

/// How markdown is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkdownOptions {
    /// What stands before lines of code (setting `markdown.codeBlockIndent`).
    pub code_block_indent: String,
    /// Whether links are links of the terminal, too. Addresses are shown as text wherever they are not the link's text.
    pub hyperlinks: bool,
    /// What plain text looks like; none: the theme's `text`.
    pub text: Option<Style>,
}

impl Default for MarkdownOptions {
    fn default() -> Self {
        Self { code_block_indent: "  ".into(), hyperlinks: true, text: None }
    }
}

/// A message in rows of at most `width` columns.
#[must_use]
pub fn markdown(document: &Document, width: usize, theme: &Theme, options: &MarkdownOptions) -> Vec<StyledLine> {
    let layout = Layout::new(theme, options);
    let mut rows = Vec::new();
    for block in &document.blocks {
        layout.next_block(&mut rows, block, width);
    }
    layout.definitions(&mut rows, &document.definitions, width);
    rows
}

/// What all blocks of a message share.
pub(super) struct Layout<'a> {
    theme: &'a Theme,
    options: &'a MarkdownOptions,
    text: Style,
}

impl<'a> Layout<'a> {
    pub(super) fn new(theme: &'a Theme, options: &'a MarkdownOptions) -> Self {
        Self { theme, options, text: options.text.unwrap_or_else(|| theme.fg(ThemeColor::Text)) }
    }

    /// Adds a block of the message, with an empty row before it unless it is the first.
    pub(super) fn next_block(&self, rows: &mut Vec<StyledLine>, block: &MarkdownBlock, width: usize) {
        if !rows.is_empty() {
            rows.push(StyledLine::default());
        }
        rows.extend(self.block(block, width.max(1)));
    }

    /// Adds the definitions of links, which a renderer would swallow.
    pub(super) fn definitions(
        &self,
        rows: &mut Vec<StyledLine>,
        definitions: &[(String, String, Option<String>)],
        width: usize,
    ) {
        if !rows.is_empty() && !definitions.is_empty() {
            rows.push(StyledLine::default());
        }
        for (name, to, title) in definitions {
            let title = title.as_ref().map(|title| format!(" \"{title}\"")).unwrap_or_default();
            let text = one_line(&format!("[{name}]: {to}{title}"));
            let line = StyledLine::of(text, self.theme.fg(ThemeColor::MdLinkUrl));
            rows.extend(wrap(&line, width, &Hang::indent(2)));
        }
    }

    /// The rows of a block.
    pub(super) fn block(&self, block: &MarkdownBlock, width: usize) -> Vec<StyledLine> {
        match block {
            MarkdownBlock::Paragraph(spans) => self.spans(spans, self.text, width),
            MarkdownBlock::Heading(level, spans) => self.heading(*level, spans, width),
            MarkdownBlock::Code { info, text } => self.code(info, text, width),
            MarkdownBlock::Quote(blocks) => self.quote(blocks, width),
            MarkdownBlock::List { start, items } => self.list(*start, items, width),
            MarkdownBlock::Table { alignments, head, rows } => table::rows(self, alignments, head, rows, width),
            MarkdownBlock::Html(text) => super::plain(text.trim_end(), width, self.text),
            MarkdownBlock::Rule => {
                vec![StyledLine::of("─".repeat(width.min(WIDEST_RULE)), self.theme.fg(ThemeColor::MdHr))]
            }
        }
    }

    /// Blocks inside another one.
    fn blocks(&self, blocks: &[MarkdownBlock], width: usize) -> Vec<StyledLine> {
        let mut rows = Vec::new();
        let mut before: Option<&MarkdownBlock> = None;
        for block in blocks {
            let is_apart = match (before, block) {
                (None, _) | (Some(MarkdownBlock::Paragraph(_)), MarkdownBlock::List { .. }) => false,
                (Some(_), _) => true,
            };
            if is_apart {
                rows.push(StyledLine::default());
            }
            rows.extend(self.block(block, width));
            before = Some(block);
        }
        rows
    }

    fn spans(&self, spans: &[Span], style: Style, width: usize) -> Vec<StyledLine> {
        let lines = inline::lines(self, spans, style);
        lines.iter().flat_map(|line| wrap(line, width, &Hang::default())).collect()
    }

    /// Large headings differ by attributes; the small ones keep their marks.
    fn heading(&self, level: u8, spans: &[Span], width: usize) -> Vec<StyledLine> {
        let style = self.theme.fg(ThemeColor::MdHeading).add_modifier(Modifier::BOLD);
        let style = if level == 1 { style.add_modifier(Modifier::UNDERLINED) } else { style };
        let mut lines = inline::lines(self, spans, style);
        if level > 2
            && let Some(first) = lines.first_mut()
        {
            first.spans.insert(0, StyledSpan::new(format!("{} ", "#".repeat(level.into())), style));
        }
        lines.iter().flat_map(|line| wrap(line, width, &Hang::default())).collect()
    }

    fn code(&self, info: &str, text: &str, width: usize) -> Vec<StyledLine> {
        let mut rows = self.fence(info, width);
        let mut highlighter = highlighter(info);
        if !text.is_empty() {
            for line in super::lines_of(text) {
                rows.extend(self.code_line(line, highlighter.as_mut(), width));
            }
        }
        rows.extend(self.fence("", width));
        rows
    }

    /// The row before or behind code.
    pub(super) fn fence(&self, info: &str, width: usize) -> Vec<StyledLine> {
        let line =
            StyledLine::of(format!("```{}", one_line(info.trim())), self.theme.fg(ThemeColor::MdCodeBlockBorder));
        wrap(&line, width, &Hang::default())
    }

    /// One line of a block of code.
    pub(super) fn code_line(&self, line: &str, highlighter: Option<&mut Highlighter>, width: usize) -> Vec<StyledLine> {
        let indent = StyledSpan::new(one_line(&self.options.code_block_indent), Style::new());
        let hang = Hang { first: vec![indent.clone()], rest: vec![indent] };
        fold(&code_line(line, highlighter, self.theme), width, &hang)
    }

    fn quote(&self, blocks: &[MarkdownBlock], width: usize) -> Vec<StyledLine> {
        let text = self.text.patch(self.theme.fg(ThemeColor::MdQuote)).add_modifier(Modifier::ITALIC);
        let inner = Layout { theme: self.theme, options: self.options, text };
        let bar = StyledSpan::new("│ ", self.theme.fg(ThemeColor::MdQuoteBorder));
        match width.checked_sub(2).filter(|inner| *inner >= ROOM) {
            Some(room) => behind(inner.blocks(blocks, room), &Hang { first: vec![bar.clone()], rest: vec![bar] }),
            None => inner.blocks(blocks, width),
        }
    }

    /// The rows of a list, or of those of its items that begin with this number.
    pub(super) fn list(&self, start: Option<u64>, items: &[Item], width: usize) -> Vec<StyledLine> {
        let number = |at: usize| start.map(|start| start.saturating_add(at as u64));
        items.iter().enumerate().flat_map(|(at, item)| self.item(number(at), item, width)).collect()
    }

    fn item(&self, number: Option<u64>, item: &Item, width: usize) -> Vec<StyledLine> {
        let mut mark = number.map_or_else(|| "- ".to_owned(), |number| format!("{number}. "));
        match item.checked {
            Some(true) => mark.push_str("[x] "),
            Some(false) => mark.push_str("[ ] "),
            None => {}
        }
        let hang = gutter(mark, self.theme.fg(ThemeColor::MdListBullet));
        let columns = width_of(&hang.first[0].text);
        match width.checked_sub(columns).filter(|inner| *inner >= ROOM) {
            Some(room) => {
                let mut rows = self.blocks(&item.blocks, room);
                if rows.is_empty() {
                    rows.push(StyledLine::default());
                }
                behind(rows, &hang)
            }
            None => {
                let mut rows = wrap(&StyledLine::from_spans(hang.first), width, &Hang::default());
                rows.extend(self.blocks(&item.blocks, width));
                rows
            }
        }
    }
}

/// A highlighter for the code behind a fence with these words.
pub(super) fn highlighter(info: &str) -> Option<Highlighter> {
    let name = info.split([' ', ',', '{', '\t']).next().unwrap_or_default();
    Language::named(name).or_else(|| Language::of_file(name)).map(Highlighter::new)
}

/// The rows with what hangs before them.
fn behind(mut rows: Vec<StyledLine>, hang: &Hang) -> Vec<StyledLine> {
    for (at, row) in rows.iter_mut().enumerate() {
        let before = if at == 0 { &hang.first } else { &hang.rest };
        row.spans.splice(0..0, before.iter().cloned());
    }
    rows
}
