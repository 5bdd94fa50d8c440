//! The worker that tells extensions that a session ends, and waits for those who want to keep something. Its own end,
//! whatever it is, says that nobody is waited for any more.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::shared::AgentShared;
use crate::protocol::{ask::AskPoint, session_change::SessionShutdownAsk};

/// The worker.
pub struct Farewell;

impl Actor for Farewell {
    type Msg = SessionShutdownAsk;
    type State = Arc<AgentShared>;
    type Arguments = Arc<AgentShared>;

    async fn pre_start(
        &self,
        _: ActorRef<SessionShutdownAsk>,
        shared: Arc<AgentShared>,
    ) -> Result<Arc<AgentShared>, ActorProcessingErr> {
        Ok(shared)
    }

    async fn handle(
        &self,
        myself: ActorRef<SessionShutdownAsk>,
        ask: SessionShutdownAsk,
        shared: &mut Arc<AgentShared>,
    ) -> Result<(), ActorProcessingErr> {
        let asking = shared.asking();
        let walked = shared.config.chain.farewell(&asking, ask).await;
        shared.report_failures(AskPoint::SessionShutdown, walked.failures);
        myself.stop(None);
        Ok(())
    }
}
