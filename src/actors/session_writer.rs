//! The session writer of an agent: the only one who adds to the session, and to the journal of the running trace.
//!
//! It may wait for its own file: that is its work. After each append it publishes the session's tree. The session
//! itself is a handle that outlives the writer, so that the next incarnation goes on where a dead one stopped.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::{
    address::Recipient,
    queues::Pending,
    reply::{CommandResult, ReplyTo},
    shared::AgentShared,
    turn_io::{Input, NewEntry, Note, Work},
};
use crate::{
    protocol::{
        AgentMessage, Entry, EntryId, Event, UserMessage,
        command::{InputSource, QueueKind},
        event::NoticeLevel,
        time::now_ms,
    },
    store::{
        session::{self, SessionStore},
        sidecar::{InputKind, PendingInput, Record, RunState, Sidecar},
        tree::TreeView,
    },
    tools::Checkpoints,
};

/// Where an agent's session is.
pub struct SessionPlace {
    /// The session.
    pub store: SessionStore,
    /// The journal of its running trace.
    pub journal: Sidecar,
    /// Checkpoints of the files that its tools change, where they are taken.
    pub checkpoints: Option<Checkpoints>,
    /// Another process may have left a trace unfinished; this one does not go on with it by itself.
    opened: AtomicBool,
    /// Operations that this process accepted, and whether each began a trace. Whoever got no answer repeats one, also
    /// when its message has left the journal for the session meanwhile.
    accepted: Mutex<HashMap<String, bool>>,
}

impl SessionPlace {
    /// A session that this process has just opened.
    #[must_use]
    pub fn new(store: SessionStore, journal: Sidecar) -> Self {
        Self { store, journal, checkpoints: None, opened: AtomicBool::new(false), accepted: Mutex::default() }
    }

    /// The same with checkpoints.
    #[must_use]
    pub fn with_checkpoints(self, checkpoints: Option<Checkpoints>) -> Self {
        Self { checkpoints, ..self }
    }

    fn accepted(&self) -> MutexGuard<'_, HashMap<String, bool>> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session's file, existing or planned; none in memory.
    #[must_use]
    pub fn file(&self) -> Option<String> {
        self.store.path().map(|path| path.display().to_string())
    }
}

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
    /// Calls that had begun, by the entry of their message.
    pub started: HashMap<EntryId, Vec<usize>>,
    /// Operations that were accepted, and whether each began a trace.
    pub accepted: HashMap<String, bool>,
}

/// What the writer is told.
pub enum WriterMsg {
    /// Where do things stand? Answered behind everything that was sent before.
    Resume(Recipient<Box<ResumeFacts>>),
    /// Add entries, in one piece.
    Append {
        /// The work that waits.
        work: Work,
        /// The entries.
        entries: Vec<NewEntry>,
        /// Who waits.
        to: Recipient<Input>,
    },
    /// Note something about the running trace, in one piece.
    Notes(Vec<Note>),
    /// Answer a command. The answer queues behind the notes that it stands on, and is lost with them.
    Answer(ReplyTo, Box<CommandResult>),
    /// Calls begin.
    CallsStarted {
        /// The message's entry.
        entry: EntryId,
        /// Their places.
        places: Vec<usize>,
        /// Who waits.
        reply: Recipient<Result<(), String>>,
    },
    /// Another entry, or none, is the one that the next will hang on.
    MoveLeaf(Option<EntryId>),
    /// Make the session durable.
    Sync,
}

/// State of the writer.
pub struct WriterState {
    shared: Arc<AgentShared>,
}

/// The actor.
pub struct SessionWriter;

impl Actor for SessionWriter {
    type Msg = WriterMsg;
    type State = WriterState;
    type Arguments = Arc<AgentShared>;

    async fn pre_start(
        &self,
        _: ActorRef<WriterMsg>,
        shared: Arc<AgentShared>,
    ) -> Result<WriterState, ActorProcessingErr> {
        shared.tree.send_replace(Some(shared.place.store.view()));
        Ok(WriterState { shared })
    }

