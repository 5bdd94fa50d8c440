//! Troupe with an extension that watches: it says on standard error which tools run and how long they took.
//!
//! ```text
//! cargo run --example observer -- --model troupe/offline -p "read README.md"
//! ```

use std::{process::ExitCode, sync::Arc};

use troupe::{
    cli,
    extensions::{AgentHandle, Extension, ExtensionRegistry, Observed, contract::Answer},
    protocol::Event,
};

/// Watches tools.
struct ToolWatch;

impl Extension for ToolWatch {
    fn name(&self) -> &str {
        "tool-watch"
    }

    fn observes(&self) -> bool {
        true
    }

    // A slow observer lags behind; it never holds up the agent, and a panic here is not the agent's.
    fn observe<'a>(&'a self, observed: Observed, _: AgentHandle) -> Answer<'a, ()> {
        Box::pin(async move {
            for published in &observed.events {
                match &published.event {
                    Event::ToolExecutionEnd { call, result, duration_ms } => {
                        let how = if result.is_error { "failed" } else { "done" };
                        let took = duration_ms.map_or("not run".to_owned(), |ms| format!("{ms} ms"));
                        eprintln!("[{}] {} {how}, {took}", published.seq, call.tool_name);
                    }
                    Event::Gap { from, to } => eprintln!("[{from} to {to}] updates left out"),
                    _ => {}
                }
            }
            Ok(())
        })
    }
}

fn main() -> ExitCode {
    let mut extensions = ExtensionRegistry::default();
    if let Err(error) = extensions.register(Arc::new(ToolWatch)) {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    cli::run::main_with(extensions)
}
