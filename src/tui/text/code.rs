//! Source code in colours.

use std::borrow::Cow;

use ratatui::style::Style;

use super::{
    StyledLine, StyledSpan, drawable,
    plain::lines_of,
    wrap::{Hang, fold},
};
use crate::{
    resources::markup::{Highlighter, Language},
    tui::theme::{Theme, ThemeColor},
};

/// One line of code, without its end, as the highlighter (which knows the lines before) reads it.
#[must_use]
pub fn code_line(line: &str, highlighter: Option<&mut Highlighter>, theme: &Theme) -> StyledLine {
    let line = drawable(line, 0);
    match highlighter {
        None => StyledLine::of(line.into_owned(), theme.syntax(None)),
        Some(highlighter) => {
            let mut spans: Vec<StyledSpan> = Vec::new();
            for (token, piece) in highlighter.line(&line) {
                let style = theme.syntax(token);
                match spans.last_mut() {
                    // Blanks look the same in every colour.
                    Some(last) if last.style == style || piece.bytes().all(|byte| byte == b' ') => {
                        last.text.to_mut().push_str(piece);
                    }
                    _ => spans.push(StyledSpan::new(compact(piece), style)),
                }
            }
            StyledLine::from_spans(spans)
        }
    }
}

/// The text of a piece; that of one sign, as most are, without memory of its own.
fn compact(piece: &str) -> Cow<'static, str> {
    const SIGNS: &str = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
    match SIGNS.find(piece) {
        Some(at) if piece.len() == 1 => Cow::Borrowed(&SIGNS[at..=at]),
        _ => Cow::Owned(piece.to_owned()),
    }
}

/// Code in rows of at most `width` columns; with a number before each of its lines when `first_number` is given.
#[must_use]
pub fn code(
    text: &str,
    language: Option<&'static Language>,
    first_number: Option<u64>,
    width: usize,
    theme: &Theme,
) -> Vec<StyledLine> {
    let mut highlighter = language.map(Highlighter::new);
    let lines: Vec<&str> = lines_of(text).collect();
    let digits = first_number.map(|first| (first + lines.len().saturating_sub(1) as u64).to_string().len());
    let mut rows = Vec::new();
    for (at, line) in lines.into_iter().enumerate() {
        let hang = match (first_number, digits) {
            (Some(first), Some(digits)) => {
                let number = format!("{:>digits$} ", first + at as u64);
                gutter(number, theme.fg(ThemeColor::Dim))
            }
            _ => Hang::default(),
        };
        rows.extend(fold(&code_line(line, highlighter.as_mut(), theme), width, &hang));
    }
    rows
}

/// What stands before the first row of a line, and blanks as wide before the rest.
pub(super) fn gutter(text: String, style: Style) -> Hang {
    let rest = StyledSpan::new(" ".repeat(super::width_of(&text)), style);
    Hang { first: vec![StyledSpan::new(text, style)], rest: vec![rest] }
}
