//! A file's text as edits see it, and the way back to its bytes.

use std::borrow::Cow;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The text of a file: without byte order mark, with LF for every line ending, with U+FFFD for what is no UTF-8; and
/// where each of its characters came from, so that bytes which no edit touches stay as they are.
#[derive(Debug)]
pub struct Source<'a> {
    original: &'a [u8],
    text: Cow<'a, str>,
    /// Places in the text after which the distance to the original is another one, with their place in the original.
    anchors: Vec<(usize, usize)>,
    /// The ending of lines whose own one is not to be repeated.
    usual_ending: &'static str,
}

/// A place of the text to be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Where it begins in the text.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// What comes there, with LF for line endings.
    pub new: String,
}

impl<'a> Source<'a> {
    /// The text of a file with these bytes.
    pub fn new(original: &'a [u8]) -> Self {
        let bom = if original.starts_with(BOM) { BOM.len() } else { 0 };
        let body = &original[bom..];
        let mut source =
            Self { original, text: Cow::Borrowed(""), anchors: vec![(0, bom)], usual_ending: usual_ending(body) };
        match std::str::from_utf8(body) {
            Ok(text) if !body.contains(&b'\r') => source.text = Cow::Borrowed(text),
            _ => source.normalize(body, bom),
        }
        source
    }

    fn normalize(&mut self, body: &[u8], bom: usize) {
        let mut text = String::with_capacity(body.len());
        let mut place = bom;
        for chunk in body.utf8_chunks() {
            let mut rest = chunk.valid();
            while let Some(before) = rest.find('\r') {
                text.push_str(&rest[..before]);
                text.push('\n');
                let ending = if rest[before..].starts_with("\r\n") { 2 } else { 1 };
                place += before + ending;
                if ending == 2 {
                    self.anchors.push((text.len(), place));
                }
                rest = &rest[before + ending..];
            }
            text.push_str(rest);
            place += rest.len();
            if !chunk.invalid().is_empty() {
                text.push('\u{fffd}');
                place += chunk.invalid().len();
                self.anchors.push((text.len(), place));
            }
        }
        self.text = Cow::Owned(text);
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where the character at `place` of the text stands in the original.
    fn original_place(&self, place: usize) -> usize {
        let after = self.anchors.partition_point(|(text, _)| *text <= place);
        let (text, original) = self.anchors[after - 1];
        original + (place - text)
    }

    /// The ending of the line that `place` is in; of the line before, where that has none.
    fn ending_at(&self, place: usize) -> &'static str {
        let text = self.text();
        let newline = text[place..].find('\n').map(|at| place + at).or_else(|| text[..place].rfind('\n'));
        let Some(newline) = newline else { return "\n" };
        match &self.original[self.original_place(newline)..] {
            [b'\r', b'\n', ..] => "\r\n",
            [b'\n', ..] => "\n",
            _ => self.usual_ending,
        }
    }

    /// The file's bytes with these replacements, which are in order and do not overlap.
    pub fn replace(&self, replacements: &[Replacement]) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.original.len());
        let mut done = 0;
        for replacement in replacements {
            splice(&mut out, &self.original[done..self.original_place(replacement.start)]);
            match self.ending_at(replacement.start) {
                "\n" => splice(&mut out, replacement.new.as_bytes()),
                ending => splice(&mut out, replacement.new.replace('\n', ending).as_bytes()),
            }
            done = self.original_place(replacement.end);
        }
        splice(&mut out, &self.original[done..]);
        out
    }
}

/// Appends `piece`. A lone CR before an LF that did not follow it is made an ending of its own, so that the two do not
/// become one.
fn splice(out: &mut Vec<u8>, piece: &[u8]) {
    if out.last() == Some(&b'\r') && piece.first() == Some(&b'\n') {
        out.push(b'\n');
    }
    out.extend_from_slice(piece);
}

/// What ends new lines where the line at hand ends with a lone CR: that only where the file has nothing else.
fn usual_ending(body: &[u8]) -> &'static str {
    match body.iter().position(|byte| *byte == b'\n') {
        None => "\r",
        Some(newline) if newline > 0 && body[newline - 1] == b'\r' => "\r\n",
        Some(_) => "\n",
    }
}

/// `text` with LF for every line ending.
pub fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacing_keeps_all_other_bytes_and_the_line_endings() {
        // original, what is replaced, by what, result
        let table: &[(&[u8], &str, &str, &[u8])] = &[
            (b"a\nb\nc\n", "b", "B", b"a\nB\nc\n"),
            (b"a\r\nb\r\nc\r\n", "b\nc", "B\nC", b"a\r\nB\r\nC\r\n"),
            (b"a\r\nb\r\nc\r\n", "b\n", "B\nX\n", b"a\r\nB\r\nX\r\nc\r\n"),
            (b"\xef\xbb\xbfusing X;\r\nk\r\n", "using X;", "using Y;", b"\xef\xbb\xbfusing Y;\r\nk\r\n"),
            (b"a\nb\r\nc\n", "b", "B\nX", b"a\nB\r\nX\r\nc\n"),
            (b"a\r\nb\nc", "c", "C\nX", b"a\r\nb\nC\nX"),
            (b"a\rb\rc", "b", "B\nX", b"a\rB\rX\rc"),
            (b"a\rb\nc", "a", "A\nX", b"A\nX\rb\nc"),
            (b"a\rb\r\nc", "a", "A\nX", b"A\r\nX\rb\r\nc"),
            (b"a", "a", "A\nX", b"A\nX"),
            // Seams: two line endings stay two.
            (b"a\rb\nc", "b", "", b"a\r\n\nc"),
            (b"a\rb\nc", "b", "\nx", b"a\r\n\nx\nc"),
            (b"a\rb", "b", "", b"a\r"),
            // What is no UTF-8 stays.
            (b"caf\xe9\nold \xff\xfe\n\xf0\x9f", "old", "new", b"caf\xe9\nnew \xff\xfe\n\xf0\x9f"),
            (b"\xe9\r\n\xe9 x\r\n", "x", "y", b"\xe9\r\n\xe9 y\r\n"),
            (b"", "", "new\n", b"new\n"),
        ];
        for (original, old, new, wanted) in table {
            let source = Source::new(original);
            let start = source.text().find(old).unwrap();
            let replacement = Replacement { start, end: start + old.len(), new: (*new).into() };
            let got = source.replace(&[replacement]);
            assert_eq!(
                got,
                *wanted,
                "{:?} -> {:?}",
                original.escape_ascii().to_string(),
                got.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn every_place_of_the_text_has_its_place_in_the_original() {
        let original = "\u{feff}a\r\nü\r\n\rb\n🙂\r\n".as_bytes();
        let source = Source::new(original);
        assert_eq!(source.text(), "a\nü\n\nb\n🙂\n");
        for (place, character) in source.text().char_indices().filter(|(_, character)| *character != '\n') {
            let rest = std::str::from_utf8(&original[source.original_place(place)..]).unwrap();
            assert!(rest.starts_with(character), "{place}");
        }
        assert_eq!(source.original_place(source.text().len()), original.len());
        assert_eq!(source.replace(&[]), original);
    }
}
