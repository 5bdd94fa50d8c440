//! The supervisor of the extensions: one actor each, permanent. Which extensions there are changes with the agents: an
//! agent brings those that it asks, and takes along those that nobody else asks.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::time::Instant;

use super::{
    address::Addr,
    extension::{ExtensionActor, Observer},
    reply::ReplyTo,
    restart::{Exit, RestartDecision, RestartKind, RestartPolicy},
    spawn::{ended, spawn},
    trace,
};
use crate::protocol::Reply;

/// What the supervisor is told.
#[derive(Debug)]
pub enum ExtensionsMsg {
    /// An agent asks these; the answer comes when they run.
    Add(Vec<Observer>, ReplyTo),
    /// An agent that asked these is gone.
    Remove(Vec<Observer>),
    /// An extension is gone.
    Gone(ActorId, Exit),
    /// The wait before its restart is over.
    Start(u64),
}

/// The extensions that run. Kept apart from their supervisor, so that a restarted one knows them.
#[derive(Clone, Default)]
pub struct RunningExtensions(Arc<Mutex<Places>>);

#[derive(Default)]
struct Places {
    last: u64,
    by_number: BTreeMap<u64, Place>,
}

struct Place {
    observer: Observer,
    /// How many agents ask it.
    agents: usize,
}

impl RunningExtensions {
    /// Those that the first agent asks.
    #[must_use]
    pub fn new(observers: Vec<Observer>) -> Self {
        let places = Self::default();
        places.add(observers);
        places
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more agent asks these; the numbers of those that are new.
    fn add(&self, observers: Vec<Observer>) -> Vec<u64> {
        let mut places = self.lock();
        let mut new = Vec::new();
        for observer in observers {
            if let Some(known) = places.by_number.values_mut().find(|place| place.observer.slot.is(&observer.slot)) {
                known.agents += 1;
                continue;
            }
            places.last += 1;
            let number = places.last;
            places.by_number.insert(number, Place { observer, agents: 1 });
            new.push(number);
        }
        new
    }

    /// One agent less asks these; those that nobody asks any more.
    fn remove(&self, observers: &[Observer]) -> Vec<(u64, Observer)> {
        let mut places = self.lock();
        for observer in observers {
            if let Some(known) = places.by_number.values_mut().find(|place| place.observer.slot.is(&observer.slot)) {
                known.agents = known.agents.saturating_sub(1);
            }
        }
        let unused = places.by_number.extract_if(.., |_, place| place.agents == 0);
        unused.map(|(number, place)| (number, place.observer)).collect()
    }

    fn get(&self, number: u64) -> Option<Observer> {
        self.lock().by_number.get(&number).map(|place| place.observer.clone())
    }

    /// All of them.
    #[must_use]
    pub fn observers(&self) -> Vec<Observer> {
        self.lock().by_number.values().map(|place| place.observer.clone()).collect()
    }

    fn numbers(&self) -> Vec<u64> {
        self.lock().by_number.keys().copied().collect()
    }
}

/// State of the supervisor.
pub struct ExtensionsState {
    places: RunningExtensions,
    running: HashMap<ActorId, u64>,
    histories: HashMap<u64, Vec<Duration>>,
    begun: Instant,
}

/// The actor.
pub struct Extensions;

impl Actor for Extensions {
    type Msg = ExtensionsMsg;
    type State = ExtensionsState;
    type Arguments = RunningExtensions;

    async fn pre_start(
        &self,
        myself: ActorRef<ExtensionsMsg>,
        places: RunningExtensions,
    ) -> Result<ExtensionsState, ActorProcessingErr> {
        let mut state =
            ExtensionsState { running: HashMap::new(), histories: HashMap::new(), begun: Instant::now(), places };
        for number in state.places.numbers() {
            state.start(&myself, number).await;
        }
        Ok(state)
    }

    async fn handle(
        &self,
        myself: ActorRef<ExtensionsMsg>,
        message: ExtensionsMsg,
        state: &mut ExtensionsState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ExtensionsMsg::Add(observers, reply) => {
                for number in state.places.add(observers) {
                    state.start(&myself, number).await;
                }
                reply.send(Ok(Reply::Done));
            }
            ExtensionsMsg::Remove(observers) => {
                for (number, observer) in state.places.remove(&observers) {
                    state.running.retain(|_, known| *known != number);
                    state.histories.remove(&number);
                    if let Some(addr) = observer.slot.get() {
                        observer.slot.clear();
                        addr.actor().stop(None);
                    }
                }
            }
            ExtensionsMsg::Gone(id, exit) => {
                if let Some(number) = state.running.remove(&id) {
                    state.decide(&myself, number, &exit);
                }
            }
            ExtensionsMsg::Start(number) => state.start(&myself, number).await,
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<ExtensionsMsg>,
        event: SupervisionEvent,
        _: &mut ExtensionsState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, exit)) = ended(&event) {
            Addr::of(&myself).tell(ExtensionsMsg::Gone(id, exit));
        }
        Ok(())
    }
}

impl ExtensionsState {
    async fn start(&mut self, myself: &ActorRef<ExtensionsMsg>, number: u64) {
        let Some(observer) = self.places.get(number) else { return };
        let (name, slot, watches) =
            (observer.extension.name().to_owned(), observer.slot.clone(), observer.watches.clone());
        match spawn("Extension", name, ExtensionActor, observer, myself.get_cell()).await {
            Ok(addr) => {
                self.running.insert(addr.id(), number);
                slot.fill(addr);
                // Not earlier: what a bus sends to an empty slot is lost, and it would wait for ever to hear of it.
                watches.ready_all();
            }
            Err(exit) => self.decide(myself, number, &exit),
        }
    }

    fn decide(&mut self, myself: &ActorRef<ExtensionsMsg>, number: u64, exit: &Exit) {
        let Some(observer) = self.places.get(number) else { return };
        // While it is down its guards deny.
        observer.slot.clear();
        let name = observer.extension.name();
        let history = self.histories.entry(number).or_default();
        match RestartPolicy::actors(RestartKind::Permanent).decide(history, self.begun.elapsed(), exit) {
            RestartDecision::Restart(wait) => {
                trace::restarted("Extension", name, exit.cause(), wait);
                myself.send_after(wait, move || ExtensionsMsg::Start(number));
            }
            RestartDecision::GiveUp | RestartDecision::Leave => {
                tracing::error!(extension = name, cause = exit.cause(), "given up after repeated failures");
            }
        }
    }
}
