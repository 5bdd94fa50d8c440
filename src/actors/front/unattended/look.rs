//! What a run has done so far, as its session and its checkpoints tell; and the worker that finds it out.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use ractor::{Actor, ActorProcessingErr, ActorRef};

use super::{
    limits::Spent,
    progress::{self, entries_of, results},
};
use crate::{
    actors::{address::Recipient, shared::AgentShared},
    protocol::{AgentMessage, EntryBody, EntryId, ToolResultMessage, checkpoint::CheckpointCause},
    store::TreeView,
    tools::checkpoints::{self, Checkpoints},
};

/// Changes of the last command are waited for so long.
const LAST_LOOK: Duration = Duration::from_secs(2);

/// What a run has done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// What it spent.
    pub spent: Spent,
    /// What was denied, in order.
    pub denied: Vec<String>,
    /// Files that it changed, by path.
    pub files: BTreeSet<String>,
}

impl Look {
    /// What it has done in a session; `first` is its first entry there.
    #[must_use]
    pub fn at(tree: &TreeView, first: &EntryId, taken: Option<&Checkpoints>) -> Self {
        let of_checkpoints = taken.and_then(|taken| of_checkpoints(taken, tree, first));
        Self {
            spent: progress::spent(tree, first),
            denied: progress::denied(tree, first),
            files: of_checkpoints.unwrap_or_else(|| of_tools(tree, first)),
        }
    }

    /// Adds what it did in another session.
    pub fn add(&mut self, other: Self) {
        self.spent.add(&other.spent);
        self.denied.extend(other.denied);
        self.files.extend(other.files);
    }
}

/// The files that the checkpoints of the run name; none when they cannot be read.
fn of_checkpoints(taken: &Checkpoints, tree: &TreeView, first: &EntryId) -> Option<BTreeSet<String>> {
    let from = tree.find(first)?.position();
    let unread = |error: &_| tracing::warn!(%error, "the checkpoints were not read");
    let list = checkpoints::list(taken, tree).inspect_err(unread).ok()?;
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
    let writes = |result: &ToolResultMessage| matches!(result.tool_name.as_str(), "write" | "edit") && !result.is_error;
    let written: BTreeSet<String> =
        results(tree, first).filter(|result| writes(result)).map(|result| result.tool_call_id.clone()).collect();
    let paths = entries_of(tree, first).filter(|_| !written.is_empty()).flat_map(|entry| match &entry.body {
        EntryBody::Message { message: AgentMessage::Assistant(message) } => message
            .tool_calls()
            .filter(|call| written.contains(&call.id))
            .filter_map(|call| Some(call.arguments.get("path")?.as_str()?.to_owned()))
            .collect(),
        _ => Vec::new(),
    });
    paths.collect()
}

/// What the worker needs.
pub struct LookWork {
    /// The agent.
    pub shared: Arc<AgentShared>,
    /// Its session.
    pub tree: TreeView,
    /// The first entry of the run in it.
    pub first: EntryId,
    /// Who wants to know. Nobody hears of a worker that dies but its supervisor.
    pub to: Recipient<Look>,
}

/// The worker.
pub struct Looking;

impl Actor for Looking {
    type Msg = LookWork;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<LookWork>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(&self, myself: ActorRef<LookWork>, work: LookWork, (): &mut ()) -> Result<(), ActorProcessingErr> {
        let LookWork { shared, tree, first, to } = work;
        let taken = shared.place.checkpoints.clone();
        if let Some(taken) = &taken
            && tokio::time::timeout(LAST_LOOK, taken.settled()).await.is_err()
        {
            tracing::warn!("what the last command changed was not recorded in time");
        }
        // Reads files, and all of the session.
        let look = tokio::task::spawn_blocking(move || Look::at(&tree, &first, taken.as_ref())).await?;
        // The front is gone: so is whoever wanted to know.
        let _ = to.deliver(look);
        myself.stop(None);
        Ok(())
    }
}
