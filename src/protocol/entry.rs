//! Session entries: the lines of a session file, pi's version 3.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::{
    message::{AgentMessage, Content},
    model::ThinkingLevel,
    sibling::SiblingId,
    system::SystemMessage,
    usage::Usage,
};

/// An entry's id: eight hex digits in our own files, any text in foreign ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(Arc<str>);

impl EntryId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for EntryId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for EntryId {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The first line of a session file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionHeader {
    /// Always `session`.
    #[serde(rename = "type")]
    pub kind: String,
    /// 3 in files that we write; absent means 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// The session's id.
    pub id: String,
    /// When it was made, ISO-8601.
    #[serde(default)]
    pub timestamp: String,
    /// The folder that it runs in.
    #[serde(default)]
    pub cwd: String,
    /// The session that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    /// Whose session it is, when another agent spawned it. Other programs skip it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Arc<AgentHeader>>,
}

/// What the session of a sibling says about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentHeader {
    /// Its id in its family.
    pub id: SiblingId,
    /// Its own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is for.
    pub role: String,
    /// The key that it was spawned with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The id of its parent.
    pub parent_id: SiblingId,
    /// The id of the session of the family's root.
    pub root_id: String,
    /// Generations above it.
    pub depth: u32,
}

/// One line of a session file after the header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its kind and content.
    #[serde(flatten)]
    pub body: EntryBody,
    /// Its id.
    pub id: EntryId,
    /// The entry before it on its branch; none for a root.
    pub parent_id: Option<EntryId>,
    /// When it was made, ISO-8601.
    pub timestamp: String,
}

/// What an entry says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum EntryBody {
    /// A message of the conversation.
    Message {
        /// The message.
        message: AgentMessage,
    },
    /// Another model was chosen.
    ModelChange {
        /// The provider's id.
        provider: String,
        /// The model's id.
        model_id: String,
    },
    /// Another thinking level was chosen.
    ThinkingLevelChange {
        /// The level's name; foreign files may hold names that we do not know.
        thinking_level: String,
    },
    /// Tokens spent outside the conversation.
    Usage {
        /// What for.
        kind: String,
        /// The provider's id.
        provider: String,
        /// The model's id.
        model: String,
        /// How many.
        usage: Usage,
        /// Free text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// Everything before `first_kept_entry_id` is folded into a summary.
    Compaction {
        /// The summary.
        summary: String,
        /// The first entry before this one that stays in the context; its own id keeps none.
        first_kept_entry_id: EntryId,
        /// Tokens of the context before.
        #[serde(default)]
        tokens_before: u64,
        /// Prompt and tools at this point.
        #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "with_role")]
        system_message: Option<Arc<SystemMessage>>,
        /// Files read and modified, and what an extension adds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
        /// Tokens that the summary cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// True when an extension wrote the summary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from_hook: Option<bool>,
    },
    /// Another entry's content is dropped or replaced in the context.
    ContextEdit {
        /// The entry.
        target_id: EntryId,
        /// Null drops it.
        replacement: Option<Replacement>,
    },
    /// The summary of a branch that was left.
    BranchSummary {
        /// The leaf that was left, or `root`.
        from_id: String,
        /// The summary.
        summary: String,
        /// Files read and modified.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
        /// Tokens that the summary cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// True when an extension wrote the summary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from_hook: Option<bool>,
    },
    /// State of an extension.
    Custom {
        /// The extension's name for it.
        custom_type: String,
        /// The state.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// A message of an extension.
    CustomMessage {
        /// The extension's name for the kind.
        custom_type: String,
        /// What the model reads.
        #[serde(default)]
        content: Content,
        /// Whether people see it.
        #[serde(default)]
        display: bool,
        /// Structured facts for the extension.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
    },
    /// A name for an entry.
    Label {
        /// The entry.
        target_id: EntryId,
        /// The name; none clears it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    },
    /// The session's name.
    SessionInfo {
        /// The name; empty clears it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// A kind that this version does not know; kept as it came.
    #[serde(untagged)]
    Unknown(Value),
}

/// What a context edit puts in place of a message's content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replacement {
    /// The new content.
    pub content: Content,
}

impl EntryBody {
    /// The kind's name on disk.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Message { .. } => "message",
            Self::ModelChange { .. } => "model_change",
            Self::ThinkingLevelChange { .. } => "thinking_level_change",
            Self::Usage { .. } => "usage",
            Self::Compaction { .. } => "compaction",
            Self::ContextEdit { .. } => "context_edit",
            Self::BranchSummary { .. } => "branch_summary",
            Self::Custom { .. } => "custom",
            Self::CustomMessage { .. } => "custom_message",
            Self::Label { .. } => "label",
            Self::SessionInfo { .. } => "session_info",
            Self::Unknown(value) => value.get("type").and_then(Value::as_str).unwrap_or("unknown"),
        }
    }

    /// A choice of thinking level.
    #[must_use]
    pub fn thinking(level: ThinkingLevel) -> Self {
        Self::ThinkingLevelChange { thinking_level: level.as_str().to_owned() }
    }

    /// Whether an event of its own tells of the entry, so that nothing else needs to.
    #[must_use]
    pub fn has_own_event(&self) -> bool {
        matches!(
            self,
            Self::Message { .. }
                | Self::CustomMessage { .. }
                | Self::ModelChange { .. }
                | Self::ThinkingLevelChange { .. }
                | Self::SessionInfo { .. }
                | Self::Compaction { .. }
        )
    }

    /// The message when it is one.
    #[must_use]
    pub fn as_message(&self) -> Option<&AgentMessage> {
        match self {
            Self::Message { message } => Some(message),
            _ => None,
        }
    }
}

/// A system message as it stands among messages: readers tell it by its role.
fn with_role<S: Serializer>(message: &Option<Arc<SystemMessage>>, serializer: S) -> Result<S::Ok, S::Error> {
    message.clone().map(AgentMessage::System).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_kind_and_unknown_kinds_survive() {
        for line in [
            r#"{"type":"model_change","provider":"acme","modelId":"a","id":"1","parentId":null,"timestamp":"t"}"#,
            r#"{"type":"context_edit","targetId":"1","replacement":null,"id":"2","parentId":"1","timestamp":"t"}"#,
            r#"{"type":"hologram","payload":[1,2],"id":"3","parentId":"2","timestamp":"t"}"#,
            r#"{"type":"label","targetId":"1","id":"4","parentId":"2","timestamp":"t"}"#,
        ] {
            let entry: Entry = serde_json::from_str(line).unwrap();
            let again: Value = serde_json::to_value(&entry).unwrap();
            assert_eq!(again, serde_json::from_str::<Value>(line).unwrap(), "{line}");
        }
    }
}
