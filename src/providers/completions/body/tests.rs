use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::{
    protocol::{
        AssistantMessage, Block, Content, ImageBlock, Message, StopReason, ThinkingBlock, ThinkingLevel,
        ToolResultMessage, UserMessage, model::InputKind,
    },
    providers::{
        Secret,
        testing::{answer, assistant, call, object, plain_model, request, result, user},
    },
};

const API: &str = "openai-completions";

fn model(set: Value) -> Model {
    Model { compat: Some(object(set)), ..plain_model(API) }
}

fn written(request: &Request) -> Value {
    serde_json::from_slice(&write(request).unwrap().body).unwrap()
}

/// The messages of a request of a model with these switches.
fn messages(set: Value, messages: Vec<Message>) -> Value {
    written(&request(model(set), messages))["messages"].take()
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

fn thought(text: &str, signature: Option<&str>) -> Block {
    Block::Thinking(ThinkingBlock {
        thinking: text.into(),
        thinking_signature: signature.map(str::to_owned),
        redacted: None,
    })
}

#[test]
fn the_plain_request_of_an_unknown_host() {
    let mut request = request(plain_model(API), vec![with_tool(), user("hi")]);
    request.api_key = Some(Secret::new("k-12345678"));
    let outgoing = write(&request).unwrap();
    assert_eq!(outgoing.url, "http://localhost/v1/chat/completions");
    let headers = outgoing.headers.into_map();
    assert_eq!(
        (&headers["authorization"], &headers["content-type"]),
        (&"Bearer k-12345678".parse().unwrap(), &"application/json".parse().unwrap())
    );
    assert!(headers["user-agent"].to_str().unwrap().starts_with("troupe/"));
    assert_eq!(
        serde_json::from_slice::<Value>(&outgoing.body).unwrap(),
        json!({
            "model": "test-model", "stream": true, "stream_options": {"include_usage": true}, "store": false,
            "max_completion_tokens": 16384,
            "tools": [{"type": "function", "function": {"name": "ls", "description": "List",
                "parameters": {"type": "object", "properties": {"dir": {"type": "string"}}}}}],
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
        })
    );
}

#[test]
fn calls_results_and_pictures_take_the_places_that_the_api_wants() {
    let mut sees = model(json!({}));
    sees.input = vec![InputKind::Text, InputKind::Image];
    let shot = Message::ToolResult(Arc::new(ToolResultMessage {
        tool_call_id: "a".into(),
        content: vec![image()],
        ..ToolResultMessage::default()
    }));
    let conversation = vec![
        blocks(vec![Block::text("look"), image(), Block::text("")]),
        assistant(vec![
            call("a", "shot", json!({})),
            Block::text("one"),
            Block::text("two"),
            call("b", "ls", json!({"d": "é"})),
        ]),
        shot,
        result("b", ""),
    ];
    let url = json!({"url": "data:image/png;base64,AAAA"});
    assert_eq!(
        written(&request(sees, conversation))["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": url}]},
            {"role": "assistant", "content": "one\ntwo", "tool_calls": [
                {"type": "function", "id": "a", "function": {"name": "shot", "arguments": "{}"}},
                {"type": "function", "id": "b", "function": {"name": "ls", "arguments": "{\"d\":\"é\"}"}}]},
            {"role": "tool", "tool_call_id": "a", "content": "(see attached image)"},
            {"role": "tool", "tool_call_id": "b", "content": "(no tool output)"},
            {"role": "user", "content": [{"type": "text", "text": "Attached image(s) from tool result:"},
                {"type": "image_url", "image_url": url}]},
        ])
    );
}

#[test]
fn a_deployment_at_azure_has_a_url_a_name_and_a_key_header_of_its_own() {
    let mut request = request(Model { provider: "azure".into(), ..plain_model(API) }, vec![user("hi")]);
    request.api_key = Some(Secret::new("azure-key-0123"));
    request.environment =
        [("AZURE_OPENAI_RESOURCE_NAME", "r"), ("AZURE_OPENAI_DEPLOYMENT_NAME_MAP", "test-model=mine")]
            .into_iter()
            .collect();
    let outgoing = write(&request).unwrap();
    assert_eq!(outgoing.url, "https://r.openai.azure.com/openai/v1/chat/completions?api-version=v1");
    let headers = outgoing.headers.into_map();
    assert_eq!((headers["api-key"].as_bytes(), headers.contains_key("authorization")), (&b"azure-key-0123"[..], false));
    assert_eq!(written(&request)["model"], "mine");
}

