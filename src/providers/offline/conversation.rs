//! What a history says: the task, the files that came with it, and what was done for it.

use super::findings::Finding;
use crate::protocol::{Message, ToolCall, message::text_of};

/// A file in the task's own text (`<file name="…">`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attachment {
    /// Its path.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The task and its state.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Conversation {
    /// The task in the user's words, files cut out.
    pub task: String,
    /// Files that came with it.
    pub attachments: Vec<Attachment>,
    /// Results by round: each round is one message of calls.
    pub rounds: Vec<Vec<Finding>>,
}

impl Conversation {
    /// Reads a history. The task is the last user message, together with others right before it.
    pub fn of(messages: &[Message]) -> Self {
        let last_user = messages.iter().rposition(|message| matches!(message, Message::User(_)));
        let Some(last_user) = last_user else { return Self::default() };
        let (before, after) = messages.split_at(last_user + 1);
        let mut texts: Vec<String> = before
            .iter()
            .rev()
            .filter(|message| !matches!(message, Message::System(_)))
            .map_while(|message| match message {
                Message::User(user) => Some(user.content.text("\n")),
                _ => None,
            })
            .collect();
        texts.reverse();
        let (task, attachments) = cut_attachments(&texts.join("\n"));
        Self { task, attachments, rounds: rounds(after) }
    }
}

fn rounds(messages: &[Message]) -> Vec<Vec<Finding>> {
    let mut rounds: Vec<Vec<Finding>> = Vec::new();
    let mut open: Vec<ToolCall> = Vec::new();
    for message in messages {
        match message {
            Message::Assistant(answer) if !answer.is_failed() => {
                open = answer.tool_calls().cloned().collect();
                if !open.is_empty() {
                    rounds.push(Vec::new());
                }
            }
            Message::ToolResult(result) => {
                let call = open.iter().position(|call| call.id == result.tool_call_id);
                if let (Some(at), Some(round)) = (call, rounds.last_mut()) {
                    let text = text_of(&result.content, "\n");
                    round.push(Finding::new(open.remove(at), &text, result.is_error));
                }
            }
            _ => {}
        }
    }
    rounds
}

/// Takes `<file name="PATH">…</file>` blocks out of a text.
fn cut_attachments(text: &str) -> (String, Vec<Attachment>) {
    let mut task = String::new();
    let mut attachments = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<file name=\"") {
        let parsed = after.split_once("\">").and_then(|(name, body)| {
            let (content, behind) = body.split_once("</file>")?;
            Some((name, content, behind))
        });
        let Some((name, content, behind)) = parsed else { break };
        task.push_str(before);
        let content = content.strip_prefix('\n').unwrap_or(content);
        let content = content.strip_suffix('\n').unwrap_or(content);
        attachments.push(Attachment { name: name.to_owned(), text: content.to_owned() });
        rest = behind;
    }
    task.push_str(rest);
    (task.trim().to_owned(), attachments)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::protocol::{AssistantMessage, Block, Content, StopReason, ToolResultMessage, UserMessage};

    fn user(text: &str) -> Message {
        Message::User(Arc::new(UserMessage { content: Content::from(text), timestamp: 0 }))
    }

    fn calls(ids: &[&str], stop_reason: StopReason) -> Message {
        let call = |id: &&str| Block::ToolCall(ToolCall { id: (*id).into(), name: "ls".into(), ..ToolCall::default() });
        let content = ids.iter().map(call).collect();
        Message::Assistant(Arc::new(AssistantMessage { content, stop_reason, ..AssistantMessage::default() }))
    }

    fn result(id: &str, text: &str) -> Message {
        let content = vec![Block::text(text)];
        let message = ToolResultMessage { tool_call_id: id.into(), content, ..ToolResultMessage::default() };
        Message::ToolResult(Arc::new(message))
    }

    #[test]
    fn rounds_begin_after_the_last_task_and_failed_answers_are_none() {
        let history = [
            user("old"),
            calls(&["a"], StopReason::ToolUse),
            result("a", "old result"),
            calls(&[], StopReason::Stop),
            user("new"),
            user("task"),
            calls(&["b"], StopReason::Error),
            calls(&["c", "c"], StopReason::ToolUse),
            result("c", "one"),
            result("c", "two"),
            result("zzz", "stray"),
        ];
        let found = Conversation::of(&history);
        assert_eq!(found.task, "new\ntask");
        let texts: Vec<Vec<_>> =
            found.rounds.iter().map(|round| round.iter().map(|finding| finding.text.as_str()).collect()).collect();
        assert_eq!(texts, [["one", "two"]]);
    }

    #[test]
    fn files_in_the_text_are_taken_out() {
        let (task, files) = cut_attachments("IN<file name=\"/a.md\">\n# T\nx\n</file>\nsummarise <file name=\"open");
        assert_eq!(task, "IN\nsummarise <file name=\"open");
        assert_eq!(files, [Attachment { name: "/a.md".into(), text: "# T\nx".into() }]);
    }
}
