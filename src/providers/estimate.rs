//! Token counts for the models inside the program, which have no tokens: four characters count as one.

use crate::protocol::{Block, Content, Message, SystemMessage, Usage};

/// The usage of a request with `messages` that was answered with `answer`.
#[must_use]
pub fn usage(messages: &[Message], answer: &[Block]) -> Usage {
    let input: usize = messages.iter().map(message_length).sum();
    let output: usize = answer.iter().map(block_length).sum();
    Usage { input: tokens(input), output: tokens(output), ..Usage::default() }.summed()
}

fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

fn message_length(message: &Message) -> usize {
    match message {
        Message::System(message) => system_length(message),
        Message::User(message) => content_length(&message.content),
        Message::Assistant(message) => message.content.iter().map(block_length).sum(),
        Message::ToolResult(message) => message.content.iter().map(block_length).sum(),
    }
}

fn system_length(message: &SystemMessage) -> usize {
    let sections = message.sections.iter().flatten().filter_map(|(_, text)| text.as_str()).map(str::len);
    let tools = message.tools_added.iter().flatten().map(|tool| tool.name.len() + tool.description.len());
    content_length(&message.content) + sections.sum::<usize>() + tools.sum::<usize>()
}

fn content_length(content: &Content) -> usize {
    match content {
        Content::Text(text) => text.len(),
        Content::Blocks(blocks) => blocks.iter().map(block_length).sum(),
    }
}

fn block_length(block: &Block) -> usize {
    match block {
        Block::Text(block) => block.text.len(),
        Block::Thinking(block) => block.thinking.len(),
        // What other parts of the program count for a picture.
        Block::Image(_) => 4800,
        Block::ToolCall(call) => {
            let text = |value: &serde_json::Value| value.as_str().map_or(8, str::len);
            call.name.len() + call.arguments.iter().map(|(key, value)| key.len() + text(value)).sum::<usize>()
        }
        Block::Unknown(_) => 0,
    }
}
