use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::{
    protocol::{
        AssistantMessage, Block, Content, ImageBlock, Message, Model, ThinkingBlock, ThinkingLevel, ToolResultMessage,
        UserMessage, model::InputKind, time::parse_iso,
    },
    providers::{
        aws::AwsCredentials,
        testing::{answer, call, object, plain_model, request, result, user},
    },
};

const API: &str = "bedrock-converse-stream";
const CLAUDE: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA: &str = "amazon.nova-pro-v1:0";

fn model(id: &str) -> Model {
    let base_url = "https://bedrock-runtime.us-east-1.amazonaws.com".into();
    Model { id: id.into(), base_url, input: vec![InputKind::Text, InputKind::Image], ..plain_model(API) }
}

fn written(request: &Request) -> Value {
    serde_json::from_slice(&write(request, 0).unwrap().body).unwrap()
}

/// The messages as they are written, without cache points.
fn messages(id: &str, messages: Vec<Message>) -> Value {
    let mut request = request(model(id), messages);
    request.cache = CacheRetention::None;
    written(&request)["messages"].take()
}

fn system(message: Value) -> Message {
    Message::System(Arc::new(serde_json::from_value(message).unwrap()))
}

fn with_tool() -> Message {
    system(json!({"content": "Be brief.", "toolsAdded": [{"name": "ls", "description": "List", "parameters":
        {"type": "object", "properties": {"dir": {"type": "string"}}, "required": ["dir"]}}]}))
}

fn assistant(id: &str, content: Vec<Block>) -> Message {
    Message::Assistant(Arc::new(AssistantMessage { api: API.into(), model: id.into(), ..answer(content) }))
}

fn picture(mime_type: &str) -> Block {
    Block::Image(ImageBlock { data: "AAAA".into(), mime_type: mime_type.into() })
}

fn shot(id: &str, content: Vec<Block>, is_error: bool) -> Message {
    let id = id.to_owned();
    Message::ToolResult(Arc::new(ToolResultMessage { tool_call_id: id, content, is_error, ..Default::default() }))
}

fn thought(text: &str, signature: Option<&str>, redacted: bool) -> Block {
    Block::Thinking(ThinkingBlock {
        thinking: text.into(),
        thinking_signature: signature.map(str::to_owned),
        redacted: redacted.then_some(true),
    })
}

#[test]
fn the_plain_request() {
    let mut request = request(model(CLAUDE), vec![with_tool(), user("hi")]);
    request.api_key = Some(Secret::new("bedrock-key-12345"));
    let outgoing = write(&request, 0).unwrap();
    assert_eq!(
        outgoing.url,
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream"
    );
    let headers = outgoing.headers.into_map();
    assert_eq!(headers["authorization"], "Bearer bedrock-key-12345");
    assert_eq!(
        (&headers["accept"], &headers["content-type"]),
        (&"application/vnd.amazon.eventstream".parse().unwrap(), &"application/json".parse().unwrap())
    );
    let expected = json!({
        "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}],
        "messages": [{"role": "user", "content": [{"text": "hi"}, {"cachePoint": {"type": "default"}}]}],
        "inferenceConfig": {"maxTokens": 16_384},
        "toolConfig": {"tools": [{"toolSpec": {"name": "ls", "description": "List", "inputSchema": {"json":
            {"type": "object", "properties": {"dir": {"type": "string"}}, "required": ["dir"]}}}}]},
    });
    assert_eq!(serde_json::from_slice::<Value>(&outgoing.body).unwrap(), expected);
}

#[test]
fn what_is_there_decides_how_a_request_is_authorised() {
    let now = parse_iso("2026-11-30T01:02:03Z").unwrap();
    let aws = AwsCredentials {
        access_key_id: "AKIDEXAMPLE".into(),
        secret_access_key: Secret::new("secret-key-1"),
        session_token: Some(Secret::new("session-1")),
    };
    let mut request = request(model(CLAUDE), vec![user("hi")]);
    request.environment = [("AWS_REGION", "eu-west-1")].into_iter().collect();
    request.headers =
        object(json!({"Authorization": "Bearer mine", "X-Amz-Date": "mine", "Host": "mine", "x-own": "kept"}));
    let headers = |request: &Request| write(request, now).unwrap().headers.into_map();

    let none = headers(&request);
    assert!(!none.contains_key("authorization") && !none.contains_key("x-amz-date") && !none.contains_key("host"));
    assert_eq!(none["x-own"], "kept");

    request.aws = Some(aws);
    let signed = headers(&request);
    let authorization = signed["authorization"].to_str().unwrap();
    let start = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261130/eu-west-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=";
    assert!(authorization.starts_with(start), "{authorization}");
    assert_eq!(
        (&signed["x-amz-date"], &signed["x-amz-security-token"]),
        (&"20261130T010203Z".parse().unwrap(), &"session-1".parse().unwrap())
    );
    assert!(signed["authorization"].is_sensitive() && signed["x-amz-security-token"].is_sensitive());
    assert!(crate::providers::headers::secrets(&request).contains(&"secret-key-1".to_owned()));

    request.api_key = Some(Secret::new("bearer-key"));
    assert_eq!(headers(&request)["authorization"], "Bearer bearer-key");

    request.environment = [("AWS_BEDROCK_SKIP_AUTH", "1")].into_iter().collect();
    assert!(!headers(&request).contains_key("authorization"));
}

