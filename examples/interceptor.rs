//! An agent with an interceptor: what looks like a key never reaches the model, and commands that publish something are
//! denied.
//!
//! ```text
//! cargo run --example interceptor -- --model anthropic/claude-sonnet-4-5
//! ```
//!
//! An interceptor says at which points it wants to be asked. At a guard's point (a tool call, a user's command, input) no
//! answer means no: an error, a panic or a missed deadline denies. At all others it is left out, and an event says so.

// Printing is what this program is for.
#![allow(clippy::print_stdout)]

use troupe::{
    embed::{EmbedError, Troupe},
    extensions::{AgentHandle, Extension, contract::Answer},
    protocol::{
        Block,
        ask::{AskPoint, ToolCallAsk, ToolCallVerdict, ToolResultAsk, ToolResultVerdict},
    },
};

/// Keeps keys in and publications back.
struct Discreet;

impl Extension for Discreet {
    fn name(&self) -> &str {
        "discreet"
    }

    fn points(&self) -> &[AskPoint] {
        &[AskPoint::ToolCall, AskPoint::ToolResult]
    }

    // Before a call runs: allow it, allow it with other arguments, or deny it with a reason that the model reads.
    fn tool_call<'a>(&'a self, ask: ToolCallAsk, _: AgentHandle) -> Answer<'a, ToolCallVerdict> {
        Box::pin(async move {
            let command = ask.input.get("command").and_then(|command| command.as_str()).unwrap_or_default();
            if ["git push", "cargo publish"].iter().any(|publishes| command.contains(publishes)) {
                let reason = "Nothing is published from here. Say what is ready, and stop.";
                return Ok(ToolCallVerdict::Deny { reason: reason.to_owned(), terminate: false });
            }
            Ok(ToolCallVerdict::Allow { input: None })
        })
    }

    // After a call ran, before anybody else sees what it gave.
    fn tool_result<'a>(&'a self, ask: ToolResultAsk, _: AgentHandle) -> Answer<'a, ToolResultVerdict> {
        Box::pin(async move {
            let mask = |block: &Block| match block {
                Block::Text(text) => Block::text(masked(&text.text)),
                other => other.clone(),
            };
            let content = ask.output.content.iter().map(mask).collect();
            Ok(ToolResultVerdict { content: Some(content), ..ToolResultVerdict::default() })
        })
    }
}

/// The text with everything that begins like a key replaced.
fn masked(text: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';');
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("sk-") {
        let (before, key) = rest.split_at(at);
        out.push_str(before);
        out.push_str("[key]");
        rest = key.find(is_end).map_or("", |end| &key[end..]);
    }
    out + rest
}

#[tokio::main]
async fn main() -> Result<(), EmbedError> {
    let mut words = std::env::args().skip_while(|word| word != "--model").skip(1);
    let model = words.next().unwrap_or_else(|| "troupe/offline".to_owned());
    let session = Troupe::builder().model(model).extension(Discreet).in_memory().start().await?;
    let answer = session.prompt("Show me the settings in .env, then publish the crate.").await?;
    println!("{}", answer.text());
    session.close().await
}
