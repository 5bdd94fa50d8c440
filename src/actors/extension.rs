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
use tokio::{sync::oneshot, time::timeout};

use super::{
    address::{Addr, Slot},
    chain::Asking,
    event_bus::BusMsg,
    spawn::{ended, spawn_worker},
    subscriber::{Delivered, Delivery},
};
use crate::{
    extensions::{Extension, Observed, contract},
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
        /// Where the answer goes.
        reply: oneshot::Sender<Result<Verdict, String>>,
    },
    /// Events of an agent.
    Delivery(Delivery),
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

/// What an extension's actor begins with.
#[derive(Clone)]
pub struct ExtArgs {
    /// The extension.
    pub extension: Arc<dyn Extension>,
    /// Which agents it watches.
    pub watches: Watches,
}

/// An ask that waits for its turn.
struct Waiting {
    by: Asking,
    ask: Ask,
    deadline: Duration,
    reply: oneshot::Sender<Result<Verdict, String>>,
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
    args: ExtArgs,
    lanes: HashMap<Arc<str>, Lane>,
}

/// The actor of one extension.
pub struct ExtensionActor;

impl Actor for ExtensionActor {
    type Msg = ExtMsg;
    type State = ExtState;
    type Arguments = ExtArgs;

    async fn pre_start(&self, _: ActorRef<ExtMsg>, args: ExtArgs) -> Result<ExtState, ActorProcessingErr> {
        Ok(ExtState { args, lanes: HashMap::new() })
    }

    async fn handle(
        &self,
        myself: ActorRef<ExtMsg>,
        message: ExtMsg,
        state: &mut ExtState,
    ) -> Result<(), ActorProcessingErr> {
        let agent = match message {
            ExtMsg::Ask { by, ask, deadline, reply } => {
                let agent = by.agent.clone();
                let lane = state.lanes.entry(agent.clone()).or_default();
                lane.waiting.push_back(Waiting { by, ask, deadline, reply });
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
            // A worker that panicked dropped its reply: whoever asked knows. The extension goes on.
            ExtMsg::Gone(id) => match gone(state, id) {
                Some(agent) => agent,
                None => return Ok(()),
            },
        };
        let observes = state.args.extension.observes();
        let extension = state.args.extension.clone();
        if let Some(lane) = state.lanes.get_mut(&agent) {
            next(&myself, extension, lane, observes).await;
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
async fn next(myself: &ActorRef<ExtMsg>, extension: Arc<dyn Extension>, lane: &mut Lane, observes: bool) {
    if lane.asking.is_some() {
        return;
    }
    let behind = |waiting: &Waiting| observes && lane.seen.is_some_and(|seen| seen < waiting.by.after);
    let Some(waiting) = (match lane.waiting.front() {
        Some(first) if !behind(first) => lane.waiting.pop_front(),
        _ => None,
    }) else {
        return;
    };
    let label = format!("{} {}", extension.name(), waiting.ask.point().name());
    let work = Work::Ask(Box::new(waiting));
    match spawn_worker("Ask", label, AskWorker, extension, work, myself.get_cell()).await {
        Ok(worker) => lane.asking = Some(worker.id()),
        Err(_) => lane.asking = None,
    }
}

async fn observe(
    myself: &ActorRef<ExtMsg>,
    args: &ExtArgs,
    lane: &mut Lane,
    agent: Arc<str>,
    events: Vec<Arc<Published>>,
) {
    lane.observed = events.last().map(|event| event.seq);
    let work = Work::Observe(Observed { agent: agent.to_string(), events });
    let label = format!("{} observes", args.extension.name());
    match spawn_worker("Observe", label, AskWorker, args.extension.clone(), work, myself.get_cell()).await {
        Ok(worker) => lane.observing = Some(worker.id()),
        Err(_) => args.watches.ready(&agent),
    }
}

/// The one message of an extension's worker.
enum Work {
    Ask(Box<Waiting>),
    Observe(Observed),
}

/// Runs one piece of an extension's code.
struct AskWorker;

impl Actor for AskWorker {
    type Msg = Work;
    type State = Arc<dyn Extension>;
    type Arguments = Arc<dyn Extension>;

    async fn pre_start(
        &self,
        _: ActorRef<Work>,
        extension: Arc<dyn Extension>,
    ) -> Result<Arc<dyn Extension>, ActorProcessingErr> {
        Ok(extension)
    }

    async fn handle(
        &self,
        myself: ActorRef<Work>,
        work: Work,
        extension: &mut Arc<dyn Extension>,
    ) -> Result<(), ActorProcessingErr> {
        match work {
            Work::Ask(waiting) => {
                let Waiting { ask, deadline, mut reply, .. } = *waiting;
                // Who asked may have gone away: then nobody needs the answer.
                let answer = tokio::select! {
                    answer = timeout(deadline, contract::answer(&**extension, ask)) => answer,
                    () = reply.closed() => { myself.stop(None); return Ok(()) }
                };
                let answer = match answer {
                    Ok(answer) => answer.map_err(|error| error.to_string()),
                    Err(_) => Err(format!("no answer within {} ms", deadline.as_millis())),
                };
                // Nobody waits any more: nothing to do.
                let _ = reply.send(answer);
            }
            Work::Observe(observed) => {
                if let Err(error) = extension.observe(observed).await {
                    tracing::warn!(extension = extension.name(), %error, "an observer failed");
                }
            }
        }
        myself.stop(None);
        Ok(())
    }
}
