//! What a provider can be used with, for people and programs that ask: commands that check, list and print.

use super::{
    CredentialError, Credentials, Freshness, KeySources,
    auth_file::Stored,
    resolve::{Found, FoundKey, FoundLogin},
};
use crate::{
    protocol::time::Millis,
    providers::{Secret, aws::AwsCredentials},
};

/// What kind of credential it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A key.
    ApiKey,
    /// A login.
    Login,
    /// Credentials of the surroundings.
    Ambient,
    /// None, and none is needed.
    Keyless,
    /// An entry of a later version.
    Unknown,
}

impl Kind {
    /// The word for it; those for keys and logins are the ones in `auth.json`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::Login => "oauth",
            Self::Ambient => "ambient",
            Self::Keyless => "none",
            Self::Unknown => "unknown",
        }
    }
}

/// Where a credential is, without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its kind.
    pub kind: Kind,
    /// The file or the variable that has it.
    pub place: String,
    /// When it ends; none when it does not.
    pub expires: Option<Millis>,
    /// The variable that it names and that is not set.
    pub missing: Option<String>,
}

/// A credential that can be used now.
#[derive(Clone, Debug)]
pub struct Access {
    /// Its kind.
    pub kind: Kind,
    /// The key or token; none where requests are signed or need none.
    pub secret: Option<Secret>,
    /// It goes out as `Authorization: Bearer` whatever the API.
    pub bearer: bool,
    /// When it ends; none when it does not.
    pub expires: Option<Millis>,
    /// Where requests go, when that depends on the login.
    pub base_url: Option<String>,
    /// Signs requests.
    pub aws: Option<AwsCredentials>,
}

impl Credentials {
    /// The credential that a request to the provider would use now.
    ///
    /// # Errors
    /// There is none; see [`CredentialError`].
    pub async fn access(&self, provider: &str, freshness: Freshness) -> Result<Access, CredentialError> {
        let nothing = KeySources::default();
        let sources = self.sources.get(provider).unwrap_or(&nothing);
        let none =
            Access { kind: Kind::Keyless, secret: None, bearer: false, expires: None, base_url: None, aws: None };
        // A key of the surroundings is recognised by its place alone: nothing else has a token there.
        let is_ambient = self.source(provider).is_some_and(|source| source.kind == Kind::Ambient);
        let key_kind = if is_ambient { Kind::Ambient } else { Kind::ApiKey };
        Ok(match self.find_key(provider, sources, freshness).await? {
            Found::Key(FoundKey { key, bearer, .. }) => Access { kind: key_kind, secret: Some(key), bearer, ..none },
            Found::Login(FoundLogin { login, bearer, base_url, .. }) => Access {
                kind: Kind::Login,
                secret: Some(login.tokens.access.clone()),
                bearer,
                expires: login.tokens.expires,
                base_url,
                ..none
            },
            Found::Aws(credentials) => Access { kind: Kind::Ambient, aws: Some(credentials), ..none },
            Found::Nothing => none,
        })
    }

    /// Where the provider's credential is: the place that a request would look at. None when there is none, or the
    /// store is broken. Runs no command and asks no server.
    #[must_use]
    pub fn source(&self, provider: &str) -> Option<Source> {
        let environment = self.environment_of(provider);
        let source = |kind, place: &str| Source { kind, place: place.to_owned(), expires: None, missing: None };
        if self.own_key(provider).is_some() {
            return Some(source(Kind::ApiKey, "--api-key"));
        }
        let named = |key: &super::key_text::KeyText| key.missing_variable(&environment).map(str::to_owned);
        match self.stored_for(provider) {
            Some(Stored::ApiKey { key, .. }) => {
                return Some(Source { missing: named(key), ..source(Kind::ApiKey, "auth.json") });
            }
            Some(Stored::Login(login)) => {
                return Some(Source { expires: login.tokens.expires, ..source(Kind::Login, "auth.json") });
            }
            Some(Stored::Unknown) => return Some(source(Kind::Unknown, "auth.json")),
            None => {}
        }
        let sources = self.sources.get(provider)?;
        if let Some(key) = &sources.api_key {
            return Some(Source { missing: named(key), ..source(Kind::ApiKey, "models.json") });
        }
        if let Some(name) = sources.env.iter().find(|name| environment.get(name).is_some()) {
            return Some(source(Kind::ApiKey, name));
        }
        if sources.ambient.is_some_and(|ambient| ambient.is_configured(&environment)) {
            return Some(source(Kind::Ambient, "surroundings"));
        }
        sources.keyless.then(|| source(Kind::Keyless, "needs no key"))
    }

    /// The providers that `auth.json` has entries for, sorted.
    #[must_use]
    pub fn stored_providers(&self) -> Vec<String> {
        let mut names: Vec<_> = self.stored.iter().flat_map(|entries| entries.keys().cloned()).collect();
        names.sort();
        names
    }
}
