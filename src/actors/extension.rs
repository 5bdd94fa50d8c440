//! The actors of extensions: one each, so that a panic there is a supervision event and nothing more.
//!
//! Asks and observations run in one-shot workers below the extension's actor: one ask at a time per agent, so that a
//! slow agent does not hold up the others, and no ask before the extension has seen the events that precede it.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::sync::oneshot;

use super::{
    address::{Addr, Slot},
    chain::Asking,
    event_bus::BusMsg,
    extension_worker::{ExtensionWorker, Given, Work},
    spawn::{ended, spawn_worker},
    subscriber::{Delivered, Delivery},
};
use crate::{
    extensions::{Backstage, Control, Extension, Observed, bus::BusMessage, commands::CommandCall, pause::Pause},
    protocol::{
        Published,
        ask::{Ask, Verdict},
        event::Seq,
    },
};

/// What an extension's actor is told.
#[derive(Debug)]
pub enum ExtMsg {
    /// A question.
    Ask {
        /// Who asks.
        by: Asking,
        /// The question.
        ask: Ask,
        /// How long the extension may take.
        deadline: Duration,
        /// Its open dialogs, whose time does not count.
        pause: Pause,
        /// Where the answer goes.
        reply: oneshot::Sender<Result<Verdict, String>>,
    },
    /// Events of an agent.
    Delivery(Delivery),
    /// Somebody gave one of the extension's commands to an agent.
    Command {
        /// The agent.
        agent: Arc<str>,
        /// The command.
        call: CommandCall,
        /// Who waits for its end.
        given: Given,
    },
    /// A message on the bus of the extensions.
    Heard(BusMessage),
    /// A worker is gone.
    Gone(ActorId),
}

/// Which agents an extension watches. Kept apart from its actor, so that a restarted one knows them.
#[derive(Clone, Default)]
pub struct Watches(Arc<Mutex<HashMap<Arc<str>, Subscription>>>);

/// The subscription at an agent's bus.
type Subscription = (u64, Slot<BusMsg>);

impl Watches {
    /// Notes that the extension watches an agent: its subscription, and the bus that wants to know when it is ready.
    pub fn add(&self, agent: Arc<str>, subscription: u64, bus: Slot<BusMsg>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(agent, (subscription, bus));
    }

    /// The extension can take events of all its agents.
    pub(super) fn ready_all(&self) {
        let agents: Vec<Arc<str>> = self.0.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect();
        agents.iter().for_each(|agent| self.ready(agent));
    }

    fn ready(&self, agent: &str) {
        let watch = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(agent).cloned();
        if let Some((subscription, bus)) = watch {
            bus.tell(BusMsg::Ready(subscription));
        }
    }
}

/// An extension with its place among the actors.
#[derive(Clone)]
pub struct Observer {
    /// The extension.
    pub extension: Arc<dyn Extension>,
    /// Its actor.
    pub slot: Slot<ExtMsg>,
    /// What it watches.
    pub watches: Watches,
    /// How it acts.
    pub control: Control,
}

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Observer({})", self.extension.name())
    }
}

impl Observer {
    /// An extension that shares `backstage` with the others of the process, and listens on their bus from now on.
    #[must_use]
    pub fn new(extension: Arc<dyn Extension>, backstage: &Backstage) -> Self {
        let slot = Slot::default();
        let (listener, ear) = (slot.clone(), Arc::downgrade(&extension));
        backstage.bus.join(move |message| {
            let Some(ear) = ear.upgrade() else { return false };
            if ear.channels().contains(&&*message.channel) {
                listener.tell(ExtMsg::Heard(message.clone()));
            }
            true
        });
        let control = Control::new(extension.name(), backstage.clone());
        Self { extension, slot, watches: Watches::default(), control }
    }
}

/// An ask that waits for its turn.
pub(super) struct Waiting {
    pub(super) by: Asking,
    pub(super) ask: Ask,
    pub(super) deadline: Duration,
    pub(super) pause: Pause,
    pub(super) reply: oneshot::Sender<Result<Verdict, String>>,
}

/// What the actor knows of one agent.
#[derive(Default)]
struct Lane {
    seen: Option<Seq>,
    waiting: VecDeque<Waiting>,
    asking: Option<ActorId>,
    observing: Option<ActorId>,
    observed: Option<Seq>,
}

/// State of an extension's actor.
pub struct ExtState {
    args: Observer,
    lanes: HashMap<Arc<str>, Lane>,
    /// Messages of the bus: the worker that has one, and those that wait.
    hearing: Option<ActorId>,
    heard: VecDeque<BusMessage>,
}

/// The actor of one extension.
pub struct ExtensionActor;

impl Actor for ExtensionActor {
    type Msg = ExtMsg;
    type State = ExtState;
    type Arguments = Observer;

