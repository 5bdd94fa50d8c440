//! Going to another place of the session's tree: what is asked, and what became of it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::{
    entry::{Entry, EntryBody, EntryId},
    usage::Usage,
};

/// The type of the entries that remember a move. The leaf of a session is the last entry of its file, so that a move is
/// one more entry below the place that the conversation goes back to. It has no data.
pub const LEAF_ENTRY: &str = "troupe.leaf";

/// The entry that remembers a move.
#[must_use]
pub fn leaf_entry() -> EntryBody {
    EntryBody::Custom { custom_type: LEAF_ENTRY.to_owned(), data: None }
}

/// Whether an entry only remembers a move.
#[must_use]
pub fn is_leaf_entry(body: &EntryBody) -> bool {
    matches!(body, EntryBody::Custom { custom_type, .. } if custom_type == LEAF_ENTRY)
}

/// A request to go on at another entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Navigate {
    /// The entry; none is the beginning, before the first message. At a message of a user or an extension the
    /// conversation goes on before it, and its text comes back.
    pub target: Option<EntryId>,
    /// Have a model summarise what is left behind.
    pub summarize: bool,
    /// What the summary should care about.
    pub custom_instructions: Option<String>,
    /// `custom_instructions` say all about the summary's form.
    pub replace_instructions: bool,
    /// A name for the summary, or for the target when there is none.
    pub label: Option<String>,
}

impl Navigate {
    /// The same with what extensions want otherwise.
    #[must_use]
    pub fn changed(mut self, changes: &TreeChanges) -> Self {
        if let Some(instructions) = &changes.custom_instructions {
            self.custom_instructions = Some(instructions.clone());
        }
        if let Some(label) = &changes.label {
            self.label = Some(label.clone());
        }
        self.replace_instructions = changes.replace_instructions.unwrap_or(self.replace_instructions);
        self
    }
}

/// What became of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Navigated {
    /// Nothing moved: an extension or an abort prevented it.
    pub cancelled: bool,
    /// It was an abort.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub aborted: bool,
    /// The text of the message that the conversation went back before: to be written anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub editor_text: Option<String>,
    /// The summary of what was left behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_entry: Option<Arc<Entry>>,
    /// The entry that the next one hangs on.
    pub leaf_id: Option<EntryId>,
}

/// The conversation is about to go on at another entry.
#[derive(Clone, Debug, PartialEq)]
pub struct BeforeTreeAsk {
    /// What is asked.
    pub ask: Navigate,
    /// The last entry of the branch in use.
    pub old_leaf_id: Option<EntryId>,
    /// The last entry that both branches share.
    pub common_ancestor_id: Option<EntryId>,
    /// The entries that are left behind, the oldest first.
    pub entries_to_summarize: Vec<Arc<Entry>>,
}

/// Whether and how the conversation goes there.
#[expect(clippy::large_enum_variant, reason = "one of them for a moment")]
#[derive(Clone, Debug, PartialEq)]
pub enum BeforeTreeVerdict {
    /// It goes there, with these changes.
    Continue(TreeChanges),
    /// It stays where it is.
    Cancel,
}

impl Default for BeforeTreeVerdict {
    fn default() -> Self {
        Self::Continue(TreeChanges::default())
    }
}

/// What an extension changes about a move. None leaves things as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeChanges {
    /// The summary of what is left behind; only used when one was asked for.
    pub summary: Option<SummaryDraft>,
    /// Other instructions for the summary.
    pub custom_instructions: Option<String>,
    /// Whether the instructions say all about the summary's form.
    pub replace_instructions: Option<bool>,
    /// Another name.
    pub label: Option<String>,
}

/// A summary that an extension wrote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SummaryDraft {
    /// The summary.
    pub summary: String,
    /// What the extension wants to remember of it.
    pub details: Option<Value>,
    /// Tokens that it cost.
    pub usage: Option<Usage>,
}
