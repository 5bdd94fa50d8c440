//! Questions to extensions about a request, in their order: what it is made of, how it is sent, and its body.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    message::AgentMessage,
    model::{ModelRef, ThinkingLevel},
};

/// The conversation is about to become a request.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextAsk {
    /// All messages of the context.
    pub messages: Arc<Vec<AgentMessage>>,
}

/// What the request should be made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContextVerdict {
    /// Replaces the messages; none keeps them.
    pub messages: Option<Vec<AgentMessage>>,
}

/// A model is about to be called.
#[derive(Clone, Debug, PartialEq)]
pub struct BeforeRequestAsk {
    /// The model.
    pub model: ModelRef,
    /// The thinking level.
    pub thinking_level: ThinkingLevel,
    /// Request headers so far.
    pub headers: Map<String, Value>,
}

/// How a model should be called.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BeforeRequestVerdict {
    /// Another model for this request.
    pub model: Option<ModelRef>,
    /// Another thinking level for this request.
    pub thinking_level: Option<ThinkingLevel>,
    /// Headers to set (text) or remove (null).
    pub headers: Option<Map<String, Value>>,
}

/// The body of a request is about to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct PayloadAsk {
    /// The model.
    pub model: ModelRef,
    /// The body, in the provider's own form.
    pub payload: Arc<Value>,
}

/// What should be sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PayloadVerdict {
    /// Replaces the body; none keeps it.
    pub payload: Option<Value>,
}
