//! What a compaction of a context would fold away.

use std::{ops::Range, sync::Arc};

use super::{
    FileOps,
    cut::{self, Part, Role, cut},
};
use crate::{
    protocol::{AgentMessage, EntryBody, EntryId, entry::Replacement, system::SystemState, tokens},
    store::{
        jsonl::{EntryKind, Role as MessageRole},
        tree::{ContextEntry, SessionContext, TreeView},
    },
};

/// Why there is nothing to compact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The branch ends with a compaction.
    #[error("Already compacted")]
    AlreadyCompacted,
    /// All of it stays, or there is no place to cut.
    #[error("Nothing to compact (session too small)")]
    TooSmall,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The first entry that stays.
    pub first_kept: EntryId,
    /// Whole turns that are summarised.
    pub history: Vec<AgentMessage>,
    /// The beginning of a turn whose end stays; empty when the cut falls between turns.
    pub prefix: Vec<AgentMessage>,
    /// The summary of what was folded away before.
    pub previous: Option<String>,
    /// Estimated tokens of the context before.
    pub tokens_before: u64,
    /// Estimated tokens of what stays, prompt and tools included.
    pub tokens_kept: u64,
    /// Prompt and tools at the leaf.
    pub system: SystemState,
    /// Files that were read and changed up to the cut.
    pub files: FileOps,
}

/// Plans the compaction of the leaf's context so that about `keep` tokens stay.
///
/// # Errors
/// When there is nothing to compact.
pub fn plan(tree: &TreeView, keep: u64) -> Result<Plan, Refusal> {
    if tree.place().is_some_and(|entry| entry.kind() == EntryKind::Compaction) {
        return Err(Refusal::AlreadyCompacted);
    }
    let window = tree.context_window();
    let context = tree.context();
    // Behind the last compaction, which is the first entry of its context.
    let checkpoint = window.first().filter(|entry| entry.kind() == EntryKind::Compaction).map(|entry| entry.entry());
    let skipped = usize::from(checkpoint.is_some());
    let entries = &context.entries[skipped..];
    let bodies: Vec<_> =
        window[skipped..].iter().map(|entry| (entry.kind() == EntryKind::ContextEdit).then(|| entry.entry())).collect();
    let is_edit_outside = |at: usize| match bodies[at].as_deref().map(|entry| &entry.body) {
        Some(EntryBody::ContextEdit { target_id, replacement: Some(Replacement { .. }) }) => !entries[..at]
            .iter()
            .rev()
            .take_while(|entry| entry.messages.is_empty())
            .any(|entry| entry.id == *target_id),
        _ => false,
    };
    let parts: Vec<Part> = entries
        .iter()
        .enumerate()
        .map(|(at, entry)| Part { role: role(&context, entry, is_edit_outside(at)), tokens: size(&context, entry) })
        .collect();
    let cut::Cut { history, prefix, kept } = cut(&parts, keep).ok_or(Refusal::TooSmall)?;
    let messages = |range: Range<usize>| {
        let of_entry = |entry: &ContextEntry| context.messages_of(entry).to_vec();
        entries[range].iter().flat_map(of_entry).filter(|message| !matches!(message, AgentMessage::System(_))).collect()
    };
    let (history, prefix): (Vec<_>, Vec<_>) = (messages(history), messages(prefix));
    let (previous, mut files) = match checkpoint.as_deref().map(|entry| &entry.body) {
        Some(EntryBody::Compaction { summary, details, from_hook, .. }) => {
            // An extension's details are its own.
            let details = details.as_ref().filter(|_| *from_hook != Some(true));
            (Some(summary.clone()), FileOps::from_details(details))
        }
        _ => (None, FileOps::default()),
    };
    files.note(&history);
    files.note(&prefix);
    // Behind everything there is only what a failed attempt left: it is kept by an id of its own.
    let first_kept = entries.get(kept).or(entries.last()).map(|entry| entry.id.clone()).ok_or(Refusal::TooSmall)?;
    let system = context.system();
    let message = AgentMessage::System(Arc::new(system.to_message(0)));
    let stays = parts[kept..].iter().filter(|part| part.role != Role::System).map(|part| part.tokens);
    let tokens_kept = stays.sum::<u64>() + tokens::of_message(&message);
    let tokens_before = context.tokens();
    Ok(Plan { first_kept, history, prefix, previous, tokens_before, tokens_kept, system, files })
}

fn size(context: &SessionContext, entry: &ContextEntry) -> u64 {
    context.messages_of(entry).iter().map(tokens::of_message).sum()
}

fn role(context: &SessionContext, entry: &ContextEntry, is_edit_outside: bool) -> Role {
    match context.messages_of(entry).first() {
        Some(AgentMessage::System(_)) => Role::System,
        Some(AgentMessage::ToolResult(_)) => Role::Result,
        Some(AgentMessage::Assistant(_)) => Role::Answer,
        Some(AgentMessage::Unknown(_)) => Role::Silent,
        Some(_) => Role::Start,
        None if is_edit_outside => Role::Edit,
        None if entry.kind == EntryKind::Message(MessageRole::Assistant) => Role::Omitted,
        None => Role::Silent,
    }
}

#[cfg(test)]
mod tests;
