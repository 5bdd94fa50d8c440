//! The JSON of Messages requests, borrowing from the conversation.

use std::borrow::Cow;

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use crate::protocol::ImageBlock;

/// A message of the request.
#[derive(Debug, Serialize)]
pub(super) struct WireMessage<'a> {
    pub(super) role: Role,
    pub(super) content: Vec<WireBlock<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_config: Option<Effort<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    User,
    Assistant,
    System,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Effort<'a> {
    pub(super) effort: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum WireBlock<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark>,
    },
    Image {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: &'a Map<String, Value>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: ResultContent<'a>,
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark>,
    },
    ToolAddition {
        tool: ToolChange<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark>,
    },
    ToolRemoval {
        tool: ToolChange<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark>,
    },
}

impl<'a> WireBlock<'a> {
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text { text: text.into(), cache_control: None }
    }

    pub(super) fn image(image: &'a ImageBlock) -> Self {
        let source = Source { kind: "base64", media_type: &image.mime_type, data: &image.data };
        Self::Image { source, cache_control: None }
    }

    /// Puts a cache mark on the block where the API takes one.
    pub(super) fn mark(&mut self, mark: CacheMark) {
        match self {
            Self::Text { cache_control, .. }
            | Self::Image { cache_control, .. }
            | Self::ToolResult { cache_control, .. }
            | Self::ToolAddition { cache_control, .. }
            | Self::ToolRemoval { cache_control, .. } => *cache_control = Some(mark),
            Self::Thinking { .. } | Self::RedactedThinking { .. } | Self::ToolUse { .. } => {}
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Source<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    media_type: &'a str,
    data: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ResultContent<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<WireBlock<'a>>),
}

/// A change of the declared tools in the middle of a conversation.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ToolChange<'a> {
    ToolDefinition { definition: WireTool<'a> },
    ToolReference { name: &'a str },
}

/// The end of a prefix that is worth caching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct CacheMark {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl CacheMark {
    pub(super) fn new(hour: bool) -> Self {
        Self { kind: "ephemeral", ttl: hour.then_some("1h") }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct WireTool<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) input_schema: Schema<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) eager_input_streaming: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_control: Option<CacheMark>,
}

/// The parts of a tool's schema that the API takes at the root.
#[derive(Debug)]
pub(super) struct Schema<'a>(pub(super) Cow<'a, Value>);

impl Serialize for Schema<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        const KEPT: [&str; 5] = ["properties", "required", "additionalProperties", "$defs", "definitions"];
        let mut map = out.serialize_map(None)?;
        map.serialize_entry("type", "object")?;
        for key in KEPT {
            match self.0.get(key) {
                Some(value) => map.serialize_entry(key, value)?,
                None if key == "properties" => map.serialize_entry(key, &Map::new())?,
                None => {}
            }
        }
        map.end()
    }
}

/// The whole request.
pub(super) struct WireBody<'a> {
    pub(super) fields: Map<String, Value>,
    pub(super) system: Option<WireBlock<'a>>,
    pub(super) tools: Vec<WireTool<'a>>,
    pub(super) messages: Vec<WireMessage<'a>>,
}

impl Serialize for WireBody<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(None)?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        if !self.tools.is_empty() {
            map.serialize_entry("tools", &self.tools)?;
        }
        if let Some(system) = &self.system {
            map.serialize_entry("system", &[system])?;
        }
        map.serialize_entry("messages", &self.messages)?;
        map.end()
    }
}
