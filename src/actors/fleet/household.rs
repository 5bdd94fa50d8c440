//! The fleet's side of families: spawns, messages, ends. It decides and tells; what takes time is done by workers.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ractor::{ActorId, ActorRef};

use super::{
    FleetMsg, FleetState,
    ending::{EndWork, Ending, empty},
    family_msg::{Answer, FamilyMsg, Noted},
    lookout::{Lookout, LookoutMsg},
    making::{MakeWork, Making},
    stopping::Stops,
    waits::Waits,
};
use crate::{
    actors::{
        account::Exhausted,
        address::{Addr, Recipient},
        family_board::{Admission, FamilyBoard, Member},
        family_notes::{END_CHARS, Note, SpawnNote, TaskNote, usage_entry},
        reply::{CommandResult, ReplyTo},
        session_writer::WriterMsg,
        shared::AgentShared,
        spawn::spawn_worker,
        turn_io::{Input as TurnInput, NewEntry},
        turn_loop::LoopMsg,
    },
    protocol::{
        Command, CommandError, EntryId, Event,
        command::{Input, QueueKind},
        sibling::{
            Isolation, Outcome, Receipt, SendMode, SiblingEnd, SiblingError, SiblingId, SiblingSpec, SiblingState,
            SpawnReceipt,
        },
    },
    store::{session::session_id, tree::ids::fresh_id},
    tools::truncate::cut_to_units,
};

/// How long the fleet waits before it tries again what an actor that was just restarted did not take.
const AGAIN: Duration = Duration::from_millis(100);
/// How long it waits before a note that the disk refused is tried again.
const NOTE_AGAIN: Duration = Duration::from_millis(500);

/// An agent of a family, for the fleet: the root's name and the id.
pub(super) type Who = (Arc<str>, SiblingId);

/// What the fleet remembers of families beside their boards. A restarted fleet does without it.
#[derive(Default)]
pub(super) struct Households {
    workers: HashMap<ActorId, (Who, Work)>,
    /// Those that are being made, for whom nobody made an agent yet.
    making: HashSet<Who>,
    spawning: HashMap<Who, Answer<SpawnReceipt>>,
    /// Messages that came while their receiver was between two states.
    deferred: HashMap<Who, Vec<(String, SendMode, Answer<Receipt>)>>,
    /// Who waits to hear that a message began a task.
    sending: HashMap<Who, Answer<Receipt>>,
    /// Tasks whose end is being looked at or stored.
    ending: HashMap<Who, Option<StoredEnd>>,
    pub(super) waits: Waits,
    pub(super) stops: Stops,
    lookout: Option<Addr<LookoutMsg>>,
}

/// A worker of a family.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Making,
    Ending,
}

/// An end on its way into the parent's session, under the ids that it has there: stored twice, it would count twice.
#[derive(Clone)]
struct StoredEnd {
    end: Box<SiblingEnd>,
    ids: Vec<EntryId>,
}

impl FleetState {
    pub(super) async fn family(&mut self, myself: &ActorRef<FleetMsg>, message: FamilyMsg) {
        match message {
            FamilyMsg::Spawn { parent, spec, reply } => self.spawn_child(myself, &parent, *spec, reply).await,
            FamilyMsg::Made { root, id, result } => self.made(myself, (root, id), result).await,
            FamilyMsg::Noted { root, id, then, result } => self.noted(myself, (root, id), then, result).await,
            FamilyMsg::Begun { root, id, task, result } => self.begun(myself, (root, id), task, result).await,
            FamilyMsg::Settled(root, id) => self.child_settled(myself, &(root, id)).await,
            FamilyMsg::Looked { root, end } => self.looked(myself, &root, end),
            FamilyMsg::NoteAgain(root, id) => self.note_end(myself, &(root, id)),
            FamilyMsg::Send { parent, id, text, mode, reply } => {
                self.send_message(myself, &parent, &id, text, mode, reply).await;
            }
            FamilyMsg::Wait { parent, about, mode, limit, reply } => {
                let Some(agent) = self.agent(&parent) else { return drop(reply.send(Err(SiblingError::Lost))) };
                let number = self.households.waits.add(&agent.kin, about, mode, reply);
                if let (Some(number), Some(limit)) = (number, limit) {
                    myself.send_after(limit, move || FleetMsg::Family(Box::new(FamilyMsg::WaitOver(number))));
                }
            }
            FamilyMsg::WaitOver(number) => self.households.waits.over(number),
            FamilyMsg::Stop { parent, ids, reason, grace, fate, reply } => {
                self.stop_siblings(myself, &parent, &ids, (&reason, grace, fate), reply).await;
            }
            FamilyMsg::Hold { parent, ids, paused, reply } => {
                let result = self.hold(&parent, &ids, paused);
                drop(reply.send(result));
            }
            FamilyMsg::Held(root, id) => self.held(myself, &(root, id)),
            FamilyMsg::GraceOver(root, id) => self.close_child(myself, &(root, id)),
            FamilyMsg::TimeOver(root, id) => self.time_over(myself, &(root, id)),
            FamilyMsg::Cleared(root, id) => self.note_gone(myself, &(root, id)),
            FamilyMsg::Notice(root, level, text) => {
                if let Some(root) = self.agent(&root) {
                    root.publish(vec![Event::Notice { level, text }]);
                }
            }
            FamilyMsg::WorkerGone(id) => self.worker_gone(myself, id).await,
        }
    }

