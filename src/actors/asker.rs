//! The worker that puts one of the loop's own questions to the extensions.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::{
    address::Recipient,
    chain::Asking,
    shared::AgentShared,
    turn_io::{Input, Work},
};
use crate::protocol::ask::Ask;

/// What the worker needs.
pub struct AskWork {
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// Who asks.
    pub asking: Asking,
    /// The question.
    pub ask: Ask,
    /// The loop that waits.
    pub to: Recipient<Input>,
    /// The work that it waits for.
    pub work: Work,
}

/// The worker.
pub struct Asker;

impl Actor for Asker {
    type Msg = AskWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<AskWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(&self, myself: ActorRef<AskWork>, work: AskWork, (): &mut ()) -> Result<(), ActorProcessingErr> {
        let AskWork { shared, asking, ask, to, work } = work;
        let point = ask.point();
        let walked = shared.config.chain.boundary(&asking, ask).await;
        shared.report_failures(point, walked.failures);
        // When the loop is gone, so is this worker: its death is under way.
        let _ = to.deliver(Input::Asked { work, verdict: walked.value });
        myself.stop(None);
        Ok(())
    }
}
