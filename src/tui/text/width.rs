//! How many columns text takes on a terminal.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Columns of the text: the sum over its graphemes, none of which takes more than two. Control characters take none:
/// they must not be in a text that is drawn.
#[must_use]
pub fn width_of(text: &str) -> usize {
    if text.bytes().all(|byte| (b' '..0x7f).contains(&byte)) {
        return text.len();
    }
    text.graphemes(true).map(grapheme_width).sum()
}

fn grapheme_width(grapheme: &str) -> usize {
    grapheme.width().min(2)
}
