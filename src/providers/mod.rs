//! Providers: one stream of events, whatever the wire.
//!
//! A [`Provider`] speaks one wire API. It turns a [`Request`] into a stream of batches of
//! [`StreamEvent`]s: a batch holds all that one read of the socket brought, so that the cost of an event does not
//! include the cost of a wake-up. Exactly one terminal event comes last; nothing is thrown, failures are events.

pub mod catalogue;
pub mod credentials;
pub mod environment;
mod estimate;
pub mod models_json;
pub mod offline;
mod playback;
pub mod scripted;
pub mod selection;

use std::{pin::Pin, sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tokio_stream::Stream;
use tokio_util::sync::CancellationToken;

use crate::protocol::{Message, Model, StreamEvent, ThinkingLevel};

/// Batches of events; the last batch ends with the terminal event.
pub type EventStream = Pin<Box<dyn Stream<Item = Vec<StreamEvent>> + Send>>;

/// A wire API.
pub trait Provider: Send + Sync {
    /// The API's name, such as `openai-completions`.
    fn api(&self) -> &str;

    /// Sends the request and streams the answer. Cancelling [`Request::cancel`] ends the stream at once with a
    /// failure of class `aborted` that keeps what arrived; dropping the stream closes the connection.
    fn stream(&self, request: Request) -> EventStream;
}

/// One model call.
#[derive(Clone)]
pub struct Request {
    /// The model.
    pub model: Arc<Model>,
    /// The conversation, system messages included (they carry prompt sections and tools).
    pub messages: Vec<Message>,
    /// How much to think; already clamped to the model.
    pub thinking: ThinkingLevel,
    /// The key, when the provider wants one.
    pub api_key: Option<Secret>,
    /// Groups the requests of a session for prompt caches and routing.
    pub session_id: Option<String>,
    /// Extra headers: text sets, null removes.
    pub headers: Map<String, Value>,
    /// Limits of waiting.
    pub timeouts: Timeouts,
    /// Tokens for thinking, by level; replaces the built-in numbers.
    pub thinking_budgets: Map<String, Value>,
    /// Request-level retries.
    pub retry: RequestRetry,
    /// Ends the call.
    pub cancel: CancellationToken,
}

/// How long to wait for what. None = for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For the connection.
    pub connect: Option<Duration>,
    /// For the response's headers.
    pub first_byte: Option<Duration>,
    /// Between two reads of the body; comments and pings count as activity.
    pub idle: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        let five_minutes = Some(Duration::from_millis(300_000));
        Self { connect: Some(Duration::from_secs(30)), first_byte: five_minutes, idle: five_minutes }
    }
}

/// Retries inside one call, before any event (pi: `retry.provider`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRetry {
    /// How often at most.
    pub max_retries: u32,
    /// A server that asks for a longer wait fails the call at once; zero = no limit.
    pub max_delay: Duration,
}

impl Default for RequestRetry {
    fn default() -> Self {
        Self { max_retries: 0, max_delay: Duration::from_secs(60) }
    }
}

/// A key. It never shows itself in `Debug` output.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key; white space around it is dropped (keys are often read from files).
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// The key itself, for a request header and nothing else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[secret]")
    }
}
