//! Moves of the conversation to another place of the session, by an undo or by navigation: the machine is put aside, the
//! writer moves the leaf, and the machine begins anew from there, as after a restart.

use std::{mem, sync::Arc};

use ractor::ActorRef;

use super::{LoopMsg, LoopState, restored::Restored};
use crate::{
    actors::{
        address::Recipient,
        navigation,
        reply::ReplyTo,
        session_writer::WriterMsg,
        turn::{Turn, events_of},
        turn_io::{NewEntry, Ticket},
    },
    protocol::{
        Command, CommandError, Entry, EntryBody, EntryId, Event, Reply,
        checkpoint::UndoReport,
        navigation::{Navigate, Navigated},
    },
};

/// The machine, put aside. Commands that come meanwhile wait, as they do before the loop knows where things stand.
pub(super) struct Aside {
    pub turn: Turn,
    pub reply: ReplyTo,
    pub doing: Doing,
}

/// What goes on while the machine is put aside.
pub(super) enum Doing {
    /// A worker restores files.
    Restoring(ractor::ActorId),
    /// The compactor asks extensions about a move, and has what is left summarised. The number tells its answer from
    /// that to an older question.
    Leaving { number: Ticket, ask: Navigate, place: navigation::Place },
    /// The writer moves the leaf; then this is selected.
    Moving(Arrival, Restored),
    /// The leaf is moved, these entries were stored, and the writer is asked where things stand.
    Arriving(Arrival, Vec<Arc<Entry>>),
}

/// What is told when the conversation is at its new place.
pub(super) enum Arrival {
    /// Changes of files were undone.
    Undone(UndoReport),
    /// Somebody wanted to go there.
    Navigated {
        old_leaf: Option<EntryId>,
        editor_text: Option<String>,
        /// An extension wrote the summary.
        from_extension: Option<bool>,
    },
}

/// Whether a command can be carried out while the machine is put aside: it has nothing to do with the conversation, and
/// what goes on may wait for it.
fn passes(command: &Command) -> bool {
    matches!(command, Command::Answer { .. } | Command::SetPermissionMode(_) | Command::AbortBash | Command::Jobs(_))
}

impl LoopState {
    /// Puts the machine aside when it is idle; none while a trace or a compaction runs, and while words come in.
    pub(super) fn put_aside(&mut self) -> Option<Turn> {
        let turn = self.turn.take_if(|turn| turn.is_idle() && self.intake.is_empty())?;
        self.shared.phase.send_replace("moving");
        Some(turn)
    }

    /// A command that comes while the machine is put aside, or before there is one.
    pub(super) async fn meanwhile(&mut self, myself: &ActorRef<LoopMsg>, command: Command, reply: ReplyTo) {
        match command {
            Command::Abort if self.is_leaving() => {
                self.stay(myself).await;
                reply.send(Ok(Reply::Done));
            }
            // A summary may take a minute, and nobody knows yet on which branch these would be.
            Command::Prompt { .. } | Command::Compact { .. } | Command::Navigate(_) | Command::Undo(_)
                if self.is_leaving() =>
            {
                let text = "The conversation is about to go to another entry. Wait for it, or abort it.";
                reply.send(Err(CommandError::Refused(text.into())));
            }
            command if passes(&command) => self.command(myself, command, reply).await,
            command => self.early.push((command, reply)),
        }
    }

    /// Has the writer move the leaf and add entries below it.
    pub(super) fn move_to(
        &mut self,
        turn: Turn,
        reply: ReplyTo,
        leaf: Option<EntryId>,
        mut entries: Vec<NewEntry>,
        arrival: Arrival,
    ) {
        let restored = match self.shared.tree().and_then(|tree| tree.with_leaf(leaf.as_ref())) {
            Some(branch) => self.restored(&branch),
            None => Restored::default(),
        };
        entries.extend(restored.entries.iter().cloned().map(NewEntry::from));
        self.aside = Some(Aside { turn, reply, doing: Doing::Moving(arrival, restored) });
        let to = Recipient::new(self.me.clone(), LoopMsg::Moved);
        self.shared.writer.tell(WriterMsg::Branch { leaf, entries, to });
    }

    /// The writer has moved the leaf, or could not.
    pub(super) async fn moved(&mut self, myself: &ActorRef<LoopMsg>, result: Result<Vec<Arc<Entry>>, String>) {
        let Some(Aside { turn, reply, doing: Doing::Moving(arrival, restored) }) = self.aside.take() else { return };
        match result {
            Ok(entries) => {
                self.aside = Some(Aside { turn, reply, doing: Doing::Arriving(arrival, entries) });
                self.select_restored(restored);
                let to = Recipient::new(self.me.clone(), LoopMsg::Resume);
                self.shared.writer.tell(WriterMsg::Resume(to));
            }
            Err(cause) => {
                reply.send(Err(CommandError::Store(format!("The conversation stays where it is: {cause}"))));
                self.take_back(myself, turn).await;
            }
        }
    }

    /// The machine goes on where it was put aside; nothing came meanwhile.
    pub(super) fn give_back(&mut self, turn: Turn) {
        self.shared.phase.send_replace(turn.phase());
        self.turn = Some(turn);
    }

    /// The machine goes on where it was put aside, with the commands that came meanwhile.
    pub(super) async fn take_back(&mut self, myself: &ActorRef<LoopMsg>, turn: Turn) {
        self.give_back(turn);
        self.early_commands(myself).await;
    }

    /// The machine that was put aside for a move that is done, and what is to be told.
    pub(super) fn arriving(&mut self) -> Option<(Turn, ReplyTo, Arrival, Vec<Arc<Entry>>)> {
        match self.aside.take()? {
            Aside { turn, reply, doing: Doing::Arriving(arrival, entries) } => Some((turn, reply, arrival, entries)),
            other => {
                self.aside = Some(other);
                None
            }
        }
    }

    /// Tells that the conversation is at its new place.
    pub(super) fn tell_arrival(&self, reply: ReplyTo, arrival: Arrival, entries: &[Arc<Entry>]) {
        let mut events: Vec<Event> = entries.iter().flat_map(events_of).collect();
        let value = match arrival {
            Arrival::Undone(report) => Reply::Undone(report),
            Arrival::Navigated { old_leaf, editor_text, from_extension } => {
                let new_leaf = entries.last().map(|entry| entry.id.clone());
                let is_summary = |entry: &&Arc<Entry>| matches!(entry.body, EntryBody::BranchSummary { .. });
                let summary = entries.iter().find(is_summary).cloned();
                events.push(Event::SessionTree {
                    new_leaf: new_leaf.clone(),
                    old_leaf,
                    summary: summary.clone(),
                    from_extension,
                });
                Reply::Navigated(Box::new(Navigated {
                    editor_text,
                    summary_entry: summary,
                    leaf_id: new_leaf,
                    ..Navigated::default()
                }))
            }
        };
        self.shared.publish(events);
        reply.send(Ok(value));
    }

    pub(super) async fn early_commands(&mut self, myself: &ActorRef<LoopMsg>) {
        let mut early = mem::take(&mut self.early).into_iter();
        while let Some((command, reply)) = early.next() {
            self.command(myself, command, reply).await;
            if self.turn.is_none() {
                // It was a move: the rest waits for that one.
                self.early.extend(early);
                return;
            }
        }
    }
}
