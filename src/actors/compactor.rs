//! The compactor of an agent: summarises old history at the loop's safe points, and branches when they are left. Its
//! failure never loses history: what it makes is an entry that the loop stores, and everything before stays in the file.
//!
//! A worker does the work, one at a time; the loop that waits hears of its result, or of its death.

mod compact;
mod leave;

use std::sync::Arc;

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio_util::sync::CancellationToken;

pub use self::leave::Left;
use self::{compact::compact, leave::leave};
use super::{
    address::{Addr, Recipient},
    shared::AgentShared,
    spawn::{ended, spawn_worker},
    turn_io::{Input, Work},
};
use crate::protocol::{event::CompactionReason, navigation::Navigate};

/// What the compactor is told.
#[derive(Debug)]
pub enum CompactorMsg {
    /// Summarise old history.
    Compact {
        /// Why.
        reason: CompactionReason,
        /// What the summary should care about.
        instructions: Option<String>,
        /// The run goes on afterwards.
        will_retry: bool,
        /// The loop that waits.
        to: Recipient<Input>,
        /// The work that it waits for.
        work: Work,
    },
    /// The conversation is about to go elsewhere: ask extensions, and summarise what it leaves when that is wanted.
    Leave {
        /// Where to, and how.
        ask: Navigate,
        /// The loop that waits.
        to: Recipient<Left>,
    },
    /// Nobody waits any more.
    Cancel,
    /// The worker is gone.
    Gone(ActorId),
}

/// What the worker has to do, and who waits for it.
#[derive(Clone)]
enum Order {
    Compact { job: compact::Job, to: Recipient<Input>, work: Work },
    Leave { ask: Navigate, to: Recipient<Left> },
}

impl Order {
    /// Tells whoever waits that nothing comes of it.
    fn fail(&self, cause: &str) {
        let heard = match self {
            Self::Compact { to, work, .. } => {
                to.deliver(Input::Compacted { work: *work, result: Err(cause.to_owned()) })
            }
            Self::Leave { to, .. } => to.deliver(Left::Failed(cause.to_owned())),
        };
        note(heard);
    }

    async fn carry_out(self, shared: Arc<AgentShared>, cancel: CancellationToken) {
        note(match self {
            Self::Compact { job, to, work } => {
                let result = compact(&shared, job, cancel).await.map(Box::new);
                to.deliver(Input::Compacted { work, result })
            }
            Self::Leave { ask, to } => to.deliver(leave(&shared, ask, cancel).await),
        });
    }
}

fn note(heard: bool) {
    if !heard {
        tracing::debug!("the loop that asked for a summary is gone");
    }
}

/// The summary that is being made.
struct Running {
    id: ActorId,
    cancel: CancellationToken,
    order: Order,
}

/// State of the compactor.
pub struct CompactorState {
    shared: Arc<AgentShared>,
    running: Option<Running>,
}

/// The actor.
pub struct Compactor;

impl Actor for Compactor {
    type Msg = CompactorMsg;
    type State = CompactorState;
    type Arguments = Arc<AgentShared>;

    async fn pre_start(
        &self,
        _: ActorRef<CompactorMsg>,
        shared: Arc<AgentShared>,
    ) -> Result<CompactorState, ActorProcessingErr> {
        Ok(CompactorState { shared, running: None })
    }

    async fn handle(
        &self,
        myself: ActorRef<CompactorMsg>,
        message: CompactorMsg,
        state: &mut CompactorState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            CompactorMsg::Compact { reason, instructions, will_retry, to, work } => {
                let job = compact::Job { reason, instructions, will_retry };
                state.begin(&myself, Order::Compact { job, to, work }).await;
            }
            CompactorMsg::Leave { ask, to } => state.begin(&myself, Order::Leave { ask, to }).await,
            CompactorMsg::Cancel => state.cancel(),
            CompactorMsg::Gone(id) => {
                // What it said before it ended has been heard: then this answer comes to nothing.
                if let Some(Running { order, .. }) = state.running.take_if(|running| running.id == id) {
                    order.fail("the worker that summarises failed");
                }
            }
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<CompactorMsg>,
        event: SupervisionEvent,
        _: &mut CompactorState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, _)) = ended(&event) {
            Addr::of(&myself).tell(CompactorMsg::Gone(id));
        }
        Ok(())
    }
}

impl CompactorState {
    async fn begin(&mut self, myself: &ActorRef<CompactorMsg>, order: Order) {
        self.cancel();
        let cancel = CancellationToken::new();
        let work = (self.shared.clone(), order.clone(), cancel.clone());
        match spawn_worker("Summarise", "", Summarise, (), work, myself.get_cell()).await {
            Ok(worker) => self.running = Some(Running { id: worker.id(), cancel, order }),
            Err(exit) => order.fail(exit.cause()),
        }
    }

    fn cancel(&mut self) {
        if let Some(running) = self.running.take() {
            running.cancel.cancel();
        }
    }
}

struct Summarise;

impl Actor for Summarise {
    type Msg = (Arc<AgentShared>, Order, CancellationToken);
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Self::Msg>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        (shared, order, cancel): Self::Msg,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        tokio::select! {
            () = order.carry_out(shared, cancel.clone()) => {}
            () = cancel.cancelled() => {}
        }
        myself.stop(None);
        Ok(())
    }
}
