//! The fleet: opens agents, addresses them, and starts them again when their supervisor fails. It does no I/O.

use std::{collections::HashMap, mem, sync::Arc, time::Duration};

use dashmap::DashMap;
use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::time::Instant;

mod ending;
mod ends;
pub mod family;
pub mod family_msg;
pub mod group;
mod household;
mod lookout;
mod mail;
mod making;
mod members;
pub mod renewing;
mod spawner;
mod spawning;
mod stopping;
pub mod strategy;
mod transcript;
mod waits;
mod worktree;

pub use family::Family;
pub use spawner::AgentSpawner;

use self::{
    family_msg::FamilyMsg,
    household::Households,
    members::{Member, Members},
};
use super::{
    address::Addr,
    agent::Agent,
    farewell::Farewell,
    reply::ReplyTo,
    restart::{Exit, RestartDecision, RestartKind, RestartPolicy},
    shared::AgentShared,
    spawn::{ended, spawn, spawn_worker},
    subscriber::{Delivered, Delivery},
    trace,
    turn_loop::LoopMsg,
};
use crate::protocol::{
    Command, CommandError, Event, Published, Reply,
    ask::AskPoint,
    event::Seq,
    session_change::{SessionEndReason, SessionShutdownAsk, SessionStartReason},
};

/// How long an agent that is closed gets to end its trace, and extensions to hear of it.
const SETTLE: Duration = Duration::from_secs(3);

/// All agents of the process. Kept apart from the fleet's actor, so that a restarted one knows them.
pub type Agents = Arc<DashMap<Arc<str>, Arc<AgentShared>>>;

/// What the fleet is told.
#[derive(Debug)]
pub enum FleetMsg {
    /// Open an agent; the answer comes when it takes commands.
    Open(Box<OpenAgent>),
    /// A command for an agent.
    Command {
        /// Which.
        agent: Arc<str>,
        /// The command.
        command: Command,
        /// Who wants to know.
        reply: ReplyTo,
    },
    /// An agent is gone.
    Gone(ActorId, Exit),
    /// The wait before a restart is over.
    Restart(Arc<str>),
    /// End an agent's trace, then the agent; the answer comes when it is gone.
    Close(Box<CloseAgent>),
    /// End all traces, then all agents; the answer comes when all are gone.
    ShutDown(ReplyTo),
    /// An agent that is to go has ended its trace.
    Idle(Arc<str>),
    /// An agent that is to go had its time.
    SettleOver(Arc<str>),
    /// Something about siblings.
    Family(Box<FamilyMsg>),
    /// Start an agent again from its session's leaf, whatever it does.
    Renew {
        /// Which.
        agent: Arc<str>,
        /// Who wants to know.
        reply: ReplyTo,
    },
}

/// An agent to be opened.
pub struct OpenAgent {
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// Why its session begins, when whoever watches is to be told at once.
    pub start: Option<SessionStartReason>,
    /// Who wants to know.
    pub reply: ReplyTo,
}

/// An agent to be closed.
#[derive(Debug)]
pub struct CloseAgent {
    /// Which.
    pub agent: Arc<str>,
    /// What extensions are told.
    pub farewell: SessionShutdownAsk,
    /// Who wants to know.
    pub reply: ReplyTo,
}

impl std::fmt::Debug for OpenAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OpenAgent({})", self.shared.id)
    }
}

/// State of the fleet.
pub struct FleetState {
    agents: Agents,
    members: Members,
    histories: HashMap<Arc<str>, Vec<Duration>>,
    parked: HashMap<Arc<str>, String>,
    begun: Instant,
    /// Agents that are to go.
    leaving: HashMap<Arc<str>, Leaving>,
    /// Workers that tell extensions of the end of an agent.
    farewells: HashMap<ActorId, Arc<str>>,
    /// Set when the fleet is being shut down: who wants to know.
    closing: Option<Option<ReplyTo>>,
    /// Spawns, messages and ends of siblings that are under way.
    households: Households,
}

