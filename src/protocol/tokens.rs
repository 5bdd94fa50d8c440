//! Estimated tokens: for what no provider has counted yet.
//!
//! A token is about four characters of English or of a program, two of most other alphabets, and one ideograph; a
//! picture counts as 4,800 characters. For ASCII these are pi's numbers.

use std::io;

use serde_json::{Map, Value};

use super::{
    message::{AgentMessage, Block, Content},
    system::SystemMessage,
};

/// Characters that a picture counts as.
pub const IMAGE_CHARS: u64 = 4_800;

/// Estimated tokens of a message.
#[must_use]
pub fn of_message(message: &AgentMessage) -> u64 {
    let quarters = match message {
        AgentMessage::System(system) => system_quarters(system),
        AgentMessage::User(user) => content_quarters(&user.content),
        AgentMessage::Custom(custom) => content_quarters(&custom.content),
        AgentMessage::ToolResult(result) => blocks_quarters(&result.content),
        AgentMessage::Assistant(answer) => blocks_quarters(&answer.content),
        AgentMessage::BashExecution(bash) if bash.exclude_from_context == Some(true) => 0,
        AgentMessage::BashExecution(bash) => quarters(&bash.command) + quarters(&bash.output),
        AgentMessage::BranchSummary(branch) => quarters(&branch.summary),
        AgentMessage::CompactionSummary(summary) => quarters(&summary.summary),
        AgentMessage::Unknown(_) => 0,
    };
    quarters.div_ceil(4)
}

/// Estimated tokens of a text.
#[must_use]
pub fn of_text(text: &str) -> u64 {
    quarters(text).div_ceil(4)
}

/// Bytes of a value's JSON, which is not built.
#[must_use]
pub fn json_len(value: &impl serde::Serialize) -> u64 {
    struct Counter(u64);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    match serde_json::to_writer(&mut counter, value) {
        Ok(()) => counter.0,
        Err(_) => 0,
    }
}

/// A text in quarters of a token.
fn quarters(text: &str) -> u64 {
    if text.is_ascii() {
        return text.len() as u64;
    }
    text.chars().map(weight).sum()
}

/// A character in quarters of a token: vocabularies hold long pieces of Latin text, short ones of other alphabets, and
/// ideographs one by one.
fn weight(c: char) -> u64 {
    match u32::from(c) {
        0..0x250 => 1,
        0x250..0x1100 | 0x1200..0x2E80 => 2,
        _ => 4,
    }
}

fn system_quarters(system: &SystemMessage) -> u64 {
    let sections = system.sections.iter().flat_map(Map::values).filter_map(Value::as_str).map(quarters);
    let tools = system.tools_added.as_ref().map_or(0, json_len);
    content_quarters(&system.content) + sections.sum::<u64>() + tools
}

fn content_quarters(content: &Content) -> u64 {
    match content {
        Content::Text(text) => quarters(text),
        Content::Blocks(blocks) => blocks_quarters(blocks),
    }
}

fn blocks_quarters(blocks: &[Block]) -> u64 {
    let of_block = |block: &Block| match block {
        Block::Text(block) => quarters(&block.text),
        Block::Thinking(block) => quarters(&block.thinking),
        Block::Image(_) => IMAGE_CHARS,
        Block::ToolCall(call) => quarters(&call.name) + json_len(&call.arguments),
        Block::Unknown(_) => 0,
    };
    blocks.iter().map(of_block).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::protocol::{
        AssistantMessage, ImageBlock, ToolCall, ToolResultMessage,
        message::{BashExecution, ThinkingBlock},
    };

    #[test]
    fn scripts_differ_in_their_characters_to_a_token() {
        let table =
            [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("größe", 2), ("привет!!", 4), ("日本語", 3), ("😀", 1)];
        for (text, tokens) in table {
            assert_eq!(of_text(text), tokens, "{text}");
        }
    }

    #[test]
    fn every_part_of_a_message_that_is_sent_counts() {
        let arguments = json!({"path": "x"}).as_object().unwrap().clone();
        let answer = AgentMessage::Assistant(Arc::new(AssistantMessage {
            content: vec![
                Block::Thinking(ThinkingBlock { thinking: "abcd".into(), ..ThinkingBlock::default() }),
                Block::text("efgh"),
                Block::ToolCall(ToolCall { name: "read".into(), arguments, ..ToolCall::default() }),
            ],
            ..AssistantMessage::default()
        }));
        let picture = AgentMessage::ToolResult(Arc::new(ToolResultMessage {
            content: vec![Block::Image(ImageBlock::default()), Block::text("1234")],
            ..ToolResultMessage::default()
        }));
        let bash = |hidden| {
            AgentMessage::BashExecution(Arc::new(BashExecution {
                command: "ls".into(),
                output: "ab".into(),
                exclude_from_context: Some(hidden),
                ..BashExecution::default()
            }))
        };
        let table = [
            (AgentMessage::user("hello", 0), 2),
            // 4 + 4 + 4 characters, and 12 of `{"path":"x"}`.
            (answer, 6),
            (picture, 1_201),
            (bash(false), 1),
            (bash(true), 0),
        ];
        for (message, tokens) in table {
            assert_eq!(of_message(&message), tokens, "{message:?}");
        }
    }
}
