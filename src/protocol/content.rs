//! Content of messages: text, thinking, pictures, tool calls.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// One block of a message's content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Block {
    /// Text.
    Text(TextBlock),
    /// A model's reasoning.
    Thinking(ThinkingBlock),
    /// A picture.
    Image(ImageBlock),
    /// A request to run a tool.
    ToolCall(ToolCall),
    /// A kind that this version does not know; kept as it came, never sent to a model.
    #[serde(untagged)]
    Unknown(Value),
}

impl Block {
    /// A text block.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock { text: text.into(), text_signature: None })
    }

    /// The block's text when it is a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }

    /// The block's call when it is one.
    #[must_use]
    pub fn as_tool_call(&self) -> Option<&ToolCall> {
        match self {
            Self::ToolCall(call) => Some(call),
            _ => None,
        }
    }
}

/// Text of a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextBlock {
    /// The text.
    pub text: String,
    /// Opaque replay data of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_signature: Option<String>,
}

/// Reasoning of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThinkingBlock {
    /// The readable part; may be empty.
    #[serde(default)]
    pub thinking: String,
    /// Opaque replay data: a signature, an encrypted payload, or the name of the field that the text came in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_signature: Option<String>,
    /// True when the provider withheld the text; the payload is in the signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redacted: Option<bool>,
}

/// A picture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageBlock {
    /// Base64 of the file's bytes.
    pub data: String,
    /// `image/png`, `image/jpeg`, `image/gif`, `image/webp` or `image/bmp`.
    pub mime_type: String,
}

/// A model's request to run a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The label that joins call and result. Models do send one twice: identity is the place in the batch.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments; empty when they did not parse.
    #[serde(default, deserialize_with = "object_or_empty")]
    pub arguments: Map<String, Value>,
    /// Opaque replay data of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought_signature: Option<String>,
    /// The namespace that the tool was declared in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Why the complete argument text is no JSON object; holds that text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_error: Option<String>,
}

fn object_or_empty<'de, D: Deserializer<'de>>(input: D) -> Result<Map<String, Value>, D::Error> {
    Ok(match Value::deserialize(input)? {
        Value::Object(map) => map,
        _ => Map::new(),
    })
}

/// Content as files hold it: a plain string or a list of blocks. Null and absence read as no blocks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// A plain string.
    Text(String),
    /// Blocks.
    Blocks(Vec<Block>),
}

impl Default for Content {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Null(()),
            Text(String),
            Blocks(Vec<Block>),
            Other(Value),
        }
        Ok(match Form::deserialize(input)? {
            Form::Null(()) => Self::default(),
            Form::Text(text) => Self::Text(text),
            Form::Blocks(blocks) => Self::Blocks(blocks),
            Form::Other(value) => Self::Blocks(vec![Block::Unknown(value)]),
        })
    }
}

impl Content {
    /// The content as blocks; a string becomes one text block, an empty string none.
    #[must_use]
    pub fn blocks(&self) -> std::borrow::Cow<'_, [Block]> {
        match self {
            Self::Text(text) if text.is_empty() => Vec::new().into(),
            Self::Text(text) => vec![Block::text(text.clone())].into(),
            Self::Blocks(blocks) => blocks.as_slice().into(),
        }
    }

    /// All text, text blocks joined by `separator`.
    #[must_use]
    pub fn text(&self, separator: &str) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => text_of(blocks, separator),
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Blocks(vec![Block::text(text)])
    }
}

/// The text blocks of `blocks` joined by `separator`.
#[must_use]
pub fn text_of(blocks: &[Block], separator: &str) -> String {
    let mut out = String::new();
    for text in blocks.iter().filter_map(Block::as_text) {
        if !out.is_empty() {
            out.push_str(separator);
        }
        out.push_str(text);
    }
    out
}
