//! A window of lines of a file that comes in pieces.

use memchr::memchr;

use crate::tools::truncate::{self, Limits, MAX_BYTES, Truncation, count_newlines};

/// Bytes of a window that are kept: more than is ever shown, so that what is cut is seen as cut.
const KEPT_AT_MOST: usize = MAX_BYTES + 1;

/// Which lines are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Lines to leave out at the beginning.
    pub start: usize,
    /// Lines at most; none: all.
    pub count: Option<usize>,
}

/// Collects a window of lines, and counts all lines. A newline at the end of a file begins another, empty line.
#[derive(Debug, Default)]
pub struct LineCollector {
    window: Window,
    /// Newlines so far: the index of the current line.
    line: usize,
    kept: Vec<u8>,
    /// Counts of the window, kept or not. The newline that ends its last line is not part of it.
    bytes: usize,
    newlines: usize,
    first_line_bytes: usize,
    ends_with_newline: bool,
}

/// What a window holds.
#[derive(Debug)]
pub struct Lines {
    /// Lines of the whole file, or of what was read of it.
    pub total: usize,
    /// Whether those are all lines of the file.
    pub is_counted: bool,
    /// Lines of the window that exist.
    pub selected: usize,
    /// Bytes of the window's first line.
    pub first_line_bytes: usize,
    /// The window, cut to what a model gets.
    pub truncation: Truncation,
}

impl LineCollector {
    pub fn new(window: Window) -> Self {
        Self { window, ..Self::default() }
    }

    /// Takes the next piece of the file.
    pub fn push(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while self.line < self.window.start {
            let Some(newline) = memchr(b'\n', rest) else { return };
            self.line += 1;
            rest = &rest[newline + 1..];
        }
        let Some(end) = self.end() else {
            self.line += count_newlines(rest);
            self.keep(rest);
            return;
        };
        while self.line < end {
            let Some(newline) = memchr(b'\n', rest) else {
                self.keep(rest);
                return;
            };
            self.line += 1;
            let is_last = self.line == end;
            self.keep(if is_last { &rest[..newline] } else { &rest[..=newline] });
            rest = &rest[newline + 1..];
        }
        self.line += count_newlines(rest);
    }

    fn end(&self) -> Option<usize> {
        self.window.count.map(|count| self.window.start.saturating_add(count))
    }

    fn keep(&mut self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        if self.newlines == 0 {
            self.first_line_bytes += memchr(b'\n', bytes).unwrap_or(bytes.len());
        }
        self.bytes += bytes.len();
        self.newlines += count_newlines(bytes);
        self.ends_with_newline = *last == b'\n';
        let room = KEPT_AT_MOST - self.kept.len();
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Whether the rest of the file adds nothing but its number of lines.
    pub fn is_full(&self) -> bool {
        self.kept.len() == KEPT_AT_MOST || self.end().is_some_and(|end| self.line >= end)
    }

    /// Ends before the file does.
    pub fn stop(self) -> Lines {
        Lines { is_counted: false, ..self.finish() }
    }

    /// Ends the file.
    pub fn finish(self) -> Lines {
        let total = self.line + 1;
        let end = self.end().unwrap_or(total).min(total);
        let mut truncation = truncate::head(&String::from_utf8_lossy(&self.kept), Limits::default());
        if self.bytes > self.kept.len() {
            truncation.total_bytes = self.bytes;
            truncation.total_lines = self.newlines + usize::from(!self.ends_with_newline);
        }
        Lines {
            total,
            is_counted: true,
            selected: end.saturating_sub(self.window.start),
            first_line_bytes: self.first_line_bytes,
            truncation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(text: &str, start: usize, count: Option<usize>, piece: usize) -> Lines {
        let mut collector = LineCollector::new(Window { start, count });
        for piece in text.as_bytes().chunks(piece) {
            collector.push(piece);
        }
        collector.finish()
    }

    #[test]
    fn windows_are_the_same_however_the_file_comes() {
        // text, start, count -> content, total, selected, first line
        let table = [
            ("", 0, None, "", 1, 1, 0),
            ("a\nb", 0, None, "a\nb", 2, 2, 1),
            ("a\nb\n", 0, None, "a\nb\n", 3, 3, 1),
            ("a\nb\n", 0, Some(2), "a\nb", 3, 2, 1),
            ("a\nb\n", 0, Some(3), "a\nb\n", 3, 3, 1),
            ("a\nb\n", 1, Some(9), "b\n", 3, 2, 1),
            ("a\nb\n", 2, None, "", 3, 1, 0),
            ("a\nb\n", 3, None, "", 3, 0, 0),
            ("a\nbb\nccc\ndddd", 1, Some(2), "bb\nccc", 4, 2, 2),
            ("a\nbb\nccc\ndddd", 3, Some(1), "dddd", 4, 1, 4),
            ("a\n\n\nb", 1, Some(2), "\n", 4, 2, 0),
            ("a\nb", 0, Some(0), "", 2, 0, 0),
        ];
        for (text, start, count, content, total, selected, first) in table {
            for piece in 1..6 {
                let got = collect(text, start, count, piece);
                assert_eq!(
                    (got.truncation.content.as_str(), got.total, got.selected, got.first_line_bytes),
                    (content, total, selected, first),
                    "{text:?} {start} {count:?} by {piece}"
                );
                assert!(!got.truncation.truncated);
            }
        }
    }

    #[test]
    fn what_is_not_kept_is_still_counted() {
        let text = format!("{}\n", "x".repeat(99)).repeat(1000);
        let got = collect(&text, 0, None, 7777);
        let wanted = truncate::head(&text, Limits::default());
        assert_eq!(got.truncation, wanted);
        assert_eq!((wanted.output_lines, wanted.total_lines), (512, 1000));
        let wide = collect(&format!("a\n{}\nb", "w".repeat(60_000)), 1, Some(1), 1000);
        assert!(wide.truncation.first_line_exceeds_limit);
        assert_eq!((wide.first_line_bytes, wide.total), (60_000, 3));
    }
}
