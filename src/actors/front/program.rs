//! The front of a program that has agents inside: it opens the agent and has its session replaced. All else goes from
//! the program straight to the agent, as a [`crate::protocol::Command`], and comes back as events.

use std::sync::{Arc, Mutex, PoisonError};

use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::client::AgentClient;
use crate::{
    actors::{
        address::{Addr, Recipient, Slot},
        agent_factory::AgentFactory,
        replacing::{ReplaceWork, Replaced},
        reply::{CommandResult, ReplyTo},
        runtime::{FrontFactory, FrontStart, Parts},
        shared::AgentShared,
        spawn::{ended, spawn},
    },
    protocol::session_change::SessionChange,
};

/// Starts the front.
pub struct ProgramFactory {
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// Who makes agents on other sessions.
    pub factory: Arc<dyn AgentFactory>,
    /// Where the front is to be found.
    pub front: Slot<ProgramMsg>,
    /// Who hears that the agent takes commands, and how to reach it.
    pub opened: Mutex<Option<oneshot::Sender<(AgentClient, CommandResult)>>>,
    /// Cancelled when the runtime has ended, however it did.
    pub ended: CancellationToken,
}

impl FrontFactory for ProgramFactory {
    fn start(&self, parts: Parts, _: Recipient<i32>, supervisor: ActorCell) -> FrontStart<'_> {
        Box::pin(async move {
            let args = (parts.clone(), self.factory.clone(), self.ended.clone());
            let client = AgentClient { shared: self.shared.clone(), fleet: parts.fleet.clone() };
            let addr = spawn("Program", "", Program, args, supervisor).await?;
            self.front.fill(addr.clone());
            let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take();
            let agent = client.clone();
            client.open(ReplyTo::new(move |result| {
                // A program that does not wait any more is ending.
                if let Some(opened) = opened {
                    drop(opened.send((agent, result)));
                }
            }));
            Ok(addr.actor().get_cell())
        })
    }
}

/// What the front is told.
#[derive(Debug)]
pub enum ProgramMsg {
    /// Put another session in the place of an agent's.
    Replace {
        /// The agent.
        client: Box<AgentClient>,
        /// Which session.
        change: SessionChange,
        /// Who hears what came of it.
        to: oneshot::Sender<Replaced>,
    },
    /// What came of it.
    Replaced(Replaced),
    /// A worker is gone.
    Gone(ActorId),
}

/// State of the front.
pub struct ProgramState {
    parts: Parts,
    factory: Arc<dyn AgentFactory>,
    /// A session is being replaced: the worker, and who waits.
    pending: Option<(Option<ActorId>, oneshot::Sender<Replaced>)>,
    /// The front is the last to end.
    _ended: DropGuard,
}

impl ProgramState {
    fn replaced(&mut self, replaced: Replaced) {
        if let Some((_, to)) = self.pending.take() {
            // Whoever gave up waiting finds the new agent in the fleet all the same.
            drop(to.send(replaced));
        }
    }
}

/// The actor.
pub struct Program;

impl Actor for Program {
    type Msg = ProgramMsg;
    type State = ProgramState;
    type Arguments = (Parts, Arc<dyn AgentFactory>, CancellationToken);

    async fn pre_start(
        &self,
        _: ActorRef<ProgramMsg>,
        (parts, factory, ended): Self::Arguments,
    ) -> Result<ProgramState, ActorProcessingErr> {
        Ok(ProgramState { parts, factory, pending: None, _ended: ended.drop_guard() })
    }

    async fn handle(
        &self,
        myself: ActorRef<ProgramMsg>,
        message: ProgramMsg,
        state: &mut ProgramState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ProgramMsg::Replace { to, .. } if state.pending.is_some() => {
                drop(to.send(Replaced::Failed("another session is taking the place already".to_owned())));
            }
            ProgramMsg::Replace { client, change, to } => {
                let work = ReplaceWork {
                    client: *client,
                    parts: state.parts.clone(),
                    factory: state.factory.clone(),
                    change,
                    to: Recipient::new(Addr::of(&myself), ProgramMsg::Replaced),
                };
                state.pending = Some((work.begin(myself.get_cell()).await, to));
            }
            ProgramMsg::Replaced(replaced) => state.replaced(replaced),
            ProgramMsg::Gone(worker) => {
                if state.pending.as_ref().is_some_and(|(pending, _)| *pending == Some(worker)) {
                    state.replaced(Replaced::Failed("the work on it broke off".to_owned()));
                }
            }
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<ProgramMsg>,
        event: SupervisionEvent,
        _: &mut ProgramState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, _)) = ended(&event) {
            Addr::of(&myself).tell(ProgramMsg::Gone(id));
        }
        Ok(())
    }
}
