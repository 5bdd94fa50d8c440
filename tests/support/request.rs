//! What the model was asked.

use std::collections::BTreeSet;

use serde_json::Value;
use tokio::sync::watch;

use super::{text_of, within};

/// A chat-completions request.
#[derive(Debug)]
pub struct Request {
    /// Its place among the server's requests, from 0.
    pub n: usize,
    /// The path that it went to.
    pub path: String,
    /// Headers with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
    pub(super) closed: watch::Sender<bool>,
}

impl Request {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The conversation.
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The roles of the conversation in order.
    pub fn roles(&self) -> Vec<&str> {
        self.messages().iter().filter_map(|message| message["role"].as_str()).collect()
    }

    /// The texts of one role in order.
    pub fn texts(&self, role: &str) -> Vec<String> {
        self.messages().iter().filter(|message| message["role"] == role).map(text_of).collect()
    }

    /// What the user said last.
    pub fn last_user(&self) -> String {
        self.texts("user").pop().unwrap_or_default()
    }

    /// The tool results after that.
    pub fn results(&self) -> Vec<String> {
        let messages = self.messages();
        let last_user = messages.iter().rposition(|message| message["role"] == "user");
        let after = last_user.map_or(messages, |at| &messages[at + 1..]);
        after.iter().filter(|message| message["role"] == "tool").map(text_of).collect()
    }

    /// The names of the declared tools.
    pub fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map_or(&[][..], Vec::as_slice);
        tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect()
    }

    /// All texts of the conversation.
    pub fn all_text(&self) -> String {
        self.messages().iter().map(text_of).collect::<Vec<_>>().join("\n")
    }

    /// Returns when the client has closed the connection.
    pub async fn closed(&self) {
        let mut closed = self.closed.subscribe();
        within("end of the connection", closed.wait_for(|closed| *closed)).await.unwrap();
    }

    /// Panics unless the conversation keeps the rules that vendors enforce.
    pub fn assert_strict(&self) {
        if let Err(fault) = strict(self.messages()) {
            panic!("request {}: {fault}\nroles: {:?}", self.n, self.roles());
        }
    }
}

/// Vendors' rules: each call has exactly one result right after its message, ids are unique within a message,
/// arguments are JSON, no user message and no text block is empty.
pub fn strict(messages: &[Value]) -> Result<(), String> {
    let mut at = 0;
    while let Some(message) = messages.get(at) {
        at += 1;
        match message["role"].as_str() {
            Some("tool") => return Err(format!("message {} is a result without a call", at - 1)),
            Some("assistant") => {
                let called = called(message)?;
                let results = messages[at..].iter().take_while(|message| message["role"] == "tool");
                let answered: Vec<_> = results.map(|result| result["tool_call_id"].to_string()).collect();
                at += answered.len();
                if answered.len() != called.len() || answered.iter().any(|id| !called.contains(id)) {
                    return Err(format!("calls {called:?} have results {answered:?}"));
                }
                if answered.iter().collect::<BTreeSet<_>>().len() != answered.len() {
                    return Err(format!("a call has two results: {answered:?}"));
                }
            }
            Some("user") => {
                let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
                let empty_block = blocks.iter().any(|block| block["type"] == "text" && block["text"] == "");
                if empty_block || (blocks.is_empty() && text_of(message).is_empty()) {
                    return Err(format!("message {} is empty: {message}", at - 1));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The ids of an assistant message's calls.
fn called(message: &Value) -> Result<BTreeSet<String>, String> {
    let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
    for call in calls {
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        if serde_json::from_str::<Value>(arguments).is_err() {
            return Err(format!("arguments are no JSON: {arguments}"));
        }
    }
    let ids: BTreeSet<_> = calls.iter().map(|call| call["id"].to_string()).collect();
    if ids.len() == calls.len() { Ok(ids) } else { Err(format!("an id occurs twice: {calls:?}")) }
}
