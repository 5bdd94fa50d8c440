//! Troupe with a provider that is code and a virtual model that an extension chooses for.
//!
//! ```text
//! cargo run --example router -- --list-models
//! cargo run --example router -- --model router/short-or-long -p "hello"
//! ```
//!
//! The provider answers by itself; with a `baseUrl` and an `api` it could speak one of the known wire APIs instead. The
//! virtual model sends short conversations to one of its models and long ones to the other, and keeps a count in the
//! session: the state is stored before each request.

use std::{process::ExitCode, sync::Arc};

use serde_json::json;
use troupe::{
    cli,
    extensions::{AgentHandle, Extension, ExtensionError, ExtensionRegistry, ModelRegistrar, contract::Answer},
    protocol::{
        ModelRef, StopReason,
        route::{RouteAsk, RouteVerdict, VirtualDescription},
    },
    providers::{EventStream, Provider, Request, assembler::Assembler},
};

/// Says which model was asked and how long the conversation is.
struct Parrot;

impl Provider for Parrot {
    fn api(&self) -> &str {
        "parrot"
    }

    fn stream(&self, request: Request) -> EventStream {
        let text = format!("{} has read {} messages.", request.model.id, request.messages.len());
        let mut answer = Assembler::new(&request);
        answer.start();
        let block = answer.text_start();
        answer.text_delta(block, &text);
        answer.done(StopReason::Stop);
        // A wire that reads from a network gives a batch for each read; cancelling the request ends it with a failure.
        let events = answer.take_events();
        Box::pin(tokio_stream::once(events))
    }
}

/// Registers both, and chooses.
struct ShortOrLong;

/// From this many messages on, a conversation is long.
const LONG: usize = 6;

impl Extension for ShortOrLong {
    fn name(&self) -> &str {
        "short-or-long"
    }

    fn register(&self, models: &ModelRegistrar) -> Result<(), ExtensionError> {
        let config =
            json!({"name": "Parrots", "models": [{"id": "small"}, {"id": "large", "contextWindow": 1_000_000}]});
        models.register_native_provider("parrots", config, Arc::new(Parrot))?;
        models.register_virtual_model(VirtualDescription {
            name: "Short or long".to_owned(),
            ..VirtualDescription::new("router", "short-or-long")
        })
    }

    // No answer within ten seconds, an error, or a model without a key: the request fails, and nothing else.
    fn route<'a>(&'a self, ask: RouteAsk, _: AgentHandle) -> Answer<'a, RouteVerdict> {
        Box::pin(async move {
            let id = if ask.messages.len() < LONG { "small" } else { "large" };
            let count = ask.state.as_ref().and_then(|state| state["requests"].as_u64()).unwrap_or(0);
            Ok(RouteVerdict {
                model: ModelRef { provider: "parrots".to_owned(), model_id: id.to_owned() },
                thinking_level: ask.thinking_level,
                state: Some(json!({"requests": count + 1})),
            })
        })
    }
}

fn main() -> ExitCode {
    let mut extensions = ExtensionRegistry::default();
    if let Err(error) = extensions.register(Arc::new(ShortOrLong)) {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    cli::run::main_with(extensions)
}
