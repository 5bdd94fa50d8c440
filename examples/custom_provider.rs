//! An agent whose model is the program itself: a provider that counts words. With the same few lines it could speak to a
//! model server that no known wire API fits.
//!
//! ```text
//! cargo run --example custom_provider
//! ```

// Printing is what this program is for.
#![allow(clippy::print_stdout)]

use std::sync::Arc;

use serde_json::json;
use troupe::{
    embed::{EmbedError, Troupe},
    protocol::{Message, StopReason, Usage},
    providers::{EventStream, Provider, Request, assembler::Assembler},
};

/// Says how many words the last message has.
struct Counter;

impl Provider for Counter {
    // The name of the wire: models of the provider speak it unless they say otherwise.
    fn api(&self) -> &str {
        "counter"
    }

    fn stream(&self, request: Request) -> EventStream {
        let last = request.messages.iter().rev().find_map(|message| match message {
            Message::User(user) => Some(user.content.text(" ")),
            _ => None,
        });
        let words = last.unwrap_or_default().split_whitespace().count() as u64;
        // The assembler makes events and the final message of what it is told, and prices the tokens.
        let mut answer = Assembler::new(&request);
        answer.start();
        let block = answer.text_start();
        answer.text_delta(block, "I counted ");
        let first = answer.take_events();
        answer.text_delta(block, &format!("{words} words."));
        answer.usage(Usage { input: words, output: 3, ..Usage::default() }, None);
        answer.done(StopReason::Stop);
        // A stream of batches: one for each read from a network. It is dropped when the call is cancelled.
        Box::pin(tokio_stream::iter([first, answer.take_events()]))
    }
}

#[tokio::main]
async fn main() -> Result<(), EmbedError> {
    let config = json!({
        "name": "Word counters",
        "models": [{"id": "plain", "contextWindow": 8_000, "cost": {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0}}],
    });
    let builder = Troupe::builder().provider("counters", config, Counter).model("counters/plain").without_resources();
    let session = Arc::new(builder.in_memory().start().await?);
    println!("{}", session.prompt("How many words are these?").await?.text());
    if let Some(tree) = session.tree() {
        println!("${:.6}", tree.totals().usage.cost.total);
    }
    // Sessions can be shared; whoever holds the last one closes it.
    match Arc::try_unwrap(session) {
        Ok(session) => session.close().await,
        Err(_) => Ok(()),
    }
}
