use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::{
    protocol::{
        AssistantMessage, Block, Content, ImageBlock, Message, ThinkingBlock, ToolResultMessage, UserMessage,
        model::InputKind,
    },
    providers::{
        CacheRetention, Secret,
        testing::{answer, assistant, call, object, plain_model, request, result, user},
    },
};

const API: &str = "mistral-conversations";

fn model() -> Model {
    Model { input: vec![InputKind::Text, InputKind::Image], ..plain_model(API) }
}

fn written(request: &Request) -> Value {
    serde_json::from_slice(&write(request).unwrap().body).unwrap()
}

fn messages_of(messages: Vec<Message>) -> Value {
    written(&request(model(), messages))["messages"].take()
}

fn system(message: Value) -> Message {
    Message::System(Arc::new(serde_json::from_value(message).unwrap()))
}

fn image() -> Block {
    Block::Image(ImageBlock { data: "AAAA".into(), mime_type: "image/png".into() })
}

fn thought(text: &str) -> Block {
    Block::Thinking(ThinkingBlock { thinking: text.into(), thinking_signature: None, redacted: None })
}

/// An answer of the model that is asked.
fn own(content: Vec<Block>) -> Message {
    Message::Assistant(Arc::new(AssistantMessage { api: API.into(), ..answer(content) }))
}

fn failed_result(id: &str, content: Vec<Block>) -> Message {
    Message::ToolResult(Arc::new(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "ls".into(),
        content,
        is_error: true,
        timestamp: 1,
        ..ToolResultMessage::default()
    }))
}

#[test]
fn the_whole_request() {
    let tools = json!([{"name": "ls", "description": "List", "parameters": {"type": "object", "properties": {}}}]);
    let mut request = request(model(), vec![system(json!({"content": "Be brief.", "toolsAdded": tools})), user("hi")]);
    request.api_key = Some(Secret::new("k-12345678"));
    request.session_id = Some("sess-81".into());
    let outgoing = write(&request).unwrap();
    assert_eq!(outgoing.url, "http://localhost/v1/chat/completions");
    let headers = outgoing.headers.into_map();
    for (name, value) in
        [("authorization", "Bearer k-12345678"), ("accept", "text/event-stream"), ("x-affinity", "sess-81")]
    {
        assert_eq!(headers[name], value);
    }
    let body: Value = serde_json::from_slice(&outgoing.body).unwrap();
    assert_eq!(
        body,
        json!({
            "model": "test-model", "stream": true, "max_tokens": 16_384, "prompt_cache_key": "sess-81",
            "tools": [{"type": "function", "function": {
                "name": "ls", "description": "List", "parameters": {"type": "object", "properties": {}}}}],
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
        })
    );
}

#[test]
fn a_request_that_will_not_be_continued_names_no_session() {
    let mut request = request(model(), vec![user("hi")]);
    request.session_id = Some("é".repeat(80));
    assert_eq!(written(&request)["prompt_cache_key"], "é".repeat(64));
    request.cache = CacheRetention::None;
    let outgoing = write(&request).unwrap();
    assert!(
        !outgoing.headers.has("x-affinity") && !String::from_utf8_lossy(&outgoing.body).contains("prompt_cache_key")
    );
}

#[test]
fn the_base_may_end_with_the_version() {
    for base in ["https://api.mistral.ai", "https://api.mistral.ai/", "https://api.mistral.ai/v1/"] {
        let model = Model { base_url: base.into(), ..model() };
        assert_eq!(write(&request(model, vec![])).unwrap().url, "https://api.mistral.ai/v1/chat/completions");
    }
}

