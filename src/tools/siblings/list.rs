//! The tool `agent_list`.

use serde_json::json;

use super::{declaration, output, report, run, spawner};
use crate::{
    protocol::{ToolDeclaration, ToolOutput},
    tools::{BoxFuture, Failure, Tool, ToolContext},
};

/// The tool.
pub(super) struct AgentList {
    declaration: ToolDeclaration,
}

impl AgentList {
    pub fn new() -> Self {
        let parameters = json!({"type": "object", "properties": {}});
        let description = "List the agents that you spawned: what they do, what they cost, and how many more may run.";
        Self { declaration: declaration("agent_list", description, parameters) }
    }
}

impl Tool for AgentList {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move { run(&context, list(&context)).await })
    }
}

async fn list(context: &ToolContext) -> Result<ToolOutput, Failure> {
    let spawner = spawner(context)?;
    let mut lines: Vec<_> = spawner.list().iter().map(report::line).collect();
    if lines.is_empty() {
        lines.push("You have spawned no agents.".to_owned());
    }
    let ((running, total), limits) = (spawner.counts(), spawner.limits());
    lines.push(format!(
        "{running} of {} run, {total} of {} were spawned. You and they have used {}.",
        limits.running,
        limits.total,
        report::cost(&spawner.spent())
    ));
    Ok(output(lines.join("\n"), &[]))
}