/// An agent on its way out.
struct Leaving {
    step: LeavingStep,
    farewell: SessionShutdownAsk,
    reply: Option<ReplyTo>,
}

/// How far an agent is on its way out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeavingStep {
    /// It ends its trace.
    Settling,
    /// Extensions are told.
    Farewell,
    /// Nothing holds it up.
    Ready,
}

/// The actor.
pub struct Fleet;

impl Actor for Fleet {
    type Msg = FleetMsg;
    type State = FleetState;
    type Arguments = Agents;

    async fn pre_start(&self, myself: ActorRef<FleetMsg>, agents: Agents) -> Result<FleetState, ActorProcessingErr> {
        let mut state = FleetState {
            members: Members::default(),
            histories: HashMap::new(),
            parked: HashMap::new(),
            begun: Instant::now(),
            leaving: HashMap::new(),
            farewells: HashMap::new(),
            closing: None,
            households: Households::default(),
            agents,
        };
        // After a restart of the fleet, its agents go on.
        let known: Vec<_> = state.agents.iter().map(|entry| entry.value().clone()).collect();
        for shared in &known {
            state.start(&myself, shared.clone()).await;
        }
        for shared in known {
            state.take_up_children(&myself, &shared).await;
        }
        Ok(state)
    }

    async fn handle(
        &self,
        myself: ActorRef<FleetMsg>,
        message: FleetMsg,
        state: &mut FleetState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            FleetMsg::Open(open) => {
                let OpenAgent { shared, start, reply } = *open;
                match state.try_start(&myself, shared.clone()).await {
                    Ok(()) => {
                        if let Some(reason) = start {
                            shared.publish(vec![Event::SessionStart { reason, previous_session_file: None }]);
                        }
                        // Whoever opens a parked agent again wants another try.
                        state.parked.remove(&shared.id);
                        state.histories.remove(&shared.id);
                        state.agents.insert(shared.id.clone(), shared.clone());
                        reply.send(Ok(Reply::Done));
                        state.take_up_children(&myself, &shared).await;
                    }
                    Err(exit) => reply.send(Err(CommandError::Refused(exit.cause().to_owned()))),
                }
            }
            FleetMsg::Command { agent, command, reply } => {
                let aborts = command == Command::Abort;
                state.command(&agent, command, reply);
                if aborts {
                    state.abort_below(&agent);
                }
            }
            FleetMsg::Gone(id, exit) => state.gone(&myself, id, &exit).await,
            // What died while the fleet is being shut down stays dead.
            FleetMsg::Restart(_) if state.closing.is_some() => {}
            FleetMsg::Restart(agent) => {
                let shared = state.agents.get(&agent).map(|entry| entry.value().clone());
                if let Some(shared) = shared {
                    state.start(&myself, shared.clone()).await;
                    state.take_up_children(&myself, &shared).await;
                }
            }
            FleetMsg::Close(close) => {
                let CloseAgent { agent, farewell, reply } = *close;
                if state.members.has(&agent) {
                    state.leave_below(&myself, &agent, &farewell);
                    state.leave(&myself, &agent, farewell, Some(reply));
                } else {
                    state.forget(&agent);
                    reply.send(Ok(Reply::Done));
                }
            }
            FleetMsg::ShutDown(reply) => state.shut_down(&myself, reply),
            // The end of its task is stored while its parent is still there.
            FleetMsg::Idle(agent) if state.owes_end(&agent) => {}
            FleetMsg::Idle(agent) => state.farewell(&myself, &agent).await,
            FleetMsg::Family(message) => state.family(&myself, *message).await,
            FleetMsg::SettleOver(agent) => state.ready(&agent),
            FleetMsg::Renew { agent, reply } => state.renew(&myself, &agent, reply).await,
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<FleetMsg>,
        event: SupervisionEvent,
        _: &mut FleetState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, exit)) = ended(&event) {
            Addr::of(&myself).tell(FleetMsg::Gone(id, exit));
        }
        Ok(())
    }
}

