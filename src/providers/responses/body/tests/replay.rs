//! The conversation as it goes back: pictures, calls and results, reasoning, and ids by the pairing rules.

use super::*;
use crate::protocol::{TextBlock, ThinkingBlock};

const ITEM: &str =
    r#"{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"S"}],"encrypted_content":"gAAA"}"#;

fn thought(signature: &str) -> Block {
    Block::Thinking(ThinkingBlock {
        thinking: "S".into(),
        thinking_signature: Some(signature.to_owned()),
        redacted: None,
    })
}

fn said(text: &str, signature: &str) -> Block {
    Block::Text(TextBlock { text: text.into(), text_signature: Some(signature.to_owned()) })
}

fn from(provider: &str, api: &str, id: &str, content: Vec<Block>) -> Message {
    let (provider, api, model) = (provider.into(), api.into(), id.into());
    Message::Assistant(Arc::new(AssistantMessage { provider, api, model, ..answer(content) }))
}

/// The items of an input in short: `rs_1`, `msg_1:text/phase`, `call#item`, `call=output`, `role:text`.
fn words(input: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let word = |item: &Value| match item["type"].as_str() {
        Some("reasoning") => text(&item["id"]),
        Some("message") => {
            let phase = item.get("phase").map(|phase| format!("/{}", text(phase))).unwrap_or_default();
            format!("{}:{}{phase}", text(&item["id"]), text(&item["content"][0]["text"]))
        }
        Some("function_call") => format!("{}#{}", text(&item["call_id"]), text(&item["id"])),
        Some("custom_tool_call") => {
            format!("{}#{}#{}", text(&item["call_id"]), text(&item["id"]), text(&item["input"]))
        }
        Some("function_call_output") => format!("{}={}", text(&item["call_id"]), text(&item["output"])),
        Some("custom_tool_call_output") => format!("{}=={}", text(&item["call_id"]), text(&item["output"])),
        _ => format!("{}:{}", text(&item["role"]), text(&item["content"][0]["text"])),
    };
    input.as_array().unwrap().iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn pictures_calls_and_results_take_the_forms_that_the_api_wants() {
    let shot = |content: Vec<Block>| {
        Message::ToolResult(Arc::new(ToolResultMessage {
            tool_call_id: "a|fc_1".into(),
            content,
            ..ToolResultMessage::default()
        }))
    };
    let conversation = vec![
        blocks(vec![Block::text("look"), image(), Block::text(" ")]),
        assistant(vec![said("one", r#"{"v":1,"id":"msg_1"}"#), call("a|fc_1", "shot", json!({"d": "é"}))]),
        shot(vec![Block::text("seen"), image()]),
    ];
    let url = "data:image/png;base64,AAAA";
    assert_eq!(
        input(json!({}), conversation.clone()),
        json!([
            {"role": "user", "content": [{"type": "input_text", "text": "look"},
                {"type": "input_image", "detail": "auto", "image_url": url}]},
            {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
                "content": [{"type": "output_text", "text": "one", "annotations": []}]},
            {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "shot", "arguments": "{\"d\":\"é\"}"},
            {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "seen"},
                {"type": "input_image", "detail": "auto", "image_url": url}]},
        ])
    );
    // A model that sees nothing gets notes.
    let blind = request(Model { input: vec![InputKind::Text], ..model(json!({})) }, conversation);
    assert_eq!(written(&blind)["input"][3]["output"], "seen\n(tool image omitted: model does not support images)");
    let silent = vec![assistant(vec![call("a|fc_1", "shot", json!({}))]), shot(vec![])];
    assert_eq!(input(json!({}), silent)[1]["output"], "(no tool output)");
}

#[test]
fn reasoning_goes_back_as_it_came_with_the_items_that_it_belongs_to() {
    let own = vec![
        thought(ITEM),
        said("on it", r#"{"v":1,"id":"msg_1","phase":"commentary"}"#),
        call("c|fc_1", "ls", json!({})),
    ];
    let sent = input(json!({}), vec![user("x"), assistant(own.clone()), result("c|fc_1", "r")]);
    assert_eq!(words(&sent), "user:x rs_1 msg_1:on it/commentary c#fc_1 c=r");
    let request = request(model(json!({})), vec![user("x"), assistant(own)]);
    let body = String::from_utf8(write(&request, Dialect::OpenAi).unwrap().body.to_vec()).unwrap();
    assert!(body.contains(ITEM), "the item is not changed");
}

#[test]
fn h4_ids_and_reasoning_go_back_together_or_not_at_all() {
    let full = || {
        vec![
            thought(ITEM),
            said("t", r#"{"v":1,"id":"msg_1","phase":"final_answer"}"#),
            call("c|fc_1", "ls", json!({})),
        ]
    };
    let lost = |signature: &str| {
        vec![
            thought(signature),
            said("t", r#"{"v":1,"id":"msg_1","phase":"final_answer"}"#),
            call("c|fc_1", "ls", json!({})),
        ]
    };
    let unsigned = Block::Thinking(ThinkingBlock::default());
    let table = [
        // Another model of the API: nothing of it is checked without ids.
        (from("custom", API, "other", full()), "msg_troupe_1:t c#- c=r"),
        // Another API, provider, or both.
        (from("custom", "openai-codex-responses", "test-model", full()), "msg_troupe_1:t c#fc_e60c2c52 c=r"),
        (from("other", API, "test-model", full()), "msg_troupe_1:t c#fc_e60c2c52 c=r"),
        // A part of the reasoning is lost.
        (assistant(lost("EqQB")), "msg_troupe_1:t/final_answer c#- c=r"),
        (assistant([vec![unsigned], full()].concat()), "msg_troupe_1:t/final_answer c#- c=r"),
        // The model was thinking when its limit came.
        (assistant([full(), vec![thought(ITEM)]].concat()), "rs_1 msg_1:t/final_answer c#fc_1 c=r"),
    ];
    for (message, sent) in table {
        let input = input(json!({}), vec![user("x"), message.clone(), result("c|fc_1", "r")]);
        assert_eq!(words(&input), format!("user:x {sent}"), "{message:?}");
    }
    assert_eq!(words(&input(json!({}), vec![user("x"), assistant(vec![thought(ITEM)]), user("y")])), "user:x user:y");
}

#[test]
fn fc_022_ids_of_every_origin_are_ids_that_the_api_takes() {
    let long = format!("call_x|{}", "aB+/=".repeat(86));
    let long_text = format!(r#"{{"v":1,"id":"msg_{}"}}"#, "x".repeat(80));
    let table = [
        (assistant(vec![call("c|item", "ls", json!({}))]), "c#-"),
        (assistant(vec![call("c", "ls", json!({}))]), "c#-"),
        (assistant(vec![call(&long, "ls", json!({}))]), "call_x#-"),
        (assistant(vec![said("t", &long_text)]), "msg_1bebaba7:t"),
        (assistant(vec![said("t", "msg_old")]), "msg_old:t"),
        (assistant(vec![Block::text("t"), Block::text("u")]), "msg_troupe_1:t msg_troupe_2:u"),
        (from("x", "anthropic-messages", "m", vec![call("toolu_01A", "ls", json!({}))]), "toolu_01A#fc_44440363"),
        (from("x", "openai-completions", "m", vec![call("a.b__", "ls", json!({}))]), "a_b#fc_1ba46871"),
        (from("x", API, "m", vec![call(&long, "ls", json!({}))]), "call_x#fc_6d58b84e"),
    ];
    for (message, sent) in table {
        let mut input = input(json!({}), vec![message.clone()]);
        input.as_array_mut().unwrap().retain(|item| item["type"] != "function_call_output");
        assert_eq!(words(&input), sent, "{message:?}");
    }
}

#[test]
fn free_text_calls_and_their_results_have_types_of_their_own() {
    let tool = json!({"name": "js", "description": "Run", "parameters": {"type": "object", "properties": {"code": {"type": "string"}}},
        "constrainedSampling": {"type": "grammar", "variants": {"openai_lark": "start: /.+/"}}});
    let conversation = |id: &str| {
        vec![
            system(json!({"toolsAdded": [tool]})),
            user("x"),
            assistant(vec![call(id, "js", json!({"code": "1"})), call("d|fc_2", "ls", json!({}))]),
            result("d|fc_2", "R"),
            result(id, "1"),
        ]
    };
    let grammar = json!({"supportsOpenAIGrammarTools": true});
    let request = request(model(grammar.clone()), conversation("c|ctc_1"));
    let body = written(&request);
    assert_eq!(
        body["tools"][0],
        json!({"type": "custom", "name": "js", "description": "Run",
            "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"}})
    );
    assert_eq!(words(&body["input"]), "user:x c#ctc_1#1 d#fc_2 c==1 d=R");
    // An id of the other kind is left out.
    assert_eq!(words(&input(grammar, conversation("c|fc_1"))), "user:x c#-#1 d#fc_2 c==1 d=R");
    assert_eq!(words(&input(json!({}), conversation("c|ctc_1"))), "user:x c#- d#fc_2 c=1 d=R");
    let compat = Compat::of(&request.model, Dialect::OpenAi);
    assert_eq!(free_text(&request, &compat), HashMap::from([("js".to_owned(), "code".to_owned())]));
}

#[test]
fn fc_023_a_call_whose_arguments_did_not_parse_is_replayed_as_an_object() {
    let mut broken = call("a|fc_1", "ls", json!({}));
    let Block::ToolCall(call) = &mut broken else { panic!() };
    call.arguments_error = Some("EOF\n\nReceived arguments:\n{\"path\":".into());
    let sent = input(json!({}), vec![user("x"), assistant(vec![broken]), result("a|fc_1", "invalid")]);
    assert_eq!(sent[1]["arguments"], "{}");
}

#[test]
fn fc_039_later_requests_begin_with_the_bytes_of_earlier_ones() {
    let mut conversation = vec![
        with_tool(),
        user("x"),
        from("x", "anthropic-messages", "m", vec![Block::text("t"), call("toolu_1", "ls", json!({"d": 1}))]),
        result("toolu_1", "r"),
        assistant(vec![thought(ITEM), Block::text("u"), call("", "ls", json!({}))]),
        result("", "s"),
    ];
    let bytes = |messages: &[Message]| {
        let body = write(&request(model(json!({})), messages.to_vec()), Dialect::OpenAi).unwrap().body;
        String::from_utf8(body.to_vec()).unwrap()
    };
    let first = bytes(&conversation);
    conversation.extend([user("y"), assistant(vec![Block::text("v"), call("c|fc_2", "ls", json!({}))])]);
    let second = bytes(&conversation);
    assert!(second.starts_with(first.strip_suffix("]}").unwrap()), "{first}\n{second}");
}