#[test]
fn a_signature_covers_the_body_and_the_base_address() {
    let aws = AwsCredentials {
        access_key_id: "AKIDEXAMPLE".into(),
        secret_access_key: Secret::new("secret"),
        session_token: None,
    };
    let authorization = |text: &str, base: &str| {
        let mut request = request(Model { base_url: base.into(), ..model(CLAUDE) }, vec![user(text)]);
        request.aws = Some(aws.clone());
        write(&request, 0).unwrap().headers.into_map()["authorization"].to_str().unwrap().to_owned()
    };
    let one = authorization("one", "http://127.0.0.1:8080");
    assert_eq!(one, authorization("one", "http://127.0.0.1:8080"));
    assert_ne!(one, authorization("two", "http://127.0.0.1:8080"));
    assert_ne!(one, authorization("one", "http://127.0.0.1:8081"));
    assert_ne!(one, authorization("one", "http://127.0.0.1:8080/prefix"));
}

#[test]
fn all_results_of_a_turn_are_one_message_and_roles_take_turns() {
    let conversation = vec![
        with_tool(),
        user("one"),
        assistant(
            CLAUDE,
            vec![
                Block::text("looking"),
                call("a", "ls", json!({"dir": "x", "": 1, "deep": {"": 2, "k": [{"": 3}]}})),
                call("b", "ls", json!({})),
                call("c", "ls", json!({})),
                call("d", "ls", json!({})),
            ],
        ),
        result("a", "found"),
        shot("b", vec![picture("image/png")], false),
        shot("c", vec![Block::text("bad"), picture("image/jpeg")], true),
        user("and"),
        user("two"),
    ];
    let image = |format: &str| json!({"image": {"format": format, "source": {"bytes": "AAAA"}}});
    let tool_result = |id: &str, content: Value, status: &str| json!({"toolResult": {"toolUseId": id, "content": content, "status": status}});
    let use_of = |id: &str, input: Value| json!({"toolUse": {"toolUseId": id, "name": "ls", "input": input}});
    let start = json!([
        {"role": "user", "content": [{"text": "one"}]},
        {"role": "assistant", "content": [
            {"text": "looking"},
            use_of("a", json!({"dir": "x", "deep": {"k": [{}]}})),
            use_of("b", json!({})), use_of("c", json!({})), use_of("d", json!({})),
        ]},
    ]);
    let first = [
        tool_result("a", json!([{"text": "found"}]), "success"),
        tool_result("b", json!([{"text": "(see attached image)"}, image("png")]), "success"),
    ];
    let missing = tool_result("d", json!([{"text": "No result provided"}]), "error");
    let for_claude = [
        &first[..],
        &[
            tool_result("c", json!([{"text": "bad"}, {"text": "(image attached after the tool results)"}]), "error"),
            missing.clone(),
            json!({"text": "Image from the result of ls (c):"}),
            image("jpeg"),
            json!({"text": "and"}),
            json!({"text": "two"}),
        ],
    ]
    .concat();
    let for_others = [
        &first[..],
        &[
            tool_result("c", json!([{"text": "bad"}, image("jpeg")]), "error"),
            missing,
            json!({"text": "and"}),
            json!({"text": "two"}),
        ],
    ]
    .concat();
    for (id, results) in [(CLAUDE, for_claude), (NOVA, for_others)] {
        let mut expected = start.clone();
        expected.as_array_mut().unwrap().push(json!({"role": "user", "content": results}));
        assert_eq!(messages(id, conversation.clone()), expected, "{id}");
    }
}

