//! The differences that an edit made, in colours.

use std::ops::Range;

use ratatui::style::{Modifier, Style};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{
    StyledLine, StyledSpan,
    code::gutter,
    drawable,
    wrap::{Hang, fold},
};
use crate::tui::theme::{Theme, ThemeColor};

/// Words of the longest line whose changed words are looked for.
const MOST_WORDS: usize = 400;

/// What happened to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Added,
    Removed,
    Context,
    /// Lines are left out here.
    Gap,
}

/// A line of a difference.
struct Line<'t> {
    change: Change,
    /// The sign and the number.
    head: &'t str,
    text: &'t str,
}

impl<'t> Line<'t> {
    /// Reads `+12 text`: a sign, a number after blanks, a blank, the text.
    fn read(line: &'t str) -> Self {
        let change = match line.as_bytes().first() {
            Some(b'+') => Change::Added,
            Some(b'-') => Change::Removed,
            _ => Change::Context,
        };
        let body = line.get(1..).unwrap_or_default();
        let blanks = body.len() - body.trim_start_matches(' ').len();
        let digits = body[blanks..].bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Self { change: if change == Change::Context { Change::Gap } else { change }, head: "", text: line };
        }
        let end = line.len() - body.len() + blanks + digits;
        let text = &line[end..];
        Self { change, head: &line[..end], text: text.strip_prefix(' ').unwrap_or(text) }
    }
}

/// The rows of a difference as `edit` gives it (`details.diff`): lines with a sign, a number and the text. In a line
/// that took the place of another the words that changed are marked.
#[must_use]
pub fn diff(display: &str, width: usize, theme: &Theme) -> Vec<StyledLine> {
    let lines: Vec<Line<'_>> = display.split('\n').map(Line::read).collect();
    let marks = marks(&lines);
    let rows = |(line, marks): (&Line<'_>, &Vec<Range<usize>>)| row(line, marks, width, theme);
    lines.iter().zip(&marks).flat_map(rows).collect()
}

fn row(line: &Line<'_>, marks: &[Range<usize>], width: usize, theme: &Theme) -> Vec<StyledLine> {
    let style = theme.fg(match line.change {
        Change::Added => ThemeColor::ToolDiffAdded,
        Change::Removed => ThemeColor::ToolDiffRemoved,
        Change::Context => ThemeColor::ToolDiffContext,
        Change::Gap => ThemeColor::Dim,
    });
    let hang = match line.head {
        "" => Hang::default(),
        head => gutter(format!("{head} "), style),
    };
    fold(&StyledLine::from_spans(marked(line.text, marks, style)), width, &hang)
}

/// The text with its marked parts reversed.
fn marked(text: &str, marks: &[Range<usize>], style: Style) -> Vec<StyledSpan> {
    let mut spans = Vec::new();
    let (mut at, mut column) = (0, 0);
    let mut add = |part: &str, style: Style| {
        if !part.is_empty() {
            let part = drawable(part, column).into_owned();
            column += super::width_of(&part);
            spans.push(StyledSpan::new(part, style));
        }
    };
    for mark in marks {
        add(&text[at..mark.start], style);
        add(&text[mark.clone()], style.add_modifier(Modifier::REVERSED));
        at = mark.end;
    }
    add(&text[at..], style);
    spans
}

/// For each line the parts that differ from the line whose place it took, or that took its place.
fn marks(lines: &[Line<'_>]) -> Vec<Vec<Range<usize>>> {
    let mut marks = vec![Vec::new(); lines.len()];
    let run = |from: usize, change: Change| lines[from..].iter().take_while(|line| line.change == change).count();
    let mut at = 0;
    while at < lines.len() {
        let removed = run(at, Change::Removed);
        let added = run(at + removed, Change::Added);
        // Lines that were only added or removed, and those that do not pair, changed as a whole.
        if removed > 0 && removed == added {
            for pair in at..at + removed {
                let (old, new) = changed_words(lines[pair].text, lines[pair + removed].text);
                marks[pair] = old;
                marks[pair + removed] = new;
            }
        }
        at += (removed + added).max(1);
    }
    marks
}

/// The parts of two lines that differ; none where they have too little in common for that to say anything.
fn changed_words(old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (old_words, new_words) = (words(old), words(new));
    if old_words.len().max(new_words.len()) > MOST_WORDS {
        return Default::default();
    }
    let ops = capture_diff_slices(Algorithm::Myers, &slices(old, &old_words), &slices(new, &new_words));
    let common: usize = ops
        .iter()
        .filter(|op| matches!(op, DiffOp::Equal { .. }))
        .flat_map(|op| &old_words[op.old_range()])
        .filter(|word| !old[(*word).clone()].trim().is_empty())
        .map(ExactSizeIterator::len)
        .sum();
    if common * 3 < old.trim().len().max(new.trim().len()) {
        return Default::default();
    }
    let parts = |words: &[Range<usize>], range: fn(&DiffOp) -> Range<usize>| -> Vec<Range<usize>> {
        let changed = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })).map(range);
        let parts = changed.filter_map(|range| Some(words.get(range.start)?.start..words[range].last()?.end));
        parts.collect()
    };
    (parts(&old_words, DiffOp::old_range), parts(&new_words, DiffOp::new_range))
}

