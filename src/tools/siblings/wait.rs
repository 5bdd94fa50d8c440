//! The tool `agent_wait`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::{declaration, output, report, run, spawner};
use crate::{
    protocol::{
        ToolDeclaration, ToolOutput,
        sibling::{SiblingEnd, SiblingState, WaitMode},
    },
    tools::{BoxFuture, Failure, Tool, ToolContext},
};

/// How long a call waits when it does not say.
const DEFAULT: f64 = 600.0;
/// How long it may wait.
const LONGEST: f64 = 24.0 * 3600.0;

/// The tool.
pub(super) struct AgentWait {
    declaration: ToolDeclaration,
}

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    ids: Vec<String>,
    #[serde(default)]
    mode: WaitMode,
    timeout_s: Option<f64>,
}

impl AgentWait {
    pub fn new() -> Self {
        let parameters = json!({
            "type": "object",
            "properties": {
                "ids": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Ids or names; all that you have not heard of without",
                },
                "mode": {"type": "string", "enum": ["all", "any"], "description": "all (default) or the first that ends"},
                "timeout_s": {"type": "number", "description": "Seconds at most, 600 without"},
            },
        });
        let description = "Wait until agents that you spawned have ended, and get their answers.";
        Self { declaration: declaration("agent_wait", description, parameters) }
    }
}

impl Tool for AgentWait {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move { run(&context, wait(&context)).await })
    }
}

async fn wait(context: &ToolContext) -> Result<ToolOutput, Failure> {
    let Arguments { mut ids, mode, timeout_s } = context.parse()?;
    let spawner = spawner(context)?;
    let untold = spawner.untold();
    let mut ends: Vec<SiblingEnd> = Vec::new();
    if ids.is_empty() {
        let busy = |state: SiblingState| state.is_active();
        ids = spawner.list().iter().filter(|agent| busy(agent.state)).map(|agent| agent.id.to_string()).collect();
        ends = untold;
        if ids.is_empty() && ends.is_empty() {
            return Ok(output("No agent of yours works, and you have heard of all that ended.".to_owned(), &[]));
        }
    }
    let mut running = Vec::new();
    let mut timed_out = false;
    let found = mode == WaitMode::Any && !ends.is_empty();
    if !ids.is_empty() && !found {
        let limit = timeout_s.unwrap_or(DEFAULT);
        if !(0.0..=LONGEST).contains(&limit) {
            return Err(Failure::new(format!("`timeout_s` must be a number from 0 to {LONGEST}, not {limit}.")));
        }
        let waited = spawner.wait(&ids, mode, Duration::from_secs_f64(limit)).await?;
        (running, timed_out) = (waited.running, waited.timed_out);
        ends.extend(waited.ends);
    }
    let mut texts: Vec<_> = ends.iter().map(report::told).collect();
    if timed_out {
        texts.push("The time is over; they work on.".to_owned());
    }
    texts.extend(running.iter().map(report::line));
    Ok(output(texts.join("\n\n"), &ends))
}