#[test]
fn fc_023_a_call_whose_arguments_did_not_parse_is_replayed_as_an_object() {
    let mut broken = answer(vec![call("a", "ls", json!({}))]);
    let Block::ToolCall(call) = &mut broken.content[0] else { panic!() };
    call.arguments_error = Some("EOF\n\nReceived arguments:\n{\"path\":".into());
    let sent = messages(json!({}), vec![user("x"), Message::Assistant(Arc::new(broken)), result("a", "invalid")]);
    assert_eq!(sent[1]["tool_calls"][0]["function"]["arguments"], "{}");
    assert_eq!(sent[1]["content"], Value::Null);
}

#[test]
fn each_switch_changes_what_it_names() {
    let tools_then_user = || vec![user("x"), assistant(vec![call("a", "ls", json!({}))]), result("a", "A"), user("y")];
    let sent = messages(json!({"requiresToolResultName": true}), tools_then_user());
    assert_eq!(sent[2]["name"], "ls");
    let sent = messages(json!({"requiresAssistantAfterToolResult": true}), tools_then_user());
    assert_eq!(
        (&sent[1]["content"], &sent[3]["role"], &sent[4]["role"]),
        (&json!(""), &json!("assistant"), &json!("user"))
    );
    let sent = messages(json!({"requiresNonNullAssistantContent": true}), tools_then_user());
    assert_eq!(sent[1]["content"], "");
    let body = |set: Value| written(&request(model(set), tools_then_user()));
    assert_eq!(body(json!({})).get("tools"), None);
    assert_eq!(body(json!({"requiresToolsWithToolHistory": true}))["tools"], json!([]));
    assert_eq!(body(json!({"supportsStore": false})).get("store"), None);
    assert_eq!(body(json!({"supportsUsageInStreaming": false})).get("stream_options"), None);
    assert_eq!(body(json!({"maxTokensField": "max_tokens"}))["max_tokens"], 16_384);
    assert_eq!(body(json!({"vllmPriority": 3}))["priority"], 3);
    assert_eq!(body(json!({"openRouterRouting": {"only": ["x"]}}))["provider"], json!({"only": ["x"]}));
    assert_eq!(
        body(json!({"vercelGatewayRouting": {"order": ["x"]}}))["providerOptions"],
        json!({"gateway": {"order": ["x"]}})
    );
    let tools = |set: Value| written(&request(model(set), vec![with_tool(), user("x")]));
    assert_eq!(tools(json!({"zaiToolStream": true}))["tool_stream"], true);
    assert_eq!(tools(json!({"supportsStrictMode": true}))["tools"][0]["function"]["strict"], false);
}

#[test]
fn the_prompt_goes_to_developers_only_where_that_is_known() {
    for (reasoning, set, role) in [
        (false, json!({"supportsDeveloperRole": true}), "system"),
        (true, json!({"supportsDeveloperRole": true}), "developer"),
        (true, json!({}), "system"),
    ] {
        let model = Model { reasoning, ..model(set) };
        assert_eq!(written(&request(model, vec![with_tool(), user("x")]))["messages"][0]["role"], role);
    }
}

#[test]
fn thinking_is_replayed_in_its_own_field_and_only_to_its_own_model() {
    let replay = |set: Value, content: Vec<Block>| messages(set, vec![user("x"), assistant(content)])[1].take();
    for field in ["reasoning_content", "reasoning", "reasoning_text"] {
        let sent = replay(json!({}), vec![thought("deep", Some(field)), Block::text("t")]);
        assert_eq!(sent, json!({"role": "assistant", "content": "t", field: "deep"}));
    }
    let unknown = replay(json!({}), vec![thought("deep", Some("sig")), Block::text("t")]);
    assert_eq!(unknown, json!({"role": "assistant", "content": "t"}));
    let details = r#"[{"type":"reasoning.text","text":"deep","signature":"s"}]"#;
    let sent = replay(json!({}), vec![thought("deep", Some(details)), Block::text("t")]);
    assert_eq!(sent["reasoning_details"][0]["signature"], "s");
    assert_eq!(sent.get("reasoning"), None);
    let sent =
        replay(json!({"requiresThinkingAsText": true}), vec![thought("deep", Some("reasoning")), Block::text("t")]);
    assert_eq!(sent, json!({"role": "assistant", "content": "deep\n\nt"}));
    let sent = replay(json!({"requiresReasoningContentOnAssistantMessages": true}), vec![Block::text("t")]);
    assert_eq!(sent["reasoning_content"], "");
    let foreign = AssistantMessage {
        model: "other".into(),
        ..answer(vec![thought("deep", Some("reasoning")), Block::text("t")])
    };
    let sent = messages(json!({}), vec![user("x"), Message::Assistant(Arc::new(foreign))]);
    assert_eq!(sent[1], json!({"role": "assistant", "content": "t"}));
    let mut go = request(Model { provider: "opencode-go".into(), ..model(json!({})) }, vec![]);
    let own = AssistantMessage {
        provider: "opencode-go".into(),
        ..answer(vec![thought("deep", Some("reasoning")), Block::text("t")])
    };
    go.messages = vec![user("x"), Message::Assistant(Arc::new(own))];
    assert_eq!(written(&go)["messages"][1]["reasoning_content"], "deep");
}

