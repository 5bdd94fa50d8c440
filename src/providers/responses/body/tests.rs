//! Requests by tables: fields and headers here, the conversation in `replay`.

mod replay;

use std::sync::Arc;

use super::*;
use crate::{
    protocol::{
        AssistantMessage, Block, Content, ImageBlock, Message, Model, ToolResultMessage, UserMessage, model::InputKind,
    },
    providers::{
        Secret,
        testing::{answer, call, object, plain_model, request, result, user},
    },
};

const API: &str = "openai-responses";

/// A model that thinks and sees, with these switches.
fn model(set: Value) -> Model {
    Model {
        reasoning: true,
        input: vec![InputKind::Text, InputKind::Image],
        compat: Some(object(set)),
        ..plain_model(API)
    }
}

fn sent(request: &Request, dialect: Dialect) -> Value {
    serde_json::from_slice(&write(request, dialect).unwrap().body).unwrap()
}

fn written(request: &Request) -> Value {
    sent(request, Dialect::OpenAi)
}

/// The input of a request of a model with these switches.
fn input(set: Value, messages: Vec<Message>) -> Value {
    written(&request(model(set), messages))["input"].take()
}

fn system(message: Value) -> Message {
    Message::System(Arc::new(serde_json::from_value(message).unwrap()))
}

fn with_tool() -> Message {
    system(json!({"content": "Be brief.", "toolsAdded": [
        {"name": "ls", "description": "List", "parameters": {"type": "object", "properties": {"dir": {"type": "string"}}}}]}))
}

fn image() -> Block {
    Block::Image(ImageBlock { data: "AAAA".into(), mime_type: "image/png".into() })
}

fn blocks(content: Vec<Block>) -> Message {
    Message::User(Arc::new(UserMessage { content: Content::Blocks(content), timestamp: 1 }))
}

/// An answer of [`model`].
fn assistant(content: Vec<Block>) -> Message {
    Message::Assistant(Arc::new(AssistantMessage { api: API.into(), ..answer(content) }))
}

