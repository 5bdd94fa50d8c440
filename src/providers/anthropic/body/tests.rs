use std::sync::Arc;

use super::*;
use crate::{
    protocol::{
        AssistantMessage, Block, ImageBlock, Message, Model, ThinkingBlock, ThinkingLevel, ToolResultMessage,
        model::InputKind,
    },
    providers::{
        Secret,
        testing::{answer, call, object, plain_model, request, result, user},
    },
};

const API: &str = "anthropic-messages";

fn model(set: Value) -> Model {
    Model { compat: Some(object(set)), base_url: "https://api.anthropic.com".into(), ..plain_model(API) }
}

fn written(request: &Request) -> Value {
    serde_json::from_slice(&write(request).unwrap().body).unwrap()
}

fn messages(set: Value, messages: Vec<Message>) -> Value {
    written(&request(model(set), messages))["messages"].take()
}

fn system(message: Value) -> Message {
    Message::System(Arc::new(serde_json::from_value(message).unwrap()))
}

fn with_tool() -> Message {
    system(json!({"content": "Be brief.", "toolsAdded": [{"name": "ls", "description": "List", "parameters":
        {"type": "object", "title": "T", "anyOf": [], "required": ["dir"], "properties": {"dir": {"type": "string"}}}}]}))
}

fn said(content: Vec<Block>) -> AssistantMessage {
    AssistantMessage { api: API.into(), ..answer(content) }
}

fn assistant(content: Vec<Block>) -> Message {
    Message::Assistant(Arc::new(said(content)))
}

fn shot(id: &str, text: &str, is_error: bool) -> Message {
    let image = Block::Image(ImageBlock { data: "AAAA".into(), mime_type: "image/png".into() });
    Message::ToolResult(Arc::new(ToolResultMessage {
        tool_call_id: id.into(),
        content: vec![Block::text(text), image],
        is_error,
        ..ToolResultMessage::default()
    }))
}

#[test]
fn the_plain_request() {
    let mut request = request(model(json!({})), vec![with_tool(), user("hi")]);
    request.api_key = Some(Secret::new("sk-ant-12345678"));
    let outgoing = write(&request).unwrap();
    assert_eq!(outgoing.url, "https://api.anthropic.com/v1/messages");
    let headers = outgoing.headers.into_map();
    assert_eq!(
        (&headers["x-api-key"], &headers["anthropic-version"]),
        (&"sk-ant-12345678".parse().unwrap(), &"2023-06-01".parse().unwrap())
    );
    assert!(!headers.contains_key("authorization") && !headers.contains_key("anthropic-beta"));
    let mark = json!({"type": "ephemeral"});
    assert_eq!(
        serde_json::from_slice::<Value>(&outgoing.body).unwrap(),
        json!({
            "model": "test-model", "max_tokens": 16384, "stream": true,
            "tools": [{"name": "ls", "description": "List", "eager_input_streaming": true, "cache_control": mark,
                "input_schema": {"type": "object", "properties": {"dir": {"type": "string"}}, "required": ["dir"]}}],
            "system": [{"type": "text", "text": "Be brief.", "cache_control": mark}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": mark}]}],
        })
    );
}

#[test]
fn all_results_of_a_turn_stand_in_one_message_with_the_pictures_of_failed_ones_behind() {
    let mut sees = model(json!({}));
    sees.input = vec![InputKind::Text, InputKind::Image];
    let mut request = request(
        sees,
        vec![
            user("x"),
            assistant(vec![
                Block::text("go"),
                call("a", "shot", json!({"n": 1})),
                call("b", "shot", json!({})),
                call("c", "ls", json!({})),
            ]),
            shot("a", "", false),
            shot("b", "bad", true),
            result("c", " "),
        ],
    );
    request.cache = CacheRetention::None;
    let picture = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    assert_eq!(
        written(&request)["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "x"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "go"},
                {"type": "tool_use", "id": "a", "name": "shot", "input": {"n": 1}},
                {"type": "tool_use", "id": "b", "name": "shot", "input": {}},
                {"type": "tool_use", "id": "c", "name": "ls", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "is_error": false, "content": [{"type": "text", "text": "(see attached image)"}, picture]},
                {"type": "tool_result", "tool_use_id": "b", "is_error": true, "content": "bad\n(image attached after the tool results)"},
                {"type": "tool_result", "tool_use_id": "c", "is_error": false, "content": "(no tool output)"},
                {"type": "text", "text": "Image from the result of shot (b):"}, picture]},
        ])
    );
}

