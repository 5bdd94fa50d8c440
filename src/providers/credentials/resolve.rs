//! From key texts to keys and headers, at the time of a request.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    Auth, CredentialError, Credentials, Freshness, KeySources, Login, REQUEST_MARGIN,
    ambient::{Ambient, Identity},
    auth_file::Stored,
    command::{self, Outcome},
    key_text::{KeyText, expand},
};
use crate::{
    protocol::Model,
    providers::{Secret, aws::AwsCredentials, base_url, environment::Environment},
};

/// What lets a request in.
pub(super) enum Found {
    Key(FoundKey),
    Login(FoundLogin),
    Aws(AwsCredentials),
    Nothing,
}

/// A key and where it comes from.
pub(super) struct FoundKey {
    pub key: Secret,
    pub place: String,
    pub bearer: bool,
}

/// A login whose token is fresh.
pub(super) struct FoundLogin {
    pub login: Arc<Login>,
    pub place: String,
    pub bearer: bool,
    pub base_url: Option<String>,
}

impl Credentials {
    /// The key and the headers for a request to this model.
    ///
    /// # Errors
    /// There is no key and the provider needs one, or a text has no value; see [`CredentialError`].
    pub async fn auth_for(&self, model: &Model) -> Result<Auth, CredentialError> {
        let nothing = KeySources::default();
        let sources = self.sources.get(&model.provider).unwrap_or(&nothing);
        let found = self.find_key(&model.provider, sources, Freshness::Longer(REQUEST_MARGIN)).await?;
        let mut headers = self.configured_headers(model, sources).await?;
        let mut base_url = None;
        let (found, aws) = match found {
            Found::Key(found) => (Some(found), None),
            Found::Login(found) => {
                base_url = found.base_url;
                let key = found.login.tokens.access.clone();
                (Some(FoundKey { key, place: found.place, bearer: found.bearer }), None)
            }
            Found::Aws(credentials) => (None, Some(credentials)),
            Found::Nothing => (None, None),
        };
        if let Some(found) = &found {
            if sources.auth_header || found.bearer {
                let bearer = format!("Bearer {}", found.key.expose());
                headers.insert("Authorization".to_owned(), Value::String(bearer));
            }
            if found.bearer {
                headers.insert("x-api-key".to_owned(), Value::Null);
            }
        }
        let environment = self.environment_of(&model.provider);
        let base_url = match base_url {
            Some(of_login) => Some(of_login),
            None => base_url::expand(&model.base_url, || environment.clone())?,
        };
        Ok(Auth { key: found.map(|found| found.key), headers, aws, base_url, environment })
    }

    /// The key alone; None when the provider needs none.
    ///
    /// # Errors
    /// See [`Self::auth_for`].
    pub async fn key_for(&self, model: &Model) -> Result<Option<Secret>, CredentialError> {
        Ok(self.auth_for(model).await?.key)
    }

    /// The headers alone.
    ///
    /// # Errors
    /// See [`Self::auth_for`].
    pub async fn headers_for(&self, model: &Model) -> Result<Map<String, Value>, CredentialError> {
        Ok(self.auth_for(model).await?.headers)
    }

    /// What lets requests to the provider in: a key or token that a request can carry.
    pub(super) async fn find_key(
        &self,
        provider: &str,
        sources: &KeySources,
        freshness: Freshness,
    ) -> Result<Found, CredentialError> {
        let found = self.look_for_key(provider, sources, freshness).await?;
        match &found {
            Found::Key(FoundKey { key, place, .. }) => check_sendable(key, place)?,
            Found::Login(FoundLogin { login, place, .. }) => check_sendable(&login.tokens.access, place)?,
            Found::Aws(_) | Found::Nothing => {}
        }
        Ok(found)
    }

    async fn look_for_key(
        &self,
        provider: &str,
        sources: &KeySources,
        freshness: Freshness,
    ) -> Result<Found, CredentialError> {
        if let Some(key) = self.own_key(provider) {
            return Ok(Found::Key(FoundKey { key, place: "--api-key".to_owned(), bearer: false }));
        }
        // Needs no key, whatever state the store is in.
        let needs_none = sources.keyless && sources.env.is_empty() && sources.api_key.is_none();
        if let (Err(problem), false) = (self.stored.as_ref(), needs_none) {
            return Err(CredentialError::Store(problem.clone()));
        }
        let environment = self.environment_of(provider);
        let place = format!("auth.json: {provider}");
        match self.stored_for(provider) {
            Some(Stored::ApiKey { key, .. }) => {
                let key = self.value(key, &place, &environment, true).await?;
                return Ok(Found::Key(FoundKey { key, place, bearer: false }));
            }
            Some(Stored::Login(login)) => {
                let login = self.fresh(provider, login, freshness).await?;
                let flow = self.flow(provider).and_then(Result::ok);
                let bearer = flow.as_ref().is_none_or(|flow| flow.bearer);
                let base_url = flow.filter(|flow| flow.host_in_token).and_then(|_| login.host_address());
                return Ok(Found::Login(FoundLogin { login, place, bearer, base_url }));
            }
            Some(Stored::Unknown) => return Err(CredentialError::UnknownEntry { provider: provider.to_owned() }),
            None => {}
        }
        if let Some(key) = &sources.api_key {
            let place = format!("models.json: {provider}.apiKey");
            let key = self.value(key, &place, &environment, false).await?;
            return Ok(Found::Key(FoundKey { key, place, bearer: false }));
        }
        for name in &sources.env {
            if let Some(value) = environment.get(name) {
                let bearer = sources.bearer_env.contains(name);
                return Ok(Found::Key(FoundKey { key: Secret::new(value), place: name.clone(), bearer }));
            }
        }
        if let Some(ambient) = sources.ambient
            && ambient.is_configured(&environment)
        {
            return match ambient.resolve(&environment).await {
                Ok(Identity::Aws(credentials)) => Ok(Found::Aws(credentials)),
                Ok(Identity::Unsigned) => Ok(Found::Nothing),
                Ok(Identity::Bearer(key)) => {
                    Ok(Found::Key(FoundKey { key, place: "the surroundings".to_owned(), bearer: true }))
                }
                Err(source) => Err(CredentialError::Ambient { provider: provider.to_owned(), source }),
            };
        }
        if sources.keyless { Ok(Found::Nothing) } else { Err(self.missing(provider, sources)) }
    }

