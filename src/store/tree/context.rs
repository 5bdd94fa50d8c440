//! What a model gets to see at a leaf.

use std::{collections::HashMap, ops::Range, sync::Arc};

use super::{EntryRef, TreeView, projection::project, record::is_unreadable};
use crate::{
    protocol::{AgentMessage, EntryBody, EntryId, entry::Replacement, system::SystemState, tokens},
    store::jsonl::{EntryKind, Role},
};

/// The context of a leaf.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionContext {
    /// The messages in order, with compaction and context edits applied.
    pub messages: Vec<AgentMessage>,
    /// The entries that they come from, in order; entries without a message are listed too.
    pub entries: Vec<ContextEntry>,
    /// Entries whose lines the session file no longer gives: their messages are missing, which people must be told.
    pub unreadable: Vec<EntryId>,
    /// The place in `entries` from which on reported usage counts: nothing before it was changed afterwards by a
    /// compaction or a context edit.
    pub usage_from: usize,
}

/// An entry of a context.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextEntry {
    /// Its id.
    pub id: EntryId,
    /// Its kind.
    pub kind: EntryKind,
    /// Its messages: a range of [`SessionContext::messages`], empty when it shows none.
    pub messages: Range<usize>,
}

impl SessionContext {
    /// The messages of an entry.
    #[must_use]
    pub fn messages_of(&self, entry: &ContextEntry) -> &[AgentMessage] {
        &self.messages[entry.messages.clone()]
    }

    /// Estimated tokens of the context: what the last answer reported, where nothing before it has changed since, and
    /// an estimate of what came after; an estimate of everything where no report holds.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        if let Some(known) = self.reported_tokens() {
            return known;
        }
        let mut systems = self.messages.iter().filter(|message| matches!(message, AgentMessage::System(_)));
        let system = match (systems.next(), systems.next()) {
            // One that says all, as at the beginning of a session.
            (Some(only @ AgentMessage::System(all)), None) if all.sections.is_some() && all.tools_added.is_some() => {
                tokens::of_message(only)
            }
            _ => tokens::of_message(&AgentMessage::System(Arc::new(self.system().to_message(0)))),
        };
        let shown = self.messages.iter().filter(|message| !matches!(message, AgentMessage::System(_)));
        shown.map(tokens::of_message).fold(system, u64::saturating_add)
    }

    /// The prompt and the tools after all of its messages.
    #[must_use]
    pub fn system(&self) -> SystemState {
        SystemState::replay(self.messages.iter().filter_map(|message| match message {
            AgentMessage::System(message) => Some(&**message),
            _ => None,
        }))
    }

    /// The same for people; none right after a compaction, whose effect no answer has reported yet.
    #[must_use]
    pub fn known_tokens(&self) -> Option<u64> {
        let compacted = self.entries.first().is_some_and(|entry| entry.kind == EntryKind::Compaction);
        self.reported_tokens().or_else(|| (!compacted).then(|| self.tokens()))
    }

    /// What the last report that holds says, and an estimate of what came after it.
    fn reported_tokens(&self) -> Option<u64> {
        let trusted = self.entries.get(self.usage_from).map_or(self.messages.len(), |entry| entry.messages.start);
        let reported = self.messages[trusted..].iter().enumerate().rev().find_map(|(at, message)| {
            let tokens = message.as_assistant().filter(|answer| !answer.is_failed())?.usage.context_tokens();
            (tokens > 0).then_some((trusted + at, tokens))
        });
        let (at, known) = reported?;
        let after: u64 = self.messages[at + 1..].iter().map(tokens::of_message).sum();
        Some(known.saturating_add(after))
    }

    /// The entry that a message, by its place, comes from.
    #[must_use]
    pub fn entry_of(&self, message: usize) -> Option<&ContextEntry> {
        let after = self.entries.partition_point(|entry| entry.messages.end <= message);
        self.entries.get(after)
    }
}

impl TreeView {
    /// The context of the leaf.
    ///
    /// Costs time in the length of what it shows, and parses what of it was never looked at: what was folded away costs
    /// nothing.
    #[must_use]
    pub fn context(&self) -> SessionContext {
        let (window, kept) = self.window();
        let edits = edits(&window);
        let edited = window.iter().rposition(|entry| entry.kind() == EntryKind::ContextEdit).map_or(0, |at| at + 1);
        let mut context = SessionContext { usage_from: kept.max(edited), ..SessionContext::default() };
        context.entries.reserve(window.len());
        context.messages.reserve(window.len());
        for (place, part) in window.iter().enumerate() {
            let first = context.messages.len();
            let checkpoint = place == 0 && part.kind() == EntryKind::Compaction;
            if shows(part.kind()) {
                let entry = part.entry();
                if is_unreadable(&entry) {
                    context.unreadable.push(part.id().clone());
                }
                project(&entry, edits.get(part.id()), checkpoint, &mut context.messages);
            }
            context.entries.push(ContextEntry {
                id: part.id().clone(),
                kind: part.kind(),
                messages: first..context.messages.len(),
            });
        }
        context
    }

