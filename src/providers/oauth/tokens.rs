//! What a token endpoint gives.

use serde_json::Value;

use super::token_call::TokenError;
use crate::{protocol::time::Millis, providers::Secret};

/// The tokens of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// Lets requests in.
    pub access: Secret,
    /// Gets the next access token.
    pub refresh: Option<Secret>,
    /// When the access token ends; none when it does not.
    pub expires: Option<Millis>,
}

impl Tokens {
    /// Reads the answer of a token endpoint that came at `now`.
    ///
    /// # Errors
    /// It has no token. The text does not show the answer.
    pub fn read(answer: &Value, now: Millis) -> Result<Self, TokenError> {
        let expires_in = seconds(&answer["expires_in"]);
        Ok(Self {
            access: secret(answer, "access_token").ok_or(TokenError::Lacks("access_token"))?,
            refresh: secret(answer, "refresh_token"),
            expires: expires_in.map(|seconds| later(now, seconds)),
        })
    }
}

/// The time so many seconds after `now`.
pub(super) fn later(now: Millis, seconds: u64) -> Millis {
    now.saturating_add(Millis::try_from(seconds.saturating_mul(1000)).unwrap_or(Millis::MAX))
}

/// A token in an answer; an empty text is none.
pub(super) fn secret(answer: &Value, field: &str) -> Option<Secret> {
    answer[field].as_str().filter(|text| !text.trim().is_empty()).map(Secret::new)
}

/// A number of seconds; some servers write it as a text.
pub(super) fn seconds(value: &Value) -> Option<u64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
    // Less than nothing is nothing: the token has expired.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made positive; saturates")]
    number.is_finite().then_some(number.max(0.0) as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_of_token_endpoints_are_read_tolerantly() {
        let table = [
            (
                json!({"access_token": "a", "refresh_token": "r", "expires_in": 60}),
                Some(("a", Some("r"), Some(61_000))),
            ),
            (json!({"access_token": "a", "expires_in": "60", "scope": 5}), Some(("a", None, Some(61_000)))),
            (json!({"access_token": "a", "expires_in": -1}), Some(("a", None, Some(1000)))),
            (json!({"access_token": "a", "refresh_token": ""}), Some(("a", None, None))),
            (json!({"access_token": " "}), None),
            (json!({"access_token": 5}), None),
            (json!([]), None),
        ];
        for (answer, expected) in table {
            let tokens = Tokens::read(&answer, 1000).ok();
            let found = tokens
                .as_ref()
                .map(|tokens| (tokens.access.expose(), tokens.refresh.as_ref().map(Secret::expose), tokens.expires));
            assert_eq!(found, expected, "{answer}");
        }
    }
}
