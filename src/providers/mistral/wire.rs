//! The JSON of Mistral's requests, borrowing from the conversation. Fields that the API does not know are refused.

use std::borrow::Cow;

use serde::Serialize;

use crate::providers::{
    completions::wire::WireFunctionCall,
    request_json::{DataUrl, TextOrParts},
};

/// A message of the request.
#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum WireMessage<'a> {
    System { content: Cow<'a, str> },
    User { content: WireContent<'a> },
    Assistant(WireAssistant<'a>),
    Tool { tool_call_id: Cow<'a, str>, name: Cow<'a, str>, content: Vec<WirePart<'a>> },
}

#[derive(Debug, Default, Serialize)]
pub(super) struct WireAssistant<'a> {
    /// The answer is complete: the model must not go on with it.
    pub(super) prefix: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<WireContent<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<WireCall<'a>>,
}

pub(super) type WireContent<'a> = TextOrParts<'a, WirePart<'a>>;

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum WirePart<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: DataUrl<'a> },
    Thinking { thinking: [WireThought<'a>; 1] },
}

/// A piece of thinking.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum WireThought<'a> {
    Text { text: &'a str },
}

#[derive(Debug, Serialize)]
pub(super) struct WireCall<'a> {
    pub(super) id: Cow<'a, str>,
    #[serde(rename = "type")]
    pub(super) kind: Function,
    pub(super) function: WireFunctionCall<'a>,
    pub(super) index: usize,
}

/// The only kind of call.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Function {
    Function,
}
