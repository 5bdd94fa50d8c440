//! From the product's messages to the model's: the first two of three pure steps.
//!
//! `transformContext` (extensions may trim and inject; see [`super::ask::ContextAsk`]) gives product messages,
//! [`convert_to_llm`] makes model messages of them, and the provider's own transformation adapts those to its wire.

use std::sync::Arc;

use super::{
    message::{AgentMessage, BashExecution, Block, Content, Message, ToolResultMessage, UserMessage},
    time::Millis,
};

/// What a compaction's summary says to the model before the summary itself.
const COMPACTED: &str =
    "The conversation before this point was compacted. What happened until then is summarised here:";
/// What a branch's summary says to the model before the summary itself.
const BRANCHED: &str =
    "The conversation went down another branch and came back here. What happened on that branch is summarised here:";

/// Turns product messages into model messages. What is not for the model is left out.
#[must_use]
pub fn convert_to_llm(messages: &[AgentMessage]) -> Vec<Message> {
    messages.iter().filter_map(convert).collect()
}

/// What stands in place of a picture when pictures are blocked (setting `images.blockImages`), as in pi.
const PICTURE_BLOCKED: &str = "Image reading is disabled.";

/// The messages with a text in place of each picture of users and tools; one text for pictures in a row. The session
/// keeps the pictures: with another setting, a later request has them again.
#[must_use]
pub fn without_pictures(messages: Vec<Message>) -> Vec<Message> {
    let has_picture = |blocks: &[Block]| blocks.iter().any(|block| matches!(block, Block::Image(_)));
    let blocked = |message| match message {
        Message::User(user) => match &user.content {
            Content::Blocks(blocks) if has_picture(blocks) => Message::User(Arc::new(UserMessage {
                content: Content::Blocks(block_pictures(blocks)),
                timestamp: user.timestamp,
            })),
            _ => Message::User(user),
        },
        Message::ToolResult(result) if has_picture(&result.content) => {
            let content = block_pictures(&result.content);
            Message::ToolResult(Arc::new(ToolResultMessage { content, ..(*result).clone() }))
        }
        other => other,
    };
    messages.into_iter().map(blocked).collect()
}

fn block_pictures(blocks: &[Block]) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::with_capacity(blocks.len());
    for block in blocks {
        if !matches!(block, Block::Image(_)) {
            out.push(block.clone());
        } else if !matches!(out.last(), Some(Block::Text(last)) if last.text == PICTURE_BLOCKED) {
            out.push(Block::text(PICTURE_BLOCKED));
        }
    }
    out
}

fn convert(message: &AgentMessage) -> Option<Message> {
    Some(match message {
        AgentMessage::System(message) => Message::System(message.clone()),
        AgentMessage::User(message) => Message::User(message.clone()),
        AgentMessage::Assistant(message) => Message::Assistant(message.clone()),
        AgentMessage::ToolResult(message) => Message::ToolResult(message.clone()),
        AgentMessage::BashExecution(bash) if bash.exclude_from_context == Some(true) => return None,
        AgentMessage::BashExecution(bash) => user(bash_text(bash), bash.timestamp),
        AgentMessage::Custom(custom) => Message::User(Arc::new(UserMessage {
            content: Content::Blocks(custom.content.blocks().into_owned()),
            timestamp: custom.timestamp,
        })),
        AgentMessage::BranchSummary(branch) => {
            user(format!("{BRANCHED}\n\n<summary>\n{}</summary>", branch.summary), branch.timestamp)
        }
        AgentMessage::CompactionSummary(summary) => {
            user(format!("{COMPACTED}\n\n<summary>\n{}\n</summary>", summary.summary), summary.timestamp)
        }
        AgentMessage::Unknown(_) => return None,
    })
}

fn user(text: String, timestamp: Millis) -> Message {
    Message::User(Arc::new(UserMessage { content: Content::Blocks(vec![Block::text(text)]), timestamp }))
}

/// A shell record as the model reads it.
fn bash_text(bash: &BashExecution) -> String {
    let mut text = format!("Ran `{}`\n", bash.command);
    if bash.output.is_empty() {
        text.push_str("(no output)");
    } else {
        text.push_str("```\n");
        text.push_str(&bash.output);
        text.push_str("\n```");
    }
    if bash.cancelled {
        text.push_str("\n\n(command cancelled)");
    } else if let Some(code) = bash.exit_code.filter(|code| *code != 0) {
        text.push_str(&format!("\n\nCommand exited with code {code}"));
    }
    if let Some(path) = bash.full_output_path.as_ref().filter(|_| bash.truncated) {
        text.push_str(&format!("\n\n[Output truncated. Full output: {path}]"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ImageBlock;

    #[test]
    fn shell_records_read_as_recorded_from_pi() {
        let bash = |output: &str, code, cancelled, path: Option<&str>| {
            bash_text(&BashExecution {
                command: "c".into(),
                output: output.into(),
                exit_code: code,
                cancelled,
                truncated: path.is_some(),
                full_output_path: path.map(str::to_owned),
                ..BashExecution::default()
            })
        };
        assert_eq!(bash("out\n", Some(0), false, None), "Ran `c`\n```\nout\n\n```");
        assert_eq!(bash("", Some(0), false, None), "Ran `c`\n(no output)");
        assert_eq!(bash("x", Some(3), false, None), "Ran `c`\n```\nx\n```\n\nCommand exited with code 3");
        assert_eq!(bash("", None, true, None), "Ran `c`\n(no output)\n\n(command cancelled)");
        assert!(bash("x", Some(0), false, Some("/t/f")).ends_with("\n\n[Output truncated. Full output: /t/f]"));
    }

    #[test]
    fn blocked_pictures_become_one_text_a_row_and_all_else_stays() {
        let picture = || Block::Image(ImageBlock { data: "AA==".into(), mime_type: "image/png".into() });
        let user = |content| Message::User(Arc::new(UserMessage { content: Content::Blocks(content), timestamp: 1 }));
        let result = |content| {
            let result = ToolResultMessage { tool_call_id: "c".into(), content, ..ToolResultMessage::default() };
            Message::ToolResult(Arc::new(result))
        };
        let blocked = || Block::text(PICTURE_BLOCKED);
        let text = || Block::text("x");
        let before = vec![
            user(vec![text(), picture(), picture(), text(), picture()]),
            result(vec![picture()]),
            user(vec![text()]),
        ];
        let after = vec![user(vec![text(), blocked(), text(), blocked()]), result(vec![blocked()]), user(vec![text()])];
        assert_eq!(without_pictures(before), after);
    }

    #[test]
    fn what_is_not_for_the_model_is_left_out() {
        let hidden = AgentMessage::BashExecution(Arc::new(BashExecution {
            exclude_from_context: Some(true),
            ..BashExecution::default()
        }));
        let unknown = AgentMessage::Unknown(Arc::new(serde_json::json!({"role": "oracle"})));
        assert_eq!(convert_to_llm(&[hidden, unknown]), vec![]);
    }
}
