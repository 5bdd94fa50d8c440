//! Taking keys out of what is kept.

use std::collections::BTreeSet;

use memchr::memmem;
use reqwest::{
    Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde_json::{Map, Value};

use crate::providers::{Request, headers};

/// What stands in a secret's place.
const MARK: &str = "[secret]";
/// Shorter texts are placeholders for servers without keys, and words that may stand anywhere.
const SHORTEST: usize = 8;
/// Parts of names whose value is a secret.
const TELLING: [&str; 8] = ["auth", "key", "token", "secret", "cookie", "password", "credential", "signature"];
/// Headers of requests that are kept though somebody set them by hand: they say what is asked for, not who asks.
const PLAIN: [&str; 8] = [
    "accept",
    "accept-encoding",
    "anthropic-beta",
    "anthropic-version",
    "content-type",
    "http-referer",
    "openai-beta",
    "user-agent",
];

/// Texts that must not get into a file, in every form in which they may stand there.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Longest first: a secret may contain another.
    forms: Vec<String>,
}

impl Secrets {
    /// The texts among `texts` that are long enough to be secrets.
    #[must_use]
    pub fn new(texts: impl IntoIterator<Item = String>) -> Self {
        let mut secrets = Self::default();
        texts.into_iter().for_each(|text| secrets.learn(&text));
        secrets
    }

    /// The secrets in a file of settings or credentials: values of fields with a telling name. Texts that only name a
    /// variable or a command are none.
    #[must_use]
    pub fn in_document(document: &Value) -> Vec<String> {
        let mut found = Vec::new();
        collect(document, false, &mut found);
        found
    }

    /// Adds a secret.
    pub(super) fn learn(&mut self, secret: &str) {
        let secret = secret.trim();
        if secret.len() < SHORTEST || self.forms.iter().any(|known| known == secret) {
            return;
        }
        self.forms.extend(forms(secret));
        self.forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    }

    /// Adds all secrets of a request.
    pub(super) fn learn_request(&mut self, request: &Request, url: &Url, map: &HeaderMap) {
        headers::secrets(request).iter().for_each(|secret| self.learn(secret));
        if let Some(aws) = &request.aws {
            self.learn(&aws.access_key_id);
            self.learn(aws.secret_access_key.expose());
            aws.session_token.iter().for_each(|token| self.learn(token.expose()));
        }
        for (name, value) in map {
            if is_telling(name.as_str())
                && let Ok(value) = value.to_str()
                && let Some(bare) = bare(value)
            {
                self.learn(bare);
            }
        }
        url.password().into_iter().for_each(|password| self.learn(password));
        url.query_pairs().filter(|(name, _)| is_telling(name)).for_each(|(_, value)| self.learn(&value));
    }

    /// The text without secrets.
    #[must_use]
    pub(super) fn clean(&self, text: &str) -> String {
        self.forms.iter().fold(text.to_owned(), |text, form| match text.contains(form.as_str()) {
            true => text.replace(form.as_str(), MARK),
            false => text,
        })
    }

    /// The same for every text and name in a value.
    pub(super) fn clean_value(&self, value: &mut Value) {
        match value {
            Value::String(text) if self.forms.iter().any(|form| text.contains(form.as_str())) => {
                *text = self.clean(text);
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.clean_value(item)),
            Value::Object(map) => {
                let dirty = map.keys().any(|name| self.forms.iter().any(|form| name.contains(form.as_str())));
                if dirty {
                    *map = std::mem::take(map).into_iter().map(|(name, value)| (self.clean(&name), value)).collect();
                }
                map.values_mut().for_each(|value| self.clean_value(value));
            }
            _ => {}
        }
    }

