//! Where the server is, and how we say who we are.

use std::{fmt, path::PathBuf};

use serde::{Deserialize, Serialize};

/// The prefix of all names, unless another one is given.
pub const DEFAULT_PREFIX: &str = "troupe";

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

impl NatsAddress {
    /// The address that the words of `--on` name: one URL, or several with commas between them. A URL without a scheme
    /// is `nats://`.
    ///
    /// # Errors
    /// A URL that makes no sense, said so that people understand it, without its secrets.
    pub fn parse(urls: &str) -> Result<Self, String> {
        let _ = urls;
        todo!()
    }

    /// The servers without secrets, for people.
    #[must_use]
    pub fn shown(&self) -> String {
        todo!()
    }
}

impl fmt::Debug for NatsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsAddress").finish_non_exhaustive()
    }
}
