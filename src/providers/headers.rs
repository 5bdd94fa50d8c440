//! Request headers in layers: later layers win, names do not mind letter case, null removes.

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use serde_json::{Map, Value};

use super::{Request, Secret, http};
use crate::protocol::{Failure, FailureClass};

/// Headers of a request while they are put together.
#[derive(Clone, Debug, Default)]
pub struct Headers(HeaderMap);

impl Headers {
    /// What every request says.
    #[must_use]
    pub fn base() -> Self {
        Self(HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ACCEPT, HeaderValue::from_static("text/event-stream, application/json")),
            // Compressed events are held back until a block of them is full.
            (ACCEPT_ENCODING, HeaderValue::from_static("identity")),
            (USER_AGENT, HeaderValue::from_static(http::USER_AGENT)),
        ]))
    }

    /// Sets a header; a value that no header can carry is left out.
    pub fn set(&mut self, name: &'static str, value: &str) {
        if let Some(value) = plain(value) {
            self.0.insert(HeaderName::from_static(name), value);
        }
    }

    /// Sets a header that holds the key, with a prefix such as `Bearer `.
    ///
    /// # Errors
    /// When the key has a character that no header can carry (FC-037). The text does not show the key.
    pub fn set_key(&mut self, name: &'static str, prefix: &str, key: &Secret, provider: &str) -> Result<(), Failure> {
        let mut value = plain(&format!("{prefix}{}", key.expose())).ok_or_else(|| bad_key(key, provider))?;
        value.set_sensitive(true);
        self.0.insert(HeaderName::from_static(name), value);
        Ok(())
    }

    /// A header that is set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.to_str().ok()
    }

    /// True when a header of that name is set.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Puts the model's and then the request's own headers over these.
    ///
    /// # Errors
    /// When a name or a value cannot be sent; the text names the header and not its value.
    pub fn overlay(&mut self, request: &Request) -> Result<(), Failure> {
        self.overlay_where(request, |_| true)
    }

    /// The same with those headers only whose name (in lower case) may be set.
    ///
    /// # Errors
    /// See [`Self::overlay`].
    pub fn overlay_where(&mut self, request: &Request, may_set: impl Fn(&str) -> bool) -> Result<(), Failure> {
        for layer in [request.model.headers.as_ref(), Some(&request.headers)].into_iter().flatten() {
            self.lay(layer, &request.model.provider, &may_set)?;
        }
        Ok(())
    }

    fn lay(
        &mut self,
        layer: &Map<String, Value>,
        provider: &str,
        may_set: &impl Fn(&str) -> bool,
    ) -> Result<(), Failure> {
        for (name, value) in layer.iter().filter(|(name, _)| may_set(&name.to_ascii_lowercase())) {
            let refuse = || {
                let text =
                    format!("Provider \"{provider}\": the header \"{name}\" cannot be sent; use plain ASCII text");
                Failure::new(FailureClass::InvalidRequest, text)
            };
            let key = HeaderName::try_from(name.as_str()).map_err(|_| refuse())?;
            match value {
                Value::Null => drop(self.0.remove(key)),
                Value::String(text) => {
                    let mut value = plain(text.trim()).ok_or_else(refuse)?;
                    value.set_sensitive(true);
                    self.0.insert(key, value);
                }
                other => drop(self.0.insert(key, plain(&other.to_string()).ok_or_else(refuse)?)),
            }
        }
        Ok(())
    }

    /// The finished headers.
    #[must_use]
    pub fn into_map(self) -> HeaderMap {
        self.0
    }
}

/// Printable ASCII only: other bytes are allowed by the letter, and understood differently by every server.
fn plain(text: &str) -> Option<HeaderValue> {
    text.chars().all(is_plain).then(|| HeaderValue::from_str(text).ok())?
}

fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~')
}

fn bad_key(key: &Secret, provider: &str) -> Failure {
    let place = key.expose().chars().position(|c| !is_plain(c)).map_or(0, |place| place + 1);
    Failure::new(
        FailureClass::Auth,
        format!(
            "The API key of provider \"{provider}\" has a character at position {place} that is not plain ASCII: check how the key was copied or stored"
        ),
    )
}

/// Whether one of the request's own header layers says how to authenticate.
#[must_use]
pub fn has_own_authorization(request: &Request) -> bool {
    [request.model.headers.as_ref(), Some(&request.headers)]
        .into_iter()
        .flatten()
        .flat_map(Map::iter)
        .any(|(name, value)| name.eq_ignore_ascii_case("authorization") && !value.is_null())
}

/// Everything in a request that must not appear in a text: the key or token, what signs it, and headers that hold one.
#[must_use]
pub fn secrets(request: &Request) -> Vec<String> {
    const TELLING: [&str; 5] = ["authorization", "key", "token", "cookie", "secret"];
    let layers = [request.model.headers.as_ref(), Some(&request.headers)];
    let own = layers.into_iter().flatten().flat_map(Map::iter).filter_map(|(name, value)| {
        let name = name.to_ascii_lowercase();
        TELLING.iter().any(|word| name.contains(word)).then(|| value.as_str())?
    });
    let bare = own.map(|value| value.trim().trim_start_matches("Bearer ").to_owned());
    let signing = request.aws.iter().flat_map(|aws| std::iter::once(&aws.secret_access_key).chain(&aws.session_token));
    let keys = request.api_key.iter().chain(signing).map(|key| key.expose().to_owned());
    keys.chain(bare).collect()
}

