//! How much output a request may ask for, so that input and output fit the model's window together.

use serde_json::{Map, Value};

use super::Request;
use crate::protocol::{
    AssistantMessage, Block, Content, Message, SystemMessage,
    time::Millis,
    tokens::{self, IMAGE_CHARS},
};

const CHARS_PER_TOKEN: f64 = 3.5;
/// Kept free beside input and output.
const MIN_MARGIN: u64 = 4096;
/// Below this much room the margin shrinks to [`MIN_MARGIN`].
const SMALL_ROOM: u64 = 32_768;

/// The output cap of a request: what the caller wants, or the model's own limit, fitted to the window. FC-031: vendors
/// add the asked-for output to the input before they compare with the window.
#[must_use]
pub fn output_cap(request: &Request) -> u64 {
    fit_output(
        request.max_tokens.unwrap_or(request.model.max_tokens),
        request.model.context_window,
        estimate_input(&request.messages),
    )
}

/// `cap` fitted to what a window leaves beside an input of `input` tokens. At least 1 unless the cap is 0; a window of
/// 0 is unknown and limits nothing.
#[must_use]
pub fn fit_output(cap: u64, window: u64, input: u64) -> u64 {
    if window == 0 {
        return cap;
    }
    let free = window.saturating_sub(input);
    let margin = MIN_MARGIN.max(input.saturating_mul(15) / 100);
    let mut room = free.saturating_sub(margin);
    if room < SMALL_ROOM {
        room = SMALL_ROOM.min(free.saturating_sub(MIN_MARGIN));
    }
    cap.min(room.max(1))
}

/// Estimated tokens of a conversation: what the last good answer reported, and the characters of the messages after
/// it. A report is void when something before it is newer: then a compaction has replaced what it counted.
#[must_use]
pub fn estimate_input(messages: &[Message]) -> u64 {
    let reported = messages.iter().enumerate().rev().find_map(|(at, message)| match message {
        Message::Assistant(answer) if counts(answer) => Some((at, answer)),
        _ => None,
    });
    let (start, known) = match reported {
        Some((at, answer)) if messages[..at].iter().all(|earlier| time_of(earlier) <= answer.timestamp) => {
            (at + 1, answer.usage.total_tokens)
        }
        _ => (0, 0),
    };
    let chars: usize = messages[start..].iter().map(chars_of).sum();
    known.saturating_add(tokens_of(chars))
}

fn counts(answer: &AssistantMessage) -> bool {
    !answer.is_failed() && answer.usage.total_tokens > 0
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive float; the cast saturates")]
fn tokens_of(chars: usize) -> u64 {
    (chars as f64 / CHARS_PER_TOKEN).ceil() as u64
}

fn time_of(message: &Message) -> Millis {
    match message {
        Message::System(message) => message.timestamp,
        Message::User(message) => message.timestamp,
        Message::Assistant(message) => message.timestamp,
        Message::ToolResult(message) => message.timestamp,
    }
}

fn chars_of(message: &Message) -> usize {
    match message {
        Message::System(message) => system_chars(message),
        Message::User(message) => content_chars(&message.content),
        Message::Assistant(message) => blocks_chars(&message.content),
        Message::ToolResult(message) => blocks_chars(&message.content),
    }
}

fn system_chars(message: &SystemMessage) -> usize {
    let sections = message.sections.iter().flat_map(Map::values).filter_map(Value::as_str).map(chars);
    let tools = message.tools_added.iter().flatten();
    content_chars(&message.content) + sections.sum::<usize>() + tools.map(json_chars).sum::<usize>()
}

fn content_chars(content: &Content) -> usize {
    match content {
        Content::Text(text) => chars(text),
        Content::Blocks(blocks) => blocks_chars(blocks),
    }
}

fn blocks_chars(blocks: &[Block]) -> usize {
    blocks.iter().map(block_chars).sum()
}

fn block_chars(block: &Block) -> usize {
    match block {
        Block::Text(block) => chars(&block.text),
        Block::Thinking(block) => chars(&block.thinking),
        Block::Image(_) => usize::try_from(IMAGE_CHARS).unwrap_or(usize::MAX),
        Block::ToolCall(call) => chars(&call.name) + json_chars(&call.arguments),
        Block::Unknown(_) => 0,
    }
}

fn chars(text: impl AsRef<str>) -> usize {
    text.as_ref().chars().count()
}

fn json_chars(value: &impl serde::Serialize) -> usize {
    usize::try_from(tokens::json_len(value)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::protocol::{ImageBlock, StopReason, Usage, UserMessage};

    #[test]
    fn fc_031_the_output_cap_leaves_room_for_the_input() {
        let table = [
            (64_000, 200_000, 0, 64_000),
            (64_000, 200_000, 150_000, 32_768),
            (64_000, 200_000, 100_000, 64_000),
            (190_000, 200_000, 100_000, 85_000),
            (64_000, 200_000, 190_000, 5_904),
            (64_000, 200_000, 197_000, 1),
            (64_000, 200_000, 500_000, 1),
            (8_000, 8_192, 1_000, 3_096),
            (64_000, 0, 1_000_000, 64_000),
            (0, 200_000, 10, 0),
        ];
        for (cap, window, input, fitted) in table {
            assert_eq!(fit_output(cap, window, input), fitted, "cap {cap} window {window} input {input}");
        }
    }

    fn user(text: &str, timestamp: Millis) -> Message {
        Message::User(Arc::new(UserMessage { content: text.into(), timestamp }))
    }

    fn answer(total_tokens: u64, stop_reason: StopReason, timestamp: Millis) -> Message {
        let usage = Usage { total_tokens, ..Usage::default() };
        Message::Assistant(Arc::new(AssistantMessage { usage, stop_reason, timestamp, ..AssistantMessage::default() }))
    }

    #[test]
    fn the_estimate_starts_from_the_last_good_report() {
        let seventy = "é".repeat(70);
        let image = Message::User(Arc::new(UserMessage {
            content: Content::Blocks(vec![Block::Image(ImageBlock::default())]),
            timestamp: 9,
        }));
        let table = [
            (vec![user(&seventy, 1)], 20),
            (vec![user(&seventy, 1), answer(500, StopReason::Stop, 2), user(&seventy, 3)], 520),
            (vec![user(&seventy, 1), answer(500, StopReason::Error, 2), user(&seventy, 3)], 40),
            (vec![user(&seventy, 1), answer(0, StopReason::Stop, 2), user(&seventy, 3)], 40),
            (vec![answer(500, StopReason::Stop, 1), image], 500 + 1372),
            // A summary that is newer than the answer stands before it: the report is void.
            (vec![user(&seventy, 5), answer(500, StopReason::Stop, 2), user(&seventy, 6)], 40),
        ];
        for (messages, tokens) in table {
            assert_eq!(estimate_input(&messages), tokens, "{messages:?}");
        }
    }
}