    /// [`SessionContext::tokens`] of the leaf's context, without building it where a recent answer reported its length.
    #[must_use]
    pub fn context_tokens(&self) -> u64 {
        self.recent_tokens().unwrap_or_else(|| self.context().tokens())
    }

    /// What the last report says and an estimate of what came after it; none when a compaction or a context edit came
    /// later, or nothing was reported.
    fn recent_tokens(&self) -> Option<u64> {
        let mut after = 0u64;
        let mut messages = Vec::new();
        for part in self.ancestors() {
            if matches!(part.kind(), EntryKind::Compaction | EntryKind::ContextEdit) {
                break;
            }
            if !shows(part.kind()) {
                continue;
            }
            let entry = part.entry();
            let answer = entry.body.as_message().and_then(AgentMessage::as_assistant);
            let reported =
                answer.filter(|answer| !answer.is_failed()).map_or(0, |answer| answer.usage.context_tokens());
            if reported > 0 {
                return Some(reported.saturating_add(after));
            }
            messages.clear();
            project(&entry, None, false, &mut messages);
            after += messages.iter().map(tokens::of_message).sum::<u64>();
        }
        None
    }

    /// [`SessionContext::known_tokens`] of the leaf's context, without building it where a recent answer reported its
    /// length.
    #[must_use]
    pub fn known_tokens(&self) -> Option<u64> {
        self.recent_tokens().or_else(|| self.context().known_tokens())
    }

    /// The entries that the context of the leaf is made of: the last compaction of the branch, what it keeps, and
    /// what came after it; the whole branch when there is none.
    #[must_use]
    pub fn context_window(&self) -> Vec<EntryRef<'_>> {
        self.window().0
    }

    /// The entries of the context, and how many of them come from up to the last compaction.
    fn window(&self) -> (Vec<EntryRef<'_>>, usize) {
        let mut above = self.ancestors();
        let mut after = Vec::new();
        let checkpoint = above.by_ref().find(|entry| {
            let found = entry.kind() == EntryKind::Compaction;
            if !found {
                after.push(*entry);
            }
            found
        });
        after.reverse();
        let Some(checkpoint) = checkpoint else { return (after, 0) };
        let mut window = vec![checkpoint];
        // The checkpoint holds the prompt and the tools: system messages before it would say everything twice.
        let kept = self.kept_by(&checkpoint, above);
        window.extend(kept.into_iter().rev().filter(|entry| entry.kind() != EntryKind::Message(Role::System)));
        let old = window.len();
        window.append(&mut after);
        (window, old)
    }

    /// What a compaction keeps of the entries `above` it, the newest first.
    fn kept_by<'v>(
        &'v self,
        checkpoint: &EntryRef<'v>,
        above: impl Iterator<Item = EntryRef<'v>>,
    ) -> Vec<EntryRef<'v>> {
        let entry = checkpoint.entry();
        let EntryBody::Compaction { first_kept_entry_id, .. } = &entry.body else { return Vec::new() };
        // Without a look at the history when there is no such entry, or it is the compaction itself.
        if first_kept_entry_id == checkpoint.id() || self.find(first_kept_entry_id).is_none() {
            return Vec::new();
        }
        let mut kept = Vec::new();
        for entry in above {
            kept.push(entry);
            if entry.id() == first_kept_entry_id {
                return kept;
            }
        }
        Vec::new()
    }
}

/// The last edit of each entry that is edited in the window.
pub(super) fn edits(window: &[EntryRef<'_>]) -> HashMap<EntryId, Option<Replacement>> {
    let edits = window.iter().filter(|entry| entry.kind() == EntryKind::ContextEdit);
    edits
        .filter_map(|edit| match &edit.entry().body {
            EntryBody::ContextEdit { target_id, replacement } => Some((target_id.clone(), replacement.clone())),
            _ => None,
        })
        .collect()
}

/// False for entries that never give a message: they need not be parsed.
pub(super) fn shows(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Message(_) | EntryKind::CustomMessage | EntryKind::BranchSummary | EntryKind::Compaction)
}
