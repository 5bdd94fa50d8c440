//! Encodings of text files other than UTF-8: tools show such files as text and write them back as they were.
//!
//! - `detect`: which encoding a file has. It is chosen only where the file's bytes come back exactly when the text is
//!   encoded again; all other files, binary ones among them, are taken as UTF-8 that may be damaged.

use std::{borrow::Cow, fmt};

use encoding_rs::{EncoderResult, Encoding, UTF_16BE, UTF_16LE};

mod detect;
#[cfg(test)]
mod tests;

pub use detect::{ANALYSED_AT_MOST, PlainCheck};

use super::Failure;

/// The first character of files that say how they are encoded.
const BOM: char = '\u{feff}';

/// How a file's text is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextEncoding {
    /// UTF-8, with or without byte order mark, which counts as text here; also what no encoding fits.
    Utf8,
    /// UTF-16.
    Utf16 {
        /// Which byte of a unit comes first.
        order: ByteOrder,
        /// Whether the file begins with a byte order mark.
        marked: bool,
    },
    /// An encoding from before Unicode, as windows-1252.
    Legacy(&'static Encoding),
}

/// Which byte of a 16-bit unit comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The lower one.
    Little,
    /// The higher one.
    Big,
}

impl ByteOrder {
    /// The byte order mark, as the file has it.
    fn mark(self) -> [u8; 2] {
        self.bytes(0xfeff)
    }

    fn bytes(self, unit: u16) -> [u8; 2] {
        match self {
            Self::Little => unit.to_le_bytes(),
            Self::Big => unit.to_be_bytes(),
        }
    }

    fn decoder(self) -> &'static Encoding {
        match self {
            Self::Little => UTF_16LE,
            Self::Big => UTF_16BE,
        }
    }
}

/// A file's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// How the file encodes it.
    pub encoding: TextEncoding,
    /// The text in UTF-8, without the byte order mark of UTF-16; the file's own bytes where it counts as UTF-8.
    pub utf8: Cow<'a, [u8]>,
}

impl<'a> Decoded<'a> {
    /// The text of a file with these bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        match detect::detect(bytes) {
            Some((encoding, text)) => Self { encoding, utf8: text.into_bytes().into() },
            None => Self { encoding: TextEncoding::Utf8, utf8: bytes.into() },
        }
    }
}

/// A character that an encoding does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unencodable {
    /// The encoding.
    pub encoding: TextEncoding,
    /// The character.
    pub character: char,
    /// Its line in the text, counted from 1.
    pub line: usize,
}

impl Unencodable {
    /// The failure of a call that would have written the character to the file `path`.
    #[must_use]
    pub fn failure(&self, path: &str) -> Failure {
        let Self { encoding, character, line } = self;
        Failure::new(format!(
            "{path} is in {encoding}, which has no {character:?} (U+{:04X}, line {line} of the new text), so nothing was \
             written. Use characters that {encoding} has, or convert the file to UTF-8 first (with iconv in a shell) if \
             all that read it take that.",
            u32::from(*character)
        ))
    }
}

impl TextEncoding {
    /// Its name where it is not UTF-8: a tool's result should tell it.
    #[must_use]
    pub fn unusual(self) -> Option<String> {
        (self != Self::Utf8).then(|| self.to_string())
    }

    /// The text of a file in this encoding; none when its bytes are not a text of it.
    fn decode(self, bytes: &[u8]) -> Option<String> {
        let (encoding, body) = match self {
            Self::Utf8 => return String::from_utf8(bytes.to_vec()).ok(),
            Self::Utf16 { order, marked: true } => (order.decoder(), bytes.strip_prefix(&order.mark())?),
            Self::Utf16 { order, marked: false } => (order.decoder(), bytes),
            Self::Legacy(encoding) => (encoding, bytes),
        };
        encoding.decode_without_bom_handling_and_without_replacement(body).map(Cow::into_owned)
    }

    /// The bytes of a file that holds this text.
    ///
    /// # Errors
    /// When the encoding does not have one of its characters.
    pub fn encode(self, utf8: Vec<u8>) -> Result<Vec<u8>, Unencodable> {
        match self {
            Self::Utf8 => Ok(utf8),
            Self::Utf16 { order, marked } => {
                let text = String::from_utf8_lossy(&utf8);
                // Who writes a whole file may have written the mark, too.
                let start = if marked && !text.starts_with(BOM) { &order.mark()[..] } else { &[] };
                let units = text.encode_utf16().flat_map(|unit| order.bytes(unit));
                Ok(start.iter().copied().chain(units).collect())
            }
            Self::Legacy(encoding) => self.encode_legacy(encoding, &String::from_utf8_lossy(&utf8)),
        }
    }

    fn encode_legacy(self, encoding: &'static Encoding, text: &str) -> Result<Vec<u8>, Unencodable> {
        let mut encoder = encoding.new_encoder();
        let most = encoder.max_buffer_length_from_utf8_without_replacement(text.len()).unwrap_or(text.len());
        let mut out = Vec::with_capacity(most);
        let mut read = 0;
        loop {
            let (result, more) = encoder.encode_from_utf8_to_vec_without_replacement(&text[read..], &mut out, true);
            read += more;
            match result {
                EncoderResult::InputEmpty => return Ok(out),
                EncoderResult::OutputFull => out.reserve(text.len() - read + 16),
                EncoderResult::Unmappable(character) => {
                    let line = text[..read].matches('\n').count() + 1;
                    return Err(Unencodable { encoding: self, character, line });
                }
            }
        }
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utf8 => out.write_str("UTF-8"),
            Self::Utf16 { order, marked } => {
                out.write_str(order.decoder().name())?;
                out.write_str(if *marked { "" } else { " without byte order mark" })
            }
            Self::Legacy(encoding) => out.write_str(encoding.name()),
        }
    }
}
