//! How a grapheme lies in a row of cells, and how far terminals may disagree about that.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns of a grapheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Columns that it takes here: 1 or 2.
    pub width: u16,
    /// Columns that it may take on a terminal that has other tables, or shows its characters one by one.
    pub reach: u16,
    /// All terminals agree about it: the cursor stands behind it when it was written.
    pub is_plain: bool,
}

impl Shape {
    /// A letter.
    pub const NARROW: Self = Self { width: 1, reach: 1, is_plain: true };

    /// The shape of a cell's symbol; none for one that takes no column, for which a blank is shown.
    pub fn of(symbol: &str) -> Option<Self> {
        if let [byte] = symbol.as_bytes() {
            return (b' '..0x7f).contains(byte).then_some(Self::NARROW);
        }
        let width = u16::try_from(symbol.width().min(2)).ok().filter(|width| *width > 0)?;
        if symbol.chars().any(char::is_control) {
            return None;
        }
        let mut characters = symbol.chars();
        let alone = characters.next().filter(|_| characters.next().is_none());
        if alone.is_some_and(is_settled) {
            return Some(Self { width, reach: width, is_plain: true });
        }
        let one_by_one: usize = symbol.chars().map(|character| character.width().unwrap_or_default()).sum();
        let emoji = usize::from(symbol.contains('\u{fe0f}'));
        // A symbol that is wide only in newer tables is narrow in older ones, and the other way round.
        let reach = u16::try_from(one_by_one + emoji).unwrap_or(u16::MAX).max(2);
        Some(Self { width, reach, is_plain: false })
    }
}

/// Whether the widths of such characters are the same everywhere: not the symbols that became wide with emoji, nor those
/// beyond the first plane, of which each version of Unicode brings more.
fn is_settled(character: char) -> bool {
    !matches!(u32::from(character), 0x2300..0x2400 | 0x2600..0x27c0 | 0x2b00..0x2c00 | 0x1_0000..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_say_what_terminals_may_make_of_a_grapheme() {
        for (symbol, shape, is_plain) in [
            ("a", Some((1, 1)), true),
            ("é", Some((1, 1)), true),
            ("│", Some((1, 1)), true),
            ("日", Some((2, 2)), true),
            ("한", Some((2, 2)), true),
            ("e\u{301}", Some((1, 2)), false),
            ("✓", Some((1, 2)), false),
            ("❤\u{fe0f}", Some((2, 2)), false),
            ("👩\u{200d}👩\u{200d}👧", Some((2, 6)), false),
            ("🇨🇭", Some((2, 2)), false),
            ("", None, false),
            ("\u{200b}", None, false),
            ("\u{1b}", None, false),
            ("a\u{7}", None, false),
        ] {
            let found = Shape::of(symbol);
            assert_eq!(found.map(|shape| (shape.width, shape.reach)), shape, "{symbol:?}");
            assert_eq!(found.is_some_and(|shape| shape.is_plain), is_plain, "{symbol:?}");
        }
    }
}
