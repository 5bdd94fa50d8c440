//! What extensions are asked at the boundaries of a trace and of its turns.

use std::sync::Arc;

use crate::protocol::{
    entry::EntryBody,
    message::{AgentMessage, AssistantMessage, ImageBlock, ToolResultMessage},
    model::{ModelRef, ThinkingLevel},
};

/// A trace is about to begin.
#[derive(Clone, Debug, PartialEq)]
pub struct BeforeAgentStartAsk {
    /// The prompt's text.
    pub prompt: String,
    /// Its pictures.
    pub images: Vec<ImageBlock>,
    /// The system prompt as it would be sent.
    pub system_prompt: String,
}

/// What a trace should begin with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BeforeAgentStartVerdict {
    /// Messages to put behind the prompt.
    pub messages: Vec<AgentMessage>,
    /// Replaces the whole system prompt for this trace; not stored.
    pub system_prompt: Option<String>,
}

/// Another turn is about to begin.
#[derive(Clone, Debug, PartialEq)]
pub struct BeforeTurnAsk {
    /// Counted from 0 in the loop run.
    pub turn: u32,
    /// The answer of the turn before.
    pub message: Arc<AssistantMessage>,
}

/// What a turn should begin with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BeforeTurnVerdict {
    /// Another model from here on.
    pub model: Option<ModelRef>,
    /// Another thinking level from here on.
    pub thinking_level: Option<ThinkingLevel>,
    /// Messages to add before the model call.
    pub messages: Vec<AgentMessage>,
}

/// A turn is over.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnEndAsk {
    /// Counted from 0 in the loop run.
    pub turn: u32,
    /// The answer.
    pub message: Arc<AssistantMessage>,
    /// The results in call order.
    pub tool_results: Vec<Arc<ToolResultMessage>>,
    /// Entries that extensions before this one want to add.
    pub entries: Vec<EntryBody>,
}

/// Whether the loop goes on after a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnDecision {
    /// As it would by itself.
    #[default]
    Default,
    /// One more turn.
    Continue,
    /// End the loop run now; queues are not looked at.
    End,
}

/// What should follow a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnEndVerdict {
    /// Replaces the entries to add; none keeps them. They may be state, messages, context edits and compactions of
    /// extensions: when one of them makes no sense (an edit of an entry that is not on the branch), none is added.
    pub entries: Option<Vec<EntryBody>>,
    /// Whether the loop goes on.
    pub decision: TurnDecision,
}

/// The agent is about to settle.
#[derive(Clone, Debug, PartialEq)]
pub struct BeforeSettleAsk {
    /// The last answer failed.
    pub failed: bool,
    /// Entries that extensions before this one want to add.
    pub entries: Vec<EntryBody>,
}

/// Whether the agent settles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BeforeSettleVerdict {
    /// Replaces the entries to add; none keeps them. See [`TurnEndVerdict::entries`].
    pub entries: Option<Vec<EntryBody>>,
    /// Ask the model once more.
    pub continue_run: bool,
}
