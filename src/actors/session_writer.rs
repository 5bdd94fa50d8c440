//! The session writer of an agent: the only one who adds to the session, and to the journal of the running trace.
//!
//! It may wait for its own file: that is its work. After each append it publishes the session's tree. The session
//! itself is a handle that outlives the writer, so that the next incarnation goes on where a dead one stopped.

mod place;
mod resume_facts;
#[cfg(test)]
mod tests;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::{task::spawn_blocking, time::Instant};

pub use self::{
    place::{OnRefusal, SessionPlace},
    resume_facts::ResumeFacts,
};
use super::{
    address::Recipient,
    reply::{CommandResult, ReplyTo},
    shared::AgentShared,
    turn_io::{Input, NewEntry, Note, Work},
};
use crate::{
    protocol::{
        AgentMessage, AssistantMessage, CommandError, Entry, EntryBody, EntryId, Event, StopReason,
        command::{InputSource, QueueKind},
        event::NoticeLevel,
    },
    store::{
        StoreError, Syncer,
        session::{self, Appended, StoreNotice},
        settings::session::SessionSync,
        sidecar::{HeldEntry, InputKind, PendingInput, Record},
    },
};

/// How often a run that waits for the disk tries it.
const WAIT_STEP: Duration = Duration::from_millis(250);
/// How often what a disk refused is tried again while the run goes on, beside each append.
const SAVE_STEP: Duration = Duration::from_secs(5);

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
    /// Make another entry, or none, the leaf, and add entries below it, in one piece: the first thing that others learn
    /// of a move is that it lasts.
    Branch {
        /// The entry.
        leaf: Option<EntryId>,
        /// The entries; at least one.
        entries: Vec<NewEntry>,
        /// Who waits.
        to: Recipient<Result<Vec<Arc<Entry>>, String>>,
    },
    /// The trace is over: save what the disk refused, and make the session durable.
    Settled,
    /// Try once more what the disk refused.
    TryAgain,
    /// Do not wait for the disk any longer.
    GiveUp,
}

/// State of the writer.
pub struct WriterState {
    shared: Arc<AgentShared>,
    /// What waits for a disk that refuses.
    waiting: Option<WriterMsg>,
    /// Until when that waits.
    until: Option<Instant>,
    /// What came behind it.
    behind: VecDeque<WriterMsg>,
    /// A [`WriterMsg::TryAgain`] is under way for what is in memory only.
    saves_later: bool,
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
        Ok(WriterState { shared, waiting: None, until: None, behind: VecDeque::new(), saves_later: false })
    }

    async fn handle(
        &self,
        myself: ActorRef<WriterMsg>,
        message: WriterMsg,
        state: &mut WriterState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            WriterMsg::GiveUp => {
                state.until = state.until.map(|_| Instant::now());
                state.go_on(&myself).await;
            }
            WriterMsg::TryAgain => state.try_again(&myself).await,
            message if state.waiting.is_some() => state.behind.push_back(message),
            message => state.take(&myself, message).await,
        }
        Ok(())
    }
}

