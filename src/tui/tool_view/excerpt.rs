//! The beginning or the end of a long text.

use ratatui::style::Style;

use crate::{
    tools::truncate::{ceil_char_boundary, count_lines, floor_char_boundary},
    tui::text::{Hang, StyledLine, drawable, fold, lines_of},
};

/// Bytes that one column can take at most: a grapheme of many marks is cut where it has more.
const BYTES_A_COLUMN: usize = 16;

/// Rows of a text, and how many of its lines they do not show at all.
pub(in crate::tui) struct Excerpt {
    pub rows: Vec<StyledLine>,
    pub hidden: usize,
}

/// The last rows of a text.
pub(in crate::tui) fn tail(text: &str, rows: usize, width: usize, style: Style) -> Excerpt {
    let mut shown: Vec<StyledLine> = Vec::new();
    let mut lines = 0;
    for line in lines_of(text).rev() {
        if shown.len() >= rows {
            break;
        }
        lines += 1;
        // Of a megabyte in one line only its end is looked at.
        let from = ceil_char_boundary(line, line.len().saturating_sub((rows + 1) * width * BYTES_A_COLUMN));
        let folded = folded(&line[from..], width, style);
        let free = rows - shown.len();
        let end = folded.into_iter().rev().take(free);
        shown.extend(end);
    }
    shown.reverse();
    Excerpt { rows: shown, hidden: count_lines(text).saturating_sub(lines) }
}

/// All rows of a text.
pub(in crate::tui) fn all(text: &str, width: usize, style: Style) -> Vec<StyledLine> {
    lines_of(text).flat_map(|line| folded(line, width, style)).collect()
}

fn folded(line: &str, width: usize, style: Style) -> Vec<StyledLine> {
    fold(&StyledLine::of(drawable(line, 0).into_owned(), style), width, &Hang::default())
}

/// The first lines of a text, and how many more there are.
pub(super) fn first_lines(text: &str, lines: usize) -> (&str, usize) {
    let hidden = count_lines(text).saturating_sub(lines);
    let end = memchr::memchr_iter(b'\n', text.as_bytes()).nth(lines.saturating_sub(1));
    (&text[..end.unwrap_or(text.len())], hidden)
}

/// The last lines of a text, and how many there are before them.
pub(super) fn last_lines(text: &str, lines: usize) -> (&str, usize) {
    let hidden = count_lines(text).saturating_sub(lines);
    let body = text.strip_suffix('\n').unwrap_or(text);
    let start = memchr::memrchr_iter(b'\n', body.as_bytes()).nth(lines.saturating_sub(1));
    (&text[start.map_or(0, |at| at + 1)..], hidden)
}

/// The text with lines that are only a few rows long, for a folded view.
pub(super) fn short_lines(text: &str, width: usize) -> String {
    const ROWS: usize = 4;
    let cut = |line: &str| line[..floor_char_boundary(line, ROWS * width.max(20) * 4)].to_owned();
    text.split('\n').map(cut).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(excerpt: &Excerpt) -> Vec<String> {
        excerpt.rows.iter().map(StyledLine::text).collect()
    }

    #[test]
    fn excerpts_count_rows_and_say_how_many_lines_are_hidden() {
        let style = Style::new();
        for (text, rows, hidden) in [
            ("a\nb\nc\nd\n", &["c", "d"][..], 2),
            ("a\n", &["a"], 0),
            ("", &[""], 0),
            ("abcdefghij", &["efgh", "ij"], 0),
            ("x\nabcdefg", &["abcd", "efg"], 1),
        ] {
            let end = tail(text, 2, 4, style);
            assert_eq!((texts(&end), end.hidden), (rows.iter().map(ToString::to_string).collect(), hidden));
        }
    }

    #[test]
    fn of_a_long_line_only_what_is_shown_is_looked_at() {
        // Laying all of it out for each of these would take minutes.
        let line = "é".repeat(2_000_000);
        for _ in 0..10 {
            assert_eq!(tail(&line, 5, 80, Style::new()).rows.len(), 5);
        }
        assert!(short_lines(&line, 80).len() < 4_000);
    }

    #[test]
    fn lines_are_taken_from_both_ends() {
        assert_eq!(first_lines("a\nb\nc\n", 2), ("a\nb", 1));
        assert_eq!(first_lines("a\nb", 2), ("a\nb", 0));
        assert_eq!(last_lines("a\nb\nc\n", 2), ("b\nc\n", 1));
        assert_eq!(last_lines("a\nb", 5), ("a\nb", 0));
    }
}
