//! The supervisor of one agent: starts its actors in order, and starts one and all after it again when it dies
//! (`rest_for_one`). It does no I/O and knows nothing of what they do.

use std::{sync::Arc, time::Duration};

use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::time::Instant;

use super::{
    address::{Addr, Slot},
    compactor::Compactor,
    event_bus::EventBus,
    jobs::Jobs,
    restart::{Exit, RestartDecision, RestartKind, RestartPolicy},
    session_writer::SessionWriter,
    shared::AgentShared,
    spawn::{ended, spawn},
    trace,
    turn_loop::TurnLoop,
};

/// The children in the order of their start: each needs those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Child {
    SessionWriter,
    EventBus,
    Compactor,
    Jobs,
    TurnLoop,
}

const CHILDREN: [Child; 5] = [Child::SessionWriter, Child::EventBus, Child::Compactor, Child::Jobs, Child::TurnLoop];

/// How long children get to finish their queues when the agent is stopped.
const DRAIN: Duration = Duration::from_secs(1);

/// What the supervisor is told.
#[derive(Debug)]
pub enum AgentMsg {
    /// A child is gone.
    Gone(ActorId, Exit),
    /// The wait before a restart is over: start the children from this place on.
    Start(usize),
}

/// State of the supervisor.
pub struct AgentState {
    shared: Arc<AgentShared>,
    children: Vec<ActorCell>,
    history: Vec<Duration>,
    begun: Instant,
}

/// The actor.
pub struct Agent;

impl Actor for Agent {
    type Msg = AgentMsg;
    type State = AgentState;
    type Arguments = Arc<AgentShared>;

    async fn pre_start(
        &self,
        myself: ActorRef<AgentMsg>,
        shared: Arc<AgentShared>,
    ) -> Result<AgentState, ActorProcessingErr> {
        let mut state = AgentState { shared, children: Vec::new(), history: Vec::new(), begun: Instant::now() };
        state.start(&myself).await.map_err(|exit| exit.cause().to_owned())?;
        Ok(state)
    }

    async fn handle(
        &self,
        myself: ActorRef<AgentMsg>,
        message: AgentMsg,
        state: &mut AgentState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            AgentMsg::Gone(id, exit) => {
                let Some(place) = state.children.iter().position(|child| child.get_id() == id) else {
                    return Ok(());
                };
                state.decide(&myself, place, &exit).await
            }
            AgentMsg::Start(place) if place == state.children.len() => match state.start(&myself).await {
                Ok(()) => Ok(()),
                Err(exit) => {
                    let place = state.children.len();
                    state.decide(&myself, place, &exit).await
                }
            },
            AgentMsg::Start(_) => Ok(()),
        }
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<AgentMsg>,
        event: SupervisionEvent,
        _: &mut AgentState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, exit)) = ended(&event) {
            Addr::of(&myself).tell(AgentMsg::Gone(id, exit));
        }
        Ok(())
    }

    async fn post_stop(&self, myself: ActorRef<AgentMsg>, state: &mut AgentState) -> Result<(), ActorProcessingErr> {
        // Last started, first stopped: the loop's last words still find the bus and the writer.
        for child in std::mem::take(&mut state.children).into_iter().rev() {
            if child.drain_and_wait(Some(DRAIN)).await.is_err() {
                child.kill();
            }
        }
        myself.drain_children_and_wait(Some(DRAIN)).await;
        Ok(())
    }
}

impl AgentState {
    /// Starts the children that are missing, in order.
    async fn start(&mut self, myself: &ActorRef<AgentMsg>) -> Result<(), Exit> {
        for child in &CHILDREN[self.children.len()..] {
            let shared = self.shared.clone();
            let label = shared.id.to_string();
            let supervisor = myself.get_cell();
            let cell = match child {
                Child::SessionWriter => {
                    fill(&self.shared.writer, spawn("SessionWriter", label, SessionWriter, shared, supervisor).await)
                }
                Child::EventBus => fill(&self.shared.bus, spawn("EventBus", label, EventBus, shared, supervisor).await),
                Child::Compactor => fill(
                    &self.shared.compactor,
                    spawn("Compactor", label, Compactor, self.shared.clone(), supervisor).await,
                ),
                Child::Jobs => fill(&self.shared.jobs, spawn("Jobs", label, Jobs, shared, supervisor).await),
                Child::TurnLoop => {
                    fill(&self.shared.turn_loop, spawn("TurnLoop", label, TurnLoop, shared, supervisor).await)
                }
            }?;
            self.children.push(cell);
        }
        Ok(())
    }

    /// A child died, or did not start: the ones after it go too, and all of them are started again.
    async fn decide(
        &mut self,
        myself: &ActorRef<AgentMsg>,
        place: usize,
        exit: &Exit,
    ) -> Result<(), ActorProcessingErr> {
        let policy = RestartPolicy::actors(RestartKind::Permanent);
        let kind = format!("{:?}", CHILDREN[place]);
        let decision = policy.decide(&mut self.history, self.begun.elapsed(), exit);
        self.stop_from(place).await;
        match decision {
            RestartDecision::Restart(wait) => {
                tracing::warn!(actor = kind, agent = &*self.shared.id, cause = exit.cause(), "restarting");
                trace::restarted(&kind, &self.shared.id, exit.cause(), wait);
                if wait.is_zero() {
                    Addr::of(myself).tell(AgentMsg::Start(place));
                } else {
                    myself.send_after(wait, move || AgentMsg::Start(place));
                }
                Ok(())
            }
            // The agent's own death tells the fleet.
            RestartDecision::GiveUp | RestartDecision::Leave => Err(format!("{kind}: {}", exit.cause()).into()),
        }
    }

    async fn stop_from(&mut self, place: usize) {
        for (at, child) in self.children.drain(place.min(self.children.len())..).enumerate().rev() {
            match CHILDREN[place + at] {
                Child::SessionWriter => self.shared.writer.clear(),
                Child::EventBus => self.shared.bus.clear(),
                Child::Compactor => self.shared.compactor.clear(),
                Child::Jobs => self.shared.jobs.clear(),
                Child::TurnLoop => self.shared.turn_loop.clear(),
            }
            if child.kill_and_wait(Some(DRAIN)).await.is_err() {
                tracing::warn!(actor = ?CHILDREN[place + at], "an actor did not end in time");
            }
        }
    }
}

fn fill<M: ractor::Message>(slot: &Slot<M>, spawned: Result<Addr<M>, Exit>) -> Result<ActorCell, Exit> {
    let addr = spawned?;
    let cell = addr.actor().get_cell();
    slot.fill(addr);
    Ok(cell)
}
