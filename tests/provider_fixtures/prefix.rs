//! FC-039: what was sent stays as it was, byte by byte, so that the provider's prompt cache serves the next request.

use std::sync::Arc;

use serde_json::{Value, json};
use troupe::{
    protocol::{AssistantMessage, Message, SystemMessage, ThinkingLevel, ToolResultMessage, UserMessage},
    providers::{CacheRetention, Request, wire_api},
};

use crate::manifest::{APIS, fixtures};

fn system(message: Value) -> Message {
    Message::System(Arc::new(serde_json::from_value::<SystemMessage>(message).unwrap()))
}

fn user(content: Value) -> Message {
    Message::User(Arc::new(serde_json::from_value::<UserMessage>(json!({"content": content, "timestamp": 1})).unwrap()))
}

fn result(id: &str, text: &str, failed: bool) -> Message {
    let content = json!([{"type": "text", "text": text}]);
    let message = json!({"toolCallId": id, "toolName": "read", "content": content, "isError": failed, "timestamp": 1});
    Message::ToolResult(Arc::new(serde_json::from_value::<ToolResultMessage>(message).unwrap()))
}

fn answer(by: &Value, content: Value, stop_reason: &str) -> Message {
    let mut message =
        json!({"content": content, "stopReason": stop_reason, "usage": {"input": 1, "output": 1}, "timestamp": 1});
    message.as_object_mut().unwrap().extend(by.as_object().unwrap().clone());
    Message::Assistant(Arc::new(serde_json::from_value::<AssistantMessage>(message).unwrap()))
}

/// A conversation of the model `own`, with answers of others, odd ids, failures, pictures and a late system message in
/// it; and the places where the model was asked.
fn conversation(own: &Value, base: &Request) -> (Vec<Message>, Vec<usize>) {
    let other = json!({"api": "elsewhere", "provider": "other", "model": "m"});
    let tools = json!([{"name": "read", "description": "Read a file", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}},
        {"name": "ls", "description": "List", "parameters": {"type": "object", "properties": {}}}]);
    let mut messages = vec![system(json!({"content": "You are a tester.", "toolsAdded": tools}))];
    let mut asked = Vec::new();
    for turn in 0..8 {
        let by = if turn % 3 == 1 { &other } else { own };
        let picture = json!([{"type": "text", "text": "See"}, {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}]);
        messages.push(user(if turn == 2 { picture } else { format!("Prompt {turn}").into() }));
        asked.push(messages.len());
        if turn == 3 {
            messages.push(answer(own, json!([{"type": "text", "text": "cut o"}]), "aborted"));
            continue;
        }
        if turn == 5 {
            messages.push(system(json!({"content": "", "sections": {"rules": "New rules."}})));
        }
        // Ids that repeat, are empty, or are in another API's form.
        let ids = [format!("call|{turn}/+"), if turn % 2 == 0 { String::new() } else { "call_1".to_owned() }];
        let call =
            |id: &str| json!({"type": "toolCall", "id": id, "name": "read", "arguments": {"path": format!("{turn}")}});
        let thinking = json!({"type": "thinking", "thinking": "Hm.", "thinkingSignature": signature(&base.model.api)});
        let content = json!([thinking, {"type": "text", "text": "Calling."}, call(&ids[0]), call(&ids[1])]);
        messages.push(answer(by, content, "toolUse"));
        messages.push(result(&ids[0], "one", false));
        if turn != 4 {
            messages.push(result(&ids[1], "two", turn == 6));
        }
        asked.push(messages.len());
        messages.push(answer(by, json!([{"type": "text", "text": format!("Answer {turn}")}]), "stop"));
    }
    (messages, asked)
}

/// Replay data of a thought as the API writes it.
fn signature(api: &str) -> String {
    match api {
        "openai-completions" => "reasoning_content".to_owned(),
        api if api.ends_with("responses") => {
            json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abcd"}).to_string()
        }
        _ => "c2lnbmVk".to_owned(),
    }
}

