//! The credentials of this moment: asked for when they are needed, kept until shortly before they expire.

use std::{future::Future, pin::Pin};

use tokio::sync::Mutex;

use super::{
    AwsCredentials, AwsError, Granted, container, process,
    source::{self, Source},
    sso, sts,
};
use crate::{
    protocol::time::{Millis, now_ms},
    providers::{Secret, environment::Environment},
};

/// New ones are asked for so long before the old ones expire.
const MARGIN: Millis = 5 * 60 * 1000;

/// What was asked for, for the life of the process. The lock is held while asking: others wait for the same answer.
static KEPT: Mutex<Vec<(Source, Granted)>> = Mutex::const_new(Vec::new());

/// Whether requests go out unsigned, because a proxy signs them.
#[must_use]
pub fn skips_auth(environment: &Environment) -> bool {
    environment.get("AWS_BEDROCK_SKIP_AUTH") == Some("1")
}

/// Whether variables speak of credentials. The default profile alone does not count: many have one that is meant for
/// something else.
#[must_use]
pub fn is_configured(environment: &Environment) -> bool {
    let set = |name: &str| environment.get(name).is_some();
    skips_auth(environment)
        || set("AWS_PROFILE")
        || (set("AWS_ACCESS_KEY_ID") && set("AWS_SECRET_ACCESS_KEY"))
        || set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
        || set("AWS_CONTAINER_CREDENTIALS_FULL_URI")
        || set("AWS_WEB_IDENTITY_TOKEN_FILE")
}

/// The credentials. May run a command or ask a server.
///
/// # Errors
/// There are none, or they cannot be had now; the text says what was tried.
pub async fn resolve(environment: &Environment) -> Result<AwsCredentials, AwsError> {
    let source = match source::find(environment)? {
        // Reading them again costs nothing, and who changes them need not start anew.
        Source::Fixed(credentials) => return Ok(credentials),
        asked => asked,
    };
    let mut kept = KEPT.lock().await;
    let known = kept.iter().find(|(known, _)| *known == source).map(|(_, granted)| granted.clone());
    if let Some(known) = known.as_ref().filter(|known| known.is_good_for(MARGIN)) {
        return Ok(known.credentials.clone());
    }
    match (fetch(&source, environment).await, known) {
        (Ok(granted), _) => {
            kept.retain(|(known, _)| *known != source);
            let credentials = granted.credentials.clone();
            kept.push((source, granted));
            Ok(credentials)
        }
        (Err(error), Some(known)) if known.is_good_for(0) => {
            tracing::warn!("AWS credentials could not be renewed: {error}");
            Ok(known.credentials)
        }
        (Err(error), _) => Err(error),
    }
}

impl Granted {
    fn is_good_for(&self, time: Millis) -> bool {
        self.expires.is_none_or(|expires| expires - time > now_ms())
    }
}

type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Granted, AwsError>> + Send + 'a>>;

/// Asks; a role may need other credentials first.
fn fetch<'a>(source: &'a Source, environment: &'a Environment) -> Fetching<'a> {
    Box::pin(async move {
        match source {
            Source::Fixed(credentials) => Ok(Granted { credentials: credentials.clone(), expires: None }),
            Source::Process { profile, command } => process::run(profile, command, environment).await,
            Source::Container { url, token } => container::ask(url, token.as_ref()).await,
            Source::WebIdentity { token_file, role } => {
                let token = tokio::fs::read_to_string(token_file).await.map_err(|error| {
                    AwsError::new(format!("the web identity token {} cannot be read: {error}", token_file.display()))
                })?;
                sts::assume_by_token(role, &Secret::new(&token)).await
            }
            Source::AssumedRole { base, role } => {
                let base = fetch(base, environment).await?;
                sts::assume(role, &base.credentials).await
            }
            Source::SingleSignOn(login) => sso::ask(login).await,
        }
    })
}

#[cfg(test)]
mod tests;
