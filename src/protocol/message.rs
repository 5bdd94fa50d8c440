//! Messages in two layers.
//!
//! [`Message`] is what models see: system, user, assistant, tool result. [`AgentMessage`] is what the product keeps:
//! the same four and the kinds that only the product knows (shell records, summaries, an extension's own). The step
//! from one to the other is [`crate::protocol::context::convert_to_llm`]. Bodies are behind `Arc`: a history is
//! cloned by counting references, never by copying text.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

pub use super::content::{Block, Content, ImageBlock, TextBlock, ThinkingBlock, ToolCall, text_of};
use super::{system::SystemMessage, time::Millis, usage::Usage};

/// Blocks of a message that never has a plain string in our own files; tolerates string and null in foreign ones.
fn blocks<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Block>, D::Error> {
    Ok(Content::deserialize(input)?.blocks().into_owned())
}

/// What a person (or a program in that role) said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserMessage {
    /// Text and images.
    #[serde(default)]
    pub content: Content,
    /// When it was sent.
    #[serde(default)]
    pub timestamp: Millis,
}

/// Why an assistant message ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// Still streaming; never stored.
    Pending,
    /// The model was done.
    #[default]
    Stop,
    /// The output limit was hit: no call of the message is run.
    Length,
    /// The model wants tools to run.
    ToolUse,
    /// The call failed; `errorMessage` says how.
    Error,
    /// The caller cancelled.
    Aborted,
    /// The provider goes on in the background.
    Deferred,
    /// A reason that a newer version wrote.
    #[serde(other)]
    Unknown,
}

/// What a model answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssistantMessage {
    /// Text, thinking and tool calls in order.
    #[serde(default, deserialize_with = "blocks")]
    pub content: Vec<Block>,
    /// The wire API, such as `openai-completions`.
    #[serde(default)]
    pub api: String,
    /// The provider's id.
    #[serde(default)]
    pub provider: String,
    /// The model id that was asked for.
    #[serde(default)]
    pub model: String,
    /// The model that answered, when it is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_model: Option<String>,
    /// The provider's id of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// The thinking level in the provider's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_thinking_level: Option<String>,
    /// The thinking level that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<String>,
    /// Faults worth keeping that did not fail the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Vec<Value>>,
    /// Tokens and cost.
    #[serde(default)]
    pub usage: Usage,
    /// Why it ended.
    #[serde(default)]
    pub stop_reason: StopReason,
    /// Handle of a response that goes on in the background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred: Option<Value>,
    /// What went wrong, for `error` and `aborted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The provider's own word for the stop reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_stop_reason: Option<String>,
    /// The provider's hint that the turn is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_turn: Option<bool>,
    /// When the request was sent.
    #[serde(default)]
    pub timestamp: Millis,
    /// From request to end, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

impl AssistantMessage {
    /// The calls of the message in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(Block::as_tool_call)
    }

    /// True when the message is a failed or cancelled attempt.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        matches!(self.stop_reason, StopReason::Error | StopReason::Aborted)
    }
}

/// The answer to one tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultMessage {
    /// The call that it answers.
    #[serde(default)]
    pub tool_call_id: String,
    /// The tool's name.
    #[serde(default)]
    pub tool_name: String,
    /// Text and images for the model.
    #[serde(default, deserialize_with = "blocks")]
    pub content: Vec<Block>,
    /// Structured facts for screens and programs; never sent to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Tokens that the tool itself spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Record of the calls that the tool made itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nested_calls: Option<Value>,
    /// True when the call failed.
    #[serde(default)]
    pub is_error: bool,
    /// When the call ended.
    #[serde(default)]
    pub timestamp: Millis,
    /// How long the tool ran, in milliseconds; absent when it did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// A shell command that the user ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BashExecution {
    /// The command.
    pub command: String,
    /// Its output, possibly cut.
    #[serde(default)]
    pub output: String,
    /// Its exit code; absent when it had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// True when the user cancelled it.
    #[serde(default)]
    pub cancelled: bool,
    /// True when `output` is not all of it.
    #[serde(default)]
    pub truncated: bool,
    /// The file with all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_output_path: Option<String>,
    /// True when the model must not see it (`!!`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude_from_context: Option<bool>,
    /// When it ended.
    #[serde(default)]
    pub timestamp: Millis,
}

/// A message of an extension's own kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomMessage {
    /// The extension's name for the kind.
    pub custom_type: String,
    /// What the model reads, as a user's text.
    #[serde(default)]
    pub content: Content,
    /// Whether people see it.
    #[serde(default)]
    pub display: bool,
    /// Structured facts for the extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// When it was made.
    #[serde(default)]
    pub timestamp: Millis,
}

/// The summary of a branch that the conversation came back from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchSummaryMessage {
    /// The text.
    pub summary: String,
    /// The leaf that was left, or `root`.
    pub from_id: String,
    /// When it was made.
    pub timestamp: Millis,
}

