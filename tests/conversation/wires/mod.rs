//! The wires: how each API writes an answer, and how it reads a request. Written from the vendors' documentation, and
//! on purpose not with the program's own code.

mod anthropic;
mod bedrock;
mod chat;
mod google;
mod mistral;
mod responses;

use serde_json::{Value, json};

use crate::transcript::{Call, Said, Turn};

/// One API's side of the conversation.
pub trait Wire: Sync {
    /// The API's name.
    fn api(&self) -> &'static str;
    /// What a base URL ends with.
    fn base_path(&self) -> &'static str;
    /// A model that it serves.
    fn model(&self) -> &'static str;
    /// A key that it takes.
    fn key(&self) -> String {
        "key-0123456789".to_owned()
    }
    /// An id for call `number` of the conversation.
    fn call_id(&self, number: usize) -> String;
    /// Whether the API takes this id.
    fn is_call_id(&self, id: &str) -> bool;
    /// The body of an answer.
    fn answer(&self, said: &Said, step: usize) -> Vec<u8>;
    /// The body of an answer that breaks off with an error of the server after some text.
    fn breaking(&self, text: &str) -> Vec<u8>;
    /// The request as a transcript. Panics when it is none that the API would take.
    fn read(&self, body: &Value) -> Vec<Turn>;
}

/// All of them.
pub const WIRES: &[&dyn Wire] = &[
    &chat::Chat,
    &anthropic::Anthropic,
    &responses::OPENAI,
    &google::GEMINI,
    &mistral::Mistral,
    &bedrock::Bedrock,
    &responses::CODEX,
    &responses::AZURE,
    &google::VERTEX,
];

/// The data of server-sent events.
fn events(data: impl IntoIterator<Item = Value>) -> Vec<u8> {
    data.into_iter().flat_map(|data| format!("data: {data}\n\n").into_bytes()).collect()
}

/// Server-sent events that are named by the type of their data.
fn named_events(data: impl IntoIterator<Item = Value>) -> Vec<u8> {
    let named = |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap()).into_bytes();
    data.into_iter().flat_map(named).collect()
}

/// Letters, digits, `_` and `-`, as most vendors want ids.
fn is_plain_id(id: &str, limit: usize) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=limit).contains(&id.len()) && id.chars().all(plain)
}

/// A signature for a thought, such that no other thought has it, in base64.
fn signature(thought: &str) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    thought.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// A list that must be one.
#[track_caller]
fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

/// A text that must be one.
#[track_caller]
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// Adds a user's message, or the pictures of results that stand behind them with a caption.
fn push_user(turns: &mut Vec<Turn>, texts: &[String], images: usize) {
    let is_caption = texts.first().is_some_and(|text| text.starts_with("Attached image(s) from tool result:"));
    match turns.last_mut() {
        Some(Turn::Results(results)) if is_caption => results.last_mut().unwrap().images += images,
        _ => turns.push(Turn::User { text: texts.join("\n"), images }),
    }
}

/// The arguments of calls as the APIs that send text want them.
fn arguments(call: &(String, String, Value)) -> String {
    call.2.to_string()
}

fn call(id: &Value, name: &Value, arguments: Value) -> Call {
    Call { id: text(id), name: text(name), arguments }
}

fn parsed(arguments: &Value) -> Value {
    serde_json::from_str(&text(arguments)).unwrap()
}

fn usage() -> Value {
    json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
}