    async fn handle(
        &self,
        _: ActorRef<WriterMsg>,
        message: WriterMsg,
        state: &mut WriterState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            WriterMsg::Resume(to) => {
                // The loop that asked is gone: the next one asks again.
                let _ = to.deliver(Box::new(state.resume_facts()));
            }
            WriterMsg::Append { work, entries, to } => {
                let result = state.append(entries);
                // The loop that waits is gone: the next one sees the entries in the tree.
                let _ = to.deliver(Input::Stored { work, result });
            }
            WriterMsg::Notes(notes) => {
                if let Err(cause) = state.note(notes) {
                    state.tell(format!("What is queued could not be saved: {cause}"));
                }
            }
            WriterMsg::Answer(reply, result) => reply.send(*result),
            WriterMsg::CallsStarted { entry, places, reply } => {
                let record = Record::Batch { entry_id: entry, places };
                let result = state.shared.place.journal.append(&[record]);
                // The batch that waits is gone: its calls have not begun.
                let _ = reply.deliver(result.map_err(|error| error.to_string()));
            }
            WriterMsg::MoveLeaf(leaf) => match state.shared.place.store.move_leaf(leaf.as_ref()) {
                Ok(view) => drop(state.shared.tree.send_replace(Some(view))),
                Err(error) => state.tell(format!("The conversation did not go back: {error}")),
            },
            WriterMsg::Sync => {
                let store = state.shared.place.store.clone();
                // Waits for the disk in a thread of its own: the runtime's threads have other work.
                match tokio::task::spawn_blocking(move || store.sync()).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => state.tell(format!("The session could not be made durable: {error}")),
                    Err(error) => tracing::warn!(%error, "the sync was cancelled"),
                }
            }
        }
        Ok(())
    }
}

impl WriterState {
    fn tell(&self, text: String) {
        self.shared.publish(vec![Event::Notice { level: NoticeLevel::Warning, text }]);
    }

    fn append(&self, entries: Vec<NewEntry>) -> Result<Vec<Arc<Entry>>, String> {
        let reserved: Vec<EntryId> = entries.iter().filter_map(|entry| entry.reserved.clone()).collect();
        let entries =
            entries.into_iter().map(|entry| session::NewEntry { body: entry.body, id: entry.reserved }).collect();
        let appended = self.shared.place.store.append(None, entries).map_err(|error| error.to_string())?;
        for notice in &appended.notices {
            self.tell(format!("Note: {notice}"));
        }
        self.shared.tree.send_replace(Some(appended.view));
        if !reserved.is_empty() {
            let state = self.shared.place.journal.state();
            let delivered = |input: &&PendingInput| input.entry_id.as_ref().is_some_and(|id| reserved.contains(id));
            let ops: Vec<String> = state.pending().filter(delivered).map(|input| input.op.clone()).collect();
            if !ops.is_empty()
                && let Err(error) = self.shared.place.journal.append(&[Record::Delivered { ops }])
            {
                // The entries themselves tell that they were delivered.
                tracing::debug!(%error, "the journal was not told of a delivery");
            }
        }
        Ok(appended.entries)
    }

    fn note(&self, notes: Vec<Note>) -> Result<(), String> {
        for note in &notes {
            if let Note::Accepted { kind, pending } = note {
                self.shared.place.accepted().insert(pending.op.clone(), kind.is_none());
            }
        }
        let records: Vec<Record> = notes.into_iter().filter_map(record).collect();
        self.shared.place.journal.append(&records).map_err(|error| error.to_string())
    }

    fn resume_facts(&self) -> ResumeFacts {
        let place = &self.shared.place;
        let tree = place.store.view();
        let first = !place.opened.swap(true, Ordering::Relaxed);
        let state: RunState = place.journal.state();
        let active = state.active && !first;
        let waits = |input: &&PendingInput| input.entry_id.as_ref().is_none_or(|id| tree.find(id).is_none());
        let mut prompts = state.prompts.iter().filter(waits).map(pending);
        let prompt = if active { prompts.next() } else { None };
        // A prompt that another process accepted and did not begin comes back as a queued message.
        let mut queued: Vec<(QueueKind, Pending)> = prompts.map(|pending| (QueueKind::Steer, pending)).collect();
        queued.extend(state.steering.iter().filter(waits).map(|input| (QueueKind::Steer, pending(input))));
        queued.extend(state.follow_ups.iter().filter(waits).map(|input| (QueueKind::FollowUp, pending(input))));
        let started =
            state.begun.iter().map(|(entry, places)| (entry.clone(), places.iter().copied().collect())).collect();
        let mut accepted = place.accepted().clone();
        accepted.extend(state.pending().map(|input| (input.op.clone(), input.kind == InputKind::Prompt)));
        ResumeFacts { tree, active, prompt, queued, started, accepted }
    }
}

/// The journal's line for a note; none for a message that no user wrote.
fn record(note: Note) -> Option<Record> {
    Some(match note {
        Note::Accepted { kind, pending } => {
            let AgentMessage::User(message) = &pending.message else { return None };
            Record::Input(PendingInput {
                op: pending.op,
                kind: match kind {
                    None => InputKind::Prompt,
                    Some(QueueKind::Steer) => InputKind::Steer,
                    Some(QueueKind::FollowUp) => InputKind::FollowUp,
                },
                entry_id: Some(pending.entry_id),
                content: message.content.clone(),
                source: InputSource::default(),
            })
        }
        Note::Cleared(ops) => Record::Cleared { ops },
        Note::Started => Record::Started,
        Note::Settled => Record::Settled,
    })
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