impl FleetState {
    async fn try_start(&mut self, myself: &ActorRef<FleetMsg>, shared: Arc<AgentShared>) -> Result<(), Exit> {
        let id = shared.id.clone();
        shared.kin.fleet.fill(Addr::of(myself));
        let addr = spawn("Agent", id.to_string(), Agent, shared, myself.get_cell()).await?;
        self.members.add(Member { addr, id });
        Ok(())
    }

    /// Starts an agent again; a start that fails counts like a death.
    async fn start(&mut self, myself: &ActorRef<FleetMsg>, shared: Arc<AgentShared>) {
        let id = shared.id.clone();
        if let Err(exit) = self.try_start(myself, shared).await {
            self.decide(myself, &id, &exit);
        }
    }

    fn command(&self, agent: &Arc<str>, command: Command, reply: ReplyTo) {
        if let Some(cause) = self.parked.get(agent) {
            return reply.send(Err(CommandError::Parked(cause.clone())));
        }
        let Some(shared) = self.agents.get(agent) else {
            return reply.send(Err(CommandError::Refused(format!("There is no agent {agent}"))));
        };
        // Dropping an undelivered command answers that it is lost.
        drop(shared.turn_loop.try_tell(LoopMsg::Command(command, reply)));
    }

    async fn gone(&mut self, myself: &ActorRef<FleetMsg>, id: ActorId, exit: &Exit) {
        if let Some(agent) = self.farewells.remove(&id) {
            return self.ready(&agent);
        }
        let Some(member) = self.members.remove(id) else { return self.worker_gone(myself, id).await };
        let shared = self.agent(&member.id);
        if let Some(shared) = &shared {
            shared.turn_loop.clear();
        }
        if let Some(leaving) = self.leaving.remove(&member.id) {
            self.forget(&member.id);
            if let Some(child) = shared.filter(|shared| shared.kin.parent.is_some()) {
                self.child_closed(myself, &(child.kin.root.clone(), child.kin.id.clone())).await;
                // It may be the last that its parent waits for.
                if let Some(parent) = &child.kin.parent
                    && self.leaving.get(parent).is_some_and(|leaving| leaving.step == LeavingStep::Ready)
                {
                    self.ready(parent);
                }
            }
            if let Some(reply) = leaving.reply {
                reply.send(Ok(Reply::Done));
            }
        } else if self.closing.is_none() {
            return self.decide(myself, &member.id, exit);
        }
        if self.members.is_empty()
            && let Some(reply) = self.closing.as_mut().and_then(Option::take)
        {
            reply.send(Ok(Reply::Done));
        }
    }

    /// An agent is not one of the fleet any more.
    fn forget(&mut self, agent: &Arc<str>) {
        self.agents.remove(agent);
        self.histories.remove(agent);
        self.parked.remove(agent);
    }

    fn decide(&mut self, myself: &ActorRef<FleetMsg>, agent: &Arc<str>, exit: &Exit) {
        let history = self.histories.entry(agent.clone()).or_default();
        let policy = RestartPolicy::actors(RestartKind::Transient);
        match policy.decide(history, self.begun.elapsed(), exit) {
            RestartDecision::Restart(wait) => {
                trace::restarted("Agent", agent, exit.cause(), wait);
                let agent = agent.clone();
                myself.send_after(wait, move || FleetMsg::Restart(agent));
            }
            RestartDecision::Leave => drop(self.agents.remove(agent)),
            RestartDecision::GiveUp => {
                self.park(agent, exit.cause());
                let child = self.agent(agent).filter(|shared| shared.kin.parent.is_some());
                if let Some(child) = child {
                    let cause = format!("it failed too often: {}", exit.cause());
                    self.fail(myself, &(child.kin.root.clone(), child.kin.id.clone()), &cause);
                }
            }
        }
    }

