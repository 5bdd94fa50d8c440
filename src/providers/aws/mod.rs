//! What requests to Amazon's cloud need.
//!
//! | module | what |
//! |---|---|
//! | [`event_stream`] | the framing of streamed answers |
//! | [`sigv4`] | signatures of requests |
//! | [`region`] | which region, and the names of its hosts |
//! | [`profile`] | the files `config` and `credentials` |
//! | [`source`], [`chain`] | where credentials come from; asking for them and keeping them |
//! | `container`, `sts`, `sso`, `process`, `ask` | the ways to ask |

mod ask;
pub mod chain;
mod container;
pub mod event_stream;
mod process;
pub mod profile;
pub mod region;
pub mod sigv4;
pub mod source;
mod sso;
mod sts;

use super::Secret;
use crate::protocol::time::Millis;

/// Credentials that sign a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwsCredentials {
    /// The id of the access key.
    pub access_key_id: String,
    /// The secret access key.
    pub secret_access_key: Secret,
    /// The token of temporary credentials.
    pub session_token: Option<Secret>,
}

/// Credentials and how long they are good.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Granted {
    credentials: AwsCredentials,
    /// None: for ever, as far as is known.
    expires: Option<Millis>,
}

/// Why there are no credentials. No text here ever holds one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AwsError(pub String);

impl AwsError {
    fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}
