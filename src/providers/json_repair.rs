//! JSON that is almost right: what models and gateways are known to get wrong inside strings (rules S12 and A5).
//!
//! Only characters inside strings are touched. Missing brackets and quotes are never guessed: a cut text must stay
//! recognisable as cut.

use std::borrow::Cow;

use serde::Deserialize;

use crate::protocol::partial_arguments::code_unit;

/// Escapes raw control characters inside strings, doubles the backslash of escapes that JSON does not know, and
/// replaces the escape of half a surrogate pair, which is no character.
#[must_use]
pub fn repair(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    // Everything before `copied` is in `out` already; nothing is copied before the first change.
    let mut copied = 0;
    let mut in_string = false;
    let mut at = 0;
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        let (skip, change) = match byte {
            b'"' => {
                in_string = !in_string;
                (1, None)
            }
            _ if !in_string => (1, None),
            b'\\' => escape(&bytes[at..]),
            0..0x20 => (1, Some(control(byte))),
            _ => (1, None),
        };
        if let Some(change) = change {
            out.push_str(&text[copied..at]);
            out.push_str(&change);
            copied = at + skip;
        }
        at += skip;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// The length of the escape that `rest` begins with, and what must stand in its place when it is wrong.
fn escape(rest: &[u8]) -> (usize, Option<Cow<'static, str>>) {
    match rest.get(1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => (2, None),
        Some(b'u') => match code_unit(rest) {
            None => (1, Some("\\\\".into())),
            Some(0xD800..0xDC00) => match rest.get(6..).and_then(code_unit) {
                Some(0xDC00..0xE000) => (12, None),
                _ => (6, Some("\\ufffd".into())),
            },
            Some(0xDC00..0xE000) => (6, Some("\\ufffd".into())),
            Some(_) => (6, None),
        },
        _ => (1, Some("\\\\".into())),
    }
}

fn control(byte: u8) -> Cow<'static, str> {
    match byte {
        b'\n' => "\\n".into(),
        b'\r' => "\\r".into(),
        b'\t' => "\\t".into(),
        _ => format!("\\u{byte:04x}").into(),
    }
}

/// Reads JSON from a server, mended into `mended` where it is not quite JSON; also gives the bytes that were read.
///
/// # Errors
/// It cannot be mended.
pub(crate) fn read_lax<'a, T: Deserialize<'a> + Default>(
    data: &'a [u8],
    mended: &'a mut String,
) -> Result<(T, &'a [u8]), serde_json::Error> {
    if let Ok(parsed) = serde_json::from_slice(data) {
        return Ok((parsed, data));
    }
    *mended = mend(data)?;
    Ok((serde_json::from_str(mended).unwrap_or_default(), mended.as_bytes()))
}

/// Makes well-formed JSON of an event that did not parse: bad UTF-8 is replaced, strings are repaired, and of a key
/// that comes twice the last one stays.
///
/// # Errors
/// When it is no JSON even so.
pub(crate) fn mend(data: &[u8]) -> Result<String, serde_json::Error> {
    let text = String::from_utf8_lossy(data);
    let value: serde_json::Value = serde_json::from_str(&repair(&text))?;
    serde_json::to_string(&value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_is_wrong_inside_strings_is_changed() {
        let table = [
            (r#"{"a":"b"}"#, r#"{"a":"b"}"#),
            ("{\n\t\"a\": 1}", "{\n\t\"a\": 1}"),
            ("{\"a\":\"x\ty\nz\"}", r#"{"a":"x\ty\nz"}"#),
            ("{\"a\":\"\u{1}\"}", r#"{"a":"\u0001"}"#),
            (r#"{"re":"\d+\.\w"}"#, r#"{"re":"\\d+\\.\\w"}"#),
            (r#"{"a":"\\d \" \/ \u00e9"}"#, r#"{"a":"\\d \" \/ \u00e9"}"#),
            (r#"{"a":"\u12"}"#, r#"{"a":"\\u12"}"#),
            (r#"{"a":"\ud83d\ude80"}"#, r#"{"a":"\ud83d\ude80"}"#),
            (r#"{"a":"\ud83dx"}"#, r#"{"a":"\ufffdx"}"#),
            (r#"{"a":"\ude80"}"#, r#"{"a":"\ufffd"}"#),
            (r#"{"a":"cut \"#, r#"{"a":"cut \\"#),
            (r#"{"a":"#, r#"{"a":"#),
        ];
        for (input, output) in table {
            assert_eq!(repair(input), output, "{input}");
        }
    }

    #[test]
    fn mending_keeps_the_last_of_two_equal_keys_and_replaces_bad_utf8() {
        assert_eq!(mend(b"{\"a\":1,\"a\":2,\"b\":\"\xE9\"}").unwrap(), "{\"a\":2,\"b\":\"\u{FFFD}\"}");
        assert!(mend(b"{\"a\":").is_err());
    }

    proptest! {
        #[test]
        fn good_json_stays_as_it_is(text in "\\PC{0,40}") {
            let json = serde_json::to_string(&serde_json::json!({ "k": text })).unwrap();
            prop_assert!(matches!(repair(&json), Cow::Borrowed(same) if same == json));
        }

        #[test]
        fn repair_never_panics_and_is_idempotent(text in "[\\\\\"u0-9a-f\n\t{}: é]{0,40}") {
            let once = repair(&text).into_owned();
            prop_assert_eq!(repair(&once).into_owned(), once);
        }
    }
}
