//! Which key a request uses.
//!
//! In this order: the run's own key (`--api-key`), the entry in `auth.json`, `apiKey` in `models.json`, the provider's
//! environment variables, the credentials of the surroundings. What is stored owns its provider: when it has no value (a
//! missing variable, a failed command, a login that cannot be renewed), that is an error and no other key is used in its
//! place. Commands in `auth.json` run once a process, those in `models.json` for each request.
//!
//! | module | what |
//! |---|---|
//! | `auth_file`, `login` | what `auth.json` holds: keys, logins |
//! | [`key_text`], [`command`], `resolve` | from what is written there and in `models.json` to keys and headers |
//! | `flows`, `renewal` | how a provider's logins are got, and renewed |
//! | [`ambient`], `federation` | what the surroundings provide |
//! | `access` | what people and programs may be told of it |
//! | [`recognise`] | whose key it is, by its look |
//! | [`storing`] | storing keys and logins, and forgetting them |
//! | `secrets` | variables that programs of the model do not get |

pub mod ambient;
pub mod command;
pub mod key_text;
pub mod recognise;
pub mod storing;

mod access;
mod auth_file;
mod federation;
mod flows;
mod login;
mod renewal;
mod resolve;
mod secrets;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use serde_json::{Map, Value};

use super::{Secret, aws::AwsCredentials, base_url::MissingPart, environment::Environment};
use crate::store::{auth_file::AuthFile, document::DocumentError};
pub use access::{Access, Kind, Source};
use ambient::{Ambient, AmbientError};
use auth_file::{Entries, Stored};
use command::{CommandCache, CommandError};
use key_text::KeyText;
pub use login::{Login, REQUEST_MARGIN};
pub use renewal::{Freshness, settle};

/// Why a request has no key. No text here ever holds a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// There is none.
    #[error("no API key for provider {provider}: {hint}")]
    Missing {
        /// The provider.
        provider: String,
        /// What to do.
        hint: String,
    },
    /// The key's text names a variable that is not set.
    #[error("{place} names the variable {variable}, which is not set: set it or change the key")]
    Variable {
        /// Where the text is, such as `auth.json: groq`.
        place: String,
        /// The variable.
        variable: String,
    },
    /// The key's command gave none.
    #[error("the command in {place} {source}: run it by hand to see why")]
    Command {
        /// Where the text is.
        place: String,
        /// Why.
        source: CommandError,
    },
    /// The login's token cannot be renewed. The login stays stored: the reason may pass.
    #[error("the login of provider {provider} cannot be renewed: {reason}. Log in again: troupe auth login {provider}")]
    Renewal {
        /// The provider.
        provider: String,
        /// Why.
        reason: String,
    },
    /// The login's token has expired, and was not to be renewed.
    #[error("the login of provider {provider} has expired")]
    Expired {
        /// The provider.
        provider: String,
    },
    /// The entry in `auth.json` is of a kind that this version does not know.
    #[error(
        "the entry of {provider} in auth.json is of a kind that this version does not know: log in again, or use the version that wrote it"
    )]
    UnknownEntry {
        /// The provider.
        provider: String,
    },
    /// The provider's login is described wrongly.
    #[error("the login of provider {provider} (oauth in models.json or settings.json): {fault}")]
    Flow {
        /// The provider.
        provider: String,
        /// The field and what is wrong with it.
        fault: String,
    },
    /// The provider's surroundings give no credentials.
    #[error("no credentials for provider {provider}: {source}")]
    Ambient {
        /// The provider.
        provider: String,
        /// What was tried.
        source: AmbientError,
    },
    /// The address of the provider needs a variable.
    #[error(transparent)]
    Address(#[from] MissingPart),
    /// `auth.json` cannot be used.
    #[error("{0}. Mend the file: a stored key might be in it")]
    Store(DocumentError),
    /// The key is an empty text. It would go out as an empty bearer token.
    #[error("the key from {place} is empty: give a key, or leave it out")]
    Empty {
        /// Where the key comes from.
        place: String,
    },
    /// The key holds a character that no HTTP header can carry.
    #[error("the key from {place} has a character that no header can carry (the {position}. one): copy the key again")]
    NotAscii {
        /// Where the key comes from.
        place: String,
        /// The character's place, from 1.
        position: usize,
    },
}

/// What a request needs to be let in.
#[derive(Clone, Default)]
pub struct Auth {
    /// The key, for providers that want one.
    pub key: Option<Secret>,
    /// Headers to send: text sets, null removes. May hold keys.
    pub headers: Map<String, Value>,
    /// Signs the request, in place of a key.
    pub aws: Option<AwsCredentials>,
    /// Another address than the model's: it depends on the login or on variables.
    pub base_url: Option<String>,
    /// The variables that count for this provider's requests.
    pub environment: Environment,
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.headers.keys().collect();
        f.debug_struct("Auth").field("key", &self.key).field("headers", &names).finish()
    }
}

