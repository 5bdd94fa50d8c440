//! Providers: one stream of events, whatever the wire.
//!
//! A [`Provider`] speaks one wire API. It turns a [`Request`] into a stream of batches of
//! [`StreamEvent`]s: a batch holds all that one read of the socket brought, so that the cost of an event does not
//! include the cost of a wake-up. Exactly one terminal event comes last; nothing is thrown, failures are events.
//!
//! | module | what |
//! |---|---|
//! | [`completions`], [`responses`], [`anthropic`], [`google`], [`bedrock`], [`mistral`] | the wire APIs: each translates the request and decodes the stream, nothing else |
//! | [`mod@wire_api`], `call`, `amendments`, [`http`], [`tls`] | what an API module implements, one call, the HTTP client |
//! | [`watch`] | who looks at calls, and may change what is sent |
//! | [`sse`], [`assembler`], [`arguments`], [`call_ids`], [`json_repair`] | framing, building the message, arguments of calls |
//! | [`transform`], [`prompt`], [`limits`], [`sampling`], [`headers`], `request_json`, `thinking`, `compat`, `hosts`, `azure`, `result_text` | making a request |
//! | [`errors`], [`error_text`], [`overflow`], [`retry_after`], `error_body`, `rpc_details` | what a failure means |
//! | [`cost`] | what it costs |
//! | [`catalogue`], [`models_json`], [`local`], [`selection`] | which models |
//! | [`routing`] | which physical model answers for a virtual one |
//! | [`credentials`], [`oauth`], [`environment`], [`base_url`] | which keys and logins, which addresses |
//! | [`aws`] | what Amazon's cloud needs: framing, signatures, credentials |
//! | [`transport`], [`cassette`] | recording exchanges, and replaying them in place of the network |
//! | [`offline`], [`scripted`] | models inside the program |

mod amendments;
pub mod anthropic;
pub mod arguments;
pub mod assembler;
pub mod aws;
mod azure;
pub mod base_url;
pub mod bedrock;
mod call;
pub mod call_ids;
pub mod cassette;
pub mod catalogue;
mod compat;
pub mod completions;
pub mod cost;
pub mod credentials;
pub mod environment;
mod error_body;
pub mod error_text;
pub mod errors;
mod estimate;
pub mod google;
pub mod headers;
mod hosts;
pub mod http;
pub mod json_repair;
mod lax;
pub mod limits;
pub mod local;
pub mod mistral;
pub mod models_json;
pub mod oauth;
pub mod offline;
pub mod overflow;
mod playback;
pub mod prompt;
pub mod reach;
mod request_json;
pub mod responses;
mod result_text;
pub mod retry_after;
pub mod routing;
mod rpc_details;
pub mod sampling;
pub mod scripted;
pub mod selection;
pub mod sse;
#[cfg(test)]
mod testing;
mod thinking;
pub mod tls;
pub mod transform;
pub mod transport;
pub mod watch;
pub mod wire_api;

use std::{pin::Pin, sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tokio_stream::Stream;
use tokio_util::sync::CancellationToken;

use self::{aws::AwsCredentials, environment::Environment, transport::Transport, wire_api::WireApi};
use watch::CallWatch;

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

/// How long the provider should keep the prompt in its cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheRetention {
    /// Not at all: a request that will not be continued.
    None,
    /// The provider's usual time.
    #[default]
    Short,
    /// As long as the provider can.
    Long,
}

/// The wire APIs that this version speaks.
#[must_use]
pub fn wire_apis() -> &'static [&'static dyn WireApi] {
    &[
        &completions::Completions,
        &anthropic::Anthropic,
        &responses::OPENAI,
        &responses::AZURE,
        &responses::CODEX,
        &google::Google::Studio,
        &google::Google::Vertex,
        &bedrock::Bedrock,
        &mistral::Mistral,
    ]
}

/// The wire API of that name; `None` when this version does not speak it.
#[must_use]
pub fn wire_api(api: &str) -> Option<&'static dyn WireApi> {
    wire_apis().iter().copied().find(|known| known.name() == api)
}

/// A provider that speaks the wire API of that name over HTTP; `None` when this version does not speak it.
#[must_use]
pub fn provider_for(api: &str) -> Option<Arc<dyn Provider>> {
    provider_over(api, &Transport::Network)
}

/// The same over another transport: one that records, or a cassette in place of the network.
#[must_use]
pub fn provider_over(api: &str, transport: &Transport) -> Option<Arc<dyn Provider>> {
    let provider = HttpProvider { api: wire_api(api)?, transport: transport.clone() };
    Some(Arc::new(provider))
}

/// A wire API over HTTP.
struct HttpProvider {
    api: &'static dyn WireApi,
    transport: Transport,
}

impl Provider for HttpProvider {
    fn api(&self) -> &str {
        self.api.name()
    }

    fn stream(&self, request: Request) -> EventStream {
        call::stream(self.api, request, self.transport.clone())
    }
}

/// Characters of a `prompt_cache_key` that OpenAI takes.
const CACHE_KEY_LIMIT: usize = 64;

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
    /// Signs the request, for providers that want that in place of a key.
    pub aws: Option<AwsCredentials>,
    /// The variables that count for this provider: regions, projects, deployments.
    pub environment: Environment,
    /// Groups the requests of a session for prompt caches and routing.
    pub session_id: Option<String>,
    /// Extra headers: text sets, null removes.
    pub headers: Map<String, Value>,
    /// Limits of waiting.
    pub timeouts: Timeouts,
    /// Tokens for thinking, by level; replaces the built-in numbers.
    pub thinking_budgets: Map<String, Value>,
    /// Tokens of output at most; the model's own limit when none. Always fitted to the window.
    pub max_tokens: Option<u64>,
    /// How long to keep the prompt in the provider's cache.
    pub cache: CacheRetention,
    /// Request-level retries.
    pub retry: RequestRetry,
    /// Ends the call.
    pub cancel: CancellationToken,
    /// Looks at the call.
    pub watch: Option<Arc<dyn CallWatch>>,
}

impl Request {
    /// A call of `model` with the defaults for all that is optional: no thinking, no key, no extra headers.
    #[must_use]
    pub fn new(model: Arc<Model>, messages: Vec<Message>) -> Self {
        Self {
            model,
            messages,
            thinking: ThinkingLevel::Off,
            api_key: None,
            aws: None,
            environment: Environment::default(),
            session_id: None,
            headers: Map::new(),
            timeouts: Timeouts::default(),
            thinking_budgets: Map::new(),
            max_tokens: None,
            cache: CacheRetention::default(),
            retry: RequestRetry::default(),
            cancel: CancellationToken::new(),
            watch: None,
        }
    }

    /// The request with what `change` makes of its messages; it leaves alone those that it gives nothing for. `None` when
    /// it changes none: the same request again would be refused again.
    fn with_messages(&self, change: impl Fn(&Message) -> Option<Message>) -> Option<Self> {
        let mut any = false;
        let messages = self.messages.iter().map(|message| {
            let changed = change(message);
            any |= changed.is_some();
            changed.unwrap_or_else(|| message.clone())
        });
        let messages = messages.collect();
        any.then(|| Self { messages, ..self.clone() })
    }

    /// The session, when its requests are to find the same cache.
    fn cached_session(&self) -> Option<&str> {
        self.session_id.as_deref().filter(|_| self.cache != CacheRetention::None)
    }

    /// The same as a `prompt_cache_key`, which is cut to what OpenAI takes.
    fn cache_key(&self) -> Option<String> {
        Some(self.cached_session()?.chars().take(CACHE_KEY_LIMIT).collect())
    }
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
