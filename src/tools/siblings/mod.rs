//! The tools for siblings: an agent spawns others, sends them messages, waits for them, lists and stops them.
//!
//! One file a tool; `report`: what results say. Who carries it out is behind [`Spawner`]. The tools are registered and
//! not active by default: the setting `siblings.tools`, `--siblings`, or `--tools +agent_spawn,…`.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use serde_json::Value;

use super::{BoxFuture, Failure, Tool, ToolContext};
use crate::protocol::{
    ToolDeclaration, ToolOutput,
    sibling::{
        Receipt, SendMode, SiblingEnd, SiblingError, SiblingLimits, SiblingSpec, SiblingStatus, SpawnReceipt, Spent,
        WaitMode, Waited,
    },
};

mod list;
mod report;
mod send;
mod spawn;
mod stop;
#[cfg(test)]
mod tests;
mod wait;

pub use report::{ends_details, ends_in, told};

/// The names of the tools.
pub const NAMES: [&str; 5] = ["agent_spawn", "agent_send", "agent_wait", "agent_list", "agent_stop"];

/// An answer that comes later.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = Result<T, SiblingError>> + Send + 'a>>;

/// Who spawns siblings for an agent, and reaches those that it has. Implemented by the actors.
pub trait Spawner: Send + Sync + std::fmt::Debug {
    /// Spawns a child.
    fn spawn(&self, spec: SiblingSpec) -> Later<'_, SpawnReceipt>;
    /// Gives one a message.
    fn send<'a>(&'a self, id: &'a str, message: &'a str, mode: SendMode) -> Later<'a, Receipt>;
    /// Waits for ends; of all children when none is named.
    fn wait<'a>(&'a self, ids: &'a [String], mode: WaitMode, limit: Duration) -> Later<'a, Waited>;
    /// Ends some, with all below them.
    fn stop<'a>(&'a self, ids: &'a [String], reason: &'a str) -> Later<'a, Vec<SiblingEnd>>;
    /// All below the agent.
    fn list(&self) -> Vec<SiblingStatus>;
    /// Ends of children that the agent's model has not been told of.
    fn untold(&self) -> Vec<SiblingEnd>;
    /// How many run in the family, and how many it has had.
    fn counts(&self) -> (usize, usize);
    /// The limits.
    fn limits(&self) -> SiblingLimits;
    /// What the agent and all below it have used.
    fn spent(&self) -> Spent;
}

/// The tools.
#[must_use]
pub fn tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(spawn::AgentSpawn::new()),
        Arc::new(send::AgentSend::new()),
        Arc::new(wait::AgentWait::new()),
        Arc::new(list::AgentList::new()),
        Arc::new(stop::AgentStop::new()),
    ]
}

fn declaration(name: &str, description: &str, parameters: Value) -> ToolDeclaration {
    ToolDeclaration {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
        constrained_sampling: Some(super::prefer_strict_schema()),
    }
}

/// Who carries it out.
fn spawner(context: &ToolContext) -> Result<Arc<dyn Spawner>, Failure> {
    let text = "This agent cannot have agents of its own: do the work yourself.";
    context.session.siblings.clone().ok_or_else(|| Failure::new(text))
}

/// Runs what a call asks for; a cancelled call ends at once.
fn run<'a>(
    context: &'a ToolContext,
    work: impl Future<Output = Result<ToolOutput, Failure>> + Send + 'a,
) -> BoxFuture<'a, ToolOutput> {
    Box::pin(super::until_cancelled(context, work))
}

impl From<SiblingError> for Failure {
    fn from(error: SiblingError) -> Self {
        let text = error.to_string();
        let mut letters = text.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
        Self::new(format!("{first}{}.", letters.as_str().trim_end_matches('.')))
    }
}

/// A result that also says, for programs and for the session, which ends it tells of.
fn output(text: String, ends: &[SiblingEnd]) -> ToolOutput {
    let details = (!ends.is_empty()).then(|| serde_json::json!({ "ends": ends_details(ends) }));
    ToolOutput { details, ..ToolOutput::text(text) }
}
