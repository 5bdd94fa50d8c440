//! Lone surrogates in JSON escapes.
//!
//! JavaScript cuts strings between the halves of a pair and writes the half as `\ud83d`. That is valid JSON text and
//! no valid Unicode: Rust's strings cannot hold it.

use std::borrow::Cow;

/// Replaces escapes of lone surrogates by the replacement character's.
#[must_use]
pub fn mend(json: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = json[at..].find('\\') {
        let escape = at + found;
        match (unit(json, escape), unit(json, escape + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at = escape + 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.push_str(&json[copied..escape]);
                out.push_str("\\ufffd");
                at = escape + 6;
                copied = at;
            }
            (Some(_), _) => at = escape + 6,
            // Another escape: the character behind the backslash belongs to it, and may itself be one.
            (None, _) => at = escape + 1 + json[escape + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(&json[copied..]);
    Cow::Owned(out)
}

/// The code unit that the escape at `at` stands for.
fn unit(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) { u16::from_str_radix(digits, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lone_surrogates_are_replaced() {
        for (json, mended) in [
            (r#""plain \n \u00e9""#, r#""plain \n \u00e9""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83dx\ude00""#, r#""\ufffdx\ufffd""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\ud83d\n""#, r#""\ufffd\n""#),
            ("\"\\\u{e9}\\ud83", "\"\\\u{e9}\\ud83"),
        ] {
            assert_eq!(mend(json), mended);
        }
    }
}
