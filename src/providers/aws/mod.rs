//! What requests to Amazon's cloud need: credentials and signatures.

use super::Secret;

/// Credentials that sign a request.
#[derive(Clone, Debug)]
pub struct AwsCredentials {
    /// The id of the access key.
    pub access_key_id: String,
    /// The secret access key.
    pub secret_access_key: Secret,
    /// The token of temporary credentials.
    pub session_token: Option<Secret>,
}