    async fn configured_headers(
        &self,
        model: &Model,
        sources: &KeySources,
    ) -> Result<Map<String, Value>, CredentialError> {
        let environment = self.environment_of(&model.provider);
        let of_model = sources.model_headers.get(&model.id);
        let mut headers = Map::new();
        for (name, value) in sources.headers.iter().chain(of_model.into_iter().flatten()) {
            let place = format!("models.json: {}.headers.{name}", model.provider);
            let value = match value.as_str() {
                Some(text) => {
                    let value = self.value(&KeyText::parse(text), &place, &environment, false).await?;
                    Value::String(value.expose().to_owned())
                }
                None => Value::Null,
            };
            headers.insert(name.clone(), value);
        }
        Ok(headers)
    }

    /// The value of a key text.
    async fn value(
        &self,
        text: &KeyText,
        place: &str,
        environment: &Environment,
        cached: bool,
    ) -> Result<Secret, CredentialError> {
        match text {
            KeyText::Command(line) => {
                let outcome: Outcome = if cached {
                    self.commands.run(line, environment).await
                } else {
                    command::run(line, environment).await
                };
                outcome.map_err(|source| CredentialError::Command { place: place.to_owned(), source })
            }
            KeyText::Template(parts) => {
                let value = expand(parts, environment).map(|value| Secret::new(&value));
                value.ok_or_else(|| CredentialError::Variable {
                    place: place.to_owned(),
                    variable: text.missing_variable(environment).unwrap_or_default().to_owned(),
                })
            }
        }
    }

    /// Why a request to the provider would find no key, as far as that is known without running a command; none when
    /// it would find one, or needs none.
    #[must_use]
    pub fn missing_key(&self, provider: &str) -> Option<CredentialError> {
        let nothing = KeySources::default();
        let sources = self.sources.get(provider).unwrap_or(&nothing);
        (!self.is_configured(provider))
            .then(|| self.without_value(provider, sources).unwrap_or_else(|| self.missing(provider, sources)))
    }

    /// What is wrong with the text that owns the provider's key.
    fn without_value(&self, provider: &str, sources: &KeySources) -> Option<CredentialError> {
        let (key, place) = match self.stored_for(provider) {
            Some(Stored::ApiKey { key, .. }) => (key, format!("auth.json: {provider}")),
            Some(Stored::Unknown) => return Some(CredentialError::UnknownEntry { provider: provider.to_owned() }),
            Some(Stored::Login(_)) => return None,
            None => (sources.api_key.as_ref()?, format!("models.json: {provider}.apiKey")),
        };
        if key.is_blank() {
            return Some(CredentialError::Empty { place });
        }
        let variable = key.missing_variable(&self.environment_of(provider))?.to_owned();
        Some(CredentialError::Variable { place, variable })
    }

    fn missing(&self, provider: &str, sources: &KeySources) -> CredentialError {
        let way = match sources.env.as_slice() {
            [] => format!("set providers.{provider}.apiKey in models.json"),
            names => format!("set {}", names.join(" or ")),
        };
        let way = match sources.ambient.and_then(Ambient::hint) {
            Some(hint) => format!("{way}, or {hint}"),
            None => way,
        };
        CredentialError::Missing {
            provider: provider.to_owned(),
            hint: format!("troupe auth login {provider}, or {way}"),
        }
    }
}

/// A key with a stray character fails here with a text that helps, instead of deep inside the HTTP client with one
/// that shows the key (FC-037).
fn check_sendable(key: &Secret, place: &str) -> Result<(), CredentialError> {
    let place = || place.to_owned();
    if key.expose().is_empty() {
        return Err(CredentialError::Empty { place: place() });
    }
    match key.expose().chars().position(|char| !(char.is_ascii_graphic() || char == ' ')) {
        Some(at) => Err(CredentialError::NotAscii { place: place(), position: at + 1 }),
        None => Ok(()),
    }
}
