//! The node: takes jobs while it has slots, has each kept by a worker of its own, and ends in order.

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch},
    task::JoinHandle,
    time::sleep,
};

use super::keeper::{Keeper, KeeperWork};
use crate::actors::{
    address::Addr,
    front::complain,
    nats::{Delivery, Hub, NatsAddress, NatsError, Owner},
    spawn::{ended, spawn_worker},
};

/// Before the queue is asked again after it could not be.
const AGAIN: Duration = Duration::from_secs(2);

/// What everything in a node shares.
pub struct NodeShared {
    /// The connection.
    pub hub: Hub,
    /// This node, as it signs leases.
    pub owner: Owner,
    /// Whose jobs it takes.
    pub pool: String,
    /// Where runs work; none for their own folders.
    pub dir: Option<PathBuf>,
    /// Its own folder: the runs that it has are below it.
    pub folder: PathBuf,
    /// Where the server is, for the agents' processes.
    pub address: NatsAddress,
    /// The user's folder.
    pub user_dir: PathBuf,
}

/// How the node ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drain {
    /// It does not.
    No,
    /// Runs settle and are handed on.
    Settle,
    /// They are handed on as they stand.
    AtOnce,
}

impl Drain {
    /// After another signal.
    #[must_use]
    pub const fn further(self) -> Self {
        match self {
            Self::No => Self::Settle,
            Self::Settle | Self::AtOnce => Self::AtOnce,
        }
    }
}

/// What the node begins with.
pub struct NodeArgs {
    /// What is shared.
    pub shared: NodeShared,
    /// Runs at once.
    pub slots: usize,
    /// Told when the node has ended.
    pub done: oneshot::Sender<()>,
}

/// What the node is told.
pub enum NodeMsg {
    /// A job was delivered, for this slot.
    Delivered(Box<Delivery>, OwnedSemaphorePermit),
    /// The queue cannot be asked right now.
    Unfetched(NatsError),
    /// A keeper is gone.
    Gone(ActorId),
    /// End in order; again: at once.
    Stop,
}

/// State of the node.
pub struct NodeState {
    shared: Arc<NodeShared>,
    drain: watch::Sender<Drain>,
    /// The runs that it has.
    keepers: HashMap<ActorId, String>,
    fetching: JoinHandle<()>,
    /// The last text about the queue: it is said once.
    told: Option<String>,
    done: Option<oneshot::Sender<()>>,
}

impl Drop for NodeState {
    fn drop(&mut self) {
        self.fetching.abort();
    }
}

/// The actor.
pub struct Node;

impl Actor for Node {
    type Msg = NodeMsg;
    type State = NodeState;
    type Arguments = NodeArgs;

    async fn pre_start(&self, myself: ActorRef<NodeMsg>, args: NodeArgs) -> Result<NodeState, ActorProcessingErr> {
        let shared = Arc::new(args.shared);
        let slots = Arc::new(Semaphore::new(args.slots));
        let fetching = tokio::spawn(fetch(shared.clone(), slots, Addr::of(&myself)));
        let drain = watch::channel(Drain::No).0;
        Ok(NodeState { shared, drain, keepers: HashMap::new(), fetching, told: None, done: Some(args.done) })
    }

    async fn handle(
        &self,
        myself: ActorRef<NodeMsg>,
        message: NodeMsg,
        state: &mut NodeState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            NodeMsg::Delivered(delivery, permit) => {
                state.told = None;
                if *state.drain.borrow() != Drain::No {
                    // When this is lost, the job is delivered again by itself.
                    tokio::spawn(async move { drop(delivery.give_back(Duration::ZERO).await) });
                    return Ok(());
                }
                let run = delivery.job.run.clone();
                let drain = state.drain.subscribe();
                let work = KeeperWork { shared: state.shared.clone(), delivery, permit, drain };
                match spawn_worker("Keeper", run.clone(), Keeper, (), work, myself.get_cell()).await {
                    Ok(addr) => drop(state.keepers.insert(addr.id(), run)),
                    Err(exit) => complain(&format!("Error: run {run}: {}", exit.cause())),
                }
            }
            NodeMsg::Unfetched(error) => {
                let text = error.to_string();
                if state.told.as_ref() != Some(&text) {
                    complain(&format!("Warning: there are no runs to be had: {text} Trying again."));
                    state.told = Some(text);
                }
            }
            NodeMsg::Gone(id) => {
                state.keepers.remove(&id);
                state.end_when_idle(&myself);
            }
            NodeMsg::Stop => {
                let further = state.drain.borrow().further();
                state.fetching.abort();
                match (further, state.keepers.len()) {
                    (_, 0) => {}
                    (Drain::Settle, runs) => complain(&format!(
                        "Ending: {runs} run{} handed on. A second signal does not wait for them to settle.",
                        if runs == 1 { " is" } else { "s are" }
                    )),
                    _ => complain("Ending at once."),
                }
                state.drain.send_replace(further);
                state.end_when_idle(&myself);
            }
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<NodeMsg>,
        event: SupervisionEvent,
        _: &mut NodeState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((id, _)) = ended(&event) {
            Addr::of(&myself).tell(NodeMsg::Gone(id));
        }
        Ok(())
    }
}

impl NodeState {
    fn end_when_idle(&mut self, myself: &ActorRef<NodeMsg>) {
        if *self.drain.borrow() != Drain::No && self.keepers.is_empty() {
            if let Some(done) = self.done.take() {
                // The process is ending anyway when nobody hears it.
                let _ = done.send(());
            }
            myself.stop(None);
        }
    }
}

/// Takes jobs while there are slots, until the node is gone.
async fn fetch(shared: Arc<NodeShared>, slots: Arc<Semaphore>, to: Addr<NodeMsg>) {
    loop {
        let error = match shared.hub.jobs(&shared.pool).await {
            Err(error) => error,
            Ok(mut jobs) => loop {
                let Ok(permit) = slots.clone().acquire_owned().await else { return };
                match jobs.next().await {
                    Ok(delivery) => {
                        if to.try_tell(NodeMsg::Delivered(Box::new(delivery), permit)).is_err() {
                            return;
                        }
                    }
                    Err(error) => break error,
                }
            },
        };
        if to.try_tell(NodeMsg::Unfetched(error)).is_err() {
            return;
        }
        sleep(AGAIN).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_signal_settles_and_each_further_one_does_not_wait() {
        assert_eq!(
            [Drain::No, Drain::Settle, Drain::AtOnce].map(Drain::further),
            [Drain::Settle, Drain::AtOnce, Drain::AtOnce]
        );
    }
}
