//! Google's application default credentials: a token for Vertex AI without a key.
//!
//! - `source`: which credentials there are: a file, or the machine's own
//! - `exchange`: from credentials to a token
//! - `assertion`: how a service account signs for one
//!
//! A token is kept for the life of the process until shortly before it expires. It is fetched once, however many
//! requests wait for it.

mod assertion;
mod exchange;
mod source;

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use tokio::sync::Mutex as AsyncMutex;

use self::source::{Place, Source};
use super::endpoint::{LOCATION, PROJECT};
use crate::{
    protocol::time::{Millis, now_ms},
    providers::{Secret, credentials::ambient::AmbientError, environment::Environment},
};

/// A token is renewed so long before its end. Source: Google's own libraries (3 minutes 45 seconds), which is also when
/// a machine's own token is renewed at the earliest.
const MARGIN_MS: Millis = 225_000;
/// What Linux calls the machine it runs on.
const PRODUCT: &str = "/sys/class/dmi/id/product_name";

/// A token and until when it is used.
struct Token {
    secret: Secret,
    renew_at: Millis,
}

type Slot = Arc<AsyncMutex<Option<Token>>>;

static TOKENS: LazyLock<Mutex<HashMap<Source, Slot>>> = LazyLock::new(Mutex::default);

/// Whether there seem to be credentials, and a project and a location to use them for. Looks at variables and files
/// alone.
pub(crate) fn is_configured(environment: &Environment) -> bool {
    let is_set = |name: &str| environment.get(name).is_some();
    PROJECT.into_iter().any(is_set) && is_set(LOCATION) && Place::find(environment, Path::new(PRODUCT)).is_some()
}

/// A token of this moment.
///
/// # Errors
/// There are no credentials, they cannot be read or are of a kind that is not spoken here, or Google gives no token
/// for them. The text never holds a key or token.
pub(crate) async fn token(environment: &Environment) -> Result<Secret, AmbientError> {
    let place = Place::find(environment, Path::new(PRODUCT)).ok_or_else(|| {
        AmbientError(
            "Google's application default credentials were not found: run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a key file"
                .to_owned(),
        )
    })?;
    let source = place.read().await?;
    let slot = TOKENS.lock().unwrap_or_else(PoisonError::into_inner).entry(source.clone()).or_default().clone();
    // Held while the token is fetched: whoever waits here finds it done.
    let mut kept = slot.lock().await;
    if let Some(token) = kept.as_ref().filter(|token| now_ms() < token.renew_at) {
        return Ok(token.secret.clone());
    }
    let grant = exchange::grant(&source).await?;
    let renew_at = now_ms().saturating_add(grant.lifetime_ms).saturating_sub(MARGIN_MS);
    *kept = Some(Token { secret: grant.token.clone(), renew_at });
    Ok(grant.token)
}