    /// Gives up on an agent. Whoever watches it is told; its session can be read and resumed.
    fn park(&mut self, agent: &Arc<str>, cause: &str) {
        tracing::error!(agent = &**agent, cause, "parked after repeated failures");
        self.parked.insert(agent.clone(), cause.to_owned());
        let Some(shared) = self.agents.get(agent) else { return };
        let Seq { epoch, .. } = shared.last_seq();
        let event = Event::Parked { cause: cause.to_owned() };
        let published = Arc::new(Published { seq: Seq { epoch: epoch + 1, n: 1 }, event });
        for subscriber in shared.subscribers.all() {
            let content = Delivered::Events(vec![published.clone()]);
            let _ = subscriber.to.deliver(Delivery { agent: agent.clone(), content, permit: None });
        }
    }

    fn shut_down(&mut self, myself: &ActorRef<FleetMsg>, reply: ReplyTo) {
        if self.members.is_empty() {
            self.closing = Some(None);
            return reply.send(Ok(Reply::Done));
        }
        self.closing = Some(Some(reply));
        let agents: Vec<_> = self.members.iter().map(|member| member.id.clone()).collect();
        for agent in agents {
            let farewell = SessionShutdownAsk { reason: SessionEndReason::Quit, target_session_file: None };
            if !self.leaving.contains_key(&agent) {
                self.leave(myself, &agent, farewell, None);
            }
        }
    }

    /// An agent is to go: its trace is ended first.
    fn leave(
        &mut self,
        myself: &ActorRef<FleetMsg>,
        agent: &Arc<str>,
        farewell: SessionShutdownAsk,
        reply: Option<ReplyTo>,
    ) {
        let leaving = Leaving { step: LeavingStep::Settling, farewell, reply };
        if let Some(Leaving { reply: Some(earlier), .. }) = self.leaving.insert(agent.clone(), leaving) {
            earlier.send(Ok(Reply::Done));
        }
        let (me, id) = (Addr::of(myself), agent.clone());
        self.command(agent, Command::Abort, ReplyTo::new(move |_| me.tell(FleetMsg::Idle(id))));
        let agent = agent.clone();
        myself.send_after(SETTLE, move || FleetMsg::SettleOver(agent));
    }

    /// The trace is over: extensions are told of the end, and waited for.
    async fn farewell(&mut self, myself: &ActorRef<FleetMsg>, agent: &Arc<str>) {
        let Some(leaving) = self.leaving.get_mut(agent) else { return };
        if mem::replace(&mut leaving.step, LeavingStep::Farewell) != LeavingStep::Settling {
            return;
        }
        let ask = leaving.farewell.clone();
        let shared = self.agents.get(agent).map(|entry| entry.value().clone());
        if let Some(shared) = shared.filter(|shared| shared.config.chain.has(AskPoint::SessionShutdown)) {
            let label = agent.to_string();
            if let Ok(worker) = spawn_worker("Farewell", label, Farewell, shared, ask, myself.get_cell()).await {
                self.farewells.insert(worker.id(), agent.clone());
                return;
            }
        }
        self.ready(agent);
    }

    /// Nothing holds up the end of an agent any more. When all go, they go together: until then they see each other.
    fn ready(&mut self, agent: &Arc<str>) {
        let Some(leaving) = self.leaving.get_mut(agent) else { return };
        leaving.step = LeavingStep::Ready;
        let alone = self.closing.is_none();
        if alone && self.has_open_children(agent) {
            return;
        }
        if alone {
            self.members.named(agent).inspect(|member| member.addr.actor().stop(None));
        } else if self.leaving.values().all(|leaving| leaving.step == LeavingStep::Ready) {
            self.members.iter().for_each(|member| member.addr.actor().stop(None));
        }
    }
}

#[cfg(test)]
mod tests;
