//! The worker that has extensions look at messages before they are stored.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::{address::Recipient, chain::Asking, shared::AgentShared, turn_io::NewEntry};
use crate::protocol::{EntryBody, ask::AskPoint};

/// What the worker needs.
pub struct CheckWork {
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// Who asks.
    pub asking: Asking,
    /// The entries.
    pub entries: Vec<NewEntry>,
    /// Where they go.
    pub to: Recipient<Vec<NewEntry>>,
}

/// The worker.
pub struct StoreCheck;

impl Actor for StoreCheck {
    type Msg = CheckWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<CheckWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<CheckWork>,
        work: CheckWork,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let CheckWork { shared, asking, mut entries, to } = work;
        for entry in &mut entries {
            if let EntryBody::Message { message } = &mut entry.body {
                let walked = shared.config.chain.message_end(&asking, message.clone()).await;
                shared.report_failures(AskPoint::MessageEnd, walked.failures);
                *message = walked.value;
            }
        }
        // When the loop is gone, so is this worker: its death is under way.
        let _ = to.deliver(entries);
        myself.stop(None);
        Ok(())
    }
}