#[test]
fn empty_things_are_left_out_or_stood_in_for() {
    let nothing = json!([{"role": "user", "content": [{"text": "(no text)"}]}]);
    assert_eq!(messages(CLAUDE, vec![]), nothing);
    assert_eq!(messages(CLAUDE, vec![user(" \n")]), nothing);
    let answered = messages(CLAUDE, vec![user(""), assistant(CLAUDE, vec![Block::text("a")]), user("b")]);
    let roles: Vec<_> = answered.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    let blank = vec![user("a"), assistant(CLAUDE, vec![Block::text(" "), thought("", None, false)]), user("b")];
    assert_eq!(messages(CLAUDE, blank), json!([{"role": "user", "content": [{"text": "a"}, {"text": "b"}]}]));
    let called = vec![
        with_tool(),
        user("a"),
        assistant(CLAUDE, vec![call("x", "ls", json!({}))]),
        shot("x", vec![Block::text("")], false),
    ];
    assert_eq!(
        messages(CLAUDE, called)[2]["content"][0]["toolResult"]["content"],
        json!([{"text": "(no tool output)"}])
    );
    let body = written(&request(model(CLAUDE), vec![system(json!({"content": " "})), user("x")]));
    assert!(body.get("system").is_none() && body.get("toolConfig").is_none());
    assert!(body.get("additionalModelRequestFields").is_none());
}

#[test]
fn thinking_goes_back_as_its_family_takes_it() {
    let reasoning = |fields: Value| json!({"reasoningContent": {"reasoningText": fields}});
    let redacted = json!({"reasoningContent": {"redactedContent": "AAEC"}});
    let blocks = || {
        vec![
            thought("signed", Some("sig"), false),
            thought("", Some("only"), false),
            thought("unsigned", None, false),
            thought("", Some("AAEC"), true),
            thought("", None, true),
            Block::text("said"),
        ]
    };
    let replay = |id: &str, made_by: &str| {
        messages(id, vec![user("x"), assistant(made_by, blocks()), user("y")])[1]["content"].take()
    };
    let claude = json!([
        reasoning(json!({"text": "signed", "signature": "sig"})),
        reasoning(json!({"text": "", "signature": "only"})),
        {"text": "unsigned"},
        redacted,
        {"text": "said"},
    ]);
    assert_eq!(replay(CLAUDE, CLAUDE), claude);
    let nova = json!([reasoning(json!({"text": "signed"})), reasoning(json!({"text": "unsigned"})), redacted, {"text": "said"}]);
    assert_eq!(replay(NOVA, NOVA), nova);
    assert_eq!(replay(CLAUDE, "another"), json!([{"text": "said"}]));
}

#[test]
fn calls_are_told_as_text_when_no_tool_is_declared() {
    let conversation = vec![
        user("one"),
        assistant(
            CLAUDE,
            vec![Block::text("looking"), call("a", "ls", json!({"dir": "x"})), call("b", "ls", json!({}))],
        ),
        result("a", "found"),
        shot("b", vec![picture("image/webp")], true),
    ];
    let mut asked = request(model(CLAUDE), conversation);
    asked.cache = CacheRetention::None;
    let body = written(&asked);
    assert!(body.get("toolConfig").is_none());
    let expected = json!([
        {"role": "user", "content": [{"text": "one"}]},
        {"role": "assistant", "content": [
            {"text": "looking"},
            {"text": "(called the tool ls with {\"dir\":\"x\"})"},
            {"text": "(called the tool ls with {})"},
        ]},
        {"role": "user", "content": [
            {"text": "(the tool ls gave)\nfound"},
            {"text": "(the tool ls failed)\n(no tool output)"},
            {"image": {"format": "webp", "source": {"bytes": "AAAA"}}},
        ]},
    ]);
    assert_eq!(body["messages"], expected);
}

#[test]
fn cache_points_stand_where_the_model_takes_them() {
    let point = |ttl: Option<&str>| match ttl {
        Some(ttl) => json!({"cachePoint": {"type": "default", "ttl": ttl}}),
        None => json!({"cachePoint": {"type": "default"}}),
    };
    let force: &[(&str, &str)] = &[("AWS_BEDROCK_FORCE_CACHE", "1")];
    let arn = "arn:aws:bedrock:us-east-1:1:application-inference-profile/x";
    let table = [
        (CLAUDE, CacheRetention::Short, &[][..], Some(point(None))),
        (CLAUDE, CacheRetention::Long, &[], Some(point(Some("1h")))),
        (CLAUDE, CacheRetention::None, force, None),
        (NOVA, CacheRetention::Short, &[], None),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0", CacheRetention::Short, &[], None),
        (arn, CacheRetention::Short, &[], None),
        (arn, CacheRetention::Short, force, Some(point(None))),
    ];
    for (id, cache, variables, expected) in table {
        let mut request =
            request(model(id), vec![with_tool(), user("a"), assistant(id, vec![Block::text("b")]), user("c")]);
        (request.cache, request.environment) = (cache, variables.iter().copied().collect());
        let body = written(&request);
        let points = |list: &Value| {
            list.as_array()
                .unwrap()
                .iter()
                .filter(|block| block.get("cachePoint").is_some())
                .cloned()
                .collect::<Vec<_>>()
        };
        let wanted: Vec<Value> = expected.into_iter().collect();
        assert_eq!(points(&body["system"]), wanted, "{id} {cache:?}");
        assert_eq!(points(&body["messages"][2]["content"]), wanted, "{id} {cache:?}");
        assert!(points(&body["messages"][0]["content"]).is_empty());
    }
}