#[test]
fn failed_answers_and_answers_with_nothing_to_say_are_left_out() {
    let failed = AssistantMessage { stop_reason: StopReason::Aborted, ..answer(vec![Block::text("half")]) };
    let sent = messages(
        json!({}),
        vec![
            user("x"),
            Message::Assistant(Arc::new(failed)),
            assistant(vec![thought("only", Some("reasoning"))]),
            user("y"),
        ],
    );
    assert_eq!(sent, json!([{"role": "user", "content": "x"}, {"role": "user", "content": "y"}]));
}

#[test]
fn cache_marks_go_to_prompt_last_tool_and_newest_text() {
    let mut request = request(
        model(json!({"cacheControlFormat": "anthropic"})),
        vec![
            with_tool(),
            user("x"),
            assistant(vec![call("a", "ls", json!({}))]),
            result("a", "A"),
            assistant(vec![call("b", "ls", json!({}))]),
        ],
    );
    let mark = json!({"type": "ephemeral"});
    let body = written(&request);
    assert_eq!(body["messages"][0]["content"], json!([{"type": "text", "text": "Be brief.", "cache_control": mark}]));
    assert_eq!(body["tools"][0]["cache_control"], mark);
    assert_eq!(body["messages"][1]["content"], "x");
    // The newest message is the missing result of the last call.
    assert_eq!(body["messages"][5]["content"][0]["cache_control"], mark);
    request.cache = CacheRetention::Long;
    assert_eq!(written(&request)["tools"][0]["cache_control"]["ttl"], "1h");
    request.cache = CacheRetention::None;
    assert_eq!(written(&request)["tools"][0].get("cache_control"), None);
}

#[test]
fn the_cache_key_goes_to_openai_itself_or_with_long_retention() {
    let session = "s".repeat(70);
    let table = [
        ("openai", json!({}), CacheRetention::Short, Some(64), None),
        ("openai", json!({}), CacheRetention::None, None, None),
        ("openai", json!({}), CacheRetention::Long, Some(64), Some("24h")),
        ("openai", json!({"promptCacheKeyMode": "disabled"}), CacheRetention::Short, None, None),
        ("custom", json!({}), CacheRetention::Short, None, None),
        ("custom", json!({}), CacheRetention::Long, Some(64), Some("24h")),
        ("custom", json!({"promptCacheKeyMode": "enabled"}), CacheRetention::Short, Some(64), None),
        ("together", json!({}), CacheRetention::Long, None, None),
    ];
    for (provider, set, cache, key, retention) in table {
        let mut request = request(Model { provider: provider.into(), ..model(set.clone()) }, vec![user("x")]);
        (request.session_id, request.cache) = (Some(session.clone()), cache);
        let body = written(&request);
        assert_eq!(body["prompt_cache_key"].as_str().map(str::len), key, "{provider} {set} {cache:?}");
        assert_eq!(body["prompt_cache_retention"].as_str(), retention, "{provider} {set} {cache:?}");
    }
}

#[test]
fn session_headers_follow_the_hosts_form() {
    let names = |provider: &str, set: Value| {
        let mut request = request(Model { provider: provider.into(), ..model(set) }, vec![user("x")]);
        request.session_id = Some("s-1".into());
        let map = write(&request).unwrap().headers.into_map();
        let mut names: Vec<_> =
            map.iter().filter(|(_, value)| *value == "s-1").map(|(name, _)| name.to_string()).collect();
        names.sort();
        names.join(" ")
    };
    let send = |form: &str| json!({"sendSessionAffinityHeaders": true, "sessionAffinityFormat": form});
    assert_eq!(names("custom", json!({})), "");
    assert_eq!(names("openrouter", json!({})), "x-session-id");
    assert_eq!(names("custom", send("openai")), "session_id x-client-request-id x-session-affinity");
    assert_eq!(names("custom", send("openai-nosession")), "x-client-request-id x-session-affinity");
    assert_eq!(names("opencode", json!({})), "x-opencode-session");
}

