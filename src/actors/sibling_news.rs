//! What a model knows of the ends of its siblings. Pure but for a look at the board.
//!
//! Results of the tools that wait, and earlier notices, say which ends were told, so the branch tells what its model
//! has heard. Whatever else has ended becomes a message at the next boundary of a turn. Told twice, or never, an end
//! cannot be: the message that tells it is the note that it was told.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{branch_news::BranchNews, family_board::FamilyBoard};
use crate::{
    protocol::{
        Content, EntryBody,
        message::CustomMessage,
        sibling::{SiblingEnd, SiblingId},
        time::now_ms,
    },
    store::jsonl::kind::AGENT_TOOLS,
    tools::siblings::{ends_details, ends_in, told},
};

/// The ends that the branch has told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiblingNews {
    told: HashSet<(SiblingId, u32)>,
}

impl BranchNews for SiblingNews {
    const KIND: &'static str = "agents";

    fn is_told_by(tool: &str) -> bool {
        AGENT_TOOLS.contains(&tool)
    }

    fn take(&mut self, details: &Value) {
        self.told.extend(ends_in(details));
    }
}

impl SiblingNews {
    /// The ends that are to be told.
    #[must_use]
    pub fn untold(&self, board: &FamilyBoard, agent: &SiblingId) -> Vec<SiblingEnd> {
        let mut ends = board.ends_to_tell(agent);
        ends.retain(|end| !self.told.contains(&(end.id.clone(), end.task)));
        ends
    }

    /// What is to be told before the next request.
    #[must_use]
    pub fn news(&self, board: &FamilyBoard, agent: &SiblingId) -> Option<EntryBody> {
        let CustomMessage { custom_type, content, display, details, .. } = self.message(board, agent)?;
        Some(EntryBody::CustomMessage { custom_type, content, display, details })
    }

    /// The same as a message that wakes the model.
    #[must_use]
    pub fn message(&self, board: &FamilyBoard, agent: &SiblingId) -> Option<CustomMessage> {
        let ends = self.untold(board, agent);
        if ends.is_empty() {
            return None;
        }
        let texts: Vec<_> = ends.iter().map(told).collect();
        let text =
            format!("Notice of the program, not of the user. Agents that you spawned:\n\n{}", texts.join("\n\n"));
        Some(CustomMessage {
            custom_type: Self::KIND.to_owned(),
            content: Content::Text(text),
            display: true,
            details: Some(json!({ "ends": ends_details(&ends) })),
            timestamp: now_ms(),
        })
    }
}