#[test]
fn thinking_is_replayed_signed_withheld_or_as_text() {
    let thinking = |text: &str, signature: Option<&str>, redacted: Option<bool>| {
        Block::Thinking(ThinkingBlock {
            thinking: text.into(),
            thinking_signature: signature.map(str::to_owned),
            redacted,
        })
    };
    let content = vec![
        thinking("deep", Some("sig"), None),
        thinking("", Some("sig2"), None),
        thinking("", Some("payload"), Some(true)),
        thinking("unsigned", None, None),
        Block::text("t"),
    ];
    let sent = messages(json!({}), vec![user("x"), assistant(content.clone())]);
    assert_eq!(
        sent[1]["content"],
        json!([
            {"type": "thinking", "thinking": "deep", "signature": "sig"},
            {"type": "thinking", "thinking": "", "signature": "sig2"},
            {"type": "redacted_thinking", "data": "payload"},
            {"type": "text", "text": "unsigned"},
            {"type": "text", "text": "t"},
        ])
    );
    let sent = messages(json!({"allowEmptySignature": true}), vec![user("x"), assistant(content.clone())]);
    assert_eq!(sent[1]["content"][3], json!({"type": "thinking", "thinking": "unsigned", "signature": ""}));
    let foreign = AssistantMessage { model: "other".into(), ..said(content) };
    let sent = messages(json!({}), vec![user("x"), Message::Assistant(Arc::new(foreign))]);
    assert_eq!(sent[1]["content"], json!([{"type": "text", "text": "t"}]));
}

#[test]
fn fc_022_ids_of_another_api_fit_and_stay_paired() {
    let long = format!("call_x|{}", "aB+/=".repeat(86));
    let foreign = answer(vec![call(&long, "ls", json!({}))]);
    let sent = messages(json!({}), vec![user("x"), Message::Assistant(Arc::new(foreign)), result(&long, "A")]);
    let id = sent[1]["content"][0]["id"].as_str().unwrap();
    assert!(id.len() <= 64 && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
    assert_eq!(sent[2]["content"][0]["tool_use_id"], id);
}

#[test]
fn marks_follow_the_retention_and_the_host() {
    let marks = |set: Value, cache: CacheRetention| {
        let mut request = request(model(set), vec![with_tool(), user("x"), assistant(vec![Block::text("t")])]);
        request.cache = cache;
        let body = written(&request);
        let of = |value: &Value| {
            value["cache_control"]["type"]
                .is_string()
                .then(|| value["cache_control"]["ttl"].as_str().unwrap_or("-").to_owned())
        };
        [
            of(&body["system"][0]),
            of(&body["tools"][0]),
            of(&body["messages"][0]["content"][0]),
            of(&body["messages"][1]["content"][0]),
        ]
        .map(|mark| mark.unwrap_or_default())
    };
    assert_eq!(marks(json!({}), CacheRetention::Short), ["-", "-", "-", ""]);
    assert_eq!(marks(json!({}), CacheRetention::Long), ["1h", "1h", "1h", ""]);
    assert_eq!(marks(json!({"supportsLongCacheRetention": false}), CacheRetention::Long), ["-", "-", "-", ""]);
    assert_eq!(marks(json!({"supportsCacheControlOnTools": false}), CacheRetention::Short), ["-", "", "-", ""]);
    assert_eq!(marks(json!({}), CacheRetention::None), ["", "", "", ""]);
}

#[test]
fn keys_go_where_the_host_wants_them() {
    let names = |provider: &str, key: &str, headers: Value| {
        let mut request = request(Model { provider: provider.into(), ..model(json!({})) }, vec![user("x")]);
        (request.api_key, request.headers) = (Some(Secret::new(key)), object(headers));
        let map = write(&request).unwrap().headers.into_map();
        ["x-api-key", "authorization", "cf-aig-authorization", "anthropic-beta"].map(|name| map.contains_key(name))
    };
    assert_eq!(names("anthropic", "sk-ant-api-1", json!({})), [true, false, false, false]);
    assert_eq!(names("anthropic", "sk-ant-oat-1", json!({})), [false, true, false, true]);
    assert_eq!(names("anthropic", "sk-ant-api-1", json!({"Authorization": "Bearer x"})), [false, true, false, false]);
    assert_eq!(names("github-copilot", "tid=1", json!({})), [false, true, false, false]);
    assert_eq!(names("cloudflare-ai-gateway", "k", json!({})), [false, false, true, false]);
}

#[test]
fn betas_are_asked_for_when_needed_and_a_users_list_replaces_them() {
    let beta = |set: Value, level: ThinkingLevel, headers: Value| {
        let mut model = model(set);
        (model.reasoning, model.max_tokens) = (true, 64_000);
        let mut request = request(model, vec![with_tool(), user("x")]);
        (request.thinking, request.headers) = (level, object(headers));
        let map = write(&request).unwrap().headers.into_map();
        map.get("anthropic-beta").map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    };
    let high = ThinkingLevel::High;
    assert_eq!(beta(json!({}), ThinkingLevel::Off, json!({})), "");
    assert_eq!(beta(json!({}), high, json!({})), BETA_INTERLEAVED);
    assert_eq!(beta(json!({"forceAdaptiveThinking": true}), high, json!({})), "");
    assert_eq!(
        beta(json!({"supportsEagerToolInputStreaming": false}), ThinkingLevel::Off, json!({})),
        BETA_FINE_GRAINED
    );
    assert_eq!(beta(json!({"supportsMidConvoEffort": true}), high, json!({})), BETA_EFFORT.join(","));
    assert_eq!(beta(json!({"allowedFallbackModels": ["m2"]}), ThinkingLevel::Off, json!({})), BETA_FALLBACK);
    assert_eq!(beta(json!({}), high, json!({"Anthropic-Beta": "mine"})), "mine");
}

#[test]
fn efforts_per_message_stand_before_each_answer_and_at_the_end() {
    let mut model = model(json!({"supportsMidConvoEffort": true, "supportsMidConvoSystemMessages": true}));
    model.reasoning = true;
    let past = AssistantMessage { provider_thinking_level: Some("low".into()), ..said(vec![Block::text("t")]) };
    let late = system(json!({"content": "Late."}));
    let mut request = request(model, vec![user("x"), Message::Assistant(Arc::new(past)), user("y"), late, user("z")]);
    (request.thinking, request.cache) = (ThinkingLevel::High, CacheRetention::None);
    let sent = written(&request)["messages"].take();
    let roles: Vec<_> = sent.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "system", "assistant", "user", "user", "system"]);
    assert_eq!(sent[1], json!({"role": "system", "content": [], "output_config": {"effort": "low"}}));
    assert_eq!(
        sent[5],
        json!({"role": "system", "content": [{"type": "text", "text": "Late."}], "output_config": {"effort": "high"}})
    );
    assert_eq!(managed_effort(&request, &Compat::of(&request.model)), Some("high"));
}

