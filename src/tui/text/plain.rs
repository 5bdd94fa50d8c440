//! Texts that anybody may have written, as lines that may be drawn.

use std::borrow::Cow;

use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation as _;

use super::{
    StyledLine,
    width::grapheme_width,
    wrap::{Hang, wrap},
};
use crate::protocol::hidden;

/// Columns from one tab stop to the next.
const TAB: usize = 4;

/// A text as one line: what acts on a terminal is shown by its code point, tabs and line ends are blanks.
#[must_use]
pub fn one_line(text: &str) -> String {
    let safe = hidden::for_terminal(text.trim_end_matches('\n'));
    safe.replace(['\n', '\t', '\u{2028}', '\u{2029}'], " ")
}

/// One line of a text (without its end) as it may be drawn: what acts on a terminal is shown by its code point, and
/// tabs go to the next stop. `column` is where it begins.
#[must_use]
pub fn drawable(line: &str, column: usize) -> Cow<'_, str> {
    let safe = hidden::for_terminal(line);
    if !safe.contains(['\t', '\n', '\u{2028}', '\u{2029}']) {
        return safe;
    }
    let mut out = String::with_capacity(safe.len() + TAB);
    let mut at = column;
    for grapheme in safe.graphemes(true) {
        match grapheme {
            "\t" => {
                let blanks = TAB - at % TAB;
                out.extend(std::iter::repeat_n(' ', blanks));
                at += blanks;
            }
            "\n" | "\u{2028}" | "\u{2029}" => {
                out.push(' ');
                at += 1;
            }
            _ => {
                out.push_str(grapheme);
                at += grapheme_width(grapheme);
            }
        }
    }
    Cow::Owned(out)
}

/// The lines of a text. A line end at its end begins no other line; an empty text has one line.
pub fn lines_of(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    body.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line))
}

/// A text in rows of at most `width` columns, broken between words.
#[must_use]
pub fn plain(text: &str, width: usize, style: Style) -> Vec<StyledLine> {
    let rows = |line| wrap(&StyledLine::of(drawable(line, 0).into_owned(), style), width, &Hang::default());
    lines_of(text).flat_map(rows).collect()
}

/// What a program printed, as a terminal would show it: without its colours and other commands, and of a line that was
/// written again and again (a progress bar) what it said last. Everything else that acts stays, for
/// [`drawable`] to show.
#[must_use]
pub fn printed(text: &str) -> Cow<'_, str> {
    if memchr::memchr3(0x1b, b'\r', 8, text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let text = without_escapes(text);
    if !text.contains(['\r', '\u{8}']) {
        return Cow::Owned(text);
    }
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(last_writing).collect();
    Cow::Owned(lines.join("\n"))
}

/// A text without the commands to terminals that are complete. What only begins like one stays.
fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        let length = escape_length(&rest[at..]);
        if length == 0 {
            out.push('\u{1b}');
        }
        rest = &rest[at + length.max(1)..];
    }
    out.push_str(rest);
    out
}

/// Bytes of the command that `text` begins with; 0 when it is none that is complete.
fn escape_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.get(1) {
        Some(b'[') => {
            let body = bytes[2..].iter().take_while(|byte| (b' '..=b'?').contains(*byte)).count();
            if bytes.get(2 + body).is_some_and(|byte| (b'@'..=b'~').contains(byte)) { 3 + body } else { 0 }
        }
        Some(b']') => {
            let Some(end) = text[2..].find(['\u{7}', '\u{1b}', '\n']).map(|end| end + 2) else { return 0 };
            match (bytes[end], bytes.get(end + 1)) {
                (7, _) => end + 1,
                (0x1b, Some(b'\\')) => end + 2,
                _ => 0,
            }
        }
        Some(b'(' | b')' | b'#' | b' ') if bytes.get(2).is_some_and(|byte| byte.is_ascii_graphic()) => 3,
        Some(b'=' | b'>' | b'7' | b'8' | b'M') => 2,
        _ => 0,
    }
}

/// What a line shows in the end: a return goes to its beginning, and what is written then covers what was there.
fn last_writing(line: &str) -> Cow<'_, str> {
    let line = line.trim_end_matches('\r');
    if !line.contains(['\r', '\u{8}']) {
        return Cow::Borrowed(line);
    }
    let mut cells: Vec<&str> = Vec::new();
    let mut at = 0_usize;
    for grapheme in line.graphemes(true) {
        match grapheme {
            "\r" => at = 0,
            "\u{8}" => at = at.saturating_sub(1),
            _ if at < cells.len() => {
                cells[at] = grapheme;
                at += 1;
            }
            _ => {
                cells.push(grapheme);
                at += 1;
            }
        }
    }
    Cow::Owned(cells.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_go_to_the_next_stop_and_what_acts_is_shown() {
        for (line, column, wanted) in [
            ("a\tb", 0, "a   b"),
            ("\ta", 0, "    a"),
            ("\ta", 3, " a"),
            ("日\tb", 0, "日  b"),
            ("abcd\te", 0, "abcd    e"),
            ("\u{1b}[2J", 0, "<U+001B>[2J"),
            ("over\u{202e}ride", 0, "over<U+202E>ride"),
            ("a\u{2028}b", 0, "a b"),
        ] {
            assert_eq!(drawable(line, column), wanted, "{line:?}");
        }
        assert_eq!(one_line("a\r\nb\tc\n"), "a b c");
    }

    #[test]
    fn output_is_what_a_terminal_would_show_in_the_end() {
        for (text, wanted) in [
            ("plain\n", "plain\n"),
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}x\u{1b}]8;;http://a\u{1b}\\link", "xlink"),
            ("10%\r50%\r100%\nnext", "100%\nnext"),
            ("12345\rab", "ab345"),
            ("typo\u{8}\u{8}xy", "tyxy"),
            ("crlf\r\n", "crlf\n"),
            ("cut \u{1b}[31", "cut \u{1b}[31"),
            ("\u{1b}]0;never ends\nnext", "\u{1b}]0;never ends\nnext"),
            ("\u{1b}Pdevice\u{1b}\\", "\u{1b}Pdevice\u{1b}\\"),
            ("\u{1b}\u{1b}[1mx", "\u{1b}x"),
        ] {
            assert_eq!(printed(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn rows_are_made_of_lines() {
        let rows = |text| plain(text, 5, Style::new()).iter().map(StyledLine::text).collect::<Vec<_>>();
        assert_eq!(rows("one two\n\nthree\n"), ["one", "two", "", "three"]);
        assert_eq!(rows(""), [""]);
    }
}