/// The summary of what a compaction folded away.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionSummaryMessage {
    /// The text.
    pub summary: String,
    /// Tokens of the context before.
    pub tokens_before: u64,
    /// When it was made.
    pub timestamp: Millis,
}

/// A message as the product keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub enum AgentMessage {
    /// State of the system prompt and the tools.
    System(Arc<SystemMessage>),
    /// A user's words.
    User(Arc<UserMessage>),
    /// A model's answer.
    Assistant(Arc<AssistantMessage>),
    /// The answer to a call.
    ToolResult(Arc<ToolResultMessage>),
    /// A shell command of the user.
    BashExecution(Arc<BashExecution>),
    /// An extension's own.
    Custom(Arc<CustomMessage>),
    /// Of a branch that was left.
    BranchSummary(Arc<BranchSummaryMessage>),
    /// Of a compaction.
    CompactionSummary(Arc<CompactionSummaryMessage>),
    /// A role that this version does not know: kept, never sent.
    #[serde(untagged)]
    Unknown(Arc<Value>),
}

/// Who sees a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visibility {
    /// It is part of what models read.
    pub model: bool,
    /// People see it.
    pub screen: bool,
    /// It is stored as a `message` entry of its own (summaries and custom messages have entry kinds of their own).
    pub disk: bool,
}

impl AgentMessage {
    /// A user message of one text block.
    #[must_use]
    pub fn user(text: impl Into<String>, timestamp: Millis) -> Self {
        Self::User(Arc::new(UserMessage { content: Content::Blocks(vec![Block::text(text)]), timestamp }))
    }

    /// The role as the wire names it.
    #[must_use]
    pub fn role(&self) -> &str {
        match self {
            Self::System(_) => "system",
            Self::User(_) => "user",
            Self::Assistant(_) => "assistant",
            Self::ToolResult(_) => "toolResult",
            Self::BashExecution(_) => "bashExecution",
            Self::Custom(_) => "custom",
            Self::BranchSummary(_) => "branchSummary",
            Self::CompactionSummary(_) => "compactionSummary",
            Self::Unknown(value) => value.get("role").and_then(Value::as_str).unwrap_or("unknown"),
        }
    }

    /// Who sees it.
    #[must_use]
    pub fn visibility(&self) -> Visibility {
        match self {
            Self::System(_) => Visibility { model: true, screen: false, disk: true },
            Self::User(_) | Self::Assistant(_) | Self::ToolResult(_) => {
                Visibility { model: true, screen: true, disk: true }
            }
            Self::BashExecution(bash) => {
                Visibility { model: bash.exclude_from_context != Some(true), screen: true, disk: true }
            }
            Self::Custom(custom) => Visibility { model: true, screen: custom.display, disk: false },
            Self::BranchSummary(_) | Self::CompactionSummary(_) => {
                Visibility { model: true, screen: true, disk: false }
            }
            Self::Unknown(_) => Visibility { model: false, screen: false, disk: true },
        }
    }

    /// The assistant message when it is one.
    #[must_use]
    pub fn as_assistant(&self) -> Option<&Arc<AssistantMessage>> {
        match self {
            Self::Assistant(message) => Some(message),
            _ => None,
        }
    }
}

/// A message as models see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub enum Message {
    /// State of the system prompt and the tools.
    System(Arc<SystemMessage>),
    /// A user's words.
    User(Arc<UserMessage>),
    /// A model's answer.
    Assistant(Arc<AssistantMessage>),
    /// The answer to a call.
    ToolResult(Arc<ToolResultMessage>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_content_reads_without_error() {
        let read = |json: &str| serde_json::from_str::<AgentMessage>(json).unwrap();
        let AgentMessage::Assistant(message) = read(r#"{"role":"assistant","content":null}"#) else { panic!() };
        assert!(message.content.is_empty());
        let AgentMessage::ToolResult(result) = read(r#"{"role":"toolResult","content":"plain","isError":false}"#)
        else {
            panic!()
        };
        assert_eq!(result.content, vec![Block::text("plain")]);
        assert_eq!(read(r#"{"role":"oracle","content":"x"}"#).role(), "oracle");
        let AgentMessage::User(user) = read(r#"{"role":"user","content":[{"type":"video","url":"u"}]}"#) else {
            panic!()
        };
        assert!(matches!(&user.content, Content::Blocks(blocks) if matches!(blocks[0], Block::Unknown(_))));
    }

    #[test]
    fn field_names_on_the_wire_are_pis() {
        let call = Block::ToolCall(ToolCall { id: "c1".into(), name: "ls".into(), ..ToolCall::default() });
        assert_eq!(
            serde_json::to_string(&call).unwrap(),
            r#"{"type":"toolCall","id":"c1","name":"ls","arguments":{}}"#
        );
        let user = AgentMessage::user("hi", 5);
        assert_eq!(
            serde_json::to_string(&user).unwrap(),
            r#"{"role":"user","content":[{"type":"text","text":"hi"}],"timestamp":5}"#
        );
    }
}
