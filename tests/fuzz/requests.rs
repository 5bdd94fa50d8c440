//! Requests from any stored conversation, for every wire API.

use std::sync::Arc;

use serde_json::{Value, json, value::RawValue};
use troupe::{
    protocol::{Message, ThinkingLevel},
    providers::{Request, Secret, wire_apis},
};

use crate::{
    random::{Random, hash},
    wire::model,
};

/// A conversation with everything in it, whole and in parts.
pub fn seeds() -> Vec<Vec<u8>> {
    let tool = json!({"name": "read", "description": "Read", "parameters": {"type": "object", "properties": {
        "path": {"type": "string"}, "limit": {"type": "number"}}, "required": ["path"]},
        "constrainedSampling": {"type": "json_schema", "strict": "prefer"}});
    let answer = |content: Value, stop: &str| {
        json!({"role": "assistant", "content": content, "api": "openai-completions", "provider": "custom", "model": "m",
               "usage": {}, "stopReason": stop, "timestamp": 3})
    };
    let result = |id: &str, content: Value, failed: bool| json!({"role": "toolResult", "toolCallId": id, "toolName": "read", "content": content, "isError": failed, "timestamp": 4});
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let call =
        |id: &str| json!({"type": "toolCall", "id": id, "name": "read", "arguments": {"path": "a.rs", "limit": 3}});
    let thinking =
        |text: &str, signature: Value| json!({"type": "thinking", "thinking": text, "thinkingSignature": signature});
    let all = vec![
        json!({"role": "system", "content": "Be brief.", "sections": {"cwd": "/tmp", "old": null}, "toolsAdded": [tool], "timestamp": 1}),
        json!({"role": "user", "content": "Look: 🚀", "timestamp": 2}),
        json!({"role": "user", "content": [text("and"), image.clone(), image.clone(), text(" ")], "timestamp": 2}),
        answer(
            json!([thinking("Hm.", json!("reasoning_content")), text("Reading."), call("call_1"), call("call_1|fc_2")]),
            "toolUse",
        ),
        json!({"role": "system", "content": "Late.", "sections": {"cwd": "/"}, "toolsAdded": [tool], "toolsRemoved": [{"name": "x"}], "timestamp": 4}),
        result("call_1", json!([text("seven"), image, text("lines")]), false),
        result("call_1|fc_2", json!([]), true),
        answer(json!([thinking("", json!("[{\"type\":\"reasoning.text\",\"text\":\"x\"}]")), text("Done.")]), "stop"),
        answer(json!([thinking("half", json!(null)), call("cut")]), "aborted"),
        answer(json!([call(""), call("null"), call(&"x".repeat(430))]), "toolUse"),
        json!({"role": "user", "content": "", "timestamp": 9}),
    ];
    let mut seeds = vec![json!(all).to_string().into_bytes()];
    seeds.extend(all.windows(4).map(|part| json!(part).to_string().into_bytes()));
    seeds
}

/// Checks the requests that a stored conversation gives. What is no conversation says nothing.
pub fn check(input: &[u8]) -> u64 {
    let Ok(messages) = serde_json::from_slice::<Vec<Message>>(input) else { return 0 };
    let mut random = Random::of(input);
    let levels = [ThinkingLevel::Off, ThinkingLevel::Low, ThinkingLevel::High, ThinkingLevel::Max];
    let mut shape = 0;
    for api in wire_apis() {
        let mut request = Request::new(Arc::new(model(api.name())), messages.clone());
        request.thinking = *random.pick(&levels);
        request.session_id = Some("session".into());
        shape ^= check_request(&request);
    }
    shape
}

/// A request is JSON that names every call once and answers it once, or says why it cannot be written.
pub fn check_request(request: &Request) -> u64 {
    let api = wire_apis().iter().find(|api| api.name() == request.model.api).unwrap();
    let mut request = request.clone();
    request.api_key = Some(Secret::new("key-0123456789"));
    match api.request(&request) {
        Ok(outgoing) => {
            // Deeper than a tree of values is read, JSON is JSON.
            let text: &RawValue = serde_json::from_slice(&outgoing.body).expect("a body of JSON");
            assert!(text.get().starts_with('{'));
            let body: Value = serde_json::from_slice(&outgoing.body).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&outgoing.body).contains("key-0123456789"), "the key is in the body");
            let mut names = Vec::new();
            shape(&body, "", &mut names);
            hash(names.join(" ").as_bytes())
        }
        Err(failure) => {
            assert!(!failure.message.contains("key-0123456789"), "the key is in {failure}");
            hash(format!("{:?}", failure.class).as_bytes())
        }
    }
}

/// The paths of a body, each once.
fn shape(value: &Value, path: &str, names: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| shape(value, &format!("{path}.{key}"), names)),
        Value::Array(elements) => elements.iter().for_each(|element| shape(element, path, names)),
        _ if names.iter().any(|known| known == path) || names.len() > 60 => {}
        _ => names.push(path.to_owned()),
    }
}
