//! Tools: what a model can do.
//!
//! A [`Tool`] declares itself and runs one call at a time per [`ToolContext`]. It reaches files and processes only
//! through the context's [`operations`], so that the same tool works locally, in a sandbox, over ssh or in memory.
//!
//! The contract:
//! - [`tool`], [`context`], [`progress`]: what a tool is, what a call knows, what it shows while it runs;
//! - [`arguments`]: checking a call's arguments; [`registry`], [`live`], [`selection`]: which tools there are and which
//!   are active;
//! - [`operations`]: files, searches and processes.
//!
//! The tools: [`read`], [`mod@write`], [`edit`], [`bash`], [`grep`], [`find`], [`ls`], [`jobs`], [`siblings`]; and
//! [`user_bash`], which runs a person's commands in the same way.
//!
//! Before a call: [`permissions`], rules about what may run.
//!
//! What they share: [`truncate`], [`paths`], [`failure`], `listing`, [`diff`], [`mutation_queue`], [`file_memory`],
//! [`encoding`], [`picture`], [`git`].

use std::{
    future::Future,
    path::{Path, PathBuf},
    sync::Arc,
};

use mutation_queue::Turn;
use serde_json::{Value, json};

use crate::protocol::ToolOutput;

pub mod arguments;
pub mod bash;
pub mod checkpoints;
pub mod context;
pub mod diff;
pub mod edit;
pub mod encoding;
pub mod failure;
pub mod file_memory;
pub mod find;
pub mod git;
mod git_turn;
pub mod grep;
pub mod jobs;
mod listing;
pub mod live;
pub mod ls;
pub mod mutation_queue;
pub mod operations;
pub mod paths;
pub mod permissions;
pub mod picture;
pub mod progress;
pub mod read;
pub mod registry;
pub mod selection;
pub mod siblings;
#[cfg(test)]
mod testing;
pub mod tool;
pub mod truncate;
pub mod user_bash;
pub mod write;

pub use arguments::validate;
pub use checkpoints::{CheckpointConfig, Checkpoints};
pub use context::{SessionFacts, ToolContext};
pub use failure::Failure;
pub use file_memory::FileMemory;
pub use live::LiveTools;
pub use operations::{Operations, local::Local};
pub use progress::{OutputSource, Progress};
pub use registry::ToolSet;
pub use tool::{BoxFuture, Tool};

/// How arguments of most built-in tools should be sampled: by their schema, where the provider can.
fn prefer_strict_schema() -> Value {
    json!({"type": "json_schema", "strict": "prefer"})
}

/// Runs work that may stop anywhere; a cancelled call ends at once, before it begins or in the middle.
async fn until_cancelled(context: &ToolContext, work: impl Future<Output = Result<ToolOutput, Failure>>) -> ToolOutput {
    tokio::select! {
        biased;
        () = context.cancel.cancelled() => Failure::aborted().into(),
        result = work => result.unwrap_or_else(ToolOutput::from),
    }
}

/// Waits for the right to change the file at `path`; a cancelled call gives up.
async fn turn_to_change(context: &ToolContext, path: &Path) -> Result<Turn, Failure> {
    let waiting = mutation_queue::turn_at(Arc::clone(&context.operations), path.to_owned());
    tokio::select! {
        biased;
        () = context.cancel.cancelled() => Err(Failure::aborted()),
        turn = waiting => Ok(turn),
    }
}

/// The path without links, looked up where blocking is allowed.
async fn real_path(operations: &Arc<dyn Operations>, path: &Path) -> PathBuf {
    let (operations, own) = (Arc::clone(operations), path.to_owned());
    tokio::task::spawn_blocking(move || operations.real_path(&own)).await.unwrap_or_else(|_| path.to_owned())
}

/// Runs work that must not stop half-way when its caller is dropped: a file being written keeps its turn in the
/// [`mutation_queue`] until it is written. A panic is handed on to the caller, if there still is one.
async fn detached(work: impl Future<Output = ToolOutput> + Send + 'static) -> ToolOutput {
    match tokio::spawn(work).await {
        Ok(output) => output,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Failure::aborted().into(),
        },
    }
}
