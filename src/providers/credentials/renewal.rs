//! Renewing the token of a login: once, whoever asks.
//!
//! The server may take back the old refresh token as soon as it gives a new one. So the exchange happens under the lock
//! of `auth.json`, after another look at the file (another process may have been faster), in a task of its own: who
//! asked may go away, the exchange still ends and is saved.

use std::{
    sync::{Arc, LazyLock, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    sync::Mutex,
    task::spawn_blocking,
    time::{Instant, timeout},
};
use tokio_util::task::TaskTracker;

use super::{CredentialError, Credentials, Login};
use crate::{
    protocol::time::now_ms,
    providers::oauth::{Flow, renew::renew},
    store::{
        auth_file::{AuthFile, AuthFileError, LockedAuthFile},
        document::Field,
    },
};

/// How long the exchange may take.
pub const TIMEOUT: Duration = Duration::from_secs(15);

/// How fresh the token of a login has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It has more life left than that; else it is renewed.
    Longer(Duration),
    /// As it is stored; it is not renewed.
    Stored,
}

/// Exchanges that are under way.
static UNDER_WAY: LazyLock<TaskTracker> = LazyLock::new(TaskTracker::new);
/// The file's lock alone would do, but agents of one process would wait for each other by polling.
static IN_PROCESS: Mutex<()> = Mutex::const_new(());

/// Waits until all renewals that have begun are saved, for the time that one may take at most. To be called before the
/// program ends.
pub async fn settle() {
    UNDER_WAY.close();
    let _ = timeout(TIMEOUT, UNDER_WAY.wait()).await;
    UNDER_WAY.reopen();
}

impl Credentials {
    /// The provider's login with a token that is fresh enough.
    pub(super) async fn fresh(
        &self,
        provider: &str,
        stored: &Arc<Login>,
        freshness: Freshness,
    ) -> Result<Arc<Login>, CredentialError> {
        let newest = self.renewed.read().unwrap_or_else(PoisonError::into_inner).get(provider).cloned();
        let login = newest.unwrap_or_else(|| stored.clone());
        let Freshness::Longer(least) = freshness else {
            let lasts = login.lasts(now_ms(), Duration::ZERO);
            return if lasts { Ok(login) } else { Err(CredentialError::Expired { provider: provider.to_owned() }) };
        };
        if login.lasts(now_ms(), least) {
            return Ok(login);
        }
        let renewal =
            Renewal { file: self.file.clone(), provider: provider.to_owned(), flow: self.flow(provider), least };
        let outcome = UNDER_WAY.spawn(renewal.run()).await;
        let failed = |reason: String| CredentialError::Renewal { provider: provider.to_owned(), reason };
        let login = outcome.map_err(|_| failed("the renewal was cut off".to_owned()))?.map_err(failed)?;
        let login = Arc::new(login);
        self.renewed.write().unwrap_or_else(PoisonError::into_inner).insert(provider.to_owned(), login.clone());
        Ok(login)
    }
}

struct Renewal {
    file: AuthFile,
    provider: String,
    flow: Option<Result<Flow, CredentialError>>,
    least: Duration,
}

impl Renewal {
    async fn run(self) -> Result<Login, String> {
        let _in_process = IN_PROCESS.lock().await;
        let file = self.file.clone();
        let locked = blocking(move || file.lock()).await?;
        let (locked, login) = {
            let provider = self.provider.clone();
            let (locked, entry) = blocking(move || locked.entry(&provider).map(|entry| (locked, entry))).await?;
            let entry = entry.ok_or("auth.json has no login for it any more")?;
            (locked, self.read(&entry)?)
        };
        if login.lasts(now_ms(), self.least) {
            return Ok(login);
        }
        let Some(refresh) = login.tokens.refresh.clone() else {
            return if login.lasts(now_ms(), Duration::ZERO) {
                Ok(login)
            } else {
                Err("it has expired and has no refresh token".to_owned())
            };
        };
        let flow = self.flow_of(&login)?;
        let begun = Instant::now();
        let tokens = match timeout(TIMEOUT, renew(&flow, &refresh)).await {
            Ok(renewed) => renewed.map_err(|error| error.to_string())?,
            Err(_) => return Err(format!("no answer within {} s", TIMEOUT.as_secs())),
        };
        tracing::debug!(provider = self.provider, took = ?begun.elapsed(), "a login was renewed");
        let login = login.with(tokens);
        self.save(locked, &login).await;
        Ok(login)
    }

    fn read(&self, entry: &Value) -> Result<Login, String> {
        let entry = Field::of(entry).object().map_err(|_| "auth.json has no login for it any more".to_owned())?;
        match entry.get("type").and_then(|kind| kind.value().as_str()) {
            Some("oauth") => Login::read(&entry).map_err(|fault| format!("auth.json: {}", fault.describe())),
            _ => Err("auth.json has no login for it any more".to_owned()),
        }
    }

    /// The flow with the client that made the login; another one's refresh token is worth nothing.
    fn flow_of(&self, login: &Login) -> Result<Flow, String> {
        let mut flow = match &self.flow {
            Some(Ok(flow)) => flow.clone(),
            Some(Err(error)) => return Err(error.to_string()),
            None => return Err("this version knows no way to renew it".to_owned()),
        };
        if let Some(id) = login.client_id() {
            let secret = flow.client.filter(|client| client.id == id).and_then(|client| client.secret);
            flow.client = Some(crate::providers::oauth::Client { id: id.to_owned(), secret });
        }
        // Exchanges of a login's token for short-lived ones name no client.
        if flow.client.is_none() && flow.exchange.is_none() && !flow.anonymous {
            return Err(format!(
                "it was made by another program; set oauth.{}.clientId in settings.json to that program's id if you \
                 may use it",
                self.provider
            ));
        }
        Ok(flow)
    }

    /// Saves the tokens. When that fails they are still good for this process, and there is nothing better.
    async fn save(&self, locked: LockedAuthFile, login: &Login) {
        let (provider, entry) = (self.provider.clone(), login.to_entry());
        if let Err(error) = blocking(move || locked.set(&provider, Some(entry))).await {
            tracing::warn!(
                provider = self.provider,
                error,
                "a renewed login was not saved: log in again before the next run"
            );
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AuthFileError> + Send + 'static,
) -> Result<T, String> {
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err("the work on auth.json was cut off".to_owned()),
    }
}

#[cfg(test)]
mod tests;
