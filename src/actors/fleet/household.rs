//! The fleet's side of families: spawns, messages, ends. It decides and tells; what takes time is done by workers.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ractor::{ActorId, ActorRef};

use super::{
    FleetMsg, FleetState,
    family_msg::{Answer, FamilyMsg, Noted},
    lookout::{Lookout, LookoutMsg},
    stopping::Stops,
    waits::Waits,
};
use crate::{
    actors::{
        address::{Addr, Recipient},
        family_board::{FamilyBoard, Member},
        session_writer::WriterMsg,
        shared::AgentShared,
        spawn::spawn,
        turn_io::{Input as TurnInput, NewEntry},
    },
    protocol::{
        EntryId, Event,
        sibling::{Receipt, SendMode, SiblingEnd, SiblingError, SiblingId, SiblingStatus, SpawnReceipt},
    },
};

/// How long it waits before a note that the disk refused is tried again.
const NOTE_AGAIN: Duration = Duration::from_millis(500);

/// An agent of a family, for the fleet: the root's name and the id.
pub(super) type Who = (Arc<str>, SiblingId);

/// What the fleet remembers of families beside their boards. A restarted fleet does without it.
#[derive(Default)]
pub(super) struct Households {
    pub(super) workers: HashMap<ActorId, (Who, Work)>,
    /// Those that are being made, for whom nobody made an agent yet.
    pub(super) making: HashSet<Who>,
    pub(super) spawning: HashMap<Who, Answer<SpawnReceipt>>,
    /// Messages that came while their receiver was between two states.
    pub(super) deferred: HashMap<Who, Vec<(String, SendMode, Answer<Receipt>)>>,
    /// Who waits to hear that a message began a task.
    pub(super) sending: HashMap<Who, Answer<Receipt>>,
    /// Tasks whose end is being looked at or stored.
    pub(super) ending: HashMap<Who, Option<StoredEnd>>,
    pub(super) waits: Waits,
    pub(super) stops: Stops,
    lookout: Option<Addr<LookoutMsg>>,
}

/// A worker of a family.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Making,
    Ending {
        /// The first, the second, …
        attempt: u8,
    },
    /// It takes away the worktree of one whose actors are gone.
    Clearing,
}

/// An end on its way into the parent's session, under the ids that it has there: stored twice, it would count twice.
#[derive(Clone)]
pub(super) struct StoredEnd {
    pub end: Box<SiblingEnd>,
    pub ids: Vec<EntryId>,
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
            FamilyMsg::Cleared(root, id) => self.cleared(myself, &(root, id)),
            FamilyMsg::Notice(root, level, text) => {
                if let Some(root) = self.agent(&root) {
                    root.publish(vec![Event::Notice { level, text }]);
                }
            }
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
                    // They are there for whoever opens the session; this process has the board.
                    let tree = events.tree();
                    let noted = |id| tree.as_ref().and_then(|tree| tree.find(id));
                    entries.iter().filter_map(|entry| noted(&entry.id)).for_each(|entry| entry.forget());
                    events.publish(entries.into_iter().map(|entry| Event::EntryAppended { entry }).collect());
                }));
            }
            true
        });
        drop(parent.writer.try_tell(WriterMsg::Append { work: 0, entries, to }));
    }

    pub(super) async fn noted(
        &mut self,
        myself: &ActorRef<FleetMsg>,
        who: Who,
        then: Noted,
        result: Result<(), String>,
    ) {
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

    pub(super) fn name(&self, who: &Who) -> Arc<str> {
        self.agent(&who.0).map_or_else(|| who.0.clone(), |root| root.kin.agent(&who.1))
    }

    /// Tells those who watch the parent, and those who watch the root.
    pub(super) fn publish(&self, who: &Who, event: impl Fn(SiblingStatus) -> Event) {
        let Some(status) = self.board(&who.0).and_then(|board| board.status(&who.1)) else { return };
        super::lookout::publish(self.parent_of(who), self.agent(&who.0), || event(status.clone()));
    }

    /// An agent is closed: whoever watches it lets go of it.
    pub(super) fn unwatch(&self, who: &Who) {
        if let Some(lookout) = &self.households.lookout {
            lookout.tell(LookoutMsg::Forget(self.name(who)));
        }
    }

    /// Has an agent watched, so that those above it see what it does.
    pub(super) async fn watch(&mut self, myself: &ActorRef<FleetMsg>, agent: &Arc<AgentShared>) {
        if self.households.lookout.is_none() {
            let agents = self.agents.clone();
            let spawned = spawn("Lookout", "", Lookout, agents, myself.get_cell()).await;
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
            let children: Vec<_> = self
                .agents
                .iter()
                .map(|agent| agent.value().clone())
                .filter(|agent| agent.kin.parent.is_some())
                .collect();
            for agent in children {
                self.watch(myself, &agent).await;
            }
            return;
        }
        let Some((who, work)) = self.households.workers.remove(&id) else { return };
        match work {
            Work::Clearing => self.note_gone(myself, &who),
            Work::Making => self.made(myself, who, Err("the worker that made it died".to_owned())).await,
            Work::Ending { attempt } => self.look_lost(myself, &who, attempt).await,
        }
    }

    pub(super) fn look_at_waits(&mut self) {
        self.households.waits.look();
    }

    /// Whether somebody wants its task to end.
    pub(super) fn is_stopping(&self, who: &Who) -> bool {
        self.look(who, |member| member.stopping().is_some()).unwrap_or(false)
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