fn slices<'t>(text: &'t str, words: &[Range<usize>]) -> Vec<&'t str> {
    words.iter().map(|word| &text[word.clone()]).collect()
}

/// Words, runs of blanks, and single signs.
fn words(text: &str) -> Vec<Range<usize>> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut before = 2;
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        match words.last_mut() {
            Some(word) if class(character) == before && before != 2 => word.end = end,
            _ => words.push(at..end),
        }
        before = class(character);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(display: &str, width: usize) -> Vec<String> {
        diff(display, width, &Theme::dark()).iter().map(StyledLine::text).collect()
    }

    /// The parts that are marked.
    fn marked_parts(display: &str) -> Vec<String> {
        let rows = diff(display, 80, &Theme::dark());
        let spans = rows.into_iter().flat_map(|row| row.spans);
        let is_marked = |span: &StyledSpan| span.style.add_modifier.contains(Modifier::REVERSED);
        spans.filter(is_marked).map(|span| span.text.into_owned()).collect()
    }

    #[test]
    fn lines_keep_their_numbers_and_signs_and_hang_behind_them() {
        let display = "     ...\n   9 same\n- 10 old line\n+ 10 new\tline\n  11 + no sign";
        assert_eq!(rows(display, 40), ["     ...", "   9 same", "- 10 old line", "+ 10 new line", "  11 + no sign"]);
        assert_eq!(rows("-1 abcdefgh", 7), ["-1 abcd", "   efgh"]);
        assert_eq!(rows("-1 ", 7), ["-1 "]);
        let theme = Theme::dark();
        let drawn = diff("-1 a\n+1 b\n 2 c", 20, &theme);
        for (row, color) in
            drawn.iter().zip([ThemeColor::ToolDiffRemoved, ThemeColor::ToolDiffAdded, ThemeColor::ToolDiffContext])
        {
            assert_eq!(row.spans[0].style, theme.fg(color));
        }
    }

    #[test]
    fn words_that_changed_are_marked_where_lines_have_something_in_common() {
        for (display, wanted) in [
            ("-1 let a = one(two);\n+1 let a = three(two);", &["one", "three"][..]),
            ("-1 same words here\n+1 same here\n", &["words "]),
            ("-1 abc\n+1 xyz", &[]),
            ("-1 a b c d\n-2 x\n+1 a b c e", &[]),
            ("-1 größe = 1\n+1 größe = 2", &["1", "2"]),
            (" 1 a\n+2 b", &[]),
        ] {
            assert_eq!(marked_parts(display), wanted, "{display:?}");
        }
    }
}
