//! How many columns text takes on a terminal.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Columns of the text: the sum over its graphemes, none of which takes more than two. Control characters take none:
/// they must not be in a text that is drawn.
#[must_use]
pub fn width_of(text: &str) -> usize {
    if is_plain(text) {
        return text.len();
    }
    text.graphemes(true).map(grapheme_width).sum()
}

/// Whether every byte of the text is a character of one column.
#[must_use]
pub(in crate::tui) fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..0x7f).contains(&byte))
}

/// Columns of one grapheme: 0, 1 or 2.
///
/// Terminals differ in corners. Where they do, this is what those that know graphemes do; and where even those differ,
/// the larger number, since a blank too many does no harm and a column too many does.
#[must_use]
pub(super) fn grapheme_width(grapheme: &str) -> usize {
    let mut characters = grapheme.chars();
    let (Some(first), second) = (characters.next(), characters.next()) else { return 0 };
    match (first, second) {
        (' '..='~', None) => 1,
        (c, None) if c.is_control() => 0,
        // Separators of lines and paragraphs, which no terminal shows.
        ('\u{2028}' | '\u{2029}', None) => 0,
        // Long dashes: their glyphs are long, their cells are not.
        ('\u{2e3a}' | '\u{2e3b}', None) => 1,
        // Half a flag.
        ('\u{1f1e6}'..='\u{1f1ff}', None) => 2,
        // A wish for text instead of an emoji, which terminals do not heed.
        (c, Some('\u{fe0e}')) => c.encode_utf8(&mut [0; 4]).width().min(2),
        _ => grapheme.width().min(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fc_058_graphemes_take_the_columns_that_terminals_give_them() {
        let table = [
            ("", 0),
            ("abc", 3),
            ("é", 1),
            ("e\u{301}", 1),
            ("日本", 4),
            ("한글", 4),
            ("\u{1112}\u{1161}\u{11ab}", 2),
            ("ｶﾞ", 2),
            ("ｱ", 1),
            ("👩\u{200d}👩\u{200d}👧", 2),
            ("❤", 1),
            ("❤\u{fe0f}", 2),
            ("1\u{fe0f}\u{20e3}", 2),
            ("🇩🇪", 2),
            ("🇩", 2),
            ("👍🏽", 2),
            ("⌚", 2),
            ("⌚\u{fe0e}", 2),
            ("…", 1),
            ("│", 1),
            ("\u{2e3b}", 1),
            ("\u{200b}", 0),
            ("\u{2028}", 0),
            ("\u{7}", 0),
            ("a\u{7}b", 2),
        ];
        for (text, columns) in table {
            assert_eq!(width_of(text), columns, "{text:?}");
        }
    }
}
