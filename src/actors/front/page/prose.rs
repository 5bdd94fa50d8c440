//! Markdown.

use super::{code, html};
use crate::resources::markup::{
    Document, Language, MarkdownBlock, Span,
    links::may_be_followed,
    markdown::{Align, Item},
};

/// Adds a message's text.
pub fn markdown(out: &mut String, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    let document = Document::parse(text);
    out.push_str("<div class=\"prose\" dir=\"auto\">");
    blocks(out, &document.blocks);
    for (name, to, title) in &document.definitions {
        let title = title.as_ref().map(|title| format!(" \"{title}\"")).unwrap_or_default();
        html::element(out, "p", "defined", &format!("[{name}]: {to}{title}"));
    }
    out.push_str("</div>");
}

fn blocks(out: &mut String, blocks: &[MarkdownBlock]) {
    for block in blocks {
        match block {
            MarkdownBlock::Paragraph(inside) => around(out, "p", inside),
            // The page has headings of its own: those of messages are below them.
            MarkdownBlock::Heading(level, inside) => around(out, HEADINGS[usize::from(*level).clamp(1, 6) - 1], inside),
            MarkdownBlock::Code { info, text } => fenced(out, info, text),
            MarkdownBlock::Quote(inside) => {
                out.push_str("<blockquote>");
                self::blocks(out, inside);
                out.push_str("</blockquote>");
            }
            MarkdownBlock::List { start, items } => list(out, *start, items),
            MarkdownBlock::Table { alignments, head, rows } => table(out, alignments, head, rows),
            MarkdownBlock::Html(text) => html::element(out, "pre", "raw", text.trim_end()),
            MarkdownBlock::Rule => out.push_str("<hr>"),
        }
    }
}

const HEADINGS: [&str; 6] = ["h3", "h4", "h5", "h6", "h6", "h6"];

/// Adds an element with spans in it.
fn around(out: &mut String, tag: &str, inside: &[Span]) {
    out.push_str(&format!("<{tag} dir=\"auto\">"));
    spans(out, inside, Within::Text);
    out.push_str(&format!("</{tag}>"));
}

fn fenced(out: &mut String, info: &str, text: &str) {
    out.push_str("<figure class=\"fence\" dir=\"ltr\">");
    if !info.trim().is_empty() {
        html::element(out, "figcaption", "lang", info.trim());
    }
    let name = info.split([' ', ',', '{', '\t']).next().unwrap_or_default();
    let language = Language::named(name).or_else(|| Language::of_file(name));
    code::block(out, text.strip_suffix('\n').unwrap_or(text), language);
    out.push_str("</figure>");
}

fn list(out: &mut String, start: Option<u64>, items: &[Item]) {
    match start {
        Some(start) => out.push_str(&format!("<ol start=\"{start}\">")),
        None => out.push_str("<ul>"),
    }
    for item in items {
        let class = if item.checked.is_some() { " class=\"task\"" } else { "" };
        out.push_str(&format!("<li{class}>"));
        if let Some(checked) = item.checked {
            out.push_str(if checked { "<span class=\"box\">☑</span> " } else { "<span class=\"box\">☐</span> " });
        }
        match item.blocks.split_first() {
            // A tight item: its text stands beside the bullet.
            Some((MarkdownBlock::Paragraph(inside), rest)) => {
                spans(out, inside, Within::Text);
                blocks(out, rest);
            }
            _ => blocks(out, &item.blocks),
        }
        out.push_str("</li>");
    }
    out.push_str(if start.is_some() { "</ol>" } else { "</ul>" });
}

fn table(out: &mut String, alignments: &[Align], head: &[Vec<Span>], rows: &[Vec<Vec<Span>>]) {
    let cells = |out: &mut String, tag: &str, cells: &[Vec<Span>]| {
        out.push_str("<tr>");
        for (column, cell) in cells.iter().enumerate() {
            let class = match alignments.get(column).copied().unwrap_or_default() {
                Align::Start => "",
                Align::Center => " class=\"mid\"",
                Align::End => " class=\"end\"",
            };
            out.push_str(&format!("<{tag}{class} dir=\"auto\">"));
            spans(out, cell, Within::Text);
            out.push_str(&format!("</{tag}>"));
        }
        out.push_str("</tr>");
    };
    out.push_str("<div class=\"wide\"><table><thead>");
    cells(out, "th", head);
    out.push_str("</thead><tbody>");
    rows.iter().for_each(|row| cells(out, "td", row));
    out.push_str("</tbody></table></div>");
}

/// What spans stand in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Text,
    /// A link: another one in there (the picture of a badge) would end it, so that one is only named.
    Link,
}

fn spans(out: &mut String, inside: &[Span], within: Within) {
    for span in inside {
        match span {
            Span::Text(text) => html::text(out, text),
            Span::Code(text) => html::element(out, "code", "in", text),
            Span::Html(text) => html::element(out, "code", "raw", text),
            Span::Emphasis(inside) => tagged(out, "em", inside, within),
            Span::Strong(inside) => tagged(out, "strong", inside, within),
            Span::Strike(inside) => tagged(out, "del", inside, within),
            Span::Link { to, title, spans: inside } => link(out, to, title, inside, within),
            Span::Picture { to, title, spans: inside } => {
                out.push_str("<span class=\"picture\">picture: ");
                link(out, to, title, inside, within);
                out.push_str("</span>");
            }
            Span::SoftBreak => out.push('\n'),
            Span::Break => out.push_str("<br>"),
        }
    }
}

fn tagged(out: &mut String, tag: &str, inside: &[Span], within: Within) {
    out.push_str(&format!("<{tag}>"));
    spans(out, inside, within);
    out.push_str(&format!("</{tag}>"));
}

/// Adds a link. Where it leads is always to be read; only pages and mail can be followed.
fn link(out: &mut String, to: &str, title: &str, inside: &[Span], within: Within) {
    let followed = within == Within::Text && may_be_followed(to);
    if followed {
        out.push_str("<a rel=\"noopener noreferrer\" target=\"_blank\"");
        html::attribute(out, "href", to);
        if !title.is_empty() {
            html::attribute(out, "title", title);
        }
        out.push('>');
    }
    spans(out, inside, if followed { Within::Link } else { within });
    if followed {
        out.push_str("</a>");
    }
    let says_so = matches!(inside, [Span::Text(text)] if text == to || to.strip_prefix("mailto:") == Some(text));
    if !says_so {
        html::element(out, "span", "to", &format!(" ({to})"));
    }
    if !followed && !title.is_empty() {
        html::element(out, "span", "to", &format!(" \"{title}\""));
    }
}
