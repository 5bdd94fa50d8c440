//! `troupe/offline`: a small deterministic program that behaves like a model.
//!
//! It is an example that works without a key and without a network, and it says of itself that it is no AI. It
//! understands a handful of tasks about files (summarise, show, list, count, search), does them with the tools that the
//! request declares, and says nothing in its answers that the results do not hold.
//!
//! [`reply`] is the pure core: history and tools in, text or calls out. [`conversation`] finds the task and what has
//! been done for it, [`task`] reads the task's words (those of [`vocabulary`] only), [`toolbox`] picks tools, [`findings`] reads results, [`answer`]
//! writes what they say. Nothing is remembered between requests.

mod answer;
mod conversation;
mod describe;
mod digest;
mod findings;
mod plan;
mod task;
mod toolbox;
mod vocabulary;
mod words;

pub use plan::{Plan, PlannedCall, reply};

use super::{
    EventStream, Provider, Request, estimate,
    playback::{self, Cut, Pace, Performance},
};
use crate::protocol::{Block, Message, ToolCall, system::SystemState};

/// The provider.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offline;

impl Provider for Offline {
    fn api(&self) -> &str {
        "troupe-offline"
    }

    fn stream(&self, request: Request) -> EventStream {
        let blocks = blocks(&request.messages);
        let content: Vec<Block> = blocks.iter().map(|(block, _)| block.clone()).collect();
        let performance = Performance {
            pace: Pace { cut: Cut::Chars(20), ..Pace::default() },
            usage: estimate::usage(&request.messages, &content),
            blocks,
            stop_reason: None,
            breaks: None,
        };
        playback::play(self.api(), request, performance.steps())
    }
}

/// The blocks of the answer, each with the text that streams.
fn blocks(messages: &[Message]) -> Vec<(Block, String)> {
    let systems = messages.iter().filter_map(|message| match message {
        Message::System(system) => Some(&**system),
        _ => None,
    });
    let tools = SystemState::replay(systems).tools;
    let (text, calls) = match reply(messages, &tools) {
        Plan::Say(text) => (text, Vec::new()),
        Plan::Call { text, calls } => (text, calls),
    };
    let answers = messages.iter().filter(|message| matches!(message, Message::Assistant(_))).count();
    let calls = calls.into_iter().enumerate().map(|(place, call)| {
        let raw = serde_json::Value::Object(call.arguments.clone()).to_string();
        let id = format!("offline_{}_{}", answers + 1, place + 1);
        (Block::ToolCall(ToolCall { id, name: call.name, arguments: call.arguments, ..ToolCall::default() }), raw)
    });
    std::iter::once((Block::text(text.clone()), text)).chain(calls).collect()
}

#[cfg(test)]
mod tests;
