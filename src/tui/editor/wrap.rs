//! How a line breaks into rows.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::{protocol::hidden, tui::text::width_of};

/// What is shown for a tab.
const TAB: &str = "    ";

/// What is shown for a grapheme: itself, or something harmless that takes its place.
pub fn shown(grapheme: &str) -> Cow<'_, str> {
    match grapheme {
        "\t" => Cow::Borrowed(TAB),
        "\u{2028}" | "\u{2029}" => Cow::Borrowed(" "),
        _ => hidden::for_terminal(grapheme),
    }
}

/// Whether every byte of the text is a character of one column.
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..0x7f).contains(&byte))
}

/// Columns that a text takes as it is shown.
pub fn shown_width(text: &str) -> usize {
    if is_plain(text) {
        return text.len();
    }
    text.graphemes(true).map(|grapheme| width_of(&shown(grapheme))).sum()
}

/// Adds to `breaks` the offsets in `line` at which rows of `columns` start, from the row on that starts at `from`.
///
/// Rows break behind blanks and beside wide characters, and inside a word when it does not fit. Blanks that do not fit
/// stay at the end of their row, unseen. A character wider than the row has a row of its own.
pub fn wrap(line: &str, columns: usize, from: usize, breaks: &mut Vec<usize>) {
    let rest = &line[from..];
    let mut breaker =
        Breaker { columns: columns.max(1), start: from, column: 0, chance: None, behind: Unit::Other, breaks };
    if is_plain(rest) {
        if rest.len() <= columns {
            return;
        }
        for (at, byte) in rest.bytes().enumerate() {
            breaker.push(from + at, 1, if byte == b' ' { Unit::Blank } else { Unit::Other });
        }
        return;
    }
    for (at, grapheme) in rest.grapheme_indices(true) {
        let width = shown_width_of_grapheme(grapheme);
        let unit = match grapheme {
            " " | "\t" | "\u{3000}" => Unit::Blank,
            _ if width == 2 => Unit::Wide,
            _ => Unit::Other,
        };
        breaker.push(from + at, width, unit);
    }
}

fn shown_width_of_grapheme(grapheme: &str) -> usize {
    match grapheme.as_bytes() {
        [b' '..=b'~'] => 1,
        _ => width_of(&shown(grapheme)),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Blank,
    Wide,
    Other,
}

struct Breaker<'a> {
    columns: usize,
    /// Where the row starts.
    start: usize,
    /// Columns that are taken.
    column: usize,
    /// The last place of the row where it may break, and the columns before it.
    chance: Option<(usize, usize)>,
    /// The last unit.
    behind: Unit,
    breaks: &'a mut Vec<usize>,
}

impl Breaker<'_> {
    fn push(&mut self, at: usize, width: usize, unit: Unit) {
        if unit != Unit::Blank {
            let may_break = self.behind != Unit::Other || unit == Unit::Wide;
            if may_break && at > self.start {
                self.chance = Some((at, self.column));
            }
            while self.column + width > self.columns && at > self.start {
                let (start, before) = self.chance.take().unwrap_or((at, self.column));
                self.start = start;
                self.column -= before;
                self.breaks.push(start);
            }
        }
        self.column += width;
        self.behind = unit;
    }
}
