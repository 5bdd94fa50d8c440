//! What the tests of providers share.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::Request;
use crate::protocol::{
    AssistantMessage, Block, Message, Model, StopReason, ToolCall, ToolResultMessage, UserMessage,
    model::{InputKind, ModelCost},
};

/// A model without reasoning or pictures.
pub(crate) fn model(api: &str) -> Arc<Model> {
    Arc::new(plain_model(api))
}

pub(crate) fn plain_model(api: &str) -> Model {
    Model {
        id: "test-model".into(),
        name: "Test".into(),
        api: api.into(),
        provider: "custom".into(),
        base_url: "http://localhost/v1".into(),
        reasoning: false,
        thinking_level_map: None,
        input: vec![InputKind::Text],
        input_limits: None,
        cost: ModelCost::default(),
        prompt_cache: None,
        context_window: 200_000,
        max_tokens: 16_384,
        sampling_params: None,
        sampling_params_by_thinking_level: None,
        headers: None,
        compat: None,
    }
}

pub(crate) fn request(model: Model, messages: Vec<Message>) -> Request {
    Request::new(Arc::new(model), messages)
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("no object: {other}"),
    }
}

pub(crate) fn user(text: &str) -> Message {
    Message::User(Arc::new(UserMessage { content: text.into(), timestamp: 1 }))
}

pub(crate) fn call(id: &str, name: &str, arguments: Value) -> Block {
    Block::ToolCall(ToolCall { id: id.into(), name: name.into(), arguments: object(arguments), ..ToolCall::default() })
}

/// An answer of [`plain_model`].
pub(crate) fn answer(content: Vec<Block>) -> AssistantMessage {
    AssistantMessage {
        content,
        api: "openai-completions".into(),
        provider: "custom".into(),
        model: "test-model".into(),
        stop_reason: StopReason::Stop,
        timestamp: 1,
        ..AssistantMessage::default()
    }
}

pub(crate) fn assistant(content: Vec<Block>) -> Message {
    Message::Assistant(Arc::new(answer(content)))
}

pub(crate) fn result(id: &str, text: &str) -> Message {
    Message::ToolResult(Arc::new(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "ls".into(),
        content: vec![Block::text(text)],
        timestamp: 1,
        ..ToolResultMessage::default()
    }))
}
