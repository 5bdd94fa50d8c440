//! Which files a part of the conversation read and changed: a summary lists them, and the next one goes on from there.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::protocol::AgentMessage;

/// Paths as the calls named them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileOps {
    /// Read.
    pub read: BTreeSet<String>,
    /// Written or edited.
    pub modified: BTreeSet<String>,
}

impl FileOps {
    /// What an earlier summary of our own kept in its `details`.
    #[must_use]
    pub fn from_details(details: Option<&Value>) -> Self {
        let paths = |key: &str| {
            let list = details.and_then(|details| details.get(key)).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Self { read: paths("readFiles"), modified: paths("modifiedFiles") }
    }

    /// Adds what another part of the conversation did.
    pub fn add(&mut self, other: Self) {
        self.read.extend(other.read);
        self.modified.extend(other.modified);
    }

    /// Adds what the calls of these messages did, those inside other tools included.
    pub fn note(&mut self, messages: &[AgentMessage]) {
        for message in messages {
            match message {
                AgentMessage::Assistant(answer) => {
                    answer.tool_calls().for_each(|call| self.call(&call.name, &call.arguments));
                }
                AgentMessage::ToolResult(result) => {
                    let nested = result.nested_calls.as_ref().and_then(Value::as_array);
                    nested.into_iter().flatten().for_each(|call| self.nested(call));
                }
                _ => {}
            }
        }
    }

    /// A record of a call that a tool made, with those below it.
    fn nested(&mut self, call: &Value) {
        let name = ["toolName", "name", "tool"].iter().find_map(|key| call.get(key)?.as_str());
        let arguments = ["arguments", "args", "input"].iter().find_map(|key| call.get(key)?.as_object());
        if let (Some(name), Some(arguments)) = (name, arguments) {
            self.call(name, arguments);
        }
        let below = call.get("nestedCalls").and_then(Value::as_array);
        below.into_iter().flatten().for_each(|call| self.nested(call));
    }

    fn call(&mut self, name: &str, arguments: &Map<String, Value>) {
        let set = match name {
            "read" => &mut self.read,
            "write" | "edit" => &mut self.modified,
            _ => return,
        };
        set.extend(arguments.get("path").and_then(Value::as_str).map(str::to_owned));
    }

    /// Files that were read and not changed, in order.
    pub fn only_read(&self) -> impl Iterator<Item = &String> {
        self.read.difference(&self.modified)
    }

    /// The `details` of the summary's entry.
    #[must_use]
    pub fn details(&self) -> Value {
        json!({"readFiles": self.only_read().collect::<Vec<_>>(), "modifiedFiles": self.modified})
    }

    /// What is put behind the summary's text; empty when there are no files.
    #[must_use]
    pub fn block(&self) -> String {
        let block = |tag: &str, paths: Vec<&str>| match paths.is_empty() {
            true => String::new(),
            false => format!("\n\n<{tag}>\n{}\n</{tag}>", paths.join("\n")),
        };
        let read = block("read-files", self.only_read().map(String::as_str).collect());
        read + &block("modified-files", self.modified.iter().map(String::as_str).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::protocol::{AssistantMessage, Block, ToolCall, ToolResultMessage};

    #[test]
    fn files_are_gathered_from_calls_and_from_the_summary_before() {
        let call = |name: &str, path: &str| {
            let arguments = json!({"path": path}).as_object().unwrap().clone();
            Block::ToolCall(ToolCall { name: name.into(), arguments, ..ToolCall::default() })
        };
        let calls = vec![call("read", "b"), call("read", "a"), call("edit", "a"), call("write", "c"), call("ls", "d")];
        let answer = AgentMessage::Assistant(Arc::new(AssistantMessage { content: calls, ..Default::default() }));
        let nested = json!([{"toolName": "read", "arguments": {"path": "n"}, "nestedCalls":
            [{"toolName": "write", "arguments": {"path": "m"}}]}]);
        let result =
            AgentMessage::ToolResult(Arc::new(ToolResultMessage { nested_calls: Some(nested), ..Default::default() }));
        let before = json!({"readFiles": ["c", "old"], "modifiedFiles": ["z"]});
        let mut files = FileOps::from_details(Some(&before));
        files.note(&[answer, result]);
        assert_eq!(files.details(), json!({"readFiles": ["b", "n", "old"], "modifiedFiles": ["a", "c", "m", "z"]}));
        assert_eq!(
            files.block(),
            "\n\n<read-files>\nb\nn\nold\n</read-files>\n\n<modified-files>\na\nc\nm\nz\n</modified-files>"
        );
        assert_eq!(FileOps::default().block(), "");
    }
}
