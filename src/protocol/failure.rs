//! Why a model call failed, in classes that decide what happens next.

use serde::{Deserialize, Serialize};

/// What the text of a failure by a budget begins with: after a restart the stored text tells the class.
pub const OUT_OF_BUDGET: &str = "Out of budget";

/// The kind of a failed model call. What may be retried follows from it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// 429 and its relatives: wait and try again.
    RateLimited,
    /// Money or a plan's limit is used up: trying again does not help.
    QuotaExhausted,
    /// The server says that it is too busy.
    Overloaded,
    /// A fault of the server.
    ServerError,
    /// The body ended without the API's end mark.
    StreamTruncated,
    /// Connect, reset, time-out, TLS or DNS fault without a response.
    Network,
    /// The conversation is larger than the model's window.
    ContextOverflow,
    /// The key is missing, wrong or expired.
    Auth,
    /// The key may not do this.
    Permission,
    /// No such model or endpoint.
    NotFound,
    /// Any other request that the server refuses.
    InvalidRequest,
    /// The model refused to answer.
    Refusal,
    /// A content filter stopped the answer.
    ContentFilter,
    /// The provider could not form a tool call: worth one more try.
    ToolUseFailed,
    /// The response could not be understood.
    ProtocolError,
    /// An unknown or odd stop reason.
    ProviderStop,
    /// A limit that the user or a parent agent set is reached.
    Budget,
    /// The caller cancelled.
    Aborted,
    /// A defect of ours: a worker panicked or was killed.
    Internal,
}

impl FailureClass {
    /// The class's name as logs, fixtures and docs spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RateLimited => "rate_limited",
            Self::QuotaExhausted => "quota_exhausted",
            Self::Overloaded => "overloaded",
            Self::ServerError => "server_error",
            Self::StreamTruncated => "stream_truncated",
            Self::Network => "network",
            Self::ContextOverflow => "context_overflow",
            Self::Auth => "auth",
            Self::Permission => "permission",
            Self::NotFound => "not_found",
            Self::InvalidRequest => "invalid_request",
            Self::Refusal => "refusal",
            Self::ContentFilter => "content_filter",
            Self::ToolUseFailed => "tool_use_failed",
            Self::ProtocolError => "protocol_error",
            Self::ProviderStop => "provider_stop",
            Self::Budget => "budget",
            Self::Aborted => "aborted",
            Self::Internal => "internal",
        }
    }
}

/// A failed model call: what happened, whether another try may help, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// The kind.
    pub class: FailureClass,
    /// The text shown to people and stored as the message's `errorMessage`. Never holds a key.
    pub message: String,
    /// HTTP status, when there was a response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The server's own word on when to try again, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Whether the loop may try the same request again by itself.
    pub retryable: bool,
}

impl Failure {
    /// A failure of `class` with the class's usual answer to "try again?".
    #[must_use]
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        let retryable = matches!(
            class,
            FailureClass::RateLimited
                | FailureClass::Overloaded
                | FailureClass::ServerError
                | FailureClass::StreamTruncated
                | FailureClass::Network
                | FailureClass::ToolUseFailed
        );
        Self { class, message: message.into(), status: None, retry_after_ms: None, retryable }
    }

    /// The same with an HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
