//! The contract of a tool.

use std::{future::Future, pin::Pin};

use serde_json::{Map, Value};

use super::ToolContext;
use crate::protocol::{ToolDeclaration, ToolOutput, tool::ExecutionMode};

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a tool does in plan mode, where nothing may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanAccess {
    /// It only reads, and runs.
    Reads,
    /// It runs the shell command in its argument `command`, through the context's operations: those that only read run.
    RunsCommands,
    /// It may change something, and is refused.
    Changes,
}

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

    /// What it does in plan mode.
    fn plan_access(&self) -> PlanAccess {
        if self.is_read_only() { PlanAccess::Reads } else { PlanAccess::Changes }
    }

    /// Mends arguments that models are known to get wrong, before they are validated.
    fn prepare_arguments(&self, arguments: Map<String, Value>) -> Map<String, Value> {
        arguments
    }

    /// Runs a call with validated arguments. A failure is a result with `is_error`; a panic becomes one.
    ///
    /// A tool that changes a file takes its place in the [`super::mutation_queue`] within the first poll: who polls the
    /// calls of a batch once in their order keeps that order for calls on one file.
    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput>;
}
