//! A stored login: its tokens, and what other programs keep beside them.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::{
    protocol::time::Millis,
    providers::{Secret, oauth::Tokens},
    store::document::{Fault, Object},
};

/// How much life a token must have left to be used for a request; else it is renewed.
pub const REQUEST_MARGIN: Duration = Duration::from_secs(5 * 60);

/// An `oauth` entry of `auth.json`.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The tokens.
    pub tokens: Tokens,
    /// All other fields.
    extra: Map<String, Value>,
}

/// The other fields may be secrets as well.
impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("tokens", &self.tokens).finish_non_exhaustive()
    }
}

/// Fields that are not extra.
const KNOWN: [&str; 4] = ["type", "access", "refresh", "expires"];

impl Login {
    /// A new login that was made by the client of that id.
    #[must_use]
    pub fn new(tokens: Tokens, client_id: Option<&str>) -> Self {
        let client = client_id.map(|id| ("clientId".to_owned(), Value::from(id)));
        Self { tokens, extra: client.into_iter().collect() }
    }

    /// Reads an entry.
    ///
    /// # Errors
    /// It has no access token, or a field of the wrong type. Faults do not show what they found: it may be a token.
    pub(super) fn read(entry: &Object<'_>) -> Result<Self, Fault> {
        let text = |key: &str| {
            entry.read(key, |field| {
                field.value().as_str().map(Secret::new).ok_or_else(|| field.fault("expected a text"))
            })
        };
        let expires = entry.read("expires", |field| {
            let number = field.value().as_f64().ok_or_else(|| field.fault("expected milliseconds since 1970"))?;
            #[expect(clippy::cast_possible_truncation, reason = "saturates: a time after all others")]
            Ok(number as Millis)
        })?;
        let access = text("access")?;
        let access =
            access.ok_or_else(|| entry.fault("expected an access token in the field access, found nothing"))?;
        let extra = entry.map().iter().filter(|(key, _)| !KNOWN.contains(&key.as_str()));
        Ok(Self {
            tokens: Tokens { access, refresh: text("refresh")?, expires },
            extra: extra.map(|(key, value)| (key.clone(), value.clone())).collect(),
        })
    }

    /// The entry for the file.
    #[must_use]
    pub fn to_entry(&self) -> Value {
        let Tokens { access, refresh, expires } = &self.tokens;
        let mut entry =
            Map::from_iter([("type".to_owned(), Value::from("oauth")), ("access".to_owned(), access.expose().into())]);
        if let Some(refresh) = refresh {
            entry.insert("refresh".to_owned(), refresh.expose().into());
        }
        if let Some(expires) = expires {
            entry.insert("expires".to_owned(), (*expires).into());
        }
        entry.extend(self.extra.clone());
        Value::Object(entry)
    }

    /// The same login with its next tokens.
    #[must_use]
    pub fn with(&self, tokens: Tokens) -> Self {
        Self { tokens, extra: self.extra.clone() }
    }

    /// Whether the token still has that much life at `now`.
    #[must_use]
    pub fn lasts(&self, now: Millis, least: Duration) -> bool {
        let least = Millis::try_from(least.as_millis()).unwrap_or(Millis::MAX);
        self.tokens.expires.is_none_or(|expires| expires.saturating_sub(now) > least)
    }

    /// The id of the client that made the login.
    #[must_use]
    pub fn client_id(&self) -> Option<&str> {
        self.extra.get("clientId")?.as_str()
    }

    /// The API's address as GitHub's tokens spell it: `…;proxy-ep=proxy.HOST;…`, else that of the enterprise whose
    /// domain the entry has.
    #[must_use]
    pub fn host_address(&self) -> Option<String> {
        let proxy = self.tokens.access.expose().split(';').find_map(|part| part.strip_prefix("proxy-ep="));
        let host = proxy.map(|host| format!("api.{}", host.strip_prefix("proxy.").unwrap_or(host)));
        let domain = || Some(format!("copilot-api.{}", bare_host(self.extra.get("enterpriseUrl")?.as_str()?)));
        let host = host.or_else(domain)?;
        host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')).then(|| format!("https://{host}"))
    }
}

fn bare_host(url: &str) -> &str {
    url.trim_start_matches("https://").trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::store::document::Field;

    fn login(entry: &Value) -> Result<Login, String> {
        Login::read(&Field::of(entry).object().unwrap()).map_err(|fault| fault.describe())
    }

    #[test]
    fn entries_keep_their_other_fields() {
        let entry = json!({"type": "oauth", "access": "a", "refresh": "r", "expires": 1_790_000_000_000_i64,
            "accountId": "hush-7", "later": {"x": [1]}});
        let read = login(&entry).unwrap();
        assert_eq!(read.to_entry(), entry);
        let next = Tokens { access: Secret::new("a2"), refresh: None, expires: None };
        assert_eq!(
            read.with(next).to_entry(),
            json!({"type": "oauth", "access": "a2", "accountId": "hush-7", "later": {"x": [1]}})
        );
        for (entry, expected) in [
            (json!({"refresh": "sk-secret"}), "expected an access token"),
            (json!({"access": ["sk-secret"]}), "access: expected a text"),
            (json!({"access": "a", "expires": "sk-secret"}), "expires: expected milliseconds"),
        ] {
            let text = login(&entry).unwrap_err();
            assert!(text.contains(expected) && !text.contains("secret"), "{text}");
        }
        assert!(!format!("{read:?}").contains("hush"));
    }

    #[test]
    fn a_token_lasts_until_less_than_the_margin_is_left() {
        let at = |expires: i64| login(&json!({"access": "a", "expires": expires})).unwrap();
        for (expires, lasts) in [(1_300_001, true), (1_300_000, false), (999_000, false), (0, false)] {
            assert_eq!(at(expires).lasts(1_000_000, REQUEST_MARGIN), lasts, "{expires}");
        }
        assert!(login(&json!({"access": "a"})).unwrap().lasts(i64::MAX, REQUEST_MARGIN), "no end, no renewal");
    }

    #[test]
    fn the_hosts_of_tokens_are_addresses_and_nothing_else() {
        let table = [
            (
                json!({"access": "tid=1;proxy-ep=proxy.business.example.com;x=y"}),
                Some("https://api.business.example.com"),
            ),
            (
                json!({"access": "t", "enterpriseUrl": "https://corp.example/"}),
                Some("https://copilot-api.corp.example"),
            ),
            (json!({"access": "t;proxy-ep=proxy.evil/x@y"}), None),
            (json!({"access": "t"}), None),
        ];
        for (entry, expected) in table {
            assert_eq!(login(&entry).unwrap().host_address().as_deref(), expected, "{entry}");
        }
    }
}
