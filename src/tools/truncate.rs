//! Cutting text to what a model should get, and saying how much was cut.
//!
//! Two limits hold at once, lines and bytes; the first that is hit cuts. A newline at the end does not start another
//! line. Cuts are made between characters, never inside one.

use serde::Serialize;

/// Lines that a tool's output has at most.
pub const MAX_LINES: usize = 2000;
/// Bytes that a tool's output has at most.
pub const MAX_BYTES: usize = 50 * 1024;
/// UTF-16 units that one line of `grep` has at most.
pub const MAX_LINE_UNITS: usize = 500;
/// Stands for "no limit"; the largest whole number that JSON readers in JavaScript take.
pub const NO_LIMIT: usize = 9_007_199_254_740_991;

/// How much text may stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Lines at most.
    pub lines: usize,
    /// Bytes at most.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { lines: MAX_LINES, bytes: MAX_BYTES }
    }
}

impl Limits {
    /// The usual limit of bytes and any number of lines.
    pub const BYTES_ONLY: Self = Self { lines: NO_LIMIT, bytes: MAX_BYTES };
}

/// Which limit cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TruncatedBy {
    /// The limit of lines.
    Lines,
    /// The limit of bytes.
    Bytes,
}

/// Text within limits, and what it was cut from. Its JSON form is `details.truncation` of a tool's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncation {
    /// The text that stays.
    pub content: String,
    /// Whether anything was cut.
    pub truncated: bool,
    /// Which limit cut.
    pub truncated_by: Option<TruncatedBy>,
    /// Lines of the whole text.
    pub total_lines: usize,
    /// Bytes of the whole text.
    pub total_bytes: usize,
    /// Lines that stay.
    pub output_lines: usize,
    /// Bytes that stay.
    pub output_bytes: usize,
    /// The only line that stays is the end of a longer one.
    pub last_line_partial: bool,
    /// Nothing stays, since the first line alone is over the limit of bytes.
    pub first_line_exceeds_limit: bool,
    /// The limit of lines.
    pub max_lines: usize,
    /// The limit of bytes.
    pub max_bytes: usize,
}

/// Keeps the beginning: whole lines only.
#[must_use]
pub fn head(text: &str, limits: Limits) -> Truncation {
    let total_lines = count_lines(text);
    if total_lines <= limits.lines && text.len() <= limits.bytes {
        return whole(text, total_lines, limits);
    }
    let mut end = 0;
    let mut kept = 0;
    let mut by = TruncatedBy::Lines;
    for line in text.split('\n').take(total_lines.min(limits.lines)) {
        let with_line = if kept == 0 { line.len() } else { end + 1 + line.len() };
        if with_line > limits.bytes {
            by = TruncatedBy::Bytes;
            break;
        }
        end = with_line;
        kept += 1;
    }
    if kept == total_lines {
        // All lines fit; only the newline at the end was one byte too many.
        by = TruncatedBy::Bytes;
    }
    Truncation {
        first_line_exceeds_limit: kept == 0 && by == TruncatedBy::Bytes,
        ..cut(&text[..end], by, kept, total_lines, text.len(), limits)
    }
}

/// Keeps the end: whole lines, or the end of the last line when that alone is over the limit of bytes.
#[must_use]
pub fn tail(text: &str, limits: Limits) -> Truncation {
    let total_lines = count_lines(text);
    if total_lines <= limits.lines && text.len() <= limits.bytes {
        return whole(text, total_lines, limits);
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    let mut start = body.len();
    let mut kept = 0;
    let mut by = TruncatedBy::Lines;
    let mut partial = false;
    for line in body.rsplit('\n').take(limits.lines) {
        let from = if kept == 0 { body.len() - line.len() } else { start - 1 - line.len() };
        if body.len() - from > limits.bytes {
            by = TruncatedBy::Bytes;
            if kept == 0 {
                start = ceil_char_boundary(body, body.len() - limits.bytes);
                kept = 1;
                partial = true;
            }
            break;
        }
        start = from;
        kept += 1;
    }
    if kept == total_lines && !partial {
        by = TruncatedBy::Bytes;
    }
    Truncation { last_line_partial: partial, ..cut(&body[start..], by, kept, total_lines, text.len(), limits) }
}

fn whole(text: &str, lines: usize, limits: Limits) -> Truncation {
    Truncation {
        content: text.to_owned(),
        truncated: false,
        truncated_by: None,
        total_lines: lines,
        total_bytes: text.len(),
        output_lines: lines,
        output_bytes: text.len(),
        last_line_partial: false,
        first_line_exceeds_limit: false,
        max_lines: limits.lines,
        max_bytes: limits.bytes,
    }
}

fn cut(
    kept: &str,
    by: TruncatedBy,
    lines: usize,
    total_lines: usize,
    total_bytes: usize,
    limits: Limits,
) -> Truncation {
    Truncation { truncated: true, truncated_by: Some(by), total_lines, total_bytes, ..whole(kept, lines, limits) }
}

/// Lines of a text; a newline at the end does not start another one.
#[must_use]
pub fn count_lines(text: &str) -> usize {
    count_newlines(text.as_bytes()) + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// Newline bytes in `bytes`.
#[must_use]
pub fn count_newlines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

/// The first place at or after `at` where a character begins.
#[must_use]
pub fn ceil_char_boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|place| text.is_char_boundary(*place)).unwrap_or(text.len())
}

/// The last place at or before `at` where a character begins.
#[must_use]
pub fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0)
}

/// The longest beginning of `text` with at most `units` UTF-16 units; none when all of it is.
#[must_use]
pub fn cut_to_units(text: &str, units: usize) -> Option<&str> {
    // A character has at least as many bytes as units.
    if text.len() <= units {
        return None;
    }
    let mut used = 0;
    for (place, character) in text.char_indices() {
        used += character.len_utf16();
        if used > units {
            return Some(&text[..place]);
        }
    }
    None
}

/// A number of bytes for people: `512B`, `58.6KB`, `3.0MB`.
#[must_use]
pub fn size(bytes: usize) -> String {
    const KIB: f64 = 1024.0;
    #[allow(clippy::cast_precision_loss, reason = "shown with one decimal")]
    let amount = bytes as f64;
    if amount < KIB {
        format!("{bytes}B")
    } else if amount < KIB * KIB {
        format!("{:.1}KB", amount / KIB)
    } else {
        format!("{:.1}MB", amount / (KIB * KIB))
    }
}

#[cfg(test)]
mod tests;
