//! The output of a command, in bounded memory.

use super::terminal::{Rewriting, TerminalText};
use crate::tools::truncate::{
    self, Limits, MAX_BYTES, MAX_LINES, Truncation, ceil_char_boundary, count_newlines, floor_char_boundary,
};

/// How much of an output stays in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Bytes of the beginning.
    pub head: usize,
    /// Bytes of the end, at least; up to twice as many while output comes.
    pub tail: usize,
}

/// Turns the bytes of a command into plain text, counts it, and keeps its beginning and its end.
#[derive(Debug)]
pub struct OutputText {
    retention: Retention,
    decoder: Utf8Stream,
    terminal: TerminalText,
    /// Reused between pieces.
    decoded: String,
    cleaned: String,
    head: String,
    /// What follows the head, without `dropped` bytes between.
    tail: String,
    dropped: usize,
    /// Counts of all text that is final, kept or not.
    bytes: usize,
    newlines: usize,
    /// Bytes since the last newline.
    open_line: usize,
    /// Bytes of the line that the last newline ended.
    closed_line: usize,
}

impl OutputText {
    /// An empty output.
    pub fn new(retention: Retention) -> Self {
        Self {
            retention,
            decoder: Utf8Stream::default(),
            terminal: TerminalText::new(Rewriting::Applied),
            decoded: String::new(),
            cleaned: String::new(),
            head: String::new(),
            tail: String::new(),
            dropped: 0,
            bytes: 0,
            newlines: 0,
            open_line: 0,
            closed_line: 0,
        }
    }

    /// Takes what a program wrote.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut decoded = std::mem::take(&mut self.decoded);
        self.decoder.push(bytes, &mut decoded);
        self.clean(&decoded);
        decoded.clear();
        self.decoded = decoded;
    }

    /// Takes note that there is no more.
    pub fn finish(&mut self) {
        if self.decoder.finish() {
            self.clean("\u{fffd}");
        }
        let mut cleaned = std::mem::take(&mut self.cleaned);
        self.terminal.finish(&mut cleaned);
        self.keep(&cleaned);
    }

    fn clean(&mut self, text: &str) {
        let mut cleaned = std::mem::take(&mut self.cleaned);
        self.terminal.push(text, &mut cleaned);
        self.keep(&cleaned);
        cleaned.clear();
        self.cleaned = cleaned;
    }

    fn keep(&mut self, text: &str) {
        self.bytes += text.len();
        self.newlines += count_newlines(text.as_bytes());
        match text.rfind('\n') {
            Some(last) => {
                self.closed_line = text[..last].rfind('\n').map_or(self.open_line + last, |before| last - before - 1);
                self.open_line = text.len() - last - 1;
            }
            None => self.open_line += text.len(),
        }
        let room = if self.tail.is_empty() { self.retention.head.saturating_sub(self.head.len()) } else { 0 };
        let (beginning, rest) = text.split_at(floor_char_boundary(text, room.min(text.len())));
        self.head.push_str(beginning);
        self.tail.push_str(rest);
        if self.tail.len() > 2 * self.retention.tail {
            let surplus = ceil_char_boundary(&self.tail, self.tail.len() - self.retention.tail);
            self.tail.drain(..surplus);
            self.dropped += surplus;
        }
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0 && self.terminal.pending().is_empty()
    }

    /// Whether the text is more than a model gets.
    pub fn is_over_limits(&self) -> bool {
        self.bytes + self.terminal.pending().len() > MAX_BYTES || self.total_lines() > MAX_LINES
    }

    fn total_lines(&self) -> usize {
        self.newlines + usize::from(self.open_line + self.terminal.pending().len() > 0)
    }

    /// Bytes of the last line.
    pub fn last_line_bytes(&self) -> usize {
        match self.open_line + self.terminal.pending().len() {
            0 => self.closed_line,
            open => open,
        }
    }

    /// The end of the text within the limits of a tool's output.
    pub fn truncated_tail(&self) -> Truncation {
        // A little more than fits, so that a cut is seen as one.
        let window = self.last(MAX_BYTES + 16);
        let total_bytes = self.bytes + self.terminal.pending().len();
        Truncation { total_lines: self.total_lines(), total_bytes, ..truncate::tail(&window, Limits::default()) }
    }

    /// The last `bytes` of the text, or somewhat less to begin with a character.
    fn last(&self, bytes: usize) -> String {
        let parts = [self.head.as_str(), self.tail.as_str(), self.terminal.pending()];
        let parts = if self.dropped > 0 { &parts[1..] } else { &parts[..] };
        let mut out = String::with_capacity(bytes.min(parts.iter().map(|part| part.len()).sum()));
        let mut skip = parts.iter().map(|part| part.len()).sum::<usize>().saturating_sub(bytes);
        for part in parts {
            let from = ceil_char_boundary(part, skip.min(part.len()));
            out.push_str(&part[from..]);
            skip = skip.saturating_sub(part.len());
        }
        out
    }

    /// Bytes of the text that is final: a place to go on from with [`OutputText::since`].
    pub fn end(&self) -> usize {
        self.bytes
    }

    /// Whether the text ends within a line.
    pub fn has_open_line(&self) -> bool {
        self.open_line + self.terminal.pending().len() > 0
    }

    /// The text from a place on, with the line that is not over yet, and how many bytes of it are not kept any more.
    pub fn since(&self, place: usize) -> (String, usize) {
        let tail_begins = self.head.len() + self.dropped;
        let from_head = ceil_char_boundary(&self.head, place.min(self.head.len()));
        let in_tail = place.clamp(self.head.len(), self.bytes);
        let from_tail = ceil_char_boundary(&self.tail, in_tail.saturating_sub(tail_begins));
        let text = [&self.head[from_head..], &self.tail[from_tail..], self.terminal.pending()].concat();
        (text, tail_begins.saturating_sub(in_tail))
    }

    /// All of the text, or its beginning and its end with a note between them.
    pub fn both_ends(&self) -> String {
        let pending = self.terminal.pending();
        if self.dropped == 0
            && self.head.len() + self.tail.len() + pending.len() <= self.retention.head + self.retention.tail
        {
            return [&self.head, &self.tail, pending].concat();
        }
        let end = self.last(self.retention.tail);
        let left_out = self.bytes + pending.len() - self.head.len() - end.len();
        format!("{}\n[... {} left out ...]\n{end}", self.head, truncate::size(left_out))
    }
}

