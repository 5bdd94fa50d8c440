//! What a new incarnation of the loop is told.

use std::{collections::HashMap, sync::Arc};

use super::SessionPlace;
use crate::{
    actors::{queues::Pending, turn_io::NewEntry},
    protocol::{AgentMessage, EntryId, UserMessage, command::QueueKind, time::now_ms},
    store::{
        sidecar::{InputKind, PendingInput, RunState},
        tree::TreeView,
    },
};

/// What a new incarnation of the loop is told.
#[derive(Debug)]
pub struct ResumeFacts {
    /// The session.
    pub tree: TreeView,
    /// A trace was running and is to go on.
    pub active: bool,
    /// Its prompt, when it is not stored yet.
    pub prompt: Option<Pending>,
    /// What waits, in order.
    pub queued: Vec<(QueueKind, Pending)>,
    /// Entries that waited for the end of a trace, in order.
    pub held: Vec<NewEntry>,
    /// Calls that had begun, by the entry of their message.
    pub started: HashMap<EntryId, Vec<usize>>,
    /// Operations that were accepted, and whether each began a trace.
    pub accepted: HashMap<String, bool>,
}

impl ResumeFacts {
    /// How things stand.
    pub(super) fn of(place: &SessionPlace) -> Self {
        let tree = place.store.view();
        let first = place.is_first_look();
        let state: RunState = place.journal.state();
        let active = state.active && !first;
        let waits = |input: &&PendingInput| input.entry_id.as_ref().is_none_or(|id| tree.find(id).is_none());
        let mut prompts = state.prompts.iter().filter(waits).map(pending);
        let prompt = if active { prompts.next() } else { None };
        // A prompt that another process accepted and did not begin comes back as a queued message.
        let mut queued: Vec<(QueueKind, Pending)> = prompts.map(|pending| (QueueKind::Steer, pending)).collect();
        queued.extend(state.steering.iter().filter(waits).map(|input| (QueueKind::Steer, pending(input))));
        queued.extend(state.follow_ups.iter().filter(waits).map(|input| (QueueKind::FollowUp, pending(input))));
        let held = state.held.iter().filter(|held| tree.find(&held.entry_id).is_none());
        let held =
            held.map(|held| NewEntry { body: held.body.clone(), reserved: Some(held.entry_id.clone()) }).collect();
        let started =
            state.begun.iter().map(|(entry, places)| (entry.clone(), places.iter().copied().collect())).collect();
        let mut accepted = place.accepted().clone();
        accepted.extend(state.pending().map(|input| (input.op.clone(), input.kind == InputKind::Prompt)));
        Self { tree, active, prompt, queued, held, started, accepted }
    }
}

fn pending(input: &PendingInput) -> Pending {
    let message = UserMessage { content: input.content.clone(), timestamp: now_ms() };
    Pending {
        op: input.op.clone(),
        entry_id: input.entry_id.clone().unwrap_or_else(|| EntryId::from(input.op.as_str())),
        text: input.content.text(""),
        message: AgentMessage::User(Arc::new(message)),
    }
}
