//! Which encoding a file has.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    Encoding, ISO_8859_2, ISO_8859_3, ISO_8859_4, ISO_8859_10, ISO_8859_13, ISO_8859_16, WINDOWS_1250, WINDOWS_1252,
    WINDOWS_1254, WINDOWS_1257, WINDOWS_1258,
};
use memchr::memchr;

use super::{ByteOrder, TextEncoding};

/// Bytes of the largest file whose encoding is looked for: it is done in memory, over all of the file. Texts that large
/// are logs and exports of programs that know UTF-8.
pub const ANALYSED_AT_MOST: usize = 32 << 20;

/// Units of UTF-16 that a file without byte order mark must have at least: fewer are no evidence.
const UNITS_AT_LEAST: usize = 4;

/// Bytes beyond ASCII from which on a guess may prefer a rarer encoding of Latin letters to windows-1252. In fewer, a
/// pound sign and a Polish letter are too much alike.
const EVIDENCE: usize = 8;

/// The encodings of Latin letters that are rarer than windows-1252.
const RARER_LATIN: [&Encoding; 10] = [
    WINDOWS_1250,
    WINDOWS_1254,
    WINDOWS_1257,
    WINDOWS_1258,
    ISO_8859_2,
    ISO_8859_3,
    ISO_8859_4,
    ISO_8859_10,
    ISO_8859_13,
    ISO_8859_16,
];

/// Finds out whether a file is UTF-8 without NUL, piece by piece: then there is nothing to detect.
#[derive(Debug, Default)]
pub struct PlainCheck {
    /// The beginning of a character whose rest comes with the next piece.
    unfinished: Vec<u8>,
    failed: bool,
}

impl PlainCheck {
    /// Takes the next piece of the file.
    pub fn push(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while !self.failed && !self.unfinished.is_empty() {
            let Some((next, after)) = rest.split_first() else { return };
            self.unfinished.push(*next);
            rest = after;
            match std::str::from_utf8(&self.unfinished) {
                Ok(_) => self.unfinished.clear(),
                Err(error) => self.failed = error.error_len().is_some(),
            }
        }
        if self.failed {
            return;
        }
        self.failed = memchr(0, rest).is_some();
        if let Err(error) = std::str::from_utf8(rest) {
            self.failed |= error.error_len().is_some();
            self.unfinished = rest[error.valid_up_to()..].to_vec();
        }
    }

    /// Whether all of the file is UTF-8 without NUL.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !self.failed && self.unfinished.is_empty()
    }
}

/// The encoding and the text of a file that is not in UTF-8; none when it is, or when nothing fits beyond doubt.
pub fn detect(bytes: &[u8]) -> Option<(TextEncoding, String)> {
    let mut check = PlainCheck::default();
    check.push(bytes);
    if check.is_plain() || bytes.len() > ANALYSED_AT_MOST {
        return None;
    }
    let encoding = utf16(bytes).or_else(|| legacy(bytes))?;
    let text = encoding.decode(bytes).filter(|text| text.chars().all(is_text))?;
    // Some encodings have two ways to write one character. Such a file would not stay as it is.
    let same = encoding.encode(text.clone().into_bytes()).is_ok_and(|again| again == bytes);
    same.then_some((encoding, text))
}

/// UTF-16 by its mark; without one, where at least half of the units are ASCII in the one order: no other text has a
/// NUL at every other place.
fn utf16(bytes: &[u8]) -> Option<TextEncoding> {
    let orders = [ByteOrder::Little, ByteOrder::Big];
    if let Some(order) = orders.into_iter().find(|order| bytes.starts_with(&order.mark())) {
        return Some(TextEncoding::Utf16 { order, marked: true });
    }
    let (units, []) = bytes.as_chunks::<2>() else { return None };
    if units.len() < UNITS_AT_LEAST {
        return None;
    }
    orders
        .into_iter()
        .map(|order| (order, ascii_units(units, order)))
        .find_map(|(order, ascii)| (ascii * 2 >= units.len()).then_some(TextEncoding::Utf16 { order, marked: false }))
}

fn ascii_units(units: &[[u8; 2]], order: ByteOrder) -> usize {
    let is_ascii = |unit: &&[u8; 2]| match (order, unit) {
        (ByteOrder::Little, [low, 0]) | (ByteOrder::Big, [0, low]) => low.is_ascii() && is_text(char::from(*low)),
        _ => false,
    };
    units.iter().filter(is_ascii).count()
}

/// An encoding from before Unicode. Where more characters are UTF-8 than not, the file is a damaged one.
fn legacy(bytes: &[u8]) -> Option<TextEncoding> {
    if !bytes.iter().all(|byte| *byte >= 0x80 || is_text(char::from(*byte))) {
        return None;
    }
    let (mut good, mut bad) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    // A single odd byte is damage more likely than a code page.
    if good > bad || bad < 2 {
        return None;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    let is_evidence = bytes.iter().filter(|byte| **byte >= 0x80).count() >= EVIDENCE;
    let encoding = if !is_evidence && RARER_LATIN.contains(&guess) { WINDOWS_1252 } else { guess };
    Some(TextEncoding::Legacy(encoding))
}

/// Whether a character occurs in texts. Of the controls, those that lay out, colour or end texts do.
fn is_text(character: char) -> bool {
    match character {
        '\u{8}'..='\r' | '\u{1a}' | '\u{1b}' | '\u{85}' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        other => !other.is_control(),
    }
}
