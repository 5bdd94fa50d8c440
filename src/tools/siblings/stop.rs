//! The tool `agent_stop`.

use serde::Deserialize;
use serde_json::json;

use super::{declaration, output, report, run, spawner};
use crate::{
    protocol::{ToolDeclaration, ToolOutput},
    tools::{BoxFuture, Failure, Tool, ToolContext},
};

/// The tool.
pub(super) struct AgentStop {
    declaration: ToolDeclaration,
}

#[derive(Deserialize)]
struct Arguments {
    ids: Vec<String>,
}

impl AgentStop {
    pub fn new() -> Self {
        let parameters = json!({
            "type": "object",
            "properties": {
                "ids": {"type": "array", "items": {"type": "string"}, "description": "Ids or names"},
            },
            "required": ["ids"],
        });
        let description = "Stop agents for good, with all that they spawned. What they did so far stays.";
        Self { declaration: declaration("agent_stop", description, parameters) }
    }
}

impl Tool for AgentStop {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move { run(&context, stop(&context)).await })
    }
}

async fn stop(context: &ToolContext) -> Result<ToolOutput, Failure> {
    let Arguments { ids } = context.parse()?;
    if ids.is_empty() {
        return Err(Failure::new("`ids` is empty: name the agents to stop; agent_list has them."));
    }
    let ends = spawner(context)?.stop(&ids, "its parent stopped it").await?;
    let texts: Vec<_> = ends.iter().map(report::told).collect();
    let text = if texts.is_empty() { format!("Stopped: {}.", ids.join(", ")) } else { texts.join("\n\n") };
    Ok(output(text, &ends))
}
