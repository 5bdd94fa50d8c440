//! What a branch says about the session, without its messages: a session of a hundred thousand entries is opened by
//! this, so nothing is parsed that does not say it.

use std::collections::HashSet;

use super::{
    BranchSelection, EntryRef, TreeView,
    context::{edits, shows},
    projection::project,
};
use crate::{
    protocol::{AgentMessage, entry::Replacement, system::SystemState},
    store::jsonl::{EntryKind, Role},
};

/// What a branch says about the session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BranchState {
    /// The prompt and the tools.
    pub system: SystemState,
    /// What is selected.
    pub selection: BranchSelection,
    /// The context shows messages.
    pub has_messages: bool,
}

impl TreeView {
    /// What the branch of the leaf says about the session.
    #[must_use]
    pub fn branch_state(&self) -> BranchState {
        let has_messages = self.context_window().iter().any(|entry| shows(entry.kind()));
        BranchState { system: self.system(), selection: self.selection(), has_messages }
    }

    /// The prompt and the tools at the leaf.
    #[must_use]
    pub fn system(&self) -> SystemState {
        let window = self.context_window();
        let edits = edits(&window);
        let mut messages = Vec::new();
        for (place, part) in window.iter().enumerate() {
            let checkpoint = place == 0 && part.kind() == EntryKind::Compaction;
            if checkpoint || part.kind() == EntryKind::Message(Role::System) {
                project(&part.entry(), edits.get(part.id()), checkpoint, &mut messages);
            }
        }
        SystemState::replay(messages.iter().filter_map(|message| match message {
            AgentMessage::System(message) => Some(&**message),
            _ => None,
        }))
    }

    /// The entries of the branch that tell of background jobs and siblings, root first: results of their tools,
    /// messages of extensions (and of the program), and compactions, behind which nobody remembers the results.
    #[must_use]
    pub fn job_entries(&self) -> Vec<EntryRef<'_>> {
        let results: HashSet<u32> =
            (0..self.log.job_results.len()).filter_map(|place| self.log.job_results.get(place).copied()).collect();
        let mut path = self.path();
        path.retain(|entry| {
            matches!(entry.kind(), EntryKind::CustomMessage | EntryKind::Compaction) || results.contains(&entry.at)
        });
        path
    }

    /// The number of messages of the leaf's context, by the kinds of its entries.
    #[must_use]
    pub fn message_count(&self) -> usize {
        let window = self.context_window();
        let edits = edits(&window);
        let count = |(place, part): (usize, &EntryRef<'_>)| match part.kind() {
            _ if matches!(edits.get(part.id()), Some(None::<Replacement>)) => 0,
            EntryKind::Message(_) | EntryKind::CustomMessage => 1,
            // Few, and what they give depends on what they say.
            EntryKind::Compaction if place > 0 => 0,
            EntryKind::BranchSummary | EntryKind::Compaction => {
                let mut messages = Vec::new();
                project(&part.entry(), None, place == 0, &mut messages);
                messages.len()
            }
            _ => 0,
        };
        window.iter().enumerate().map(count).sum()
    }
}
