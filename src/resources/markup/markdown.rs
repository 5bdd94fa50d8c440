//! The markdown of messages, as blocks and spans.
//!
//! CommonMark with tables, strikethrough and task lists. Raw HTML is text like any other. What a renderer of markdown
//! would swallow (definitions of links) is kept, so that nothing of a message is hidden from its reader.

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag};

use super::links::{self, Piece};

/// How deep quotes and lists may nest. What is deeper is shown at this depth: ten thousand `>` in a row are no reason
/// to run out of stack.
const MAX_DEPTH: usize = 24;

/// A message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Its blocks in order.
    pub blocks: Vec<MarkdownBlock>,
    /// Definitions of links (`[name]: address "title"`), which stand nowhere else: name, address and title.
    pub definitions: Vec<(String, String, Option<String>)>,
}

/// A block.
#[derive(Clone, Debug, PartialEq)]
pub enum MarkdownBlock {
    /// A paragraph.
    Paragraph(Vec<Span>),
    /// A heading of the level 1 to 6.
    Heading(u8, Vec<Span>),
    /// Code, with the words behind its fence; an indented block has none.
    Code {
        /// The words; the first names the language.
        info: String,
        /// The code.
        text: String,
    },
    /// A quotation.
    Quote(Vec<MarkdownBlock>),
    /// A list.
    List {
        /// The first number; none without numbers.
        start: Option<u64>,
        /// The items.
        items: Vec<Item>,
    },
    /// A table: its head, then its rows.
    Table {
        /// How columns are aligned.
        alignments: Vec<Align>,
        /// Cells of the head.
        head: Vec<Vec<Span>>,
        /// Cells of the rows.
        rows: Vec<Vec<Vec<Span>>>,
    },
    /// Raw HTML, to be shown as it is written.
    Html(String),
    /// A rule.
    Rule,
}

/// An item of a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item {
    /// Whether its box is checked; none without a box.
    pub checked: Option<bool>,
    /// What it says.
    pub blocks: Vec<MarkdownBlock>,
}

/// How a column of a table is aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// As the writing goes.
    #[default]
    Start,
    /// In the middle.
    Center,
    /// Against the writing.
    End,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// Text.
    Text(String),
    /// Code.
    Code(String),
    /// Raw HTML, to be shown as it is written.
    Html(String),
    /// Emphasis.
    Emphasis(Vec<Span>),
    /// Strong emphasis.
    Strong(Vec<Span>),
    /// Struck out.
    Strike(Vec<Span>),
    /// A link. Its address may be anything: see [`links::may_be_followed`].
    Link {
        /// The address.
        to: String,
        /// A text to show with it.
        title: String,
        /// What it stands on.
        spans: Vec<Span>,
    },
    /// A picture that lies elsewhere. It is named and never fetched.
    Picture {
        /// The address.
        to: String,
        /// A text to show with it.
        title: String,
        /// What it shows.
        spans: Vec<Span>,
    },
    /// The end of a line in the source.
    SoftBreak,
    /// The end of a line.
    Break,
}

/// Where the parts of a message begin, in bytes of its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Its blocks.
    pub blocks: Vec<usize>,
    /// The items of its last block; empty when that is no list.
    pub items: Vec<usize>,
    /// Its definitions of links.
    pub definitions: Vec<usize>,
}

impl Document {
    /// Reads a message.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self::parse_with_places(text).0
    }

    /// Reads a message, and says where its parts begin.
    #[must_use]
    pub fn parse_with_places(text: &str) -> (Self, Places) {
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
        let mut parser = Parser::new_ext(text, options).into_offset_iter();
        let mut builder = Builder { open: vec![Open::default()] };
        let mut places = Places::default();
        for (event, range) in parser.by_ref() {
            match (builder.open.len(), &event) {
                (1, Event::Start(_) | Event::Rule | Event::Html(_)) => {
                    places.blocks.push(range.start);
                    places.items.clear();
                }
                (2, Event::Start(Tag::Item)) => places.items.push(range.start),
                _ => {}
            }
            builder.take(event);
        }
        let mut definitions: Vec<_> = parser
            .reference_definitions()
            .iter()
            .map(|(name, def)| (def.span.start, name.to_owned(), def.dest.to_string(), def.title.as_ref()))
            .map(|(at, name, to, title)| (at, (name, to, title.map(ToString::to_string))))
            .collect();
        definitions.sort_by_key(|(at, _)| *at);
        let definitions = definitions.into_iter().map(|(at, definition)| {
            places.definitions.push(at);
            definition
        });
        (Self { definitions: definitions.collect(), blocks: builder.finish() }, places)
    }
}

