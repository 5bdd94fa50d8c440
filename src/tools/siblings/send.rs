//! The tool `agent_send`.

use serde::Deserialize;
use serde_json::json;

use super::{declaration, output, run, spawner};
use crate::{
    protocol::{
        ToolDeclaration, ToolOutput,
        sibling::{Receipt, SendMode},
    },
    tools::{BoxFuture, Failure, Tool, ToolContext},
};

/// The tool.
pub(super) struct AgentSend {
    declaration: ToolDeclaration,
}

#[derive(Deserialize)]
struct Arguments {
    id: String,
    message: String,
    #[serde(default)]
    mode: SendMode,
}

impl AgentSend {
    pub fn new() -> Self {
        let parameters = json!({
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "The agent's id or name"},
                "message": {"type": "string", "description": "What to tell it"},
                "mode": {
                    "type": "string",
                    "enum": ["steer", "follow_up"],
                    "description": "steer: it reads it at its next step. follow_up: when it would stop",
                },
            },
            "required": ["id", "message"],
        });
        let description =
            "Send a message to an agent that you spawned. One that has ended goes on with it as its next task.";
        Self { declaration: declaration("agent_send", description, parameters) }
    }
}

impl Tool for AgentSend {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move { run(&context, send(&context)).await })
    }
}

async fn send(context: &ToolContext) -> Result<ToolOutput, Failure> {
    let Arguments { id, message, mode } = context.parse()?;
    if message.trim().is_empty() {
        return Err(Failure::new("The message is empty: say what the agent is to know or to do."));
    }
    let receipt = spawner(context)?.send(&id, &message, mode).await?;
    let text = match receipt {
        Receipt::Delivered { task } => {
            format!("Delivered: {id} works on it as its task {task}. agent_wait waits for its end.")
        }
        Receipt::Queued { .. } => format!("Queued: {id} works, and reads it in turn."),
        Receipt::Missed => format!("Missed: {id} was just starting or ending. Nothing happened: send it again."),
        Receipt::Dead => format!("Dead: {id} is gone. Spawn another agent for it."),
    };
    Ok(ToolOutput { is_error: receipt.task().is_none(), ..output(text, &[]) })
}