/// The body without cache marks, which move on purpose.
fn unmarked(value: Value) -> Value {
    match value {
        Value::Object(mut map) => {
            map.retain(|key, _| key != "cache_control");
            Value::Object(map.into_iter().map(|(key, value)| (key, unmarked(value))).collect())
        }
        Value::Array(items) => {
            let kept = items.into_iter().filter(|item| item.get("cachePoint").is_none());
            Value::Array(kept.map(unmarked).collect())
        }
        other => other,
    }
}

/// The body as text up to the end of its last message, and the number of messages.
fn prefix(body: &[u8], late_prompt: bool) -> (String, Vec<String>) {
    let Value::Object(mut body) = unmarked(serde_json::from_slice(body).unwrap()) else { panic!("no object") };
    let name = ["messages", "input", "contents"].into_iter().find(|name| body.contains_key(*name)).unwrap();
    let messages = body.shift_remove(name).unwrap();
    // The room for an answer shrinks while the conversation grows: providers do not count it to the prefix.
    body.retain(|key, _| !key.contains("max_") && key != "generationConfig" && key != "inferenceConfig");
    if late_prompt {
        body.retain(|key, _| !matches!(key.as_str(), "system" | "systemInstruction"));
    }
    let texts = messages.as_array().unwrap().iter().map(Value::to_string);
    let is_prompt = |text: &String| late_prompt && (text.contains("\"system\"") || text.contains("\"developer\""));
    (Value::Object(body).to_string(), texts.filter(|text| !is_prompt(text)).collect())
}

#[test]
fn fc_039_a_request_begins_with_all_of_the_one_before() {
    for api in APIS {
        let fixture = fixtures().into_iter().find(|fixture| fixture.api == api).unwrap();
        let base = fixture.request("http://localhost/v1");
        let own = json!({"api": api, "provider": base.model.provider, "model": base.model.id});
        let (messages, asked) = conversation(&own, &base);
        for cache in [CacheRetention::None, CacheRetention::Short, CacheRetention::Long] {
            let mut before: Option<(String, Vec<String>)> = None;
            for &end in &asked {
                let request = Request {
                    messages: messages[..end].to_vec(),
                    thinking: ThinkingLevel::Medium,
                    session_id: Some("session-1".into()),
                    cache,
                    ..base.clone()
                };
                let outgoing = wire_api(api).unwrap().request(&request).unwrap();
                let again = wire_api(api).unwrap().request(&request).unwrap();
                assert_eq!(outgoing.body, again.body, "{api}: the same conversation gives the same bytes");
                // Models that take no late system messages get them folded into the prompt, which is a change of it.
                let (fields, texts) = prefix(&outgoing.body, true);
                if let Some((fields_before, texts_before)) = before {
                    assert_eq!(fields, fields_before, "{api} {cache:?} at {end}");
                    assert!(texts.len() >= texts_before.len(), "{api} {cache:?} at {end}");
                    // Where roles must alternate, the last message of a user goes on after a failed answer.
                    let (last, whole) = texts_before.split_last().unwrap();
                    assert_eq!(&texts[..whole.len()], whole, "{api} {cache:?} at {end}");
                    let goes_on = texts[whole.len()].starts_with(last.trim_end_matches([']', '}']));
                    assert!(goes_on, "{api} {cache:?} at {end}: {last}\n{}", texts[whole.len()]);
                }
                before = Some((fields, texts));
            }
        }
    }
}

#[test]
fn fc_039_prompt_and_tools_stay_the_same_to_the_byte() {
    for api in APIS {
        let fixture = fixtures().into_iter().find(|fixture| fixture.api == api).unwrap();
        let base = fixture.request("http://localhost/v1");
        let own = json!({"api": api, "provider": base.model.provider, "model": base.model.id});
        let (messages, asked) = conversation(&own, &base);
        let late = messages.iter().rposition(|message| matches!(message, Message::System(_))).unwrap();
        let mut heads = asked.iter().filter(|end| **end <= late).map(|end| {
            let request = Request { messages: messages[..*end].to_vec(), ..base.clone() };
            prefix(&wire_api(api).unwrap().request(&request).unwrap().body, false).0
        });
        let first = heads.next().unwrap();
        assert!(first.contains("Read a file"), "{first}");
        assert!(heads.all(|head| head == first), "{api}");
    }
}
