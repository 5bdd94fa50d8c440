//! The run state beside the session, as the machine's notes make it.

use crate::{
    actors::{
        queues::Pending,
        turn_io::{NewEntry, Note},
    },
    protocol::command::QueueKind,
};

/// What the next process finds of a trace and its queues.
#[derive(Clone, Debug, Default)]
pub struct RunState {
    pub active: bool,
    pub prompt: Option<Pending>,
    pub queued: Vec<(QueueKind, Pending)>,
    pub held: Vec<NewEntry>,
}

impl RunState {
    /// Takes a note.
    pub fn note(&mut self, note: &Note) {
        match note {
            Note::Started => self.active = true,
            Note::Settled => {
                self.active = false;
                self.prompt = None;
            }
            Note::Accepted { kind, pending } => match kind {
                None => self.prompt = Some(pending.clone()),
                Some(kind) => self.queued.push((*kind, pending.clone())),
            },
            Note::Held(entries) => self.held.extend(entries.clone()),
            Note::Cleared(ops) => self.queued.retain(|(_, pending)| !ops.contains(&pending.op)),
        }
    }
}
