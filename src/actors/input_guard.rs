//! The worker that has guards decide about a user's input. Its death denies.

use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::{
    address::Recipient,
    chain::{Asking, Chain},
};
use crate::protocol::ask::{InputAsk, InputVerdict};

/// What the worker needs.
pub struct InputWork {
    /// The guards.
    pub chain: Chain,
    /// Who asks.
    pub asking: Asking,
    /// The question.
    pub ask: InputAsk,
    /// Who waits.
    pub to: Recipient<InputVerdict>,
}

/// Denies when it is dropped undecided: a worker that dies has decided nothing.
struct Decision(Option<Recipient<InputVerdict>>);

impl Decision {
    fn make(mut self, verdict: InputVerdict) {
        if let Some(to) = self.0.take() {
            // The loop is gone: nobody waits for the decision.
            let _ = to.deliver(verdict);
        }
    }
}

impl Drop for Decision {
    fn drop(&mut self) {
        if let Some(to) = self.0.take() {
            let reason = "Denied: the worker that asks the input guards died".to_owned();
            let _ = to.deliver(InputVerdict::Deny { reason });
        }
    }
}

/// The worker.
pub struct InputGuard;

impl Actor for InputGuard {
    type Msg = InputWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<InputWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<InputWork>,
        work: InputWork,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let InputWork { chain, asking, ask, to } = work;
        let decision = Decision(Some(to));
        let verdict = chain.input(&asking, ask).await;
        decision.make(verdict);
        myself.stop(None);
        Ok(())
    }
}
