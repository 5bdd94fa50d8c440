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
    for (at, grapheme) in units(rest) {
        let width = simple_width(grapheme).unwrap_or_else(|| width_of(&shown(grapheme)));
        let unit = match grapheme {
            " " | "\t" | "\u{3000}" => Unit::Blank,
            _ if width == 2 => Unit::Wide,
            _ => Unit::Other,
        };
        breaker.push(from + at, width, unit);
    }
}

/// The graphemes of a text and where they are. Two simple characters beside each other are never one, and most are
/// simple: what is slow is asked of the others alone.
fn units(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &text[at..];
        let mut characters = rest.char_indices();
        let (_, first) = characters.next()?;
        let end = match characters.next() {
            Some((next, second)) if is_simple(first) && is_simple(second) => next,
            _ => rest.graphemes(true).next()?.len(),
        };
        let unit = (at, &rest[..end]);
        at += end;
        Some(unit)
    })
}

/// The columns of a simple character that stands alone.
fn simple_width(grapheme: &str) -> Option<usize> {
    let character = grapheme.chars().next().filter(|first| first.len_utf8() == grapheme.len() && is_simple(*first))?;
    Some(if character < '\u{1100}' { 1 } else { 2 })
}

/// Whether a character shows as itself and joins with none of its kind: those of most alphabets take one column, those
/// of Chinese, Japanese and Korean two.
fn is_simple(character: char) -> bool {
    matches!(character, ' '..='~' | '\u{c0}'..='\u{2af}' | '\u{391}'..='\u{3ff}' | '\u{400}'..='\u{481}')
        || matches!(character, '\u{3041}'..='\u{3096}' | '\u{30a0}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}')
        || matches!(character, '\u{ac00}'..='\u{d7a3}')
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_characters_are_what_the_slow_way_says_they_are() {
        for character in ('\0'..=char::MAX).filter(|character| is_simple(*character)) {
            let one = character.to_string();
            assert_eq!(simple_width(&one), Some(width_of(&shown(&one))), "{character:?}");
            assert!(matches!(shown(&one), Cow::Borrowed(_)), "{character:?}");
            for other in ["a", "日", "한"] {
                assert_eq!(format!("{one}{other}").graphemes(true).count(), 2, "{character:?}");
                assert_eq!(format!("{other}{one}").graphemes(true).count(), 2, "{character:?}");
            }
        }
    }

    #[test]
    fn units_are_graphemes() {
        let text = "a日e\u{301}👩\u{200d}👧한\u{11a8}🇨🇭 \u{200d}é\u{3099}か\u{3099}\t";
        assert!(units(text).eq(text.grapheme_indices(true)));
    }
}
