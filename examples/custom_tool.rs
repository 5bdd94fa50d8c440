//! An agent with a tool of the program: it rolls dice.
//!
//! ```text
//! cargo run --example custom_tool -- --model anthropic/claude-sonnet-4-5
//! ```
//!
//! Arguments are checked against the schema before the tool gets them. A failure is a result that the model reads; a
//! panic becomes one. A tool that takes long looks at `context.cancel` and reports with `context.progress`.

// Printing is what this program is for.
#![allow(clippy::print_stdout)]

use serde::Deserialize;
use serde_json::json;
use troupe::{
    embed::{EmbedError, Troupe},
    protocol::{ToolDeclaration, ToolOutput},
    tools::{BoxFuture, Tool, ToolContext},
};

/// Rolls dice.
struct Dice {
    declaration: ToolDeclaration,
}

#[derive(Deserialize)]
struct Arguments {
    count: u64,
    sides: u64,
}

impl Dice {
    fn new() -> Self {
        let number =
            |description: &str| json!({"type": "integer", "minimum": 1, "maximum": 100, "description": description});
        let declaration = ToolDeclaration {
            name: "dice".to_owned(),
            description: "Roll dice and get what each shows.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {"count": number("How many dice"), "sides": number("Sides of each")},
                "required": ["count", "sides"],
            }),
            ..ToolDeclaration::default()
        };
        Self { declaration }
    }
}

impl Tool for Dice {
    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    // It has no effects: after a crash it may simply run again, and it may run while the agent only plans.
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute(&self, context: ToolContext) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let Arguments { count, sides } = match context.parse() {
                Ok(arguments) => arguments,
                Err(failure) => return failure.into(),
            };
            // No randomness is worth a dependency here: the clock will do.
            let mut state = std::time::UNIX_EPOCH.elapsed().map_or(1, |time| time.as_nanos() as u64);
            let mut roll = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % sides + 1
            };
            let rolls: Vec<String> = (0..count).map(|_| roll().to_string()).collect();
            ToolOutput::text(format!("The dice show {}.", rolls.join(", ")))
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), EmbedError> {
    let mut words = std::env::args().skip_while(|word| word != "--model").skip(1);
    let model = words.next().unwrap_or_else(|| "troupe/offline".to_owned());
    let builder = Troupe::builder().model(model).tool(Dice::new()).tools(["dice"]).without_resources();
    let session = builder.in_memory().start().await?;
    let answer = session.prompt("Roll two dice with six sides and tell me the sum.").await?;
    println!("{}", answer.text());
    session.close().await
}