    /// A URL without user, password and the values of telling parameters.
    pub(super) fn clean_url(&self, url: &Url) -> String {
        let mut url = url.clone();
        // Both fail only for URLs without a host, which have neither.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        if url.query().is_some() {
            let pairs: Vec<_> = url.query_pairs().into_owned().collect();
            url.query_pairs_mut().clear().extend_pairs(
                pairs.iter().map(|(name, value)| (name, if is_telling(name) { MARK } else { value.as_str() })),
            );
        }
        self.clean(url.as_str())
    }

    /// Headers of a request: who asks is left out, and so is what somebody set by hand.
    pub(super) fn clean_asked(&self, map: &HeaderMap) -> Map<String, Value> {
        self.clean_headers(map, |name, value| {
            let name = name.as_str();
            !PLAIN.contains(&name) && (value.is_sensitive() || is_telling(name))
        })
    }

    /// Headers of an answer. Limits are counted in "tokens" and "keys": only names that end like a secret hold one.
    pub(super) fn clean_answered(&self, map: &HeaderMap) -> Map<String, Value> {
        self.clean_headers(map, |name, _| {
            let name = name.as_str();
            let ends = ["token", "key", "credential", "signature", "session-id"];
            ["auth", "cookie", "secret", "password"].iter().any(|word| name.contains(word))
                || ends.iter().any(|end| name.ends_with(end))
        })
    }

    fn clean_headers(&self, map: &HeaderMap, hidden: impl Fn(&HeaderName, &HeaderValue) -> bool) -> Map<String, Value> {
        let mut out = Map::new();
        for (name, value) in map {
            let text = match hidden(name, value) {
                true => MARK.to_owned(),
                false => self.clean(&String::from_utf8_lossy(value.as_bytes())),
            };
            let joined = match out.get(name.as_str()).and_then(Value::as_str) {
                Some(before) => format!("{before}, {text}"),
                None => text,
            };
            out.insert(name.as_str().to_owned(), joined.into());
        }
        out
    }

    /// A description of a model: its headers and address may hold keys.
    pub(super) fn clean_model(&self, model: &mut Value) {
        if let Some(headers) = model["headers"].as_object_mut() {
            for (name, value) in headers {
                if !PLAIN.contains(&name.to_ascii_lowercase().as_str()) && !value.is_null() {
                    *value = MARK.into();
                }
            }
        }
        if let Some(url) = model["baseUrl"].as_str().and_then(|url| Url::parse(url).ok())
            && (!url.username().is_empty() || url.password().is_some() || url.query().is_some())
        {
            model["baseUrl"] = self.clean_url(&url).into();
        }
        self.clean_value(model);
    }

    /// Bytes without secrets.
    fn clean_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for form in &self.forms {
            if memmem::find(&bytes, form.as_bytes()).is_none() {
                continue;
            }
            let mut out = Vec::with_capacity(bytes.len());
            let mut rest = 0;
            for at in memmem::find_iter(&bytes, form.as_bytes()) {
                out.extend_from_slice(&bytes[rest..at]);
                out.extend_from_slice(MARK.as_bytes());
                rest = at + form.len();
            }
            out.extend_from_slice(&bytes[rest..]);
            bytes = out;
        }
        bytes
    }

    /// How many bytes at the end may be the beginning of a secret.
    fn begun(&self, bytes: &[u8]) -> usize {
        let of = |form: &String| {
            let longest = bytes.len().min(form.len() - 1);
            (1..=longest).rev().find(|length| bytes.ends_with(&form.as_bytes()[..*length]))
        };
        self.forms.iter().filter_map(of).max().unwrap_or(0)
    }
}

/// Takes secrets out of a body that comes in pieces. A secret may be cut by two of them: an end that may be the
/// beginning of one waits for the next piece.
#[derive(Default)]
pub(super) struct BodyCleaner {
    held: Vec<u8>,
}

impl BodyCleaner {
    /// What may be kept now.
    pub fn push(&mut self, secrets: &Secrets, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let mut clean = secrets.clean_bytes(&self.held);
        self.held = clean.split_off(clean.len() - secrets.begun(&clean));
        clean
    }

    /// What is left at the end.
    pub fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

/// What proves who asks, without the word that says how. A signature is spelled in several words: it is good for one
/// request, and no secret.
fn bare(value: &str) -> Option<&str> {
    let bare = value.split_once(' ').map_or(value, |(_, bare)| bare);
    (!bare.contains(' ')).then_some(bare)
}

fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    name == "sig" || TELLING.iter().any(|word| name.contains(word))
}

/// A secret as it stands in plain text, in JSON and in URLs.
fn forms(secret: &str) -> BTreeSet<String> {
    let json = Value::from(secret).to_string();
    let json = json.trim_matches('"').to_owned();
    let percent = |upper: bool| -> String {
        let one = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
            _ if upper => format!("%{byte:02X}"),
            _ => format!("%{byte:02x}"),
        };
        secret.bytes().map(one).collect()
    };
    BTreeSet::from([secret.to_owned(), json.replace('/', "\\/"), json, percent(true), percent(false)])
}

