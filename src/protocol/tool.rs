//! What a tool says of itself and what a call gives back.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{message::Block, usage::Usage};

/// A tool as it is declared to a model and stored in system messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDeclaration {
    /// The name that a model calls.
    pub name: String,
    /// What it does, for the model.
    #[serde(default)]
    pub description: String,
    /// JSON Schema of the arguments: an object.
    #[serde(default)]
    pub parameters: Value,
    /// How a provider that can should constrain the sampling of arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constrained_sampling: Option<Value>,
}

/// Whether calls of a tool may run beside others of the same message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ExecutionMode {
    /// Beside others.
    #[default]
    Parallel,
    /// One such call makes the whole batch run one after another.
    Sequential,
}

/// What a call (or a part of it, while it runs) gives back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolOutput {
    /// Text and images for the model.
    #[serde(default)]
    pub content: Vec<Block>,
    /// Structured facts for screens and programs; stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// The result as data, for programs; published, not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// The text of the file whose place the call's took, for fronts that show differences; neither stored nor on a wire.
    #[serde(skip)]
    pub replaced: Option<Arc<str>>,
    /// Tokens that the tool spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// True when the call failed.
    #[serde(default, skip_serializing)]
    pub is_error: bool,
    /// Asks the loop to end; honoured when every result of the batch asks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub terminate: bool,
}

/// Whether these facts of a result say that a guard denied its call.
#[must_use]
pub fn is_denied(details: Option<&Value>) -> bool {
    details.is_some_and(|details| details["denied"] == true)
}

impl ToolOutput {
    /// A result of one text block.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Block::text(text)], ..Self::default() }
    }

    /// A failed call: the text tells the model what to do differently. Errors carry empty details, as pi's do.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            content: vec![Block::text(text)],
            details: Some(Value::Object(serde_json::Map::new())),
            is_error: true,
            ..Self::default()
        }
    }
}