#[test]
fn later_system_messages_wait_for_the_next_answer_and_may_change_tools() {
    let conversation = || {
        vec![
            with_tool(),
            user("x"),
            assistant(vec![call("a", "ls", json!({}))]),
            system(
                json!({"content": "Late.", "toolsRemoved": [{"name": "ls"}], "toolsAdded": [{"name": "cat", "description": "C"}]}),
            ),
            result("a", "A"),
            user("y"),
            assistant(vec![Block::text("t")]),
        ]
    };
    let roles = |sent: &Value| {
        sent.as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let folded = written(&request(model(json!({})), conversation()));
    assert_eq!(folded["system"][0]["text"], "Be brief.\n\nLate.");
    assert_eq!((folded["tools"][0]["name"].as_str(), folded["tools"].as_array().map(Vec::len)), (Some("cat"), Some(1)));
    let placed = written(&request(model(json!({"supportsMidConvoSystemMessages": true})), conversation()));
    assert_eq!(roles(&placed["messages"]), ["user", "assistant", "user", "user", "system", "assistant"]);
    let set = json!({"supportsMidConvoSystemMessages": true, "supportsMidConvoToolChanges": true});
    let changed = request(model(set), conversation());
    assert_eq!(write(&changed).unwrap().headers.into_map()["anthropic-beta"], BETA_INLINE_TOOLS);
    let body = written(&changed);
    assert_eq!(body["tools"][0]["name"], "ls");
    assert_eq!(
        body["messages"][4]["content"],
        json!([
            {"type": "text", "text": "Late."},
            {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "ls"}},
            {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {"name": "cat", "description": "C",
                "input_schema": {"type": "object", "properties": {}}, "eager_input_streaming": true}},
                "cache_control": {"type": "ephemeral"}},
        ])
    );
}

#[test]
fn strict_tools_avoid_what_the_host_refuses() {
    let declare = |schema: Value, sampling: &str| {
        let tool = json!({"name": "t", "parameters": schema, "constrainedSampling": {"type": "json_schema", "strict": sampling}});
        request(
            model(json!({"supportsStrictTools": true})),
            vec![system(json!({"content": "", "toolsAdded": [tool]})), user("x")],
        )
    };
    let good = json!({"type": "object", "properties": {"a": {"type": "string", "format": "uuid"}}});
    let body = written(&declare(good, "prefer"));
    assert_eq!(
        (&body["tools"][0]["strict"], &body["tools"][0]["input_schema"]["additionalProperties"]),
        (&json!(true), &json!(false))
    );
    for keyword in [
        json!({"type": "integer", "minimum": 1}),
        json!({"type": "array", "minItems": 2}),
        json!({"type": "string", "format": "color"}),
    ] {
        let schema = json!({"type": "object", "properties": {"a": keyword}});
        assert_eq!(written(&declare(schema.clone(), "prefer"))["tools"][0].get("strict"), None);
        assert!(write(&declare(schema, "require")).is_err());
    }
}

#[test]
fn a_base_with_the_version_is_understood() {
    for base in ["https://h/anthropic", "https://h/anthropic/", "https://h/anthropic/v1", "https://h/anthropic/v1/"] {
        assert_eq!(join_v1_url(base, "/messages"), "https://h/anthropic/v1/messages");
    }
}
