//! The supervisor of the extensions: one actor each, permanent.

use std::{collections::HashMap, time::Duration};

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::time::Instant;

use super::{
    address::Addr,
    extension::{ExtArgs, ExtensionActor},
    restart::{Exit, RestartDecision, RestartKind, RestartPolicy},
    shared::Observer,
    spawn::{ended, spawn},
    trace,
};

/// What the supervisor is told.
#[derive(Debug)]
pub enum ExtensionsMsg {
    /// An extension is gone.
    Gone(ActorId, Exit),
    /// The wait before its restart is over.
    Start(usize),
}

/// State of the supervisor.
pub struct ExtensionsState {
    extensions: Vec<Observer>,
    running: HashMap<ActorId, usize>,
    histories: HashMap<usize, Vec<Duration>>,
    begun: Instant,
}

/// The actor.
pub struct Extensions;

impl Actor for Extensions {
    type Msg = ExtensionsMsg;
    type State = ExtensionsState;
    type Arguments = Vec<Observer>;

    async fn pre_start(
        &self,
        myself: ActorRef<ExtensionsMsg>,
        extensions: Vec<Observer>,
    ) -> Result<ExtensionsState, ActorProcessingErr> {
        let mut state =
            ExtensionsState { running: HashMap::new(), histories: HashMap::new(), begun: Instant::now(), extensions };
        for place in 0..state.extensions.len() {
            state.start(&myself, place).await;
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
            ExtensionsMsg::Gone(id, exit) => {
                if let Some(place) = state.running.remove(&id) {
                    state.decide(&myself, place, &exit);
                }
            }
            ExtensionsMsg::Start(place) => state.start(&myself, place).await,
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
    async fn start(&mut self, myself: &ActorRef<ExtensionsMsg>, place: usize) {
        let Observer { extension, slot, watches } = self.extensions[place].clone();
        let name = extension.name().to_owned();
        let args = ExtArgs { extension, watches: watches.clone() };
        match spawn("Extension", name, ExtensionActor, args, myself.get_cell()).await {
            Ok(addr) => {
                self.running.insert(addr.id(), place);
                slot.fill(addr);
                // Not earlier: what a bus sends to an empty slot is lost, and it would wait for ever to hear of it.
                watches.ready_all();
            }
            Err(exit) => self.decide(myself, place, &exit),
        }
    }

    fn decide(&mut self, myself: &ActorRef<ExtensionsMsg>, place: usize, exit: &Exit) {
        let observer = &self.extensions[place];
        // While it is down its guards deny.
        observer.slot.clear();
        let name = observer.extension.name();
        let history = self.histories.entry(place).or_default();
        match RestartPolicy::actors(RestartKind::Permanent).decide(history, self.begun.elapsed(), exit) {
            RestartDecision::Restart(wait) => {
                trace::restarted("Extension", name, exit.cause(), wait);
                myself.send_after(wait, move || ExtensionsMsg::Start(place));
            }
            RestartDecision::GiveUp | RestartDecision::Leave => {
                tracing::error!(extension = name, cause = exit.cause(), "given up after repeated failures");
            }
        }
    }
}
