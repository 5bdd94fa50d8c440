//! The control socket: others of the same user look at the agents of this process, steer and stop them.
//!
//! | file | what |
//! |---|---|
//! | [`socket`] | the file of the socket, and who may connect |
//! | [`connection`] | the worker that serves one connection: RPC's commands and records |
//! | [`allowed`] | which commands it takes |
//!
//! It stands beside the front, which alone answers questions and replaces sessions. Its actor is temporary: when it dies,
//! nothing else is touched. A connection that does not read holds up nobody but itself.

pub mod allowed;
pub mod connection;
pub mod socket;
#[cfg(test)]
mod tests;

use std::{collections::HashSet, sync::Arc, time::Duration};

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::{
    net::{UnixListener, UnixStream},
    sync::watch,
    task::JoinHandle,
};

use self::{
    connection::{Connection, ConnectionWork},
    socket::may_connect,
};
use crate::{
    actors::{
        address::{Addr, Recipient},
        runtime::Service,
        shared::AgentShared,
        spawn::{ended, spawn, spawn_worker},
    },
    protocol::supervision::Supervision,
};

/// Connections at once. Far more than people who look.
const CONNECTIONS: usize = 32;
/// The wait after a connection could not be taken, for want of descriptors say.
const AGAIN: Duration = Duration::from_millis(200);

/// The process as those who connect see it.
#[derive(Clone)]
pub struct Offered {
    /// Who gives the agents work: `terminal`, `run`, `team`.
    pub front: &'static str,
    /// The run that it is the worker of.
    pub run: Option<String>,
    /// The agent in front. Another one may take its place.
    pub agent: watch::Receiver<Arc<AgentShared>>,
    /// Ends all that the process does, in order. For a process whose agent in front is never asked anything: it takes no
    /// messages, and a stop is one of all.
    pub end: Option<Recipient<()>>,
}

impl Offered {
    /// The live supervision tree.
    #[must_use]
    pub fn supervision(&self) -> Supervision {
        let agent = self.agent.borrow().clone();
        Supervision { run: self.run.clone(), ..crate::actors::supervision::look(&agent, self.front) }
    }
}

/// Serves connections to `listener` below the root of a runtime.
#[must_use]
pub fn service(listener: UnixListener, offered: Offered) -> Service {
    Service::new(move |supervisor| {
        Box::pin(async move {
            let control = spawn("Control", "", Control, (listener, offered), supervisor).await?;
            Ok(control.actor().get_cell())
        })
    })
}

/// What the actor is told.
#[derive(Debug)]
pub enum ControlMsg {
    /// Somebody connected.
    Connected(UnixStream),
    /// A connection is over.
    Gone(ActorId),
}

/// State of the actor.
pub struct ControlState {
    offered: Offered,
    connections: HashSet<ActorId>,
    accepting: JoinHandle<()>,
}

impl Drop for ControlState {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// The actor.
pub struct Control;

impl Actor for Control {
    type Msg = ControlMsg;
    type State = ControlState;
    type Arguments = (UnixListener, Offered);

    async fn pre_start(
        &self,
        myself: ActorRef<ControlMsg>,
        (listener, offered): Self::Arguments,
    ) -> Result<ControlState, ActorProcessingErr> {
        let accepting = tokio::spawn(accept(listener, Addr::of(&myself)));
        Ok(ControlState { offered, connections: HashSet::new(), accepting })
    }

    async fn handle(
        &self,
        myself: ActorRef<ControlMsg>,
        message: ControlMsg,
        state: &mut ControlState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ControlMsg::Connected(stream) => {
                if state.connections.len() >= CONNECTIONS || !may_connect(&stream) {
                    return Ok(());
                }
                let work = ConnectionWork { stream, offered: state.offered.clone() };
                if let Ok(worker) = spawn_worker("Connection", "", Connection, (), work, myself.get_cell()).await {
                    state.connections.insert(worker.id());
                }
            }
            ControlMsg::Gone(worker) => drop(state.connections.remove(&worker)),
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<ControlMsg>,
        event: SupervisionEvent,
        _: &mut ControlState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, _)) = ended(&event) {
            Addr::of(&myself).tell(ControlMsg::Gone(id));
        }
        Ok(())
    }
}

/// Takes connections until the actor is gone.
async fn accept(listener: UnixListener, to: Addr<ControlMsg>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                if to.try_tell(ControlMsg::Connected(stream)).is_err() {
                    return;
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a connection to the control socket could not be taken");
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
}