/// A container that is not complete yet.
#[derive(Default)]
struct Open {
    kind: Kind,
    blocks: Vec<MarkdownBlock>,
    spans: Vec<Span>,
    text: String,
    items: Vec<Item>,
    cells: Vec<Vec<Span>>,
    rows: Vec<Vec<Vec<Span>>>,
    checked: Option<bool>,
}

/// What a container becomes.
#[derive(Default)]
enum Kind {
    #[default]
    Document,
    Paragraph,
    Heading(u8),
    Code(String),
    Html,
    Quote,
    List(Option<u64>),
    Item,
    Table(Vec<Align>),
    Head,
    Row,
    Cell,
    Emphasis,
    Strong,
    Strike,
    Link {
        to: String,
        title: String,
    },
    Picture {
        to: String,
        title: String,
    },
    /// A container too deep, or one that this reader does not know: its blocks belong to what it is in.
    Flat,
    /// The same, of spans.
    FlatSpans,
}

/// Puts events together. Containers that are open are on a stack; those beyond [`MAX_DEPTH`] are looked
/// through.
struct Builder {
    open: Vec<Open>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(_) => self.end(),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => self.span(Span::Code(text.into_string())),
            Event::Html(text) => match self.top().kind {
                Kind::Html => self.top().text.push_str(&text),
                _ => self.block(MarkdownBlock::Html(text.into_string())),
            },
            Event::InlineHtml(text) => self.span(Span::Html(text.into_string())),
            Event::SoftBreak => self.span(Span::SoftBreak),
            Event::HardBreak => self.span(Span::Break),
            Event::Rule => self.block(MarkdownBlock::Rule),
            Event::TaskListMarker(checked) => {
                // The marker may come inside the item's paragraph.
                let item = self.open.iter_mut().rev().find(|open| matches!(open.kind, Kind::Item));
                if let Some(item) = item {
                    item.checked = Some(checked);
                }
            }
            // Extensions that are not asked for.
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
        }
    }

    fn top(&mut self) -> &mut Open {
        if self.open.is_empty() {
            self.open.push(Open::default());
        }
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    fn start(&mut self, tag: Tag<'_>) {
        let kind = match tag {
            Tag::Paragraph => Kind::Paragraph,
            Tag::Heading { level, .. } => Kind::Heading(level_of(level)),
            Tag::BlockQuote(_) => Kind::Quote,
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => Kind::Code(info.into_string()),
            Tag::CodeBlock(CodeBlockKind::Indented) => Kind::Code(String::new()),
            Tag::HtmlBlock => Kind::Html,
            Tag::List(start) => Kind::List(start),
            Tag::Item => Kind::Item,
            Tag::Table(alignments) => Kind::Table(alignments.into_iter().map(align_of).collect()),
            Tag::TableHead => Kind::Head,
            Tag::TableRow => Kind::Row,
            Tag::TableCell => Kind::Cell,
            Tag::Emphasis => Kind::Emphasis,
            Tag::Strong => Kind::Strong,
            Tag::Strikethrough => Kind::Strike,
            Tag::Link { dest_url, title, .. } => Kind::Link { to: dest_url.into_string(), title: title.into_string() },
            Tag::Image { dest_url, title, .. } => {
                Kind::Picture { to: dest_url.into_string(), title: title.into_string() }
            }
            _ => Kind::Flat,
        };
        let deep = self.open.len() > MAX_DEPTH;
        // Paragraphs, code and cells are leaves of the nesting: they always get their place.
        let kind = match kind {
            Kind::Quote | Kind::List(_) | Kind::Item if deep => Kind::Flat,
            Kind::Emphasis | Kind::Strong | Kind::Strike if deep => Kind::FlatSpans,
            kind => kind,
        };
        self.open.push(Open { kind, ..Open::default() });
    }

    fn end(&mut self) {
        // The document itself is never ended by an event.
        if self.open.len() < 2 {
            return;
        }
        let Some(done) = self.open.pop() else { return };
        let Open { kind, mut blocks, spans, text, items, cells, rows, checked } = done;
        match kind {
            Kind::Paragraph => self.block(MarkdownBlock::Paragraph(spans)),
            Kind::Heading(level) => self.block(MarkdownBlock::Heading(level, spans)),
            Kind::Code(info) => self.block(MarkdownBlock::Code { info, text }),
            Kind::Html => self.block(MarkdownBlock::Html(text)),
            Kind::Quote => self.block(MarkdownBlock::Quote(with_loose(blocks, spans))),
            Kind::List(start) => self.block(MarkdownBlock::List { start, items }),
            Kind::Item => {
                blocks = with_loose(blocks, spans);
                match self.top().kind {
                    Kind::List(_) => self.top().items.push(Item { checked, blocks }),
                    _ => self.top().blocks.append(&mut blocks),
                }
            }
            Kind::Table(alignments) => {
                let mut rows = rows.into_iter();
                let head = rows.next().unwrap_or_default();
                self.block(MarkdownBlock::Table { alignments, head, rows: rows.collect() });
            }
            Kind::Head | Kind::Row => self.top().rows.push(cells),
            Kind::Cell => self.top().cells.push(spans),
            Kind::Emphasis => self.span(Span::Emphasis(spans)),
            Kind::Strong => self.span(Span::Strong(spans)),
            Kind::Strike => self.span(Span::Strike(spans)),
            Kind::Link { to, title } => self.span(Span::Link { to, title, spans }),
            Kind::Picture { to, title } => self.span(Span::Picture { to, title, spans }),
            Kind::FlatSpans => self.top().spans.extend(spans),
            Kind::Flat | Kind::Document => with_loose(blocks, spans).into_iter().for_each(|block| self.block(block)),
        }
    }

    fn text(&mut self, text: &str) {
        if matches!(self.top().kind, Kind::Code(_) | Kind::Html) {
            return self.top().text.push_str(text);
        }
        let in_link = self.open.iter().any(|open| matches!(open.kind, Kind::Link { .. } | Kind::Picture { .. }));
        if in_link {
            return self.plain(text);
        }
        for piece in links::pieces(text) {
            match piece {
                Piece::Text(text) => self.plain(text),
                Piece::Address(address) => {
                    let spans = vec![Span::Text(address.to_owned())];
                    self.span(Span::Link { to: address.to_owned(), title: String::new(), spans });
                }
            }
        }
    }

    /// Adds to the text before it, if that is one: the parser cuts at every character that might mean something.
    fn plain(&mut self, text: &str) {
        match self.top().spans.last_mut() {
            Some(Span::Text(before)) => before.push_str(text),
            _ => self.span(Span::Text(text.to_owned())),
        }
    }

    fn span(&mut self, span: Span) {
        self.top().spans.push(span);
    }

    fn block(&mut self, block: MarkdownBlock) {
        let top = self.top();
        // Text of a tight item stands before its blocks.
        if !top.spans.is_empty() {
            let spans = std::mem::take(&mut top.spans);
            top.blocks.push(MarkdownBlock::Paragraph(spans));
        }
        top.blocks.push(block);
    }

    fn finish(mut self) -> Vec<MarkdownBlock> {
        while self.open.len() > 1 {
            self.end();
        }
        let Some(Open { blocks, spans, .. }) = self.open.pop() else { return Vec::new() };
        with_loose(blocks, spans)
    }
}

/// The blocks, and the text behind them that is in none.
fn with_loose(mut blocks: Vec<MarkdownBlock>, spans: Vec<Span>) -> Vec<MarkdownBlock> {
    if !spans.is_empty() {
        blocks.push(MarkdownBlock::Paragraph(spans));
    }
    blocks
}

fn level_of(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

fn align_of(alignment: Alignment) -> Align {
    match alignment {
        Alignment::None | Alignment::Left => Align::Start,
        Alignment::Center => Align::Center,
        Alignment::Right => Align::End,
    }
}

#[cfg(test)]
mod tests;
