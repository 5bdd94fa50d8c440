//! What a branch has told its model of something that goes on beside it: results of the tools about it, and notices of the
//! program.

use serde_json::Value;

use crate::{
    protocol::{AgentMessage, EntryBody},
    store::TreeView,
};

/// What a branch has told, read entry by entry.
pub trait BranchNews: Default {
    /// The kind of the notices.
    const KIND: &'static str;

    /// Whether results of this tool tell of it.
    fn is_told_by(tool: &str) -> bool;

    /// Takes in what a result or a notice tells.
    fn take(&mut self, details: &Value);

    /// The branch was summarised up to here.
    fn compacted(&mut self) {}

    /// What a branch tells.
    #[must_use]
    fn of(tree: &TreeView) -> Self {
        let mut news = Self::default();
        tree.job_entries().iter().for_each(|entry| news.read(&entry.entry().body));
        news
    }

    /// Takes in the next entry of the branch.
    fn read(&mut self, body: &EntryBody) {
        let details = match body {
            EntryBody::Message { message: AgentMessage::ToolResult(result) } if Self::is_told_by(&result.tool_name) => {
                result.details.as_ref()
            }
            EntryBody::Message { message: AgentMessage::Custom(message) } if message.custom_type == Self::KIND => {
                message.details.as_ref()
            }
            EntryBody::CustomMessage { custom_type, details, .. } if custom_type == Self::KIND => details.as_ref(),
            EntryBody::Compaction { .. } => return self.compacted(),
            _ => None,
        };
        if let Some(details) = details {
            self.take(details);
        }
    }
}