#[test]
fn special_hosts_get_their_headers() {
    let headers = |provider: &str, messages: Vec<Message>| {
        let mut request = request(
            Model { provider: provider.into(), input: vec![InputKind::Text, InputKind::Image], ..model(json!({})) },
            messages,
        );
        request.api_key = Some(Secret::new("key-12345678"));
        write(&request).unwrap().headers.into_map()
    };
    assert_eq!(headers("nvidia", vec![user("x")])["nvcf-poll-seconds"], "3600");
    let copilot = headers(
        "github-copilot",
        vec![blocks(vec![image()]), assistant(vec![call("a", "ls", json!({}))]), result("a", "A")],
    );
    assert_eq!(
        (&copilot["x-initiator"], &copilot["copilot-vision-request"]),
        (&"agent".parse().unwrap(), &"true".parse().unwrap())
    );
    assert_eq!(headers("github-copilot", vec![user("x")])["x-initiator"], "user");
    let gateway = headers("cloudflare-ai-gateway", vec![user("x")]);
    assert!(gateway.contains_key("cf-aig-authorization") && !gateway.contains_key("authorization"));
}

#[test]
fn sampling_parameters_come_last_and_overrule_what_they_name() {
    let mut model = model(json!({}));
    model.sampling_params =
        Some(object(json!({"temperature": 0.5, "top_p": 1, "max_completion_tokens": 9, "messages": []})));
    model.sampling_params_by_thinking_level = Some(object(json!({"high": {"temperature": 1}})));
    let mut request = request(model, vec![user("x")]);
    request.thinking = ThinkingLevel::High;
    let body = written(&request);
    assert_eq!(
        (&body["temperature"], &body["top_p"], &body["max_completion_tokens"]),
        (&json!(1), &json!(1), &json!(9))
    );
    assert_eq!(body["messages"][0]["content"], "x");
}

#[test]
fn later_system_messages_are_folded_or_stay_in_place_with_their_tools() {
    let late = || {
        vec![
            with_tool(),
            user("x"),
            system(json!({"content": "Now be long.", "toolsAdded": [{"name": "cat", "parameters": null}]})),
            user("y"),
        ]
    };
    let folded = written(&request(model(json!({})), late()));
    assert_eq!(folded["messages"][0]["content"], "Be brief.\n\nNow be long.");
    assert_eq!(folded["tools"].as_array().map(Vec::len), Some(2));
    let placed = written(&request(
        model(json!({"supportsMidConvoSystemMessages": true, "supportsMidConvoToolAdditions": true})),
        late(),
    ));
    assert_eq!(placed["tools"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        placed["messages"][2],
        json!({"role": "system", "content": "Now be long.", "tools": [{"type": "function", "function":
            {"name": "cat", "description": "", "parameters": {"type": "object", "properties": {}}}}]})
    );
}

#[test]
fn a_grammar_tool_is_declared_and_replayed_as_free_text() {
    let declared = system(json!({"content": "", "toolsAdded": [{"name": "js", "description": "Run",
        "parameters": {"type": "object", "properties": {"code": {"type": "string"}}},
        "constrainedSampling": {"type": "grammar", "variants": {"openai_lark": "start: X"}}}]}));
    let conversation = || {
        vec![declared.clone(), user("x"), assistant(vec![call("a", "js", json!({"code": "1+1"}))]), result("a", "2")]
    };
    let body = written(&request(model(json!({"supportsOpenAIGrammarTools": true})), conversation()));
    assert_eq!(
        body["tools"][0],
        json!({"type": "custom", "custom": {"name": "js", "description": "Run",
            "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: X"}}}})
    );
    assert_eq!(
        body["messages"][1]["tool_calls"][0],
        json!({"type": "custom", "id": "a", "custom": {"name": "js", "input": "1+1"}})
    );
    let plain = written(&request(model(json!({})), conversation()));
    assert_eq!(plain["tools"][0]["type"], "function");
    assert_eq!(plain["messages"][1]["tool_calls"][0]["function"]["arguments"], "{\"code\":\"1+1\"}");
}

#[test]
fn fc_039_the_same_conversation_is_written_the_same_way_and_grows_at_its_end_only() {
    let mut short = vec![
        with_tool(),
        user("x"),
        assistant(vec![call("", "ls", json!({})), call("", "ls", json!({}))]),
        result("", "A"),
    ];
    let mut request = request(plain_model(API), short.clone());
    let first = write(&request).unwrap().body;
    assert_eq!(first, write(&request).unwrap().body);
    short.extend([result("", "B"), user("y")]);
    request.messages = short;
    let second = write(&request).unwrap().body;
    let common = first.iter().zip(second.iter()).take_while(|(a, b)| a == b).count();
    let start = first.windows(9).position(|window| window == b"\"call_2\",").unwrap();
    assert!(common > start, "the prefix up to the first missing result stays: {common} {start}");
}