/// Secrets of this length are cut out wherever they stand; shorter ones only as whole words: a key such as `abc` (for
/// servers that take any) may be a part of innocent words.
const LONG_SECRET: usize = 8;
/// What is shorter still protects nothing.
const SHORTEST_SECRET: usize = 3;

/// The text without the secrets.
#[must_use]
pub fn redact(text: &str, secrets: &[String]) -> String {
    secrets.iter().filter(|secret| secret.len() >= SHORTEST_SECRET).fold(text.to_owned(), |text, secret| {
        if secret.len() >= LONG_SECRET {
            text.replace(secret.as_str(), "[secret]")
        } else {
            without_word(&text, secret)
        }
    })
}

fn without_word(text: &str, word: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = None;
    while let Some(at) = rest.find(word) {
        let (head, tail) = (&rest[..at], &rest[at + word.len()..]);
        let preceding = head.chars().next_back().or(before);
        let is_whole = !preceding.is_some_and(is_part) && !tail.chars().next().is_some_and(is_part);
        out.push_str(head);
        out.push_str(if is_whole { "[secret]" } else { word });
        before = word.chars().next_back();
        rest = tail;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::providers::{
        aws::AwsCredentials,
        testing::{object, plain_model, request},
    };

    #[test]
    fn later_layers_win_whatever_the_letter_case_and_null_removes() {
        let mut model = plain_model("openai-completions");
        model.headers = Some(object(json!({"X-One": "model", "user-agent": "mine", "x-number": 5})));
        let mut request = request(model, vec![]);
        request.headers = object(json!({"x-one": "request", "User-Agent": null}));
        let mut headers = Headers::base();
        headers.set("x-zero", "base");
        headers.overlay(&request).unwrap();
        let map = headers.into_map();
        assert_eq!(map["x-one"], "request");
        assert_eq!(
            (&map["x-zero"], &map["x-number"]),
            (&HeaderValue::from_static("base"), &HeaderValue::from_static("5"))
        );
        assert!(!map.contains_key("user-agent"));
    }

    #[test]
    fn fc_037_a_key_that_cannot_be_sent_is_named_without_being_shown() {
        let mut headers = Headers::default();
        let key = Secret::new("sk-te\u{301}st-123456");
        let failure = headers.set_key("authorization", "Bearer ", &key, "openai").unwrap_err();
        assert_eq!(failure.class, FailureClass::Auth);
        assert!(failure.message.contains("openai") && failure.message.contains("position 6"), "{failure}");
        assert!(!failure.message.contains("sk-te") && !failure.message.contains("123456"));
        let trimmed = Secret::new("sk-test-123\n");
        headers.set_key("authorization", "Bearer ", &trimmed, "openai").unwrap();
        assert!(!format!("{headers:?}").contains("sk-test"), "a key never shows in debug output");
        assert_eq!(headers.into_map()["authorization"], "Bearer sk-test-123");
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_named_without_its_value() {
        for layer in [json!({"x-bad": "se\ncret"}), json!({"x bad": "v"}), json!({"x-bad": "ключ"})] {
            let failure = Headers::default().lay(&object(layer), "custom", &|_| true).unwrap_err();
            assert!(failure.message.contains("bad") && !failure.message.contains("cret"), "{failure}");
        }
    }

    #[test]
    fn fc_106_secrets_are_cut_out_of_texts() {
        let mut request = request(plain_model("openai-completions"), vec![]);
        request.api_key = Some(Secret::new("sk-0123456789"));
        request.headers =
            object(json!({"Authorization": "Bearer other-token-1", "x-api-key": "short", "x-trace": "trace-visible"}));
        let secrets = secrets(&request);
        let text = redact("401: key sk-0123456789 and other-token-1, trace-visible, short", &secrets);
        assert_eq!(text, "401: key [secret] and [secret], trace-visible, [secret]");
        assert!(has_own_authorization(&request));
        request.api_key = None;
        request.aws = Some(AwsCredentials {
            access_key_id: "AKIA-VISIBLE".into(),
            secret_access_key: Secret::new("aws-hush-hush"),
            session_token: Some(Secret::new("session-hush")),
        });
        let text = redact("AKIA-VISIBLE aws-hush-hush session-hush", &super::secrets(&request));
        assert_eq!(text, "AKIA-VISIBLE [secret] [secret]");
    }

    #[test]
    fn short_keys_are_cut_out_as_whole_words() {
        let table = [
            ("key abc: bad key \"abc\"", "abc", "key [secret]: bad key \"[secret]\""),
            ("abc abcabc xabc abc-1 abc_ (abc)", "abc", "[secret] abcabc xabc abc-1 abc_ ([secret])"),
            ("é abcé", "abc", "é abcé"),
            ("a b ab", "ab", "a b ab"),
            ("", "abc", ""),
            ("x12345678y", "12345678", "x[secret]y"),
        ];
        for (text, secret, expected) in table {
            assert_eq!(redact(text, &[secret.to_owned()]), expected, "{text}");
        }
    }
}
