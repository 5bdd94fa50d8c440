//! The worker that finds out which files a run changed.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::progress::results;
use crate::{
    actors::{address::Recipient, shared::AgentShared},
    protocol::{EntryId, checkpoint::CheckpointCause},
    store::TreeView,
    tools::checkpoints,
};

/// Changes of the last command are waited for so long.
const LAST_LOOK: Duration = Duration::from_secs(2);

/// What the worker needs.
pub struct ChangesWork {
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// Its session.
    pub tree: TreeView,
    /// The first entry of the run.
    pub first: EntryId,
    /// Who wants to know. Nobody hears of a worker that dies but its supervisor.
    pub to: Recipient<Vec<String>>,
}

/// The worker.
pub struct Changes;

impl Actor for Changes {
    type Msg = ChangesWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<ChangesWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<ChangesWork>,
        work: ChangesWork,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        let ChangesWork { shared, tree, first, to } = work;
        let files = match &shared.place.checkpoints {
            Some(taken) => {
                if tokio::time::timeout(LAST_LOOK, taken.settled()).await.is_err() {
                    tracing::warn!("what the last command changed was not recorded in time");
                }
                let (taken, looked_at) = (taken.clone(), tree.clone());
                let begun = first.clone();
                let found =
                    tokio::task::spawn_blocking(move || of_checkpoints(&taken, &looked_at, &begun)).await.ok().flatten();
                found.unwrap_or_else(|| of_tools(&tree, &first))
            }
            None => of_tools(&tree, &first),
        };
        // The front is gone: so is whoever wanted to know.
        let _ = to.deliver(files.into_iter().collect());
        myself.stop(None);
        Ok(())
    }
}

/// The files that the checkpoints of the run name; none when they cannot be read.
fn of_checkpoints(taken: &checkpoints::Checkpoints, tree: &TreeView, first: &EntryId) -> Option<BTreeSet<String>> {
    let from = tree.find(first)?.position();
    let list = checkpoints::list(taken, tree).inspect_err(|error| tracing::warn!(%error, "checkpoints")).ok()?;
    let is_of_run = |entry: &Option<EntryId>| {
        let place = entry.as_ref().and_then(|id| tree.find(id)).map(|entry| entry.position());
        place.is_some_and(|place| place >= from)
    };
    let of_run = list.iter().filter(|checkpoint| {
        checkpoint.cause == CheckpointCause::Tools && !checkpoint.undone && is_of_run(&checkpoint.entry_id)
    });
    Some(of_run.flat_map(|checkpoint| checkpoint.files.iter().map(|file| file.path.clone())).collect())
}

/// Without checkpoints: what the tools that write say of themselves. A command's changes are not known then.
fn of_tools(tree: &TreeView, first: &EntryId) -> BTreeSet<String> {
    let paths = |result: &crate::protocol::ToolResultMessage| {
        let writes = matches!(result.tool_name.as_str(), "write" | "edit") && !result.is_error;
        writes.then(|| written(tree, first, &result.tool_call_id)).flatten()
    };
    results(tree, first).filter_map(|result| paths(&result)).collect()
}

/// The path that a call names.
fn written(tree: &TreeView, first: &EntryId, call: &str) -> Option<String> {
    use crate::protocol::{AgentMessage, EntryBody};
    super::progress::entries_of(tree, first).find_map(|entry| match &entry.body {
        EntryBody::Message { message: AgentMessage::Assistant(message) } => {
            let call = message.tool_calls().find(|made| made.id == call)?;
            call.arguments.get("path").and_then(|path| path.as_str()).map(str::to_owned)
        }
        _ => None,
    })
}