    pub(super) fn agent(&self, name: &str) -> Option<Arc<AgentShared>> {
        self.agents.get(name).map(|entry| entry.value().clone())
    }

    pub(super) fn board(&self, root: &str) -> Option<Arc<FamilyBoard>> {
        self.agent(root).map(|root| root.kin.board.clone())
    }

    pub(super) fn look<T>(&self, who: &Who, look: impl FnOnce(&Member) -> T) -> Option<T> {
        self.board(&who.0)?.look(&who.1, look)
    }

    pub(super) fn change<T>(&self, who: &Who, change: impl FnOnce(&mut Member) -> T) -> Option<T> {
        self.board(&who.0)?.change(&who.1, change)
    }

    pub(super) fn live(&self, who: &Who) -> Option<Arc<AgentShared>> {
        self.look(who, |member| member.live().cloned()).flatten()
    }

    /// The parent of an agent, when it is open.
    pub(super) fn parent_of(&self, who: &Who) -> Option<Arc<AgentShared>> {
        let root = self.agent(&who.0)?;
        self.agent(&root.kin.agent(&who.1.parent()?))
    }

    async fn spawn_child(
        &mut self,
        myself: &ActorRef<FleetMsg>,
        parent: &Arc<str>,
        spec: SiblingSpec,
        reply: Answer<SpawnReceipt>,
    ) {
        let ending = self.closing.is_some() || self.leaving.contains_key(parent);
        let Some(parent) = self.agent(parent).filter(|_| !ending) else { return drop(reply.send(Err(SiblingError::Lost))) };
        if let Some(reason) = &parent.place.read_only {
            return drop(reply.send(Err(SiblingError::Refused(reason.clone()))));
        }
        let session_id = session_id();
        let note = SpawnNote {
            id: SiblingId::root(),
            session: parent.place.store.view().header().id.clone(),
            entry: EntryId::from(session_id.get(session_id.len() - 8..).unwrap_or("00000001")),
            session_file: None,
            session_id,
            spec,
        };
        let file = parent.place.store.path();
        let board = &parent.kin.board;
        match board.admit(&parent.kin, note, file.as_deref()) {
            Ok(Admission::New(id)) => {
                let who = (parent.kin.root.clone(), id);
                self.households.spawning.insert(who.clone(), reply);
                self.make(myself, parent, &who).await;
            }
            Ok(Admission::Existing(receipt)) => drop(reply.send(Ok(receipt))),
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    /// Has a worker make an agent that has its place on the board.
    async fn make(&mut self, myself: &ActorRef<FleetMsg>, parent: Arc<AgentShared>, who: &Who) {
        let Some((note, account)) = self.look(who, |member| (member.note().clone(), member.account.clone())) else {
            return;
        };
        if !self.households.making.insert(who.clone()) {
            return;
        }
        let work = MakeWork { parent, note, account, to: Addr::of(myself) };
        match spawn_worker("MakeSibling", who.1.to_string(), Making, (), work, myself.get_cell()).await {
            Ok(worker) => drop(self.households.workers.insert(worker.id(), (who.clone(), Work::Making))),
            Err(exit) => self.made(myself, who.clone(), Err(exit.cause().to_owned())).await,
        }
    }

    async fn made(&mut self, myself: &ActorRef<FleetMsg>, who: Who, result: Result<Arc<AgentShared>, String>) {
        if !self.households.making.remove(&who) {
            return;
        }
        let stopped = self.look(&who, |member| member.stopping().map(str::to_owned)).flatten();
        let result = match stopped {
            Some(reason) => Err(format!("it was stopped: {reason}")),
            None => result,
        };
        match result {
            Ok(agent) => {
                self.change(&who, |member| member.made(agent.clone()));
                if !self.households.spawning.contains_key(&who) {
                    return self.begin(myself, &who).await;
                }
                let Some(note) = self.look(&who, |member| member.note().clone()) else { return };
                self.note(myself, &who, vec![Note::Spawn(Box::new(note)).entry().into()], Noted::Spawned);
            }
            Err(cause) => match self.households.spawning.remove(&who) {
                // Nobody but the one who spawned it knows of it.
                Some(reply) => {
                    self.withdraw(&who);
                    drop(reply.send(Err(SiblingError::NotMade(cause))));
                }
                None => self.fail(myself, &who, &cause),
            },
        }
    }

    fn withdraw(&mut self, who: &Who) {
        if let Some(board) = self.board(&who.0) {
            board.withdraw(&who.1);
        }
        self.households.stops.gone(&who.0, &who.1);
        self.look_at_stops();
    }

    /// Stores entries in the session of an agent's parent; what follows comes back as [`FamilyMsg::Noted`].
    pub(super) fn note(&self, myself: &ActorRef<FleetMsg>, who: &Who, entries: Vec<NewEntry>, then: Noted) {
        let parent = self.parent_of(who);
        let duty = NoteDuty { to: Addr::of(myself), who: who.clone(), then: Mutex::new(Some(then)) };
        // A duty that is dropped answers that it is not fulfilled.
        let Some(parent) = parent else { return };
        let events = parent.clone();
        let to = Recipient::from_fn(move |input| {
            if let TurnInput::Stored { result, .. } = input {
                duty.done(result.map(|entries| {
                    events.publish(entries.into_iter().map(|entry| Event::EntryAppended { entry }).collect());
                }));
            }
            true
        });
        drop(parent.writer.try_tell(WriterMsg::Append { work: 0, entries, to }));
    }

    async fn noted(&mut self, myself: &ActorRef<FleetMsg>, who: Who, then: Noted, result: Result<(), String>) {
        match (then, result) {
            (Noted::Spawned, Ok(())) => self.begin(myself, &who).await,
            (Noted::Spawned, Err(cause)) => {
                self.withdraw(&who);
                if let Some(reply) = self.households.spawning.remove(&who) {
                    drop(reply.send(Err(SiblingError::NotStored(cause))));
                }
            }
            (Noted::Task { .. }, Ok(())) => match self.live(&who) {
                Some(_) => self.give_task(myself, &who),
                None => self.make_again(myself, &who).await,
            },
            (Noted::Task { task }, Err(cause)) => {
                if let Some(reply) = self.households.sending.remove(&who) {
                    drop(reply.send(Err(SiblingError::NotStored(cause))));
                }
                self.change(&who, |member| member.take_task_back(task));
            }
            (Noted::Ended(end), Ok(())) => self.told(myself, &who, *end).await,
            (Noted::Ended(_), Err(_)) if self.is_end_stored(&who) || self.parent_of(&who).is_none() => {
                let stored = self.households.ending.get(&who).cloned().flatten();
                if let Some(stored) = stored {
                    self.told(myself, &who, *stored.end).await;
                }
            }
            (Noted::Ended(_), Err(cause)) => {
                tracing::warn!(agent = %who.1, cause, "an end could not be stored; it is tried again");
                let (root, id) = who;
                myself.send_after(NOTE_AGAIN, || FleetMsg::Family(Box::new(FamilyMsg::NoteAgain(root, id))));
            }
            // Whoever reads the session finds an agent that takes messages; it is made when it gets one.
            (Noted::Gone, _) => self.gone_for_good(&who),
        }
    }

    /// An agent of an earlier process, or one that was closed in this one, is needed.
    async fn make_again(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        if let Some(parent) = self.parent_of(who) {
            self.make(myself, parent, who).await;
        }
    }

    /// Starts the actors of an agent that is made, and gives it its task.
    async fn begin(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        let Some(agent) = self.live(who) else { return };
        if let Err(exit) = self.try_start(myself, agent.clone()).await {
            return self.fail(myself, who, exit.cause());
        }
        self.agents.insert(agent.id.clone(), agent.clone());
        self.watch(myself, &agent).await;
        if let Some(left) = agent.kin.account.time_left() {
            let (root, id) = who.clone();
            myself.send_after(left, || FleetMsg::Family(Box::new(FamilyMsg::TimeOver(root, id))));
        }
        if self.look(who, Member::task) == Some(0) {
            self.change(who, Member::idle);
            self.answer_spawn(who);
            self.publish(who, |status| Event::SiblingStart { sibling: Arc::new(status) });
            return;
        }
        self.give_task(myself, who);
    }

    /// Gives an agent the message of its task. It is stored under an id of its own, so that it is taken once.
    fn give_task(&self, myself: &ActorRef<FleetMsg>, who: &Who) {
        let Some((agent, task, text, entry)) = self.look(who, |member| {
            let (text, entry) = match member.pending() {
                Some(note) => (note.message.clone(), note.entry.clone()),
                None => (member.spec().task.clone(), member.note().entry.clone()),
            };
            (member.live().cloned(), member.task(), text, entry)
        }) else {
            return;
        };
        let Some(agent) = agent else { return };
        let (me, (root, id)) = (Addr::of(myself), who.clone());
        let reply = ReplyTo::new(move |result| {
            me.tell(FleetMsg::Family(Box::new(FamilyMsg::Begun { root, id, task, result })));
        });
        let op = format!("{}#{task}", who.1);
        let input = Input { op, entry_id: Some(entry), verbatim: true, ..Input::text(text) };
        self.command(&agent.id, Command::Prompt { input, behavior: None }, reply);
    }

    async fn begun(&mut self, myself: &ActorRef<FleetMsg>, who: Who, task: u32, result: CommandResult) {
        if self.look(&who, |member| member.task() != task || member.state() == SiblingState::Gone).unwrap_or(true) {
            return;
        }
        match result {
            Ok(_) => {
                self.change(&who, Member::begun);
                let first = self.households.spawning.contains_key(&who);
                self.answer_spawn(&who);
                if let Some(reply) = self.households.sending.remove(&who) {
                    drop(reply.send(Ok(Receipt::Delivered { task })));
                }
                self.publish(&who, |status| match first {
                    true => Event::SiblingStart { sibling: Arc::new(status) },
                    false => Event::SiblingUpdate { sibling: Arc::new(status) },
                });
                self.send_deferred(myself, &who).await;
                self.child_settled(myself, &who).await;
            }
            // The loop was restarted meanwhile; the next one knows whether it has the message.
            Err(CommandError::Lost) => {
                let (root, id) = who;
                let again = move || FamilyMsg::Begun { root, id, task, result: Err(CommandError::Busy) };
                myself.send_after(AGAIN, || FleetMsg::Family(Box::new(again())));
            }
            Err(CommandError::Busy) => self.give_task(myself, &who),
            Err(error) => {
                self.answer_spawn(&who);
                self.fail(myself, &who, &error.to_string());
            }
        }
    }

    fn answer_spawn(&mut self, who: &Who) {
        if let Some(reply) = self.households.spawning.remove(who) {
            drop(reply.send(Ok(SpawnReceipt { id: who.1.clone(), existing: false, end: None })));
        }
    }

    /// No trace of a child runs: its task has ended, unless it waits for children of its own.
    pub(super) async fn child_settled(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        let Some(board) = self.board(&who.0) else { return };
        let found = board.look(&who.1, |member| {
            let working = matches!(member.state(), SiblingState::Running | SiblingState::Paused | SiblingState::Stopping);
            let ready = working && member.is_busy() && member.pending().is_none();
            let isolation = member.spec().isolation;
            member
                .live()
                .filter(|_| ready)
                .map(|live| (live.clone(), member.task(), isolation, member.stopping().map(str::to_owned)))
        });
        let Some((agent, task, isolation, stopping)) = found.flatten() else { return };
        let is_idle = *agent.phase.borrow() == "idle";
        let waits = stopping.is_none() && board.awaits_news(&who.1);
        if !is_idle || waits || self.households.ending.contains_key(who) {
            return;
        }
        self.households.ending.insert(who.clone(), None);
        let work = EndWork { agent: agent.clone(), task, isolation, stopping, to: Addr::of(myself) };
        match spawn_worker("EndSibling", who.1.to_string(), Ending, (), work, myself.get_cell()).await {
            Ok(worker) => drop(self.households.workers.insert(worker.id(), (who.clone(), Work::Ending))),
            Err(_) => self.looked(myself, &who.0, Box::new(empty(&agent, task))),
        }
    }

    /// An agent cannot go on: its task has ended in failure.
    pub(super) fn fail(&mut self, myself: &ActorRef<FleetMsg>, who: &Who, cause: &str) {
        let Some((task, busy, file)) = self.look(who, |member| {
            (member.task(), member.is_busy(), member.note().session_file.clone())
        }) else {
            return;
        };
        if !busy || self.households.ending.contains_key(who) {
            return;
        }
        let outcome = match Exhausted::parse(cause) {
            Some(Exhausted { what, message }) => Outcome::Budget { what, message },
            None => Outcome::Failed { message: cause.to_owned(), may_pass: false },
        };
        let end = SiblingEnd {
            id: who.1.clone(),
            task,
            outcome,
            text: String::new(),
            truncated: false,
            usage: Default::default(),
            model: None,
            session_file: file,
            patch: None,
        };
        self.households.ending.insert(who.clone(), None);
        self.looked(myself, &who.0, Box::new(end));
    }

    fn looked(&mut self, myself: &ActorRef<FleetMsg>, root: &Arc<str>, end: Box<SiblingEnd>) {
        let who = (root.clone(), end.id.clone());
        let Some(place) = self.households.ending.get_mut(&who) else { return };
        if place.is_none() {
            *place = Some(StoredEnd { end, ids: Vec::new() });
            self.note_end(myself, &who);
        }
    }

    fn note_end(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        let tree = self.parent_of(who).and_then(|parent| parent.tree());
        let Some(Some(stored)) = self.households.ending.get_mut(who) else { return };
        let mut short = (*stored.end).clone();
        if let Some(cut) = cut_to_units(&short.text, END_CHARS) {
            short = SiblingEnd { text: cut.to_owned(), truncated: true, ..short };
        }
        let usage = usage_entry(&short);
        let bodies = [Some(Note::End(Box::new(short)).entry()), usage].into_iter().flatten();
        let mut entries: Vec<NewEntry> = bodies.map(NewEntry::from).collect();
        let taken = |id: &EntryId| tree.as_ref().is_some_and(|tree| tree.find(id).is_some());
        while stored.ids.len() < entries.len() {
            stored.ids.push(fresh_id(taken));
        }
        for (entry, id) in entries.iter_mut().zip(&stored.ids) {
            entry.reserved = Some(id.clone());
        }
        let then = Noted::Ended(stored.end.clone());
        self.note(myself, who, entries, then);
    }

    /// Whether an end whose storing was not acknowledged is there all the same.
    fn is_end_stored(&self, who: &Who) -> bool {
        let Some(Some(stored)) = self.households.ending.get(who) else { return false };
        let tree = self.parent_of(who).and_then(|parent| parent.tree());
        stored.ids.first().is_some_and(|id| tree.is_some_and(|tree| tree.find(id).is_some()))
    }

    /// An end is stored: whoever waits for it is told.
    async fn told(&mut self, myself: &ActorRef<FleetMsg>, who: &Who, end: SiblingEnd) {
        self.households.ending.remove(who);
        self.change(who, |member| member.ended(end.clone()));
        let end = Arc::new(end);
        self.publish(who, |status| Event::SiblingEnd { end: end.clone(), sibling: Arc::new(status) });
        self.look_at_waits();
        let name = self.name(who);
        self.end_noted(myself, &name);
        let wakes = !matches!(end.outcome, Outcome::Stopped { .. });
        let tells = self.look(who, |member| member.spec().tells_parent).unwrap_or(false);
        if let Some(parent) = self.parent_of(who) {
            let above = (who.0.clone(), parent.kin.id.clone());
            match tells && wakes {
                true => parent.turn_loop.tell(LoopMsg::News),
                false => Box::pin(self.child_settled(myself, &above)).await,
            }
        }
        self.send_deferred(myself, who).await;
    }

    async fn send_message(
        &mut self,
        myself: &ActorRef<FleetMsg>,
        parent: &str,
        id: &str,
        text: String,
        mode: SendMode,
        reply: Answer<Receipt>,
    ) {
        let Some(parent) = self.agent(parent) else { return drop(reply.send(Err(SiblingError::Lost))) };
        let who = match parent.kin.board.resolve(&parent.kin.id, id) {
            Ok(id) => (parent.kin.root.clone(), id),
            Err(error) => return drop(reply.send(Err(error))),
        };
        self.deliver(myself, who, text, mode, reply).await;
    }

    async fn deliver(
        &mut self,
        myself: &ActorRef<FleetMsg>,
        who: Who,
        text: String,
        mode: SendMode,
        reply: Answer<Receipt>,
    ) {
        let Some((state, task)) = self.look(&who, |member| (member.state(), member.task())) else {
            return drop(reply.send(Ok(Receipt::Dead)));
        };
        match state {
            SiblingState::Gone => drop(reply.send(Ok(Receipt::Dead))),
            SiblingState::Stopping => drop(reply.send(Ok(Receipt::Missed))),
            _ if state == SiblingState::Starting || self.households.ending.contains_key(&who) => {
                self.households.deferred.entry(who).or_default().push((text, mode, reply));
            }
            SiblingState::Idle => self.next_task(myself, &who, task + 1, text, reply),
            _ => {
                let Some(agent) = self.live(&who) else { return drop(reply.send(Ok(Receipt::Missed))) };
                let kind = match mode {
                    SendMode::Steer => QueueKind::Steer,
                    SendMode::FollowUp => QueueKind::FollowUp,
                };
                let answer = ReplyTo::new(move |result| {
                    drop(reply.send(match result {
                        Ok(_) => Ok(Receipt::Queued { task }),
                        Err(CommandError::Lost) => Ok(Receipt::Missed),
                        Err(error) => Err(SiblingError::Refused(error.to_string())),
                    }));
                });
                let input = Input { verbatim: true, ..Input::text(text) };
                self.command(&agent.id, Command::Prompt { input, behavior: Some(kind) }, answer);
            }
        }
    }

    /// An idle agent gets its next task: noted in its parent's session before it begins.
    fn next_task(
        &mut self,
        myself: &ActorRef<FleetMsg>,
        who: &Who,
        task: u32,
        message: String,
        reply: Answer<Receipt>,
    ) {
        let Some(board) = self.board(&who.0) else { return drop(reply.send(Ok(Receipt::Dead))) };
        let limit = board.limits().running;
        let (running, _) = board.counts();
        if running >= limit {
            return drop(reply.send(Err(board.full())));
        }
        if let Some(exhausted) = self.look(who, |member| member.account.exhausted()).flatten() {
            return drop(reply.send(Err(SiblingError::Refused(exhausted.text()))));
        }
        let entry = fresh_id(|_| false);
        let note = TaskNote { id: who.1.clone(), task, message, entry };
        self.change(who, |member| {
            member.forget_stop();
            member.next_task(note.clone());
        });
        self.households.sending.insert(who.clone(), reply);
        self.note(myself, who, vec![Note::Task(note).entry().into()], Noted::Task { task });
    }

    async fn send_deferred(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        for (text, mode, reply) in self.households.deferred.remove(who).unwrap_or_default() {
            Box::pin(self.deliver(myself, who.clone(), text, mode, reply)).await;
        }
    }

    fn time_over(&mut self, myself: &ActorRef<FleetMsg>, who: &Who) {
        let Some((account, live)) = self.look(who, |member| (member.account.clone(), member.live().cloned())) else {
            return;
        };
        let Some(agent) = live else { return };
        match (account.exhausted(), account.time_left()) {
            (Some(exhausted), _) => {
                self.change(who, |member| member.stop(&exhausted.text(), false));
                self.command(&agent.id, Command::Abort, ReplyTo::nobody());
            }
            (None, Some(left)) => {
                let (root, id) = who.clone();
                myself.send_after(left, || FleetMsg::Family(Box::new(FamilyMsg::TimeOver(root, id))));
            }
            (None, None) => {}
        }
    }

    /// Children of an agent that was just opened, whose tasks have not ended, go on.
    pub(super) async fn take_up_children(&mut self, myself: &ActorRef<FleetMsg>, parent: &Arc<AgentShared>) {
        if parent.place.read_only.is_some() {
            return;
        }
        for id in parent.kin.board.children(&parent.kin.id) {
            let who = (parent.kin.root.clone(), id);
            let Some((busy, live)) = self.look(&who, |member| (member.is_busy(), member.live().cloned())) else {
                continue;
            };
            match live {
                None if busy => self.make(myself, parent.clone(), &who).await,
                // The fleet was restarted; it knows nothing of what was under way.
                Some(live) if self.agents.contains_key(&live.id) => {
                    self.watch(myself, &live).await;
                    match self.look(&who, Member::state) {
                        Some(SiblingState::Starting) => self.give_task(myself, &who),
                        Some(SiblingState::Stopping) => self.close_child(myself, &who),
                        _ => self.child_settled(myself, &who).await,
                    }
                }
                Some(_) if busy => self.begin(myself, &who).await,
                _ => {}
            }
        }
    }

    pub(super) fn name(&self, who: &Who) -> Arc<str> {
        self.agent(&who.0).map_or_else(|| who.0.clone(), |root| root.kin.agent(&who.1))
    }

    /// Tells those who watch the parent, and those who watch the root.
    pub(super) fn publish(
        &self,
        who: &Who,
        event: impl Fn(crate::protocol::sibling::SiblingStatus) -> Event,
    ) {
        let Some(status) = self.board(&who.0).and_then(|board| board.status(&who.1)) else { return };
        super::lookout::publish(self.parent_of(who), self.agent(&who.0), || event(status.clone()));
    }

    /// Has an agent watched, so that those above it see what it does.
    async fn watch(&mut self, myself: &ActorRef<FleetMsg>, agent: &Arc<AgentShared>) {
        if self.households.lookout.is_none() {
            let agents = self.agents.clone();
            let spawned = crate::actors::spawn::spawn("Lookout", "", Lookout, agents, myself.get_cell()).await;
            self.households.lookout = spawned.ok();
        }
        if let Some(lookout) = &self.households.lookout {
            lookout.tell(LookoutMsg::Watch(agent.clone()));
        }
    }

    /// A worker or the lookout is gone. A worker that has said its word is forgotten; the others' work has failed.
    pub(super) async fn worker_gone(&mut self, myself: &ActorRef<FleetMsg>, id: ActorId) {
        if self.households.lookout.as_ref().is_some_and(|lookout| lookout.id() == id) {
            self.households.lookout = None;
            let children: Vec<_> =
                self.agents.iter().map(|agent| agent.value().clone()).filter(|agent| agent.kin.parent.is_some()).collect();
            for agent in children {
                self.watch(myself, &agent).await;
            }
            return;
        }
        let Some((who, work)) = self.households.workers.remove(&id) else { return };
        match work {
            Work::Making => self.made(myself, who, Err("the worker that made it died".to_owned())).await,
            Work::Ending => {
                let (Some(None), Some(agent)) = (self.households.ending.get(&who), self.live(&who)) else { return };
                let task = self.look(&who, Member::task).unwrap_or(0);
                self.looked(myself, &who.0, Box::new(empty(&agent, task)));
            }
        }
    }

    pub(super) fn look_at_waits(&mut self) {
        self.households.waits.look();
    }

    pub(super) fn is_apart(&self, who: &Who) -> bool {
        self.look(who, |member| member.spec().isolation) == Some(Isolation::Worktree)
    }
}

/// The duty to say what became of a note. Dropped, it says that nobody knows.
struct NoteDuty {
    to: Addr<FleetMsg>,
    who: Who,
    then: Mutex<Option<Noted>>,
}

impl NoteDuty {
    fn done(&self, result: Result<(), String>) {
        let Some(then) = self.then.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let (root, id) = self.who.clone();
        self.to.tell(FleetMsg::Family(Box::new(FamilyMsg::Noted { root, id, then, result })));
    }
}

impl Drop for NoteDuty {
    fn drop(&mut self) {
        self.done(Err("the writer of the session did not answer".to_owned()));
    }
}