#[test]
fn thinking_is_asked_for_by_effort_or_by_mode() {
    use ThinkingLevel::{High, Low, Off};
    let map = Some(json!({"off": "none", "minimal": null, "low": "low", "high": "high"}));
    let table = [
        (false, map.clone(), High, json!({})),
        (true, None, High, json!({"prompt_mode": "reasoning"})),
        (true, None, Off, json!({})),
        (true, map.clone(), High, json!({"reasoning_effort": "high"})),
        (true, map.clone(), Low, json!({"reasoning_effort": "low"})),
        (true, map, Off, json!({"reasoning_effort": "none"})),
        (true, Some(json!({})), Low, json!({"reasoning_effort": "high"})),
        (true, Some(json!({})), Off, json!({"reasoning_effort": "none"})),
        (true, Some(json!({"off": null})), Off, json!({})),
    ];
    for (reasoning, map, level, expected) in table {
        let model = Model { reasoning, thinking_level_map: map.clone().map(object), ..model() };
        let mut request = request(model, vec![]);
        request.thinking = level;
        let mut body = object(written(&request));
        body.retain(|name, _| ["reasoning_effort", "prompt_mode"].contains(&name.as_str()));
        assert_eq!(Value::Object(body), expected, "{reasoning} {map:?} {level}");
    }
}

#[test]
fn a_conversation_with_pictures_thinking_and_results() {
    let content = Content::Blocks(vec![Block::text("Look:"), image()]);
    let looked = Message::ToolResult(Arc::new(ToolResultMessage {
        tool_call_id: "call_2".into(),
        tool_name: "ls".into(),
        content: vec![image(), Block::text("two"), Block::text("lines")],
        timestamp: 1,
        ..ToolResultMessage::default()
    }));
    let found = messages_of(vec![
        Message::User(Arc::new(UserMessage { content, timestamp: 1 })),
        own(vec![
            thought("Read it."),
            Block::text("Reading."),
            call("D681PevKs", "ls", json!({"path": "a.txt"})),
            call("call_2", "ls", json!({})),
        ]),
        result("D681PevKs", "seven lines"),
        looked,
        own(vec![Block::text("Done.")]),
    ]);
    let second = found[1]["tool_calls"][1]["id"].as_str().unwrap();
    let url = "data:image/png;base64,AAAA";
    assert_eq!(
        found,
        json!([
            {"role": "user", "content": [{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": url}]},
            {"role": "assistant", "prefix": false,
             "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Read it."}]}, {"type": "text", "text": "Reading."}],
             "tool_calls": [
                {"id": "D681PevKs", "type": "function", "function": {"name": "ls", "arguments": "{\"path\":\"a.txt\"}"}, "index": 0},
                {"id": second, "type": "function", "function": {"name": "ls", "arguments": "{}"}, "index": 1}]},
            {"role": "tool", "tool_call_id": "D681PevKs", "name": "ls", "content": [{"type": "text", "text": "seven lines"}]},
            {"role": "tool", "tool_call_id": second, "name": "ls",
             "content": [{"type": "text", "text": "two\nlines"}, {"type": "image_url", "image_url": url}]},
            {"role": "assistant", "prefix": false, "content": "Done."},
        ])
    );
    assert!(second.len() == 9 && second.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{second}");
}

#[test]
fn results_say_in_their_text_that_they_failed() {
    let table = [
        (vec![Block::text("no such file")], json!([{"type": "text", "text": "[tool error] no such file"}])),
        (vec![], json!([{"type": "text", "text": "[tool error] (no tool output)"}])),
        (
            vec![image()],
            json!([{"type": "text", "text": "[tool error] (see attached image)"},
                   {"type": "image_url", "image_url": "data:image/png;base64,AAAA"}]),
        ),
    ];
    for (content, expected) in table {
        let history = vec![own(vec![call("D681PevKs", "ls", json!({}))]), failed_result("D681PevKs", content)];
        assert_eq!(messages_of(history)[1]["content"], expected);
    }
    let empty = messages_of(vec![own(vec![call("D681PevKs", "ls", json!({}))]), result("D681PevKs", " ")]);
    assert_eq!(empty[1]["content"], json!([{"type": "text", "text": "(no tool output)"}]));
    let unanswered = messages_of(vec![own(vec![call("D681PevKs", "ls", json!({}))]), user("go on")]);
    assert_eq!(unanswered[1]["content"], json!([{"type": "text", "text": "[tool error] No result provided"}]));
}