/// Where a provider's key may come from, and what goes out with it.
#[derive(Clone, Default)]
pub struct KeySources {
    /// Variables that hold a key; the first one that is set counts.
    pub env: Vec<String>,
    /// Those of them whose key is sent as a bearer token.
    pub bearer_env: Vec<String>,
    /// `apiKey` of `models.json`.
    pub api_key: Option<KeyText>,
    /// `authHeader` of `models.json`: the key is sent as `Authorization: Bearer`.
    pub auth_header: bool,
    /// The provider's headers in the key grammar; null removes one.
    pub headers: Map<String, Value>,
    /// Headers by model id; they win.
    pub model_headers: HashMap<String, Map<String, Value>>,
    /// `oauth` of `models.json`: how to log in.
    pub oauth: Option<Map<String, Value>>,
    /// Credentials of the surroundings, when there is no key.
    pub ambient: Option<Ambient>,
    /// No key is needed: a server on this machine, or a model that is part of this program.
    pub keyless: bool,
}

/// Names alone: headers and secrets of clients may be written out.
impl std::fmt::Debug for KeySources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let headers: Vec<_> = self.headers.keys().collect();
        let debug = &mut f.debug_struct("KeySources");
        debug.field("env", &self.env).field("api_key", &self.api_key).field("headers", &headers);
        debug.field("ambient", &self.ambient).field("keyless", &self.keyless).finish_non_exhaustive()
    }
}

/// Keys of all providers. Cloning is cheap; clones share the run's own keys, renewed tokens and the results of commands.
#[derive(Clone)]
pub struct Credentials {
    environment: Environment,
    sources: Arc<HashMap<String, KeySources>>,
    file: AuthFile,
    settings_file: PathBuf,
    stored: Arc<Result<Entries, DocumentError>>,
    /// Logins whose tokens are newer than those in `stored`.
    renewed: Arc<RwLock<HashMap<String, Arc<Login>>>>,
    own: Arc<RwLock<HashMap<String, Secret>>>,
    commands: CommandCache,
}

impl Credentials {
    /// Reads `auth.json` in the user's folder.
    #[must_use]
    pub fn load(dir: &Path, environment: Environment, sources: HashMap<String, KeySources>) -> Self {
        let file = AuthFile::in_folder(dir);
        Self {
            environment,
            sources: Arc::new(sources),
            stored: Arc::new(auth_file::read(&file)),
            file,
            settings_file: dir.join("settings.json"),
            renewed: Arc::default(),
            own: Arc::default(),
            commands: CommandCache::default(),
        }
    }

    /// The same files read again with other sources; the run's own keys and the results of commands stay.
    #[must_use]
    pub fn reload(&self, dir: &Path, sources: HashMap<String, KeySources>) -> Self {
        let fresh = Self::load(dir, self.environment.clone(), sources);
        Self { own: Arc::clone(&self.own), commands: self.commands.clone(), ..fresh }
    }

    /// Sets the run's own key (`--api-key`) for a provider. It is kept in memory alone.
    pub fn set_own_key(&self, provider: &str, key: Secret) {
        self.own.write().unwrap_or_else(PoisonError::into_inner).insert(provider.to_owned(), key);
    }

    /// What is wrong with `auth.json`.
    #[must_use]
    pub fn problem(&self) -> Option<&DocumentError> {
        self.stored.as_ref().as_ref().err()
    }

    /// Whether a request to the provider would find a key (or needs none), as far as that is known without running a
    /// command.
    #[must_use]
    pub fn is_configured(&self, provider: &str) -> bool {
        if self.own_key(provider).is_some() {
            return true;
        }
        let environment = self.environment_of(provider);
        let has_value = |key: &KeyText| !key.is_blank() && key.missing_variable(&environment).is_none();
        match self.stored_for(provider) {
            Some(Stored::ApiKey { key, .. }) => return has_value(key),
            Some(Stored::Login(_)) => return true,
            Some(Stored::Unknown) => return false,
            None => {}
        }
        let Some(sources) = self.sources.get(provider) else { return false };
        match &sources.api_key {
            Some(key) => has_value(key),
            None => {
                sources.keyless
                    || sources.env.iter().any(|name| environment.get(name).is_some())
                    || sources.ambient.is_some_and(|ambient| ambient.is_configured(&environment))
            }
        }
    }

    fn own_key(&self, provider: &str) -> Option<Secret> {
        self.own.read().unwrap_or_else(PoisonError::into_inner).get(provider).cloned()
    }

    fn stored_for(&self, provider: &str) -> Option<&Stored> {
        self.stored.as_ref().as_ref().ok()?.get(provider)
    }

    /// The environment with the variables that the provider's entry in `auth.json` has.
    #[must_use]
    pub fn environment_of(&self, provider: &str) -> Environment {
        match self.stored_for(provider) {
            Some(Stored::ApiKey { env, .. }) => self.environment.with(env),
            _ => self.environment.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
