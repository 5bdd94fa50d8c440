//! What a line is, without its content.

use crate::protocol::{AgentMessage, EntryBody};

/// The tool whose results tell which background jobs ran when they were made. Whoever goes on with a session must find
/// them among all others.
pub const JOBS_TOOL: &str = "jobs";

/// The tools whose results may tell how tasks of siblings ended. Found in the same way.
pub const AGENT_TOOLS: [&str; 3] = ["agent_spawn", "agent_wait", "agent_stop"];

/// The custom type of the entry that notes a sibling.
pub const AGENT_SPAWN: &str = "agent_spawn";

/// The `customType` of the notes in which the root of a team says what happened to the team.
pub const TEAM_NOTE: &str = "team";

/// Whether results of the tool tell what goes on beside the conversation.
#[must_use]
pub fn tells_of_work(tool: &str) -> bool {
    tool == JOBS_TOOL || AGENT_TOOLS.contains(&tool)
}

/// The kind of an entry, known for each line of a session before its content is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A message, with its role.
    Message(Role),
    /// Another model was chosen.
    ModelChange,
    /// Another thinking level was chosen.
    ThinkingLevelChange,
    /// Tokens spent outside the conversation.
    Usage,
    /// Old history was folded into a summary.
    Compaction,
    /// Another entry's content is dropped or replaced in the context.
    ContextEdit,
    /// The summary of a branch that was left.
    BranchSummary,
    /// State of an extension.
    Custom,
    /// A message of an extension.
    CustomMessage,
    /// A name for an entry.
    Label,
    /// The session's name.
    SessionInfo,
    /// A kind that this version does not know.
    Unknown,
}

/// The role of a `message` entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// State of the prompt and the tools.
    System,
    /// A user's words.
    User,
    /// A model's answer.
    Assistant,
    /// The answer to a call.
    ToolResult,
    /// A shell command of the user.
    BashExecution,
    /// Any other.
    Other,
}

impl Role {
    /// The role of that name.
    #[must_use]
    pub fn parse(name: &str) -> Self {
        match name {
            "system" => Self::System,
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "toolResult" => Self::ToolResult,
            "bashExecution" => Self::BashExecution,
            _ => Self::Other,
        }
    }

    /// The role of `message`.
    #[must_use]
    pub fn of(message: &AgentMessage) -> Self {
        match message {
            AgentMessage::System(_) => Self::System,
            AgentMessage::User(_) => Self::User,
            AgentMessage::Assistant(_) => Self::Assistant,
            AgentMessage::ToolResult(_) => Self::ToolResult,
            AgentMessage::BashExecution(_) => Self::BashExecution,
            _ => Self::Other,
        }
    }
}

impl EntryKind {
    /// The kind of the name that lines give as `type`; `role` counts for messages only.
    #[must_use]
    pub fn parse(name: &str, role: Option<&str>) -> Self {
        match name {
            "message" => Self::Message(role.map_or(Role::Other, Role::parse)),
            "model_change" => Self::ModelChange,
            "thinking_level_change" => Self::ThinkingLevelChange,
            "usage" => Self::Usage,
            "compaction" => Self::Compaction,
            "context_edit" => Self::ContextEdit,
            "branch_summary" => Self::BranchSummary,
            "custom" => Self::Custom,
            "custom_message" => Self::CustomMessage,
            "label" => Self::Label,
            "session_info" => Self::SessionInfo,
            _ => Self::Unknown,
        }
    }

    /// The kind of `body`.
    #[must_use]
    pub fn of(body: &EntryBody) -> Self {
        match body {
            EntryBody::Message { message } => Self::Message(Role::of(message)),
            EntryBody::ModelChange { .. } => Self::ModelChange,
            EntryBody::ThinkingLevelChange { .. } => Self::ThinkingLevelChange,
            EntryBody::Usage { .. } => Self::Usage,
            EntryBody::Compaction { .. } => Self::Compaction,
            EntryBody::ContextEdit { .. } => Self::ContextEdit,
            EntryBody::BranchSummary { .. } => Self::BranchSummary,
            EntryBody::Custom { .. } => Self::Custom,
            EntryBody::CustomMessage { .. } => Self::CustomMessage,
            EntryBody::Label { .. } => Self::Label,
            EntryBody::SessionInfo { .. } => Self::SessionInfo,
            EntryBody::Unknown(_) => Self::Unknown,
        }
    }

    /// True for what makes a session worth a file: words of a user or of a model.
    #[must_use]
    pub fn is_conversation(self) -> bool {
        matches!(self, Self::Message(Role::User | Role::Assistant))
    }
}
