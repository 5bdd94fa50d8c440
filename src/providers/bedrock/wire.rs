//! The JSON of Converse requests, borrowing from the conversation.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The whole request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireBody<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) system: Vec<WireBlock<'a>>,
    pub(super) messages: Vec<WireMessage<'a>>,
    pub(super) inference_config: InferenceConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_config: Option<ToolConfig<'a>>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) additional_model_request_fields: Map<String, Value>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InferenceConfig {
    pub(super) max_tokens: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct ToolConfig<'a> {
    pub(super) tools: Vec<WireTool<'a>>,
}

/// A tool; the API's object with one key for each kind of tool.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum WireTool<'a> {
    ToolSpec(ToolSpec<'a>),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolSpec<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) description: &'a str,
    pub(super) input_schema: InputSchema<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
}

#[derive(Debug, Serialize)]
pub(super) struct InputSchema<'a> {
    pub(super) json: Cow<'a, Value>,
}

#[derive(Debug, Serialize)]
pub(super) struct WireMessage<'a> {
    pub(super) role: Role,
    pub(super) content: Vec<WireBlock<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    User,
    Assistant,
}

/// A block; the API's object with one key for each kind of block.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum WireBlock<'a> {
    Text(Cow<'a, str>),
    Image(WireImage<'a>),
    ReasoningContent(Reasoning<'a>),
    ToolUse(ToolUse<'a>),
    ToolResult(ToolResult<'a>),
    CachePoint(CachePoint),
}

impl<'a> WireBlock<'a> {
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }
}

#[derive(Debug, Serialize)]
pub(super) struct WireImage<'a> {
    pub(super) format: &'static str,
    pub(super) source: ImageSource<'a>,
}

/// The picture's bytes; in JSON they are base64, as the conversation has them.
#[derive(Debug, Serialize)]
pub(super) struct ImageSource<'a> {
    pub(super) bytes: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Reasoning<'a> {
    ReasoningText {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        signature: Option<&'a str>,
    },
    RedactedContent(&'a str),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolUse<'a> {
    pub(super) tool_use_id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    pub(super) input: Input<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolResult<'a> {
    pub(super) tool_use_id: Cow<'a, str>,
    pub(super) content: Vec<WireBlock<'a>>,
    pub(super) status: &'static str,
}

/// The end of a prefix that is worth caching.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct CachePoint {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl CachePoint {
    pub(super) fn new(hour: bool) -> Self {
        Self { kind: "default", ttl: hour.then_some("1h") }
    }
}

/// Arguments of a call. Models do write keys that are empty strings, and the API refuses them: they are left out.
#[derive(Debug)]
pub(super) struct Input<'a>(pub(super) &'a Map<String, Value>);

impl Serialize for Input<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_map(self.0.iter().filter(|(key, _)| !key.is_empty()).map(|(key, value)| (key, InputValue(value))))
    }
}

struct InputValue<'a>(&'a Value);

impl Serialize for InputValue<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => Input(map).serialize(out),
            Value::Array(list) => out.collect_seq(list.iter().map(InputValue)),
            plain => plain.serialize(out),
        }
    }
}
