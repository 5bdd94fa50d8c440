//! What extensions are asked before a compaction, and what they may answer.

use std::sync::Arc;

use serde_json::Value;

use super::{
    entry::{Entry, EntryId},
    event::CompactionReason,
    message::AgentMessage,
    usage::Usage,
};

/// What a compaction is going to do.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactionPreparation {
    /// The first entry that stays.
    pub first_kept_entry_id: EntryId,
    /// Whole turns that are summarised.
    pub messages_to_summarize: Vec<AgentMessage>,
    /// The beginning of a turn whose end stays; empty when the cut falls between turns.
    pub turn_prefix_messages: Vec<AgentMessage>,
    /// Estimated tokens of the context before.
    pub tokens_before: u64,
    /// The summary of what was folded away before.
    pub previous_summary: Option<String>,
    /// Files that were read up to the cut, by path.
    pub files_read: Vec<String>,
    /// Files that were changed up to the cut, by path.
    pub files_modified: Vec<String>,
    /// Tokens of the window that stay free.
    pub reserve_tokens: u64,
    /// Tokens of recent messages that stay.
    pub keep_recent_tokens: u64,
}

impl CompactionPreparation {
    /// Whether the cut falls into a turn.
    #[must_use]
    pub fn is_split_turn(&self) -> bool {
        !self.turn_prefix_messages.is_empty()
    }
}

/// The history is about to be compacted.
#[derive(Clone, Debug, PartialEq)]
pub struct BeforeCompactAsk {
    /// What is going to be done.
    pub preparation: CompactionPreparation,
    /// The entries of the branch, the root first.
    pub branch: Arc<Vec<Arc<Entry>>>,
    /// What the summary should care about.
    pub custom_instructions: Option<String>,
    /// Why it is made.
    pub reason: CompactionReason,
    /// The run goes on afterwards.
    pub will_retry: bool,
}

/// What becomes of the compaction. Nothing of the session is lost in any case: a compaction is an entry, and all that
/// it folds away stays in the file.
#[expect(clippy::large_enum_variant, reason = "one of them for a moment")]
#[derive(Clone, Debug, Default, PartialEq)]
pub enum BeforeCompactVerdict {
    /// It is made.
    #[default]
    Continue,
    /// It is not made.
    Cancel,
    /// This one is stored instead.
    Replace(CompactionDraft),
}

/// A compaction that an extension wrote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompactionDraft {
    /// The summary.
    pub summary: String,
    /// The first entry that stays, one of the branch; none keeps nothing.
    pub first_kept_entry_id: Option<EntryId>,
    /// Tokens of the context before; none takes the estimate.
    pub tokens_before: Option<u64>,
    /// What the extension wants to remember of it.
    pub details: Option<Value>,
    /// Tokens that the summary cost.
    pub usage: Option<Usage>,
}
