//! Agents on their way in and out while the program runs, with the extensions that they ask.

use std::sync::Arc;

use super::{
    agent_factory::AgentFactory,
    extensions::ExtensionsMsg,
    fleet::{CloseAgent, FleetMsg, OpenAgent},
    reply::{CommandResult, ReplyTo},
    runtime::Parts,
    shared::AgentShared,
};
use crate::protocol::{
    CommandError,
    session_change::{SessionShutdownAsk, SessionStartReason},
};

impl Parts {
    /// Opens an agent that `factory` made; its extensions run before it is there to ask them. `start` is told at once,
    /// where it is given.
    ///
    /// # Errors
    /// Why it did not open; nothing of it is left then.
    pub async fn open(
        &self,
        agent: &Arc<AgentShared>,
        start: Option<SessionStartReason>,
        factory: &dyn AgentFactory,
    ) -> Result<(), CommandError> {
        let opened = match self.run_extensions(agent).await {
            Ok(_) => {
                let (reply, opened) = ReplyTo::channel();
                let open = OpenAgent { shared: agent.clone(), start, reply };
                // Dropping what could not be delivered answers that it is lost.
                drop(self.fleet.try_tell(FleetMsg::Open(Box::new(open))));
                opened.await.unwrap_or(Err(CommandError::Lost))
            }
            failed => failed,
        };
        if opened.is_err() {
            self.let_go(agent, factory).await;
        }
        opened.map(drop)
    }

    /// Closes an agent, and keeps its session.
    pub async fn close(&self, agent: &AgentShared, farewell: SessionShutdownAsk) {
        let (reply, closed) = ReplyTo::channel();
        let close = CloseAgent { agent: agent.id.clone(), farewell, reply };
        drop(self.fleet.try_tell(FleetMsg::Close(Box::new(close))));
        // However it ended, it is gone.
        let _ = closed.await;
    }

    /// Ends what an agent that is closed held beside its actors: extensions that nobody else asks, and what the factory
    /// gave it.
    pub async fn let_go(&self, agent: &AgentShared, factory: &dyn AgentFactory) {
        self.extensions.tell(ExtensionsMsg::Remove(agent.config.observers.clone()));
        factory.retire(agent).await;
    }

    async fn run_extensions(&self, agent: &AgentShared) -> CommandResult {
        let (reply, running) = ReplyTo::channel();
        drop(self.extensions.try_tell(ExtensionsMsg::Add(agent.config.observers.clone(), reply)));
        running.await.unwrap_or(Err(CommandError::Lost))
    }
}