impl WriterState {
    async fn take(&mut self, myself: &ActorRef<WriterMsg>, message: WriterMsg) {
        match message {
            WriterMsg::Resume(to) => {
                self.note_what_is_there();
                // The loop that asked is gone: the next one asks again.
                let _ = to.deliver(Box::new(ResumeFacts::of(&self.shared.place)));
            }
            WriterMsg::Append { work, entries, to } => {
                let result = match self.append(myself, entries.clone()).await {
                    Err(error) if self.waits(&error) => {
                        return self.wait(myself, WriterMsg::Append { work, entries, to }, &error);
                    }
                    result => self.over(result),
                };
                // The loop that waits is gone: the next one sees the entries in the tree.
                let _ = to.deliver(Input::Stored { work, result });
            }
            WriterMsg::Notes(notes) => {
                if let Err(cause) = self.note(myself, notes) {
                    self.tell(format!("What is queued could not be saved: {cause}"));
                }
            }
            WriterMsg::Answer(reply, result) => reply.send(match self.shared.place.commit().await {
                Ok(()) => *result,
                Err(lost) => Err(CommandError::Store(lost.to_string())),
            }),
            WriterMsg::CallsStarted { entry, places, reply } => {
                let record = Record::Batch { entry_id: entry.clone(), places: places.clone() };
                let result = match self.mark(myself, record).await {
                    Err(error) if self.waits(&error) => {
                        return self.wait(myself, WriterMsg::CallsStarted { entry, places, reply }, &error);
                    }
                    result => self.over(result),
                };
                // The batch that waits is gone: its calls have not begun.
                let _ = reply.deliver(result);
            }
            WriterMsg::Branch { leaf, entries, to } => {
                let result = match self.branch(myself, leaf.as_ref(), entries.clone()).await {
                    Err(error) if self.waits(&error) => {
                        return self.wait(myself, WriterMsg::Branch { leaf, entries, to }, &error);
                    }
                    result => self.over(result),
                };
                // The loop that waits is gone: the next one sees the entries in the tree.
                let _ = to.deliver(result);
            }
            WriterMsg::Settled => {
                self.save(myself);
                if self.shared.place.sync != SessionSync::Never {
                    sync(self.shared.clone()).await;
                }
                if let Err(lost) = self.shared.place.commit().await {
                    self.tell(lost.to_string());
                }
            }
            WriterMsg::TryAgain | WriterMsg::GiveUp => {}
        }
    }

    /// Whether the run waits for what may pass.
    fn waits(&self, error: &StoreError) -> bool {
        match self.shared.place.on_refusal {
            OnRefusal::Wait(limit) if error.may_pass() => {
                !limit.is_zero() && self.until.is_none_or(|until| Instant::now() < until)
            }
            _ => false,
        }
    }

    /// Begins to wait for the disk, or waits on.
    fn wait(&mut self, myself: &ActorRef<WriterMsg>, message: WriterMsg, error: &StoreError) {
        if let (OnRefusal::Wait(limit), None) = (self.shared.place.on_refusal, self.until) {
            self.until = Some(Instant::now() + limit);
            let seconds = limit.as_secs_f32();
            self.tell(format!("The session cannot be saved: {error}. The run waits for that, {seconds} s at most."));
        }
        self.waiting = Some(message);
        myself.send_after(WAIT_STEP, || WriterMsg::TryAgain);
    }

    /// The result of what does not wait, or not any longer.
    fn over<T>(&mut self, result: Result<T, StoreError>) -> Result<T, String> {
        let waited = self.until.take().is_some();
        result
            .inspect(|_| {
                if waited {
                    self.tell("The session is saved again; the run goes on.".to_owned());
                }
            })
            .map_err(|error| {
                self.shared.place.note_failure();
                error.to_string()
            })
    }

    async fn try_again(&mut self, myself: &ActorRef<WriterMsg>) {
        if self.waiting.is_some() {
            return self.go_on(myself).await;
        }
        self.saves_later = false;
        self.save(myself);
    }

    /// Takes what waits for the disk, and what came behind it.
    async fn go_on(&mut self, myself: &ActorRef<WriterMsg>) {
        let mut next = self.waiting.take();
        while let Some(message) = next {
            self.take(myself, message).await;
            next = if self.waiting.is_some() { None } else { self.behind.pop_front() };
        }
    }

    /// Writes what the disk refused before, if there is anything.
    fn save(&mut self, myself: &ActorRef<WriterMsg>) {
        let notices = self.shared.place.store.save_again();
        self.report(myself, &notices);
    }

