//! Signatures of thoughts: opaque marks on parts of an answer that Gemini wants back on those very parts.

/// Stands in a call for a signature that does not exist, because another model made the call: Gemini does not check it.
/// Source: Google's documentation of thought signatures.
pub(super) const UNCHECKED: &str = "skip_thought_signature_validator";

/// The signature when it can be sent: base64 in whole groups of four. Anything else would be refused.
pub(super) fn replayable(signature: Option<&str>) -> Option<&str> {
    signature.filter(|text| is_base64(text) || *text == UNCHECKED)
}

/// The alphabet and the length are looked at, and not the unused bits of the last character, which Google ignores.
fn is_base64(text: &str) -> bool {
    let body = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !body.is_empty() && text.len().is_multiple_of(4) && body.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_base64_is_sent() {
        let table = [
            ("CpcBAdHtimSigFinal==", true),
            ("abcd", true),
            ("ab+/", true),
            ("abc=", true),
            ("CiQBsigTool==", false),
            ("abc", false),
            ("ab-_", false),
            ("a b=", false),
            ("a===", false),
            ("====", false),
            ("=abc", false),
            ("", false),
            ("{\"v\":1,\"id\":\"msg_1\"}", false),
            (UNCHECKED, true),
        ];
        for (text, sent) in table {
            assert_eq!(replayable(Some(text)).is_some(), sent, "{text}");
        }
        assert_eq!(replayable(None), None);
    }
}