#[test]
fn the_request_only_grows_from_turn_to_turn() {
    let mut conversation = vec![with_tool(), user("one")];
    let later = [
        assistant(CLAUDE, vec![thought("t", Some("s"), false), call("a", "ls", json!({"dir": "x"}))]),
        result("a", "found"),
        assistant(CLAUDE, vec![Block::text("done")]),
        user("two"),
    ];
    let mut before = messages(CLAUDE, conversation.clone());
    for message in later {
        conversation.push(message);
        let now = messages(CLAUDE, conversation.clone());
        let (before_list, now_list) = (before.as_array().unwrap(), now.as_array().unwrap());
        // A call without a result has a stand-in for it until it comes.
        let settled = before_list.iter().filter(|message| !message.to_string().contains("No result provided")).count();
        assert_eq!(before_list[..settled], now_list[..settled]);
        before = now;
    }
}

#[test]
fn tools_are_declared_as_they_are_and_strictly_where_that_is_supported() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let declare = |tool: Value, set: Value| {
        let model = Model { compat: Some(object(set)), ..model(CLAUDE) };
        let asked = request(model, vec![system(json!({"content": "", "toolsAdded": [tool]})), user("x")]);
        write(&asked, 0).map(|outgoing| {
            serde_json::from_slice::<Value>(&outgoing.body).unwrap()["toolConfig"]["tools"][0]["toolSpec"].take()
        })
    };
    let prefers =
        json!({"name": "t", "parameters": schema, "constrainedSampling": {"type": "json_schema", "strict": "prefer"}});
    let plain = declare(prefers.clone(), json!({})).unwrap();
    assert_eq!(plain, json!({"name": "t", "inputSchema": {"json": schema}}));
    let strict = declare(prefers, json!({"supportsStrictMode": true})).unwrap();
    assert_eq!(
        (&strict["strict"], &strict["inputSchema"]["json"]["additionalProperties"]),
        (&json!(true), &json!(false))
    );
    let requires =
        json!({"name": "t", "parameters": schema, "constrainedSampling": {"type": "json_schema", "strict": "require"}});
    assert!(declare(requires, json!({})).is_err_and(|failure| failure.message.contains("\"t\"")));
    let table = [
        (json!(null), json!({"type": "object", "properties": {}})),
        (json!({"properties": {}}), json!({"properties": {}, "type": "object"})),
        (
            json!({"type": "object", "anyOf": [{"required": ["a"]}], "$defs": {}}),
            json!({"type": "object", "$defs": {}}),
        ),
    ];
    for (parameters, sent) in table {
        let tool = declare(json!({"name": "t", "parameters": parameters}), json!({})).unwrap();
        assert_eq!(tool["inputSchema"]["json"], sent);
    }
}

#[test]
fn pictures_of_unknown_kinds_become_notes_and_the_output_is_capped() {
    let looks =
        UserMessage { content: Content::Blocks(vec![picture("image/jpg"), picture("image/bmp")]), timestamp: 1 };
    let mut request = request(model(NOVA), vec![Message::User(Arc::new(looks))]);
    request.max_tokens = Some(100);
    let body = written(&request);
    let expected = json!([
        {"image": {"format": "jpeg", "source": {"bytes": "AAAA"}}},
        {"text": "(image omitted: image/bmp is not supported)"},
    ]);
    assert_eq!(body["messages"][0]["content"], expected);
    assert_eq!(body["inferenceConfig"], json!({"maxTokens": 100}));
    let mut small = model(CLAUDE);
    small.context_window = 8_192;
    let mut crowded = crate::providers::testing::request(small, vec![user(&"x".repeat(60_000))]);
    crowded.thinking = ThinkingLevel::Off;
    assert_eq!(written(&crowded)["inferenceConfig"], json!({"maxTokens": 1}));
}

#[test]
fn ids_of_other_apis_are_brought_into_form() {
    let foreign = Message::Assistant(Arc::new(answer(vec![call("call_1|fc_2", "ls", json!({}))])));
    let sent = messages(CLAUDE, vec![with_tool(), user("x"), foreign, result("call_1|fc_2", "y")]);
    assert_eq!(sent[1]["content"][0]["toolUse"]["toolUseId"], "call_1_fc_2");
    assert_eq!(sent[2]["content"][0]["toolResult"]["toolUseId"], "call_1_fc_2");
}
