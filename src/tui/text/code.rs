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

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, first_number: Option<u64>, width: usize) -> Vec<String> {
        let rows = code(text, Language::named("rust"), first_number, width, &Theme::dark());
        rows.iter().map(StyledLine::text).collect()
    }

    #[test]
    fn code_keeps_its_blanks_and_has_numbers_where_they_are_wanted() {
        assert_eq!(rows("fn a() {\n\tb  c\n}\n", None, 40), ["fn a() {", "    b  c", "}"]);
        assert_eq!(rows("a\nb", Some(9), 40), [" 9 a", "10 b"]);
        assert_eq!(rows("abcdefgh", Some(1), 6), ["1 abcd", "  efgh"]);
    }

    #[test]
    fn tokens_have_their_colours_and_blanks_no_piece_of_their_own() {
        let theme = Theme::dark();
        let line = code_line("let x = 1;", Some(&mut Highlighter::new(Language::named("rust").unwrap())), &theme);
        let pieces: Vec<(&str, Style)> = line.spans.iter().map(|span| (&*span.text, span.style)).collect();
        assert_eq!(pieces[0], ("let", theme.fg(ThemeColor::SyntaxKeyword)));
        assert_eq!(pieces.last().unwrap(), &(";", theme.fg(ThemeColor::SyntaxPunctuation)));
        assert_eq!(line.text(), "let x = 1;");
    }
}
