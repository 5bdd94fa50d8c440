//! The JSON of Gemini requests, borrowing from the conversation.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::protocol::ImageBlock;

/// The whole request. What stays the same from turn to turn stands first.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) system_instruction: Option<WireContent<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<WireTools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_config: Option<ToolConfig>,
    pub(super) contents: Vec<WireContent<'a>>,
    pub(super) generation_config: Map<String, Value>,
}

#[derive(Debug, Serialize)]
pub(super) struct WireContent<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<Role>,
    pub(super) parts: Vec<WirePart<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    User,
    Model,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WirePart<'a> {
    #[serde(flatten)]
    pub(super) data: Payload<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thought_signature: Option<&'a str>,
}

impl<'a> WirePart<'a> {
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::plain(Payload::Text(text.into()))
    }

    pub(super) fn image(image: &'a ImageBlock) -> Self {
        Self::plain(Payload::InlineData(Blob { mime_type: &image.mime_type, data: &image.data }))
    }

    pub(super) fn plain(data: Payload<'a>) -> Self {
        Self { data, thought: false, thought_signature: None }
    }
}

/// What a part holds.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Payload<'a> {
    Text(Cow<'a, str>),
    InlineData(Blob<'a>),
    FunctionCall(WireCall<'a>),
    FunctionResponse(WireResult<'a>),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Blob<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Debug, Serialize)]
pub(super) struct WireCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Cow<'a, str>,
    pub(super) args: &'a Map<String, Value>,
}

#[derive(Debug, Serialize)]
pub(super) struct WireResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Cow<'a, str>,
    pub(super) response: Outcome<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<WirePart<'a>>,
}

/// What came of a call.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome<'a> {
    Output(Cow<'a, str>),
    Error(Cow<'a, str>),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireTools<'a> {
    pub(super) function_declarations: Vec<WireTool<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireTool<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(super) parameters_json_schema: Value,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolConfig {
    pub(super) function_calling_config: CallingConfig,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct CallingConfig {
    pub(super) mode: CallingMode,
}

/// How the model may call tools. Nothing is said for `AUTO`, which is what Gemini does by itself.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum CallingMode {
    /// As it likes, with arguments that follow their schemas.
    Validated,
}
