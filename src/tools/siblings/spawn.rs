//! The tool `agent_spawn`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::{declaration, output, report, run, spawner};
use crate::{
    protocol::{
        ThinkingLevel, ToolDeclaration, ToolOutput,
        sibling::{Budget, Isolation, SiblingSpec, WaitMode},
    },
    tools::{BoxFuture, Failure, Tool, ToolContext},
};

/// A call that waits for its agent waits so long: what runs longer has a budget in time.
const FOREVER: Duration = Duration::from_secs(7 * 24 * 3600);

/// The tool.
pub(super) struct AgentSpawn {
    declaration: ToolDeclaration,
}

#[derive(Deserialize)]
struct Arguments {
    task: String,
    role: Option<String>,
    name: Option<String>,
    model: Option<String>,
    thinking: Option<ThinkingLevel>,
    tools: Option<Vec<String>>,
    prompt: Option<String>,
    key: Option<String>,
    #[serde(default)]
    isolation: Isolation,
    #[serde(default)]
    budget: Budget,
    #[serde(default)]
    background: bool,
}

impl AgentSpawn {
    pub fn new() -> Self {
        let text = |description: &str| json!({"type": "string", "description": description});
        let number = |description: &str| json!({"type": "number", "description": description});
        let parameters = json!({
            "type": "object",
            "properties": {
                "task": text("What it is to do. It sees nothing of this conversation: say all that it needs, and what to answer"),
                "role": text("What it is for, in a word"),
                "name": text("A name to call it by"),
                "model": text("Its model; yours without"),
                "thinking": {"type": "string", "enum": ["off", "minimal", "low", "medium", "high", "xhigh", "max"]},
                "tools": {"type": "array", "items": {"type": "string"}, "description": "Its tools; yours without"},
                "prompt": text("Added to its system prompt"),
                "key": text("Spawning the same key again gives the agent that is there"),
                "isolation": {
                    "type": "string",
                    "enum": ["shared", "worktree"],
                    "description": "shared: it works in this folder. worktree: in a git worktree of its own; its changes come back as a patch",
                },
                "budget": {
                    "type": "object",
                    "description": "What it may use at most",
                    "properties": {
                        "tokens": number("Tokens"),
                        "cost": number("US dollars"),
                        "turns": number("Model calls"),
                        "seconds": number("Seconds"),
                    },
                    "additionalProperties": false,
                },
                "background": {
                    "type": "boolean",
                    "description": "Return at once; you are told when it ends. Without: wait, and get its answer",
                },
            },
            "required": ["task"],
        });
        let description = "Spawn an agent that works on a task with a conversation of its own. Several calls in one message \
                           run side by side.";
        Self { declaration: declaration("agent_spawn", description, parameters) }
    }
}

impl Tool for AgentSpawn {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn prompt_snippet(&self) -> Option<&str> {
        Some("Have another agent do a task")
    }

    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move { run(&context, spawn(&context)).await })
    }
}

async fn spawn(context: &ToolContext) -> Result<ToolOutput, Failure> {
    let arguments: Arguments = context.parse()?;
    if arguments.task.trim().is_empty() {
        return Err(Failure::new("The task is empty: say what the agent is to do."));
    }
    let spawner = spawner(context)?;
    let background = arguments.background;
    let spec = SiblingSpec {
        task: arguments.task,
        name: arguments.name,
        role: arguments.role,
        key: arguments.key,
        model: arguments.model,
        thinking: arguments.thinking,
        tools: arguments.tools,
        prompt: arguments.prompt,
        isolation: arguments.isolation,
        budget: arguments.budget,
        tells_parent: true,
        ..SiblingSpec::default()
    };
    let receipt = spawner.spawn(spec).await?;
    let id = receipt.id.to_string();
    if let Some(end) = receipt.end {
        let text = format!("The key is known: the agent was spawned before.\n{}", report::told(&end));
        return Ok(output(text, &[end]));
    }
    if background {
        let known = if receipt.existing { "was spawned before, and works" } else { "works" };
        let (running, _) = spawner.counts();
        let limit = spawner.limits().running;
        let text = format!(
            "{id} {known} in the background ({running} of {limit} run). You are told when it ends; agent_wait waits for it."
        );
        return Ok(output(text, &[]));
    }
    let waited = spawner.wait(std::slice::from_ref(&id), WaitMode::All, FOREVER).await?;
    let text = waited.ends.iter().map(report::told).collect::<Vec<_>>().join("\n\n");
    Ok(output(text, &waited.ends))
}