fn collect(value: &Value, told: bool, found: &mut Vec<String>) {
    match value {
        Value::String(text) if told && !text.starts_with(['$', '!']) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, told, found)),
        Value::Object(map) => {
            for (name, value) in map {
                let telling = ["key", "token", "secret", "access", "refresh", "password", "auth"];
                let lower = name.to_ascii_lowercase();
                collect(value, telling.iter().any(|word| lower.contains(word)), found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KEY: &str = "sk-a/b+c\"d-0123";

    fn secrets() -> Secrets {
        Secrets::new([KEY.to_owned(), "short".to_owned()])
    }

    #[test]
    fn fc_106_a_secret_goes_in_each_of_its_forms() {
        let table = [
            ("key sk-a/b+c\"d-0123!", "key [secret]!"),
            (r#"{"k":"sk-a/b+c\"d-0123"}"#, r#"{"k":"[secret]"}"#),
            (r#"{"k":"sk-a\/b+c\"d-0123"}"#, r#"{"k":"[secret]"}"#),
            ("?k=sk-a%2Fb%2Bc%22d-0123", "?k=[secret]"),
            ("?k=sk-a%2fb%2bc%22d-0123", "?k=[secret]"),
            ("short stays", "short stays"),
        ];
        for (text, clean) in table {
            assert_eq!(secrets().clean(text), clean);
            assert_eq!(secrets().clean_bytes(text.as_bytes()), clean.as_bytes());
        }
        let mut value = json!({"a": ["x sk-a/b+c\"d-0123"], "sk-a/b+c\"d-0123": 1});
        secrets().clean_value(&mut value);
        assert_eq!(value, json!({"a": ["x [secret]"], "[secret]": 1}));
    }

    #[test]
    fn fc_106_a_secret_that_pieces_cut_goes_wherever_they_cut_it() {
        let text = format!("before {KEY} between {KEY}{KEY} sk-a/b after sk-");
        let clean = "before [secret] between [secret][secret] sk-a/b after sk-";
        for size in 1..text.len() {
            let (mut cleaner, secrets) = (BodyCleaner::default(), secrets());
            let mut out: Vec<Vec<u8>> =
                text.as_bytes().chunks(size).map(|piece| cleaner.push(&secrets, piece)).collect();
            out.push(cleaner.finish());
            assert_eq!(String::from_utf8(out.concat()).unwrap(), clean, "pieces of {size}");
        }
    }

    #[test]
    fn urls_keep_their_parameters_and_lose_who_asks() {
        let url = |text: &str| secrets().clean_url(&Url::parse(text).unwrap());
        assert_eq!(url("https://me:pass@h/v1?api-version=3&key=abc&sig=x"), {
            "https://h/v1?api-version=3&key=%5Bsecret%5D&sig=%5Bsecret%5D"
        });
        assert_eq!(url("https://h/v1"), "https://h/v1");
    }

    #[test]
    fn headers_keep_what_is_asked_for_and_lose_who_asks() {
        let header = |name: &'static str, value: &'static str, sensitive: bool| {
            let mut value = HeaderValue::from_static(value);
            value.set_sensitive(sensitive);
            (HeaderName::from_static(name), value)
        };
        let map = HeaderMap::from_iter([
            header("authorization", "Bearer x", false),
            header("x-own", "y", true),
            header("user-agent", "mine", true),
            header("x-trace", "sk-a/b+c\"d-0123", false),
        ]);
        let asked = json!({"authorization": MARK, "x-own": MARK, "user-agent": "mine", "x-trace": MARK});
        assert_eq!(Value::Object(secrets().clean_asked(&map)), asked);

        let mut map = HeaderMap::from_iter([
            header("set-cookie", "a=b", false),
            header("x-ratelimit-limit-tokens", "5", false),
            header("x-session-token", "t", false),
        ]);
        map.append("x-note", HeaderValue::from_static("a"));
        map.append("x-note", HeaderValue::from_static("b"));
        let answered =
            json!({"set-cookie": MARK, "x-ratelimit-limit-tokens": "5", "x-session-token": MARK, "x-note": "a, b"});
        assert_eq!(Value::Object(secrets().clean_answered(&map)), answered);
    }

    #[test]
    fn a_request_tells_its_keys_and_nothing_that_changes_with_each_request() {
        let table = [
            ("Bearer token-0123", Some("token-0123")),
            ("token-0123", Some("token-0123")),
            ("AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature=c", None),
        ];
        for (value, expected) in table {
            assert_eq!(bare(value), expected);
        }
        assert!(is_telling("X-Api_Key") && is_telling("sig") && !is_telling("x-session-id"));
    }

    #[test]
    fn documents_give_the_values_of_telling_fields() {
        let document = json!({
            "p": {"type": "oauth", "access": "access-1", "refresh": "refresh-1", "expires": 5},
            "q": {"apiKey": "literal-1", "baseUrl": "http://x", "headers": {"x-api-key": "literal-2"}},
            "r": {"key": "$VARIABLE"}, "s": {"key": "!command"},
        });
        assert_eq!(Secrets::in_document(&document), ["access-1", "refresh-1", "literal-1", "literal-2"]);
    }

    #[test]
    fn a_model_s_description_loses_its_headers_and_the_password_of_its_address() {
        let mut model =
            json!({"baseUrl": "http://u:p@h/v1", "headers": {"X-Own": "v", "User-Agent": "a", "x-gone": null}});
        secrets().clean_model(&mut model);
        let clean = json!({"baseUrl": "http://h/v1", "headers": {"X-Own": MARK, "User-Agent": "a", "x-gone": null}});
        assert_eq!(model, clean);
    }
}
