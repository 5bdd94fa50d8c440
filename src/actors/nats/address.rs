//! Where the server is, and how we say who we are.

use std::{fmt, path::PathBuf};

use reqwest::Url;
use serde::{Deserialize, Serialize};

/// The prefix of all names, unless another one is given.
pub const DEFAULT_PREFIX: &str = "troupe";

/// The port of servers whose address names none.
const DEFAULT_PORT: u16 = 4222;

/// Where the server is. What is written (`Serialize`) has the secrets of its URLs; what is printed has not.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NatsAddress {
    /// URLs of the servers of one cluster, at least one: `nats://host:4222`, `tls://…`, with `user:password@` or
    /// `token@`.
    pub servers: Vec<String>,
    /// What the names of all streams, buckets and subjects begin with.
    pub prefix: String,
    /// A credentials file (`.creds`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<PathBuf>,
    /// A file with the seed of an nkey.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nkey: Option<PathBuf>,
    /// Certificates of authorities, besides those of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_ca: Option<PathBuf>,
    /// Our certificate; goes with the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_cert: Option<PathBuf>,
    /// Its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_key: Option<PathBuf>,
}

/// Who we say we are, as a URL has it.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum UrlSecret {
    /// A user with a password.
    User(String, String),
    /// A token.
    Token(String),
}

impl NatsAddress {
    /// The address that the words of `--on` name: one URL, or several with commas between them. A URL without a scheme
    /// is `nats://`.
    ///
    /// # Errors
    /// A URL that makes no sense, said so that people understand it, without its secrets.
    pub fn parse(urls: &str) -> Result<Self, String> {
        let parts = urls.split(',').map(str::trim).filter(|part| !part.is_empty());
        let servers = parts.map(|part| Ok(with_scheme(part)?.to_string())).collect::<Result<Vec<_>, String>>()?;
        if servers.is_empty() {
            return Err("an address of a NATS server is missing: nats://host:4222, say".to_owned());
        }
        Ok(Self {
            servers,
            prefix: DEFAULT_PREFIX.to_owned(),
            credentials: None,
            nkey: None,
            tls_ca: None,
            tls_cert: None,
            tls_key: None,
        })
    }

    /// The servers without secrets, for people.
    #[must_use]
    pub fn shown(&self) -> String {
        self.plain_servers().join(", ")
    }

    /// The servers' URLs without secrets.
    pub(super) fn plain_servers(&self) -> Vec<String> {
        self.servers
            .iter()
            .map(|server| with_scheme(server).map_or_else(|_| "?".to_owned(), |url| plain(&url)))
            .collect()
    }

    /// The secret of the first URL that has one.
    pub(super) fn secret(&self) -> Option<UrlSecret> {
        self.servers.iter().filter_map(|server| with_scheme(server).ok()).find_map(|url| {
            let user = decoded(url.username());
            match (user.is_empty(), url.password()) {
                (true, None) => None,
                (false, None) => Some(UrlSecret::Token(user)),
                (_, Some(password)) => Some(UrlSecret::User(user, decoded(password))),
            }
        })
    }
}

impl fmt::Debug for NatsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("NatsAddress");
        shown.field("servers", &self.plain_servers()).field("prefix", &self.prefix);
        shown.field("credentials", &self.credentials).field("nkey", &self.nkey);
        shown.field("tls_ca", &self.tls_ca).field("tls_cert", &self.tls_cert).field("tls_key", &self.tls_key).finish()
    }
}

fn with_scheme(server: &str) -> Result<Url, String> {
    let shown = || server.rsplit_once('@').map_or(server, |(_, host)| host).to_owned();
    let url = match server.contains("://") {
        true => Url::parse(server),
        false => Url::parse(&format!("nats://{server}")),
    };
    let url = url.map_err(|error| format!("\"{}\" is no address of a NATS server: {error}", shown()))?;
    if !matches!(url.scheme(), "nats" | "tls") {
        return Err(format!("\"{}\" is no address of a NATS server: it begins with nats:// or tls://", shown()));
    }
    match url.host_str() {
        Some(host) if !host.is_empty() => Ok(url),
        _ => Err(format!("\"{}\" is no address of a NATS server: it names no host", shown())),
    }
}

fn plain(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    format!("{}://{host}:{}", url.scheme(), url.port().unwrap_or(DEFAULT_PORT))
}

/// Without the `%XX` of URLs.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let code = rest.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(b'%'));
        rest = &rest[at + if code.is_some() { 3 } else { 1 }..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        let check = |urls: &str, expected: &str| assert_eq!(NatsAddress::parse(urls).unwrap().shown(), expected);
        check("host", "nats://host:4222");
        check("10.0.0.1:5000", "nats://10.0.0.1:5000");
        check("nats://a:1, tls://b:2", "nats://a:1, tls://b:2");
        check("nats://[::1]:4", "nats://[::1]:4");
        let check = |urls: &str, expected: &str| assert!(NatsAddress::parse(urls).unwrap_err().contains(expected));
        check("", "is missing");
        check("http://a", "begins with nats://");
        check("nats://", "no address");
        check("nats://s3cret@:x", "no address");
    }

    #[test]
    fn secrets_of_urls_are_taken_and_never_shown() {
        let check = |url: &str, expected: Option<UrlSecret>| {
            let address = NatsAddress::parse(url).unwrap();
            assert!(address.secret() == expected, "{url}");
            let shown = format!("{address:?} {}", address.shown());
            assert!(!shown.contains("s3cret") && !shown.contains("ada"), "{shown}");
            let again: NatsAddress = serde_json::from_str(&serde_json::to_string(&address).unwrap()).unwrap();
            assert!(again == address && again.secret() == expected, "{url}");
        };
        let user = |name: &str, password: &str| Some(UrlSecret::User(name.into(), password.into()));
        check("nats://a", None);
        check("nats://ada:s3cret@a", user("ada", "s3cret"));
        check("nats://ada:s3cret%40%2F%@a", user("ada", "s3cret@/%"));
        check("nats://s3cret@a:1", Some(UrlSecret::Token("s3cret".into())));
        check("a,ada:s3cret@b", user("ada", "s3cret"));
        let error = NatsAddress::parse("ftp://ada:s3cret@a").unwrap_err();
        assert!(!error.contains("s3cret"), "{error}");
    }
}
