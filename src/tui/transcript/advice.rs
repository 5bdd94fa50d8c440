//! What helps when a model call failed.

use crate::{protocol::FailureClass, providers::error_text::classify_text};

/// The next step for somebody who reads this error of `provider`; none when nothing is known to help.
#[must_use]
pub fn next_step(error: &str, provider: &str) -> Option<&'static str> {
    let lower = error.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&["no api key", "no model", "login has expired", "log in again"]) {
        return Some("/login stores a key, /model selects another model.");
    }
    let class = classify_text(error, provider).class;
    // These look like nothing in particular to whoever asks only what may be tried again.
    let is_refused = class == FailureClass::InvalidRequest
        && says(&["401", "403", "unauthorized", "invalid api key", "invalid x-api-key", "authentication"]);
    if is_refused {
        return Some("The key was refused: /login stores another one.");
    }
    match class {
        FailureClass::ContextOverflow => {
            Some("/compact shortens the conversation; /model selects a model with a larger window.")
        }
        FailureClass::QuotaExhausted => {
            Some("The plan or the balance is used up: /model selects another model, /login another account.")
        }
        FailureClass::RateLimited | FailureClass::Overloaded => {
            Some("The provider is busy: wait a minute and send \"continue\", or select another model with /model.")
        }
        FailureClass::ServerError | FailureClass::StreamTruncated => {
            Some("Send \"continue\" to try it again, or select another model with /model.")
        }
        FailureClass::Network => Some("Check the network and the provider's address, then send \"continue\"."),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_helps() {
        let table = [
            ("no API key for provider p: troupe auth login p, or set providers.p.apiKey", Some("/login stores a key")),
            ("401 {\"error\":{\"message\":\"bad\"}}", Some("The key was refused")),
            ("403: invalid x-api-key", Some("The key was refused")),
            ("400 prompt is too long: 210000 tokens > 200000 maximum", Some("/compact")),
            ("429 rate limit exceeded", Some("The provider is busy")),
            ("529 overloaded_error: Overloaded", Some("The provider is busy")),
            ("insufficient_quota", Some("The plan or the balance")),
            ("connection refused", Some("Check the network")),
            ("The stream ended without an end mark", Some("Send \"continue\"")),
            ("400 temperature is not supported", None),
        ];
        for (error, expected) in table {
            let found = next_step(error, "acme");
            assert!(
                found.map(|text| expected.is_some_and(|start| text.starts_with(start))).unwrap_or(expected.is_none()),
                "{error}: {found:?}"
            );
        }
    }
}