#[test]
fn the_plain_request() {
    let mut request = request(model(json!({})), vec![with_tool(), user("hi")]);
    request.api_key = Some(Secret::new("sk-12345678"));
    request.thinking = ThinkingLevel::Medium;
    request.session_id = Some("sess-81".into());
    let outgoing = write(&request, Dialect::OpenAi).unwrap();
    assert_eq!(outgoing.url, "http://localhost/v1/responses");
    let headers = outgoing.headers.into_map();
    for (name, value) in
        [("authorization", "Bearer sk-12345678"), ("session-id", "sess-81"), ("x-client-request-id", "sess-81")]
    {
        assert_eq!(headers[name], value);
    }
    assert_eq!(
        serde_json::from_slice::<Value>(&outgoing.body).unwrap(),
        json!({
            "model": "test-model", "stream": true, "store": false, "max_output_tokens": 16384,
            "prompt_cache_key": "sess-81",
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "medium", "summary": "auto"},
            "tools": [{"type": "function", "name": "ls", "description": "List", "strict": false,
                "parameters": {"type": "object", "properties": {"dir": {"type": "string"}}}}],
            "input": [{"role": "developer", "content": "Be brief."},
                {"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        })
    );
}

#[test]
fn the_plan_backend_has_fields_and_headers_of_its_own() {
    let mut codex = Model { api: "openai-codex-responses".into(), ..model(json!({})) };
    codex.base_url = "http://localhost/backend-api".into();
    codex.sampling_params = Some(object(json!({"temperature": 1})));
    let mut request = request(codex, vec![with_tool(), user("hi")]);
    request.api_key = Some(Secret::new("token-12345678"));
    request.cache = CacheRetention::Long;
    request.session_id = Some("s".into());
    let outgoing = write(&request, Dialect::Codex).unwrap();
    assert_eq!(outgoing.url, "http://localhost/backend-api/codex/responses");
    assert_eq!(outgoing.headers.clone().into_map()["session-id"], "s");
    let body: Value = serde_json::from_slice(&outgoing.body).unwrap();
    assert_eq!(
        body,
        json!({
            "model": "test-model", "stream": true, "store": false, "prompt_cache_key": "s",
            "include": ["reasoning.encrypted_content"], "reasoning": {"effort": "none"},
            "text": {"verbosity": "low"}, "tool_choice": "auto", "parallel_tool_calls": true,
            "tools": [{"type": "function", "name": "ls", "description": "List", "strict": null,
                "parameters": {"type": "object", "properties": {"dir": {"type": "string"}}}}],
            "input": [{"role": "developer", "content": "Be brief."},
                {"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        })
    );
}

#[test]
fn azure_gets_the_deployment_and_the_key_in_its_own_header() {
    let mut request = request(Model { provider: "azure".into(), ..model(json!({})) }, vec![user("hi")]);
    request.api_key = Some(Secret::new("azure-key-0123"));
    request.environment =
        [("AZURE_OPENAI_RESOURCE_NAME", "r"), ("AZURE_OPENAI_DEPLOYMENT_NAME_MAP", "test-model=mine")]
            .into_iter()
            .collect();
    let outgoing = write(&request, Dialect::Azure).unwrap();
    assert_eq!(outgoing.url, "https://r.openai.azure.com/openai/v1/responses?api-version=v1");
    let headers = outgoing.headers.into_map();
    assert_eq!((headers["api-key"].as_bytes(), headers.contains_key("authorization")), (&b"azure-key-0123"[..], false));
    assert_eq!(sent(&request, Dialect::Azure)["model"], "mine");
    request.headers = object(json!({"Authorization": "Bearer other"}));
    let headers = write(&request, Dialect::Azure).unwrap().headers.into_map();
    assert_eq!((&headers["authorization"], headers.contains_key("api-key")), (&"Bearer other".parse().unwrap(), false));
}

#[test]
fn every_level_has_its_reasoning() {
    use ThinkingLevel as L;
    let none = Value::Null;
    let mapped = json!({"high": "big", "off": "low", "max": "max"});
    let table = [
        ("custom", L::Minimal, &none, json!({"effort": "minimal", "summary": "auto"})),
        ("custom", L::High, &none, json!({"effort": "high", "summary": "auto"})),
        ("custom", L::High, &mapped, json!({"effort": "big", "summary": "auto"})),
        ("custom", L::Max, &mapped, json!({"effort": "max", "summary": "auto"})),
        ("custom", L::Off, &none, json!({"effort": "none"})),
        ("custom", L::Off, &mapped, json!({"effort": "low"})),
        ("custom", L::Off, &json!({"off": null}), Value::Null),
        ("github-copilot", L::Off, &none, Value::Null),
        ("github-copilot", L::Low, &none, json!({"effort": "low", "summary": "auto"})),
        ("xai", L::Off, &none, json!({"effort": "none"})),
    ];
    for (provider, level, map, reasoning) in table {
        let thinking_level_map = map.as_object().cloned();
        let mut request =
            request(Model { provider: provider.into(), thinking_level_map, ..model(json!({})) }, vec![user("x")]);
        request.thinking = level;
        let body = written(&request);
        assert_eq!(body["reasoning"], reasoning, "{provider} {level} {map}");
        // xAI wants to be asked for the encrypted form always.
        assert_eq!(body.get("include").is_some(), level != L::Off || provider == "xai", "{provider} {level} {map}");
    }
    let mut plain = request(plain_model(API), vec![with_tool(), user("x")]);
    plain.thinking = L::High;
    let body = written(&plain);
    assert_eq!((body.get("reasoning"), body.get("include")), (None, None));
    assert_eq!(body["input"][0]["role"], "system", "only models that think know developers");
    assert_eq!(sent(&plain, Dialect::Codex)["input"][0]["role"], "developer");
}

#[test]
fn each_switch_changes_what_it_names() {
    let prompt = |set: Value| input(set, vec![with_tool(), user("x")])[0]["role"].take();
    assert_eq!(prompt(json!({})), "developer");
    assert_eq!(prompt(json!({"supportsDeveloperRole": false})), "system");

    let strict = |set: Value| {
        let tool = json!({"name": "t", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}},
            "constrainedSampling": {"type": "json_schema", "strict": "prefer"}});
        let request = request(model(set), vec![system(json!({"toolsAdded": [tool]})), user("x")]);
        written(&request)["tools"][0].take()
    };
    assert_eq!(strict(json!({}))["strict"], false);
    let tool = strict(json!({"supportsStrictMode": true}));
    assert_eq!((&tool["strict"], &tool["parameters"]["required"]), (&json!(true), &json!(["a"])));

    let body = |set: Value| written(&request(model(set), vec![user("x")]));
    assert_eq!(body(json!({"supportsMaxOutputTokens": false})).get("max_output_tokens"), None);
    assert_eq!(body(json!({})).get("tools"), None);

    let late = || {
        vec![
            system(json!({"content": "A"})),
            user("x"),
            assistant(vec![call("c", "ls", json!({}))]),
            system(json!({"content": "B"})),
            result("c", "out"),
            user("y"),
        ]
    };
    let said = |set: Value| {
        let input = input(set, late());
        let items = input.as_array().unwrap().iter();
        items
            .map(|item| item["content"].as_str().unwrap_or(item["type"].as_str().unwrap_or("u")).to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(said(json!({})), "A\n\nB u function_call function_call_output u");
    assert_eq!(said(json!({"supportsMidConvoSystemMessages": true})), "A u function_call function_call_output B u");
}

#[test]
fn caching_follows_the_retention_and_the_switches() {
    use CacheRetention as R;
    let long: String = "ß".repeat(70);
    let table = [
        (R::Short, json!({}), json!({"key": true, "session": true})),
        (R::Long, json!({}), json!({"key": true, "session": true, "retention": "24h"})),
        (R::None, json!({}), json!({})),
        (R::Long, json!({"supportsLongCacheRetention": false}), json!({"key": true, "session": true})),
        (R::Short, json!({"promptCacheKeyMode": "disabled"}), json!({"session": true})),
        (R::Short, json!({"supportsExplicitPromptCacheMode": true}), json!({"key": true, "session": true})),
        (R::None, json!({"supportsExplicitPromptCacheMode": true}), json!({"options": {"mode": "explicit"}})),
        (
            R::Long,
            json!({"supportsExplicitPromptCacheMode": true}),
            json!({"key": true, "session": true, "options": {"ttl": "30m"}}),
        ),
    ];
    for (cache, set, expected) in table {
        let mut request = request(model(set.clone()), vec![user("x")]);
        (request.cache, request.session_id) = (cache, Some(long.clone()));
        let body = written(&request);
        let mut got = serde_json::Map::new();
        if let Some(key) = body.get("prompt_cache_key") {
            got.insert("key".into(), (key.as_str().unwrap().chars().count() == 64).into());
        }
        request.session_id = Some("s".repeat(70));
        if let Some(session) = write(&request, Dialect::OpenAi).unwrap().headers.into_map().get("session-id") {
            got.insert("session".into(), (session.len() == 64).into());
        }
        for (name, field) in [("retention", "prompt_cache_retention"), ("options", "prompt_cache_options")] {
            got.extend(body.get(field).map(|value| (name.to_owned(), value.clone())));
        }
        assert_eq!(Value::Object(got), expected, "{cache:?} {set}");
    }
}

#[test]
fn session_headers_come_in_three_forms() {
    let table = [
        (json!({}), vec!["session-id", "x-client-request-id"]),
        (json!({"sessionAffinityFormat": "openai-nosession"}), vec!["x-client-request-id"]),
        (json!({"sessionAffinityFormat": "openrouter"}), vec!["x-session-id"]),
    ];
    for (set, names) in table {
        let mut request = request(model(set), vec![user("x")]);
        request.session_id = Some("s1".into());
        let map = write(&request, Dialect::OpenAi).unwrap().headers.into_map();
        let mut found: Vec<_> = map.iter().filter(|(_, value)| *value == "s1").map(|(name, _)| name.as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, names);
    }
}

#[test]
fn hosts_get_the_headers_that_they_want() {
    let map = |provider: &str, messages: Vec<Message>| {
        let mut request = request(Model { provider: provider.into(), ..model(json!({})) }, messages);
        request.api_key = Some(Secret::new("key-12345678"));
        request.session_id = Some("s".into());
        write(&request, Dialect::OpenAi).unwrap().headers.into_map()
    };
    let copilot = map("github-copilot", vec![blocks(vec![image()])]);
    assert_eq!(
        (&copilot["x-initiator"], &copilot["copilot-vision-request"]),
        (&"user".parse().unwrap(), &"true".parse().unwrap())
    );
    let copilot = map("github-copilot", vec![user("x"), assistant(vec![call("c", "ls", json!({}))]), result("c", "r")]);
    assert_eq!(copilot["x-initiator"], "agent");
    assert_eq!(map("opencode", vec![user("x")])["x-opencode-session"], "s");
    let gateway = map("cloudflare-ai-gateway", vec![user("x")]);
    assert_eq!(
        (&gateway["cf-aig-authorization"], gateway.contains_key("authorization")),
        (&"Bearer key-12345678".parse().unwrap(), false)
    );
}

#[test]
fn the_output_limit_is_never_below_what_the_api_takes() {
    for (asked, limit) in [(Some(1), Some(16)), (Some(17), Some(17)), (None, Some(16_384)), (Some(0), None)] {
        let mut request = request(model(json!({})), vec![user("x")]);
        request.max_tokens = asked;
        assert_eq!(written(&request).get("max_output_tokens").and_then(Value::as_u64), limit, "{asked:?}");
    }
}

#[test]
fn sampling_parameters_overrule_fields_but_not_the_conversation() {
    let mut model = model(json!({}));
    model.sampling_params =
        Some(object(json!({"temperature": 0.2, "store": true, "input": [], "service_tier": "flex"})));
    model.sampling_params_by_thinking_level = Some(object(json!({"high": {"temperature": 1}})));
    let mut request = request(model, vec![user("x")]);
    request.thinking = ThinkingLevel::High;
    let body = written(&request);
    assert_eq!(
        (&body["temperature"], &body["store"], &body["service_tier"]),
        (&json!(1), &json!(true), &json!("flex"))
    );
    assert_eq!(body["input"].as_array().unwrap().len(), 1);
}

#[test]
fn tokens_of_a_sign_in_ask_for_nothing_that_they_may_not_have() {
    let refused = ["max_output_tokens", "prompt_cache_retention", "temperature"];
    for (provider, key, dialect, all) in [
        ("openai", "sk-12345678", Dialect::OpenAi, true),
        ("openai", "eyJ-12345678", Dialect::OpenAi, false),
        ("custom", "eyJ-12345678", Dialect::OpenAi, true),
    ] {
        let mut model = Model { provider: provider.into(), ..model(json!({})) };
        model.sampling_params = Some(object(json!({"temperature": 0.2, "top_p": 0.5})));
        let mut request = request(model, vec![user("x")]);
        (request.api_key, request.cache) = (Some(Secret::new(key)), CacheRetention::Long);
        let body = sent(&request, dialect);
        for field in refused {
            assert_eq!(body.get(field).is_some(), all, "{provider} {key} {field}");
        }
        assert_eq!(body["top_p"], 0.5);
    }
}
