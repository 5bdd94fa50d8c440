//! Looking at events.

use serde_json::Value;

/// The names of events in order; message events name their role too. Updates and responses are left out: how many
/// there are is a matter of timing.
pub fn shape(events: &[Value]) -> Vec<String> {
    let name = |event: &Value| {
        let kind = event["type"].as_str().unwrap_or("?");
        match (kind, event["message"]["role"].as_str()) {
            ("message_update" | "tool_execution_update" | "response", _) => None,
            ("message_start" | "message_end", Some(role)) => Some(format!("{kind}:{role}")),
            _ => Some(kind.to_owned()),
        }
    };
    events.iter().filter_map(name).collect()
}

/// The events of one type.
pub fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

/// The only event of its type.
pub fn one<'a>(events: &'a [Value], kind: &str) -> &'a Value {
    let found = of_type(events, kind);
    assert_eq!(found.len(), 1, "events of type {kind} in {:?}", shape(events));
    found[0]
}

/// The messages of one role that ended.
pub fn ended<'a>(events: &'a [Value], role: &str) -> Vec<&'a Value> {
    let ends = of_type(events, "message_end").into_iter().map(|event| &event["message"]);
    ends.filter(|message| message["role"] == role).collect()
}

/// The text of a message or a tool's output.
pub fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// The texts of the messages of one role.
pub fn texts_of(messages: &[Value], role: &str) -> Vec<String> {
    messages.iter().filter(|message| message["role"] == role).map(text_of).collect()
}
