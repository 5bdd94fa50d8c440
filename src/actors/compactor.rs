//! The compactor of an agent: summarises at the loop's safe points. Its failure never loses history.
//!
//! It does not summarise yet: every request is answered with "nothing to compact". It has its place in the tree, so
//! that the loop's phases around it are real.

use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::{
    address::Recipient,
    turn_io::{Input, Work},
};
use crate::protocol::event::CompactionReason;

/// What a session that is too small to compact is told.
pub const NOTHING_TO_COMPACT: &str = "Nothing to compact (session too small)";

/// What the compactor is told.
#[derive(Debug)]
pub enum CompactorMsg {
    /// Summarise old history.
    Compact {
        /// Why.
        reason: CompactionReason,
        /// What the summary should care about.
        instructions: Option<String>,
        /// The loop that waits.
        to: Recipient<Input>,
        /// The work that it waits for.
        work: Work,
    },
}

/// The actor.
pub struct Compactor;

impl Actor for Compactor {
    type Msg = CompactorMsg;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<CompactorMsg>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        _: ActorRef<CompactorMsg>,
        message: CompactorMsg,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let CompactorMsg::Compact { reason, to, work, .. } = message;
        tracing::debug!(?reason, "nothing to compact");
        if !to.deliver(Input::Compacted { work, result: Err(NOTHING_TO_COMPACT.into()) }) {
            tracing::debug!("the loop that asked for a compaction is gone");
        }
        Ok(())
    }
}
