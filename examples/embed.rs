//! An agent inside a program: two prompts, the text as it streams, and what the session holds afterwards.
//!
//! ```text
//! cargo run --example embed
//! cargo run --example embed -- --model anthropic/claude-sonnet-4-5
//! ```
//!
//! Without a model, the small one inside answers: it needs no key and no network, and only looks around.

// Printing is what this program is for.
#![allow(clippy::print_stdout)]

use std::io::Write as _;

use tokio_stream::StreamExt as _;
use troupe::{
    embed::{EmbedError, Events, Pace, Troupe},
    protocol::{Event, StreamEvent},
};

/// Prints text as it comes, until the agent has settled.
async fn print(mut events: Events) {
    while let Some(published) = events.next().await {
        match &published.event {
            Event::MessageUpdate { events } => {
                for event in events {
                    if let StreamEvent::TextDelta { delta, .. } = event {
                        print!("{delta}");
                    }
                }
                let _ = std::io::stdout().flush();
            }
            Event::ToolExecutionStart { call } => println!("\n[{}]", call.tool_name),
            Event::AgentSettled { .. } => return println!(),
            _ => {}
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), EmbedError> {
    let mut words = std::env::args().skip_while(|word| word != "--model").skip(1);
    let model = words.next().unwrap_or_else(|| "troupe/offline".to_owned());
    let session = Troupe::builder().model(model).in_memory().start().await?;
    for notice in session.notices() {
        eprintln!("{notice}");
    }
    for prompt in ["What files are here?", "What is this project?"] {
        println!("> {prompt}");
        // Watch first, then ask: nothing is missed. A lossless stream that is not read holds the agent up, so read it.
        let (answer, ()) = tokio::join!(session.prompt(prompt), print(session.events(Pace::Lossless)));
        println!("({} characters)", answer?.text().chars().count());
    }
    if let Some(tree) = session.tree() {
        let totals = tree.totals();
        println!("{} messages, {} tool calls", totals.messages, totals.tool_calls);
    }
    session.close().await
}
