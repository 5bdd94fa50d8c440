//! JSON as other programs write it.
//!
//! JavaScript programs hold text as UTF-16 and may cut it inside a surrogate pair; what they then write
//! (`"\ud83d"`) is JSON by its grammar, but no Unicode text. Pipes and editors also produce bytes that are no UTF-8.
//! Both are replaced by U+FFFD, as those programs do when they read: a request is worth more than one character of it.

use std::borrow::Cow;

use serde_json::Value;

/// Parses JSON text, with U+FFFD in place of what is no Unicode.
///
/// # Errors
/// When the text is no JSON for another reason.
pub fn from_slice(text: &[u8]) -> Result<Value, serde_json::Error> {
    let text = String::from_utf8_lossy(text);
    serde_json::from_str(&text).or_else(|error| match mend_surrogates(&text) {
        Cow::Owned(mended) => serde_json::from_str(&mended),
        Cow::Borrowed(_) => Err(error),
    })
}

/// Replaces the escapes of half surrogate pairs; borrows when there is none.
fn mend_surrogates(text: &str) -> Cow<'_, str> {
    let mut mended = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        at += found;
        match (code_unit(text, at), code_unit(text, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 12,
            (Some(0xD800..=0xDFFF), _) => {
                mended.push_str(&text[copied..at]);
                mended.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            // The escaped character may be a backslash itself: step over it too.
            _ => at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    mended.push_str(&text[copied..]);
    Cow::Owned(mended)
}

/// The UTF-16 unit that a `\uXXXX` escape at `at` stands for.
fn code_unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_surrogate_pairs_and_bad_bytes_become_replacement_characters() {
        let table: [(&[u8], &str); 7] = [
            (br#""plain""#, "plain"),
            (br#""a\ud83d b""#, "a\u{fffd} b"),
            (br#""\udc00\ud83d""#, "\u{fffd}\u{fffd}"),
            (br#""\ud83d\ude00 \ud83dx""#, "\u{1f600} \u{fffd}x"),
            (br#""\\ud83d \ud83d""#, "\\ud83d \u{fffd}"),
            (b"\"caf\xe9 \xff\"", "caf\u{fffd} \u{fffd}"),
            ("\"é\\é\"".as_bytes(), ""),
        ];
        for (text, wanted) in table {
            match from_slice(text) {
                Ok(value) => assert_eq!(value, Value::from(wanted), "{}", String::from_utf8_lossy(text)),
                Err(_) => assert_eq!(wanted, "", "{}", String::from_utf8_lossy(text)),
            }
        }
    }
}