    /// Tells what happened to the file. While entries are in memory only, they are tried again.
    fn report(&mut self, myself: &ActorRef<WriterMsg>, notices: &[StoreNotice]) {
        let unsaved = self.shared.place.store.unsaved();
        for notice in notices {
            if matches!(notice, StoreNotice::NotSaved(_) | StoreNotice::Saved(_)) {
                let entries = unsaved.as_ref().map_or(0, |unsaved| unsaved.entries);
                let reason = unsaved.as_ref().map(|unsaved| unsaved.reason.clone());
                self.shared.publish(vec![Event::SavingChanged { unsaved: entries, reason }]);
            }
            self.tell(format!("Note: {notice}"));
        }
        if unsaved.is_some() && !std::mem::replace(&mut self.saves_later, true) {
            myself.send_after(SAVE_STEP, || WriterMsg::TryAgain);
        }
    }

    fn tell(&self, text: String) {
        tell(&self.shared, text);
    }

    async fn append(
        &mut self,
        myself: &ActorRef<WriterMsg>,
        entries: Vec<NewEntry>,
    ) -> Result<Vec<Arc<Entry>>, StoreError> {
        self.shared.place.still_ours()?;
        let reserved: Vec<EntryId> = entries.iter().filter_map(|entry| entry.reserved.clone()).collect();
        if !self.needs_no_files(&entries) {
            self.write_out(myself)?;
        }
        let appended = self.shared.place.store.append(None, stored_form(entries))?;
        let entries = self.publish(myself, appended).await?;
        if !reserved.is_empty() {
            self.note_delivery(&reserved);
        }
        Ok(entries)
    }

    async fn branch(
        &mut self,
        myself: &ActorRef<WriterMsg>,
        leaf: Option<&EntryId>,
        entries: Vec<NewEntry>,
    ) -> Result<Vec<Arc<Entry>>, StoreError> {
        self.shared.place.still_ours()?;
        self.write_out(myself)?;
        let appended = self.shared.place.store.branch(leaf, stored_form(entries))?;
        self.publish(myself, appended).await
    }

    /// Makes the files of a session that had nothing to say but what is told elsewhere.
    fn write_out(&mut self, myself: &ActorRef<WriterMsg>) -> Result<(), StoreError> {
        let notices = self.shared.place.write_out()?;
        self.report(myself, &notices);
        Ok(())
    }

    /// Whether what is told elsewhere, with these entries, is all that there is to say of a session that has no file yet:
    /// it begins, or it has its answer and is at rest with it.
    fn needs_no_files(&self, entries: &[NewEntry]) -> bool {
        let place = &self.shared.place;
        let is_said = |entry: &NewEntry| match &entry.body {
            EntryBody::Message { message: AgentMessage::Assistant(answer) } => is_final(answer),
            EntryBody::Message { message } => matches!(message, AgentMessage::System(_) | AgentMessage::User(_)),
            EntryBody::ModelChange { .. } | EntryBody::ThinkingLevelChange { .. } => true,
            _ => false,
        };
        !place.journal.is_kept_back() || place.store.saved_path().is_none() && entries.iter().all(is_said)
    }

    /// Notes in the journal what is about to begin.
    async fn mark(&mut self, myself: &ActorRef<WriterMsg>, record: Record) -> Result<(), StoreError> {
        self.shared.place.still_ours()?;
        self.write_out(myself)?;
        let marked = self.shared.place.journal.append(&[record]);
        if self.shared.place.sync != SessionSync::Never {
            sync(self.shared.clone()).await;
        }
        marked?;
        Ok(self.shared.place.commit().await?)
    }

    /// Shows others the session with what was added. Nobody sees what the copy elsewhere does not take.
    async fn publish(
        &mut self,
        myself: &ActorRef<WriterMsg>,
        appended: Appended,
    ) -> Result<Vec<Arc<Entry>>, StoreError> {
        if self.shared.place.sync == SessionSync::Entry {
            sync(self.shared.clone()).await;
        }
        self.shared.place.commit().await?;
        self.report(myself, &appended.notices);
        self.shared.tree.send_replace(Some(appended.view));
        Ok(appended.entries)
    }

