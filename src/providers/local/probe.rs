//! Short questions to a server that may be anything.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, Url, header::CONTENT_TYPE, redirect};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::is_this_machine;
use crate::providers::{
    http::{client_for, deepest_cause},
    tls::install_crypto_provider,
    wire_api::join_url,
};

/// Bytes of an answer that are read.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// Why a question has no usable answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    /// Nobody is there.
    #[error("{0}")]
    Unreachable(String),
    /// It takes too long.
    #[error("no answer in time")]
    TimedOut,
    /// It refuses.
    #[error("HTTP status {0}")]
    Status(u16),
    /// It answers something else.
    #[error("what answers there is no such server")]
    Stranger,
}

/// Asks one server, until a deadline.
pub struct Probe<'a> {
    client: Client,
    root: &'a Url,
    key: Option<&'a str>,
    deadline: Instant,
}

impl<'a> Probe<'a> {
    /// For the server at `root`.
    ///
    /// # Errors
    /// The HTTP client cannot be set up.
    pub fn new(root: &'a Url, key: Option<&'a str>, deadline: Instant) -> Result<Self, ProbeError> {
        Ok(Self { client: client(root)?, root, key, deadline })
    }

    /// Reads a document.
    ///
    /// # Errors
    /// See [`ProbeError`].
    pub async fn get(&self, path: &str) -> Result<Value, ProbeError> {
        self.ask(self.client.get(join_url(self.root.as_str(), path))).await
    }

    /// Asks with a document.
    ///
    /// # Errors
    /// See [`ProbeError`].
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, ProbeError> {
        let request = self.client.post(join_url(self.root.as_str(), path));
        self.ask(request.header(CONTENT_TYPE, "application/json").body(body.to_string())).await
    }

    async fn ask(&self, request: RequestBuilder) -> Result<Value, ProbeError> {
        let request = match self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        };
        timeout_at(self.deadline, self.read(request)).await.unwrap_or(Err(ProbeError::TimedOut))
    }

    async fn read(&self, request: RequestBuilder) -> Result<Value, ProbeError> {
        let sent = request.send().await;
        let mut response = sent.map_err(|error| ProbeError::Unreachable(deepest_cause(&error)))?;
        if !response.status().is_success() {
            return Err(ProbeError::Status(response.status().as_u16()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|_| ProbeError::Stranger)? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_BYTES {
                return Err(ProbeError::Stranger);
            }
        }
        serde_json::from_slice(&body).map_err(|_| ProbeError::Stranger)
    }
}

/// This machine is asked directly: a proxy would look for the server on its own.
fn client(root: &Url) -> Result<Client, ProbeError> {
    if !(root.scheme() == "http" && is_this_machine(root)) {
        let connect = Some(Duration::from_secs(3));
        return client_for(root, connect).map_err(|failure| ProbeError::Unreachable(failure.message));
    }
    install_crypto_provider();
    let builder = Client::builder().no_proxy().redirect(redirect::Policy::none()).tls_certs_only([]);
    builder.build().map_err(|error| ProbeError::Unreachable(error.to_string()))
}
