//! The worker that undoes changes of files, or lists what can be undone. It reads and writes files, so it may take a
//! while; nobody mails it.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::{address::Recipient, reply::ReplyTo, shared::AgentShared};
use crate::{
    protocol::{CommandError, Reply, checkpoint::Undo},
    tools::{
        Checkpoints,
        checkpoints::{Undone, list, undo},
    },
};

/// What the worker has to do.
pub enum UndoWork {
    /// Undo.
    Undo {
        /// The agent.
        shared: Arc<AgentShared>,
        /// What is asked.
        ask: Undo,
        /// Who goes on with it.
        to: Recipient<Box<Result<Undone, CommandError>>>,
    },
    /// List the checkpoints.
    List {
        /// The agent.
        shared: Arc<AgentShared>,
        /// Who wants to know.
        reply: ReplyTo,
    },
}

/// The worker.
pub struct Undoing;

impl Actor for Undoing {
    type Msg = UndoWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<UndoWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(&self, myself: ActorRef<UndoWork>, work: UndoWork, (): &mut ()) -> Result<(), ActorProcessingErr> {
        match work {
            UndoWork::Undo { shared, ask, to } => {
                let result = match checkpoints(&shared) {
                    Ok((checkpoints, tree)) => {
                        let undone = undo(&checkpoints, &shared.config.operations, &tree, &ask).await;
                        undone.map_err(|error| CommandError::Refused(error.to_string()))
                    }
                    Err(error) => Err(error),
                };
                // The loop that waits is gone: what was done is in the log, and its reply is lost.
                let _ = to.deliver(Box::new(result));
            }
            UndoWork::List { shared, reply } => reply.send(checkpoints(&shared).and_then(|(checkpoints, tree)| {
                let infos = list(&checkpoints, &tree).map_err(|error| CommandError::Store(error.to_string()))?;
                Ok(Reply::Checkpoints(infos))
            })),
        }
        myself.stop(None);
        Ok(())
    }
}

fn checkpoints(shared: &AgentShared) -> Result<(Checkpoints, crate::store::tree::TreeView), CommandError> {
    let Some(checkpoints) = shared.place.checkpoints.clone() else {
        let text = "No checkpoints are taken: the setting checkpoints.enabled is off, or the session lives in memory.";
        return Err(CommandError::Refused(text.to_owned()));
    };
    let tree = shared.tree().ok_or(CommandError::Lost)?;
    Ok((checkpoints, tree))
}