    async fn pre_start(&self, _: ActorRef<ExtMsg>, args: Observer) -> Result<ExtState, ActorProcessingErr> {
        args.extension.start(&args.control);
        Ok(ExtState { args, lanes: HashMap::new(), hearing: None, heard: VecDeque::new() })
    }

    async fn handle(
        &self,
        myself: ActorRef<ExtMsg>,
        message: ExtMsg,
        state: &mut ExtState,
    ) -> Result<(), ActorProcessingErr> {
        let agent = match message {
            ExtMsg::Ask { by, ask, deadline, pause, reply } => {
                let agent = by.agent.clone();
                let lane = state.lanes.entry(agent.clone()).or_default();
                lane.waiting.push_back(Waiting { by, ask, deadline, pause, reply });
                agent
            }
            ExtMsg::Delivery(delivery) => {
                let agent = delivery.agent.clone();
                let lane = state.lanes.entry(agent.clone()).or_default();
                match delivery.content {
                    Delivered::Snapshot(view) => lane.seen = Some(view.seq),
                    Delivered::Events(events) => observe(&myself, &state.args, lane, agent.clone(), events).await,
                }
                agent
            }
            ExtMsg::Command { agent, call, given } => {
                // A worker that does not start drops the duty to answer, and that answers.
                let work = Work::Command { agent: state.args.control.agent(&agent), call, given };
                let _ = spawn_work(&myself, &state.args, "runs a command", work).await;
                return Ok(());
            }
            ExtMsg::Heard(message) => {
                state.heard.push_back(message);
                listen(&myself, state).await;
                return Ok(());
            }
            ExtMsg::Gone(id) if state.hearing == Some(id) => {
                state.hearing = None;
                listen(&myself, state).await;
                return Ok(());
            }
            // A worker that panicked dropped its reply: whoever asked knows. The extension goes on.
            ExtMsg::Gone(id) => match gone(state, id) {
                Some(agent) => agent,
                None => return Ok(()),
            },
        };
        if let Some(lane) = state.lanes.get_mut(&agent) {
            next(&myself, &state.args, lane).await;
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<ExtMsg>,
        event: SupervisionEvent,
        _: &mut ExtState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, _)) = ended(&event) {
            Addr::of(&myself).tell(ExtMsg::Gone(id));
        }
        Ok(())
    }
}

fn gone(state: &mut ExtState, id: ActorId) -> Option<Arc<str>> {
    let (agent, lane) =
        state.lanes.iter_mut().find(|(_, lane)| lane.asking == Some(id) || lane.observing == Some(id))?;
    if lane.asking == Some(id) {
        lane.asking = None;
    } else {
        lane.observing = None;
        lane.seen = lane.observed.take().or(lane.seen);
        state.args.watches.ready(agent);
    }
    Some(agent.clone())
}

/// Starts the next ask of a lane when it is its turn.
async fn next(myself: &ActorRef<ExtMsg>, args: &Observer, lane: &mut Lane) {
    if lane.asking.is_some() {
        return;
    }
    let observes = args.extension.observes();
    let behind = |waiting: &Waiting| observes && lane.seen.is_some_and(|seen| seen < waiting.by.after);
    let Some(waiting) = (match lane.waiting.front() {
        Some(first) if !behind(first) => lane.waiting.pop_front(),
        _ => None,
    }) else {
        return;
    };
    let what = waiting.ask.point().name();
    let agent = args.control.agent_within(&waiting.by.agent, waiting.pause.clone());
    lane.asking = spawn_work(myself, args, what, Work::Ask(Box::new(waiting), agent)).await;
}

async fn observe(
    myself: &ActorRef<ExtMsg>,
    args: &Observer,
    lane: &mut Lane,
    agent: Arc<str>,
    events: Vec<Arc<Published>>,
) {
    lane.observed = events.last().map(|event| event.seq);
    let handle = args.control.agent(&agent);
    let work = Work::Observe(Observed { agent: agent.to_string(), events }, handle);
    lane.observing = spawn_work(myself, args, "observes", work).await;
    if lane.observing.is_none() {
        args.watches.ready(&agent);
    }
}

/// Lets the extension hear the next message of the bus.
async fn listen(myself: &ActorRef<ExtMsg>, state: &mut ExtState) {
    if state.hearing.is_none()
        && let Some(message) = state.heard.pop_front()
    {
        let work = Work::Hear(message, state.args.control.clone());
        state.hearing = spawn_work(myself, &state.args, "hears", work).await;
    }
}

async fn spawn_work(myself: &ActorRef<ExtMsg>, args: &Observer, what: &str, work: Work) -> Option<ActorId> {
    let (kind, label) = (work.kind(), format!("{} {what}", args.extension.name()));
    let worker = spawn_worker(kind, label, ExtensionWorker, args.extension.clone(), work, myself.get_cell()).await;
    worker.ok().map(|worker| worker.id())
}

#[cfg(test)]
mod tests;