/// Decodes UTF-8 that comes in pieces. What is no UTF-8 becomes U+FFFD.
#[derive(Debug, Default)]
pub struct Utf8Stream {
    /// The beginning of a character whose end has not come yet.
    held: Vec<u8>,
}

impl Utf8Stream {
    /// Decodes the next piece and adds it to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut String) {
        let mut bytes = bytes;
        // A character has four bytes at most: the held ones are complete after a few more, or are none.
        while !self.held.is_empty() {
            let [next, rest @ ..] = bytes else { return };
            self.held.push(*next);
            bytes = rest;
            match std::str::from_utf8(&self.held) {
                Ok(character) => {
                    out.push_str(character);
                    self.held.clear();
                }
                Err(error) if error.error_len().is_none() => {}
                Err(error) => {
                    out.push('\u{fffd}');
                    let bad = error.valid_up_to() + error.error_len().unwrap_or(1);
                    let again = self.held.split_off(bad);
                    self.held.clear();
                    self.decode(&again, out);
                }
            }
        }
        self.decode(bytes, out);
    }

    fn decode(&mut self, bytes: &[u8], out: &mut String) {
        let mut rest = bytes;
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    out.push_str(text);
                    return;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    out.push_str(&String::from_utf8_lossy(valid));
                    let Some(bad) = error.error_len() else {
                        self.held.extend_from_slice(after);
                        return;
                    };
                    out.push('\u{fffd}');
                    rest = &after[bad..];
                }
            }
        }
    }

    /// Ends the text; true when it broke off inside a character.
    pub fn finish(&mut self) -> bool {
        !std::mem::take(&mut self.held).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: Retention = Retention { head: 20, tail: 60_000 };

    fn output(pieces: &[&[u8]]) -> OutputText {
        let mut output = OutputText::new(KEPT);
        for piece in pieces {
            output.push(piece);
        }
        output
    }

    #[test]
    fn characters_may_be_cut_between_pieces() {
        let text = "ä😀 é\u{ffff}x".as_bytes();
        let broken = b"caf\xe9 \xf0\x9f\x98 \xff\xc3(";
        for input in [text, broken.as_slice()] {
            let whole = String::from_utf8_lossy(input);
            for place in 0..input.len() {
                for second in place..input.len() {
                    let mut stream = Utf8Stream::default();
                    let mut out = String::new();
                    for piece in [&input[..place], &input[place..second], &input[second..]] {
                        stream.push(piece, &mut out);
                    }
                    assert!(!stream.finish());
                    assert_eq!(out, whole, "{place} {second}");
                }
            }
        }
        let mut ended = output(&[b"x\xf0\x9f"]);
        ended.finish();
        assert_eq!(ended.truncated_tail().content, "x\u{fffd}");
    }

    #[test]
    fn the_end_is_the_same_whatever_was_dropped_before_it() {
        let whole: String = (1..=30_000).map(|n| format!("{n}\n")).collect();
        let mut got = output(&[]);
        for piece in whole.as_bytes().chunks(777) {
            got.push(piece);
        }
        assert!(got.is_over_limits() && got.dropped > 0);
        got.finish();
        let wanted = truncate::tail(&whole, Limits::default());
        assert_eq!(got.truncated_tail(), wanted);
        assert_eq!(wanted.output_lines, 2000);
    }

    #[test]
    fn a_line_that_is_not_over_yet_counts_and_shows() {
        let got = output(&[b"one\ntw", b"o\rTWO"]);
        assert_eq!(got.truncated_tail().content, "one\nTWO");
        assert_eq!(got.truncated_tail().total_lines, 2);
        assert!(!got.is_empty());
        assert!(output(&[b"\x1b[31m"]).is_empty());
    }

    #[test]
    fn the_last_line_may_be_longer_than_what_is_kept() {
        let mut got = output(&[b"first\n"]);
        for _ in 0..300 {
            got.push(&[b'x'; 1000]);
        }
        got.finish();
        let tail = got.truncated_tail();
        assert!(tail.last_line_partial);
        assert_eq!((tail.content.len(), tail.total_lines, got.last_line_bytes()), (51_200, 2, 300_000));
        got.push(b"\n");
        assert_eq!((got.truncated_tail().total_lines, got.last_line_bytes()), (2, 300_000));
    }

    #[test]
    fn what_came_since_a_place_is_given_with_what_is_lost_of_it() {
        let mut got = OutputText::new(Retention { head: 0, tail: 10 });
        got.push("one\ntwo\nasks: ".as_bytes());
        assert_eq!(got.since(0), ("one\ntwo\nasks: ".to_owned(), 0));
        let place = got.end();
        assert_eq!((place, got.since(place)), (8, ("asks: ".to_owned(), 0)));
        got.push("yes\n".as_bytes());
        assert_eq!(got.since(place), ("asks: yes\n".to_owned(), 0));
        assert_eq!(got.since(999), (String::new(), 0));
        got.push("ä123456789\n0123456789\n".as_bytes());
        let (text, lost) = got.since(place);
        assert!(lost > 0 && "asks: yes\nä123456789\n0123456789\n".len() == lost + text.len(), "{lost} {text}");
        assert_eq!(got.since(got.end() - 5), ("6789\n".to_owned(), 0));
        let mut short = OutputText::new(Retention { head: 0, tail: 10 });
        short.push("ä1\n".as_bytes());
        assert_eq!(short.since(1), ("1\n".to_owned(), 0), "not in the middle of a character");
    }

    #[test]
    fn both_ends_are_shown_where_the_middle_is_gone() {
        let mut got = OutputText::new(Retention { head: 5, tail: 5 });
        got.push("abcdé".as_bytes());
        assert_eq!(got.both_ends(), "abcdé");
        for _ in 0..10 {
            got.push("0123456789\n".as_bytes());
        }
        got.finish();
        assert_eq!(got.both_ends(), "abcd\n[... 107B left out ...]\n6789\n");
    }
}