#[test]
fn thinking_of_another_model_and_empty_answers_are_not_replayed() {
    let table = [
        (
            assistant(vec![thought("theirs"), Block::text("x")]),
            json!([{"role": "assistant", "prefix": false, "content": "x"}]),
        ),
        (assistant(vec![thought("theirs")]), json!([])),
        (own(vec![thought(" "), Block::text("")]), json!([])),
        (
            own(vec![Block::text("a"), thought("b"), Block::text("c")]),
            json!([{"role": "assistant", "prefix": false, "content": [
                {"type": "text", "text": "a"},
                {"type": "thinking", "thinking": [{"type": "text", "text": "b"}]},
                {"type": "text", "text": "c"}]}]),
        ),
    ];
    for (message, expected) in table {
        assert_eq!(messages_of(vec![message]), expected);
    }
}

#[test]
fn fc_022_ids_of_other_apis_become_nine_characters_in_calls_and_results_alike() {
    let long = format!("call_x|{}", "aB+/=".repeat(86));
    let history = |turns: usize| -> Vec<Message> {
        let turn = |at: usize| [assistant(vec![call(&long, "ls", json!({"at": at}))]), result(&long, "ok")];
        (0..turns).flat_map(turn).collect()
    };
    let ids = |messages: &Value| -> Vec<String> {
        let list = messages.as_array().unwrap().chunks(2);
        list.map(|pair| {
            let id = pair[0]["tool_calls"][0]["id"].as_str().unwrap();
            assert_eq!(pair[1]["tool_call_id"], id);
            id.to_owned()
        })
        .collect()
    };
    let all = ids(&messages_of(history(5)));
    assert!(all.iter().all(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())), "{all:?}");
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 5);
    assert_eq!(ids(&messages_of(history(3))), all[..3], "a longer conversation begins as the shorter one did");
}

#[test]
fn later_system_messages_stay_in_place_only_where_the_model_takes_them() {
    let history = || vec![system(json!({"content": "A"})), user("x"), system(json!({"content": "B"})), user("y")];
    assert_eq!(messages_of(history())[0], json!({"role": "system", "content": "A\n\nB"}));
    let compat = Some(object(json!({"supportsMidConvoSystemMessages": true})));
    let body = written(&request(Model { compat, ..model() }, history()));
    assert_eq!(body["messages"][2], json!({"role": "system", "content": "B"}));
}

#[test]
fn tools_are_strict_only_on_request() {
    let declare = |sampling: Value| {
        let tool = json!({"name": "ls", "description": "", "constrainedSampling": sampling,
            "parameters": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}});
        vec![system(json!({"content": "", "toolsAdded": [tool]}))]
    };
    let ask = |strict: &str| declare(json!({"type": "json_schema", "strict": strict}));
    let table = [
        (json!({}), declare(json!(false)), json!(null)),
        (json!({}), ask("prefer"), json!(null)),
        (json!({}), ask("require"), json!(true)),
        (json!({"supportsStrictMode": true}), ask("prefer"), json!(true)),
        (json!({"supportsStrictMode": true}), declare(json!(false)), json!(null)),
        (json!({"supportsStrictMode": false}), ask("prefer"), json!(null)),
    ];
    for (compat, history, strict) in table {
        let model = Model { compat: Some(object(compat.clone())), ..model() };
        let body = written(&request(model, history));
        assert_eq!(body["tools"][0]["function"].get("strict").unwrap_or(&Value::Null), &strict, "{compat}");
    }
    let never = Model { compat: Some(object(json!({"supportsStrictMode": false}))), ..model() };
    assert!(write(&request(never, ask("require"))).is_err());
}

#[test]
fn sampling_settings_of_other_apis_are_not_sent() {
    let model = Model { sampling_params: Some(object(json!({"top_k": 3}))), ..model() };
    assert_eq!(written(&request(model, vec![])).get("top_k"), None);
}
