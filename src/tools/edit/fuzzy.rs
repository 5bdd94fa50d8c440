//! The space in which texts are alike that look alike.
//!
//! Typographic quotes, dashes and spaces are plain ones there, compatible characters are one (NFKC), and lines have no
//! blanks at their end. A text has the same number of lines there.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// The text as it is in that space.
pub fn normalize(text: &str) -> Cow<'_, str> {
    if text.is_ascii() && !has_blank_line_ends(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if line.is_ascii() {
            out.push_str(line.trim_end_matches(is_blank));
        } else {
            let start = out.len();
            out.extend(line.nfkc());
            out.truncate(start + out[start..].trim_end_matches(is_blank).len());
            if !out[start..].is_ascii() {
                let plain: String = out[start..].chars().map(plain).collect();
                out.truncate(start);
                out.push_str(&plain);
            }
        }
    }
    Cow::Owned(out)
}

fn has_blank_line_ends(ascii: &str) -> bool {
    let bytes = ascii.as_bytes();
    bytes.last().is_some_and(|last| is_ascii_blank(*last))
        || bytes.windows(2).any(|pair| pair[1] == b'\n' && is_ascii_blank(pair[0]))
}

fn is_ascii_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

fn is_blank(character: char) -> bool {
    character.is_whitespace() || character == '\u{feff}'
}

fn plain(character: char) -> char {
    match character {
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_is_alike() {
        let table = [
            ("plain\ntext\n", "plain\ntext\n"),
            ("blank  \n\tends\t\nhere ", "blank\n\tends\nhere"),
            ("say \u{201c}hi\u{201d}  \nit\u{2019}s", "say \"hi\"\nit's"),
            ("a\u{2013}b\u{2014}c\u{2212}d\u{2011}e", "a-b-c-d-e"),
            ("a\u{a0}b\u{3000}c\u{2003}d\u{a0}", "a b c d"),
            ("\u{ff21}\u{fb01}\u{2460}", "Afi1"),
            ("cafe\u{301}", "caf\u{e9}"),
            ("", ""),
            ("\n\n", "\n\n"),
        ];
        for (text, wanted) in table {
            assert_eq!(normalize(text), wanted, "{text:?}");
            assert_eq!(normalize(wanted), wanted, "{text:?}");
        }
        assert!(matches!(normalize("plain"), Cow::Borrowed(_)));
    }
}
