//! Credentials that the surroundings provide: a cloud's machines and command lines, the identity of a workload.

use super::federation;
use crate::providers::{
    Secret,
    aws::{AwsCredentials, chain},
    environment::Environment,
    google::adc,
};

/// A family of credentials that are found in the surroundings of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ambient {
    /// Amazon's chain: variables, profiles, containers, web identities.
    Aws,
    /// Google's application default credentials.
    Google,
    /// Anthropic's workload identity federation.
    AnthropicFederation,
}

/// What was found.
#[derive(Clone, Debug)]
pub enum Identity {
    /// A token that goes out as `Authorization: Bearer`.
    Bearer(Secret),
    /// Credentials that sign each request.
    Aws(AwsCredentials),
    /// Nothing is added to requests: a proxy signs them.
    Unsigned,
}

/// Why nothing was found; never holds a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AmbientError(pub String);

impl Ambient {
    /// The family of that name, as built-in providers write it.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "aws" => Some(Self::Aws),
            "google" => Some(Self::Google),
            "anthropic-federation" => Some(Self::AnthropicFederation),
            _ => None,
        }
    }

    /// What to set to have such credentials, as the end of "set …, or".
    #[must_use]
    pub fn hint(self) -> Option<&'static str> {
        match self {
            Self::Aws => Some(
                "AWS_PROFILE (\"default\" for the default profile), or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            ),
            Self::Google | Self::AnthropicFederation => None,
        }
    }

    /// Whether credentials seem to be there, as far as variables and files tell: nothing is sent or run.
    #[must_use]
    pub fn is_configured(self, environment: &Environment) -> bool {
        match self {
            Self::Aws => chain::is_configured(environment),
            Self::Google => adc::is_configured(environment),
            Self::AnthropicFederation => federation::is_configured(environment),
        }
    }

    /// The credentials of this moment. May ask servers; what they give is kept until shortly before it expires.
    ///
    /// # Errors
    /// There are none, or they cannot be had now: the text names what was tried and what to do.
    pub async fn resolve(self, environment: &Environment) -> Result<Identity, AmbientError> {
        match self {
            Self::Aws if chain::skips_auth(environment) => Ok(Identity::Unsigned),
            Self::Aws => {
                chain::resolve(environment).await.map(Identity::Aws).map_err(|error| AmbientError(error.to_string()))
            }
            Self::Google => adc::token(environment).await.map(Identity::Bearer),
            Self::AnthropicFederation => federation::resolve(environment).await,
        }
    }
}
