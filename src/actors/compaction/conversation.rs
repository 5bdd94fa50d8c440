//! A conversation as text, for the model that summarises it: no thinking, no pictures, no prompt.

use serde_json::{Map, Value};

use crate::protocol::{AgentMessage, Message, ToolCall, context::convert_to_llm, message::text_of};

/// Characters of a tool's result that are shown.
const RESULT_CHARS: usize = 2_000;

/// The texts of a conversation, a message each: joined by blank lines they are what is summarised. Messages that show
/// nothing are left out.
#[must_use]
pub fn texts(messages: &[AgentMessage]) -> Vec<String> {
    convert_to_llm(messages).iter().filter_map(text).collect()
}

fn text(message: &Message) -> Option<String> {
    match message {
        Message::System(_) => None,
        Message::User(user) => labelled("User", &user.content.text("\n")),
        Message::Assistant(answer) => {
            let said = labelled("Assistant", &text_of(&answer.content, "\n"));
            let calls = answer.tool_calls().map(call).collect::<Vec<_>>().join("; ");
            let calls = labelled("Assistant tool calls", &calls);
            [said, calls].into_iter().flatten().reduce(|said, calls| format!("{said}\n\n{calls}"))
        }
        Message::ToolResult(result) => labelled("Tool result", &shortened(&text_of(&result.content, "\n"))),
    }
}

fn labelled(label: &str, text: &str) -> Option<String> {
    (!text.is_empty()).then(|| format!("[{label}]: {text}"))
}

fn call(call: &ToolCall) -> String {
    format!("{}({})", call.name, arguments(&call.arguments))
}

fn arguments(arguments: &Map<String, Value>) -> String {
    arguments.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}

/// The beginning of a result, with a note of how much is missing.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(RESULT_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}\n\n[… {} more characters]", &text[..end], text[end..].chars().count()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::protocol::{
        AssistantMessage, Block, ImageBlock, SystemMessage, ThinkingBlock, ToolResultMessage,
        message::{BashExecution, CompactionSummaryMessage},
    };

    #[test]
    fn a_conversation_reads_as_text_without_thinking_pictures_and_prompt() {
        let arguments = json!({"path": "a b", "limit": 3}).as_object().unwrap().clone();
        let call = |name: &str| ToolCall { name: name.into(), arguments: arguments.clone(), ..ToolCall::default() };
        let messages = [
            AgentMessage::System(Arc::new(SystemMessage { content: "PROMPT".into(), ..SystemMessage::default() })),
            AgentMessage::user("hello", 0),
            AgentMessage::Assistant(Arc::new(AssistantMessage {
                content: vec![
                    Block::Thinking(ThinkingBlock { thinking: "hm".into(), ..ThinkingBlock::default() }),
                    Block::text("one"),
                    Block::text("two"),
                    Block::ToolCall(call("read")),
                    Block::ToolCall(call("ls")),
                ],
                ..AssistantMessage::default()
            })),
            AgentMessage::ToolResult(Arc::new(ToolResultMessage {
                content: vec![Block::text("é".repeat(2_003)), Block::Image(ImageBlock::default())],
                ..ToolResultMessage::default()
            })),
            AgentMessage::Assistant(Arc::default()),
            AgentMessage::BashExecution(Arc::new(BashExecution { command: "ls".into(), ..BashExecution::default() })),
            AgentMessage::CompactionSummary(Arc::new(CompactionSummaryMessage {
                summary: "old".into(),
                ..CompactionSummaryMessage::default()
            })),
        ];
        let texts = texts(&messages);
        assert_eq!(texts[0], "[User]: hello");
        assert_eq!(
            texts[1],
            "[Assistant]: one\ntwo\n\n[Assistant tool calls]: read(path=\"a b\", limit=3); ls(path=\"a b\", limit=3)"
        );
        assert_eq!(texts[2], format!("[Tool result]: {}\n\n[… 3 more characters]", "é".repeat(2_000)));
        assert!(texts[3].starts_with("[User]: Ran `ls`"), "{}", texts[3]);
        assert!(texts[4].contains("old"));
        assert_eq!(texts.len(), 5);
    }
}
