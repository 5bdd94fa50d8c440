//! Tools: what a model can do.
//!
//! A [`Tool`] declares itself and runs one call at a time per [`ToolContext`]. It reaches files and processes only
//! through the context's operations, so that the same tool works locally, in a sandbox, over ssh or in memory.

use std::{
    collections::HashMap,
    future::Future,
    path::PathBuf,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::protocol::{ToolDeclaration, ToolOutput, tool::ExecutionMode};

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that a model can call.
pub trait Tool: Send + Sync {
    /// Name, description and parameters.
    fn declaration(&self) -> &ToolDeclaration;

    /// One line for the system prompt's list of tools.
    fn prompt_snippet(&self) -> Option<&str> {
        None
    }

    /// Lines for the system prompt's rules.
    fn prompt_guidelines(&self) -> &[&str] {
        &[]
    }

    /// Whether calls may run beside others.
    fn execution_mode(&self) -> ExecutionMode {
        ExecutionMode::Parallel
    }

    /// True when a call only reads: after a crash it is simply run again.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Mends arguments that models are known to get wrong, before they are validated.
    fn prepare_arguments(&self, arguments: Map<String, Value>) -> Map<String, Value> {
        arguments
    }

    /// Runs a call with validated arguments. A failure is a result with `is_error`; a panic becomes one.
    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput>;
}

/// All that a call may know and use.
#[derive(Clone)]
pub struct ToolContext {
    /// The model's id of the call.
    pub tool_call_id: String,
    /// Validated arguments.
    pub arguments: Map<String, Value>,
    /// The session's folder: relative paths start here.
    pub cwd: PathBuf,
    /// Ends the call; it should return what it has.
    pub cancel: CancellationToken,
    /// Where a running call shows what it has so far.
    pub progress: Arc<Progress>,
    /// Files and processes.
    pub operations: Arc<dyn operations::Operations>,
    /// What the agent's session tells the call.
    pub session: Arc<SessionFacts>,
}

/// Facts of a session that tools pass on.
#[derive(Clone, Debug, Default)]
pub struct SessionFacts {
    /// `provider` and `id` of the model that made the call, for messages.
    pub model: Option<(String, String)>,
    /// Whether that model takes pictures.
    pub takes_images: bool,
    /// Variables that shell commands get (session id and file, model, provider, level).
    pub environment: HashMap<String, String>,
    /// Variables that shell commands must not get: our keys.
    pub secret_variables: Vec<String>,
    /// The shell (setting `shellPath`).
    pub shell_path: Option<String>,
    /// Put before each shell command, on a line of its own (setting `shellCommandPrefix`).
    pub shell_command_prefix: Option<String>,
    /// Pictures are not to be read at all (setting `images.blockImages`).
    pub block_images: bool,
}

/// What a running call has so far. The batch looks when it is told that something changed, at most ten times a second,
/// and once more when the call is over; a killed call still yields what it had.
#[derive(Default)]
pub struct Progress {
    source: OnceLock<Arc<dyn OutputSource>>,
    changed: AtomicBool,
    wake: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

/// Output that grows while a call runs.
pub trait OutputSource: Send + Sync {
    /// All of it so far, cut as the final result would be.
    fn snapshot(&self) -> ToolOutput;
}

impl Progress {
    /// Progress that calls `wake` when there is something new; once until the next [`Progress::take`].
    #[must_use]
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        let progress = Self::default();
        let _ = progress.wake.set(Box::new(wake));
        progress
    }

    /// Says where the output is; to be called once, before the first output.
    pub fn attach(&self, source: Arc<dyn OutputSource>) {
        let _ = self.source.set(source);
        self.changed();
    }

    /// Says that there is more output.
    pub fn changed(&self) {
        if !self.changed.swap(true, Ordering::AcqRel)
            && let Some(wake) = self.wake.get()
        {
            wake();
        }
    }

    /// The output when it changed since the last look.
    #[must_use]
    pub fn take(&self) -> Option<ToolOutput> {
        if self.changed.swap(false, Ordering::AcqRel) { self.snapshot() } else { None }
    }

    /// The output so far; none when the tool shows no progress.
    #[must_use]
    pub fn snapshot(&self) -> Option<ToolOutput> {
        self.source.get().map(|source| source.snapshot())
    }
}

pub mod operations {
    //! Files and processes, behind a trait (the tools' helper fills this in).

    /// Files and processes.
    pub trait Operations: Send + Sync {}
}