    /// Takes out of the journal what a process stored and was killed before it could note so: nobody else would, and the
    /// journal would never be settled.
    fn note_what_is_there(&self) {
        let place = &self.shared.place;
        let (tree, state) = (place.store.view(), place.journal.state());
        let inputs = state.pending().filter_map(|input| input.entry_id.clone());
        let waiting = inputs.chain(state.held.iter().map(|held| held.entry_id.clone()));
        let there: Vec<EntryId> = waiting.filter(|id| tree.find(id).is_some()).collect();
        self.note_delivery(&there);
    }

    /// Notes that what waited in the journal is in the session.
    fn note_delivery(&self, reserved: &[EntryId]) {
        let state = self.shared.place.journal.state();
        let delivered = |input: &&PendingInput| input.entry_id.as_ref().is_some_and(|id| reserved.contains(id));
        let mut ops: Vec<String> = state.pending().filter(delivered).map(|input| input.op.clone()).collect();
        let held = state.held.iter().filter(|held| reserved.contains(&held.entry_id));
        ops.extend(held.map(|held| held.entry_id.to_string()));
        if !ops.is_empty()
            && let Err(error) = self.shared.place.journal.append(&[Record::Delivered { ops }])
        {
            // The entries themselves tell that they were delivered.
            tracing::debug!(%error, "the journal was not told of a delivery");
        }
    }

    fn note(&mut self, myself: &ActorRef<WriterMsg>, notes: Vec<Note>) -> Result<(), String> {
        for note in &notes {
            if let Note::Accepted { kind, pending } = note {
                self.shared.place.accepted().insert(pending.op.clone(), kind.is_none());
            }
        }
        let records: Vec<Record> = notes.into_iter().flat_map(records).collect();
        self.shared.place.journal.append(&records).map_err(|error| error.to_string())?;
        match self.shared.place.journal.is_kept_back() {
            true => Ok(()),
            // The session goes along with its journal.
            false => self.write_out(myself).map_err(|error| error.to_string()),
        }
    }
}

fn tell(shared: &AgentShared, text: String) {
    shared.publish(vec![Event::Notice { level: NoticeLevel::Warning, text }]);
}

/// Returns when what was written is on the disk. What lives in memory does not wait.
async fn sync(shared: Arc<AgentShared>) {
    let (session, journal) = (shared.place.store.syncer(), shared.place.journal.syncer());
    let files: Vec<_> = session.into_iter().chain(journal).collect();
    if files.is_empty() {
        return;
    }
    // Waits for the disk in a thread of its own: the runtime's threads have other work.
    match spawn_blocking(move || files.iter().try_for_each(Syncer::sync)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tell(&shared, format!("The session could not be made durable: {error}")),
        Err(error) => tracing::warn!(%error, "the sync was cancelled"),
    }
}

/// Whether a trace ends with this answer, as a rule: nothing is to be run or tried again.
fn is_final(answer: &AssistantMessage) -> bool {
    answer.stop_reason == StopReason::Stop && answer.tool_calls().next().is_none()
}

fn stored_form(entries: Vec<NewEntry>) -> Vec<session::NewEntry> {
    entries.into_iter().map(|entry| session::NewEntry { body: entry.body, id: entry.reserved }).collect()
}

/// The journal's lines for a note; none for a message that no user wrote.
fn records(note: Note) -> Vec<Record> {
    match note {
        Note::Accepted { kind, pending } => {
            let AgentMessage::User(message) = &pending.message else { return Vec::new() };
            vec![Record::Input(PendingInput {
                op: pending.op,
                kind: match kind {
                    None => InputKind::Prompt,
                    Some(QueueKind::Steer) => InputKind::Steer,
                    Some(QueueKind::FollowUp) => InputKind::FollowUp,
                },
                entry_id: Some(pending.entry_id),
                content: message.content.clone(),
                source: InputSource::default(),
            })]
        }
        Note::Held(entries) => entries
            .into_iter()
            .filter_map(|entry| Some(Record::Held(HeldEntry { entry_id: entry.reserved?, body: entry.body })))
            .collect(),
        Note::Cleared(ops) => vec![Record::Cleared { ops }],
        Note::Started => vec![Record::Started],
        Note::Settled => vec![Record::Settled],
    }
}
