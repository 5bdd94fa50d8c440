//! What was said in a session, as updates for a client that loads it. Pure.

use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1::{
    ContentBlock, ContentChunk, ImageContent, MessageId, SessionUpdate, ToolCall as CommandCall, ToolCallContent,
    ToolCallStatus, ToolKind,
};
use serde_json::{Map, Value};

use super::{
    tool_view,
    translation::{ShownCall, Told, announced, outcome, update, without_result},
};
use crate::{
    protocol::{
        AgentMessage, EntryBody, EntryId, ToolOutput,
        message::{AssistantMessage, BashExecution, Block, ToolCall, ToolResultMessage},
    },
    store::tree::TreeView,
};

/// A branch, told from its beginning.
pub(super) struct History {
    cwd: PathBuf,
    told: Told,
    /// The calls of the last message, as the model made them.
    calls: Vec<ToolCall>,
    updates: Vec<SessionUpdate>,
}

/// All updates for the branch of a session, and what they tell of its calls.
pub(super) fn tell(view: &TreeView) -> (Vec<SessionUpdate>, Told) {
    let mut history = History::new(Path::new(&view.header().cwd));
    for entry in view.path() {
        history.add(entry.id(), &entry.entry_once().body);
    }
    (history.updates, history.told)
}

impl History {
    fn new(cwd: &Path) -> Self {
        Self { cwd: cwd.to_owned(), told: Told::default(), calls: Vec::new(), updates: Vec::new() }
    }

    fn add(&mut self, id: &EntryId, body: &EntryBody) {
        match body {
            EntryBody::Message { message: AgentMessage::User(user) } => {
                self.give_up();
                self.say(id, &user.content.blocks(), SessionUpdate::UserMessageChunk);
            }
            EntryBody::Message { message: AgentMessage::Assistant(answer) } => self.answer(id, answer),
            EntryBody::Message { message: AgentMessage::ToolResult(result) } => self.result(result),
            EntryBody::Message { message: AgentMessage::BashExecution(bash) } => self.command(id, bash),
            EntryBody::CustomMessage { content, display: true, .. } => {
                self.say(id, &content.blocks(), SessionUpdate::AgentMessageChunk);
            }
            _ => {}
        }
    }

    fn say(&mut self, id: &EntryId, blocks: &[Block], as_update: fn(ContentChunk) -> SessionUpdate) {
        for block in blocks {
            let content: ContentBlock = match block {
                Block::Text(text) if !text.text.is_empty() => text.text.clone().into(),
                Block::Image(image) => ContentBlock::Image(ImageContent::new(&image.data, &image.mime_type)),
                _ => continue,
            };
            self.updates.push(as_update(ContentChunk::new(content).message_id(MessageId::new(id.as_str()))));
        }
    }

    fn answer(&mut self, id: &EntryId, answer: &AssistantMessage) {
        self.give_up();
        for block in &answer.content {
            match block {
                Block::Thinking(thinking) if !thinking.thinking.is_empty() => {
                    let chunk = ContentChunk::new(thinking.thinking.clone().into());
                    self.updates.push(SessionUpdate::AgentThoughtChunk(chunk.message_id(MessageId::new(id.as_str()))));
                }
                Block::ToolCall(call) => {
                    let id = self.told.ids.next(&call.id);
                    let view = tool_view::view(&call.name, &call.arguments, &self.cwd);
                    self.updates.push(announced(id.clone(), view, call));
                    self.told.batch.push(ShownCall { id, label: call.id.clone(), done: false });
                    self.calls.push(call.clone());
                }
                other => self.say(id, std::slice::from_ref(other), SessionUpdate::AgentMessageChunk),
            }
        }
    }

    fn result(&mut self, result: &ToolResultMessage) {
        let waits = |shown: &ShownCall| !shown.done && shown.label == result.tool_call_id;
        let Some(at) = self.told.batch.iter().position(waits) else { return };
        self.told.batch[at].done = true;
        let (id, call) = (self.told.batch[at].id.clone(), &self.calls[at]);
        let output = ToolOutput {
            content: result.content.clone(),
            details: result.details.clone(),
            is_error: result.is_error,
            ..ToolOutput::default()
        };
        self.updates.push(update(id, outcome(&call.name, &call.arguments, &self.cwd, &output)));
    }

    /// A command that the user ran.
    fn command(&mut self, id: &EntryId, bash: &BashExecution) {
        let args = Map::from_iter([("command".to_owned(), Value::String(bash.command.clone()))]);
        let view = tool_view::view("bash", &args, &self.cwd);
        let failed = bash.cancelled || bash.exit_code.is_some_and(|code| code != 0);
        let status = if failed { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
        let output: Vec<ToolCallContent> = vec![tool_view::fenced(&bash.output).into()];
        let shown = CommandCall::new(format!("user-{}", id.as_str()), view.title).kind(ToolKind::Execute);
        self.updates.push(SessionUpdate::ToolCall(shown.status(status).content(output)));
    }

    /// The conversation goes on: calls that got no result never will.
    fn give_up(&mut self) {
        self.calls.clear();
        let left = self.told.batch.drain(..).filter(|shown| !shown.done);
        self.updates.extend(left.map(|shown| update(shown.id, without_result())));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::protocol::message::{Content, UserMessage};

    fn message(value: Value) -> EntryBody {
        EntryBody::Message { message: serde_json::from_value(value).unwrap() }
    }

    fn told(bodies: &[EntryBody]) -> Vec<String> {
        let mut history = History::new(Path::new("/p"));
        for (n, body) in bodies.iter().enumerate() {
            history.add(&EntryId::from(format!("e{n}")), body);
        }
        let line = |update: &SessionUpdate| {
            let value = serde_json::to_value(update).unwrap();
            let text = |path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or("-").to_owned();
            let kind = text("/sessionUpdate");
            match kind.as_str() {
                "tool_call" => format!("{kind} {} {} {}", text("/toolCallId"), text("/title"), text("/status")),
                "tool_call_update" => format!("{kind} {} {}", text("/toolCallId"), text("/status")),
                _ => format!("{kind} {} {}", text("/messageId"), text("/content/text")),
            }
        };
        history.updates.iter().map(line).collect()
    }

    #[test]
    fn what_was_said_and_done_is_told_in_order() {
        let call = |id: &str| json!({"type": "toolCall", "id": id, "name": "read", "arguments": {"path": "a"}});
        let result = |id: &str, is_error| {
            message(json!({"role": "toolResult", "toolCallId": id, "content": "x", "isError": is_error}))
        };
        let answer = |content: Value| message(json!({"role": "assistant", "content": content}));
        let bodies = [
            message(json!({"role": "system", "content": []})),
            EntryBody::Message {
                message: AgentMessage::User(Arc::new(UserMessage { content: Content::from("hi"), timestamp: 0 })),
            },
            answer(
                json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Look."}, call("c"), call("c")]),
            ),
            result("c", false),
            result("c", true),
            answer(json!([call("c")])),
            message(json!({"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 1})),
            message(json!({"role": "user", "content": "again"})),
        ];
        assert_eq!(
            told(&bodies),
            [
                "user_message_chunk e1 hi",
                "agent_thought_chunk e2 hm",
                "agent_message_chunk e2 Look.",
                "tool_call c Read a -",
                "tool_call c#2 Read a -",
                "tool_call_update c completed",
                "tool_call_update c#2 failed",
                "tool_call c#3 Read a -",
                "tool_call user-e6 ls failed",
                "tool_call_update c#3 failed",
                "user_message_chunk e7 again",
            ]
        );
    }
}
