//! The spans of a paragraph as lines.

use std::sync::Arc;

use ratatui::style::{Modifier, Style};

use super::{
    super::{StyledLine, StyledSpan, link_target, one_line},
    Layout,
};
use crate::{resources::markup::Span, tui::theme::ThemeColor};

/// The lines of spans, not wrapped: one, and one more for each break.
pub(super) fn lines(layout: &Layout<'_>, spans: &[Span], style: Style) -> Vec<StyledLine> {
    let mut inline = Inline { layout, lines: vec![StyledLine::default()] };
    inline.spans(spans, Look { style, link: None });
    inline.lines
}

/// What the text of a span looks like, and where it leads.
#[derive(Clone)]
struct Look {
    style: Style,
    link: Option<Arc<str>>,
}

impl Look {
    fn with(&self, modifier: Modifier) -> Self {
        Self { style: self.style.add_modifier(modifier), link: self.link.clone() }
    }

    fn colored(&self, layout: &Layout<'_>, color: ThemeColor) -> Self {
        Self { style: self.style.patch(layout.theme.fg(color)), link: self.link.clone() }
    }
}

struct Inline<'a> {
    layout: &'a Layout<'a>,
    lines: Vec<StyledLine>,
}

impl Inline<'_> {
    fn spans(&mut self, spans: &[Span], look: Look) {
        for span in spans {
            match span {
                Span::Text(text) => self.text(text, &look),
                Span::Code(text) => self.code(text, &look),
                Span::Html(text) => {
                    for (at, line) in text.split('\n').enumerate() {
                        if at > 0 {
                            self.lines.push(StyledLine::default());
                        }
                        self.text(line, &look);
                    }
                }
                Span::Emphasis(spans) => self.spans(spans, look.with(Modifier::ITALIC)),
                Span::Strong(spans) => self.spans(spans, look.with(Modifier::BOLD)),
                Span::Strike(spans) => self.spans(spans, look.with(Modifier::CROSSED_OUT)),
                Span::Link { to, title, spans } => self.link(to, title, spans, &look),
                Span::Picture { to, title, spans } => {
                    let name = format!("[image: {}]", text_of(spans));
                    self.link(to, title, &[Span::Text(name)], &look);
                }
                Span::SoftBreak | Span::Break => self.lines.push(StyledLine::default()),
            }
        }
    }

    fn text(&mut self, text: &str, look: &Look) {
        if text.is_empty() {
            return;
        }
        let span =
            StyledSpan { text: one_line(text).into(), style: look.style, link: look.link.clone(), picture: None };
        if let Some(line) = self.lines.last_mut() {
            line.spans.push(span);
        }
    }

    /// Without colours the marks stay: nothing else would tell it from text.
    fn code(&mut self, text: &str, look: &Look) {
        let look = look.colored(self.layout, ThemeColor::MdCode);
        match self.layout.theme.is_colorless() {
            true => self.text(&format!("`{text}`"), &look),
            false => self.text(text, &look),
        }
    }

    /// The text that leads somewhere, and the address unless it is that text: nobody should have to guess where.
    fn link(&mut self, to: &str, title: &str, spans: &[Span], look: &Look) {
        let link = link_target(to).filter(|_| self.layout.options.hyperlinks);
        let mut inner = look.colored(self.layout, ThemeColor::MdLink).with(Modifier::UNDERLINED);
        inner.link = link.clone().or(inner.link);
        self.spans(spans, inner);
        let shown = text_of(spans);
        let is_shown = shown == to || to.strip_prefix("mailto:") == Some(&*shown);
        let address = match (is_shown || to.is_empty(), title.is_empty()) {
            (true, true) => return,
            (true, false) => format!(" (\"{title}\")"),
            (false, true) => format!(" ({to})"),
            (false, false) => format!(" ({to} \"{title}\")"),
        };
        let mut address_look = look.colored(self.layout, ThemeColor::MdLinkUrl);
        address_look.link = link.or(address_look.link);
        self.text(&address, &address_look);
    }
}

/// The text of spans without their marks.
fn text_of(spans: &[Span]) -> String {
    let mut out = String::new();
    for span in spans {
        match span {
            Span::Text(text) | Span::Code(text) | Span::Html(text) => out.push_str(text),
            Span::Emphasis(spans)
            | Span::Strong(spans)
            | Span::Strike(spans)
            | Span::Link { spans, .. }
            | Span::Picture { spans, .. } => out.push_str(&text_of(spans)),
            Span::SoftBreak | Span::Break => out.push(' '),
        }
    }
    out
}
