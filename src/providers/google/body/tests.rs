use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::{
    protocol::{
        AssistantMessage, Block, Content, ImageBlock, Message, TextBlock, ThinkingBlock, ThinkingLevel, ToolCall,
        ToolResultMessage, UserMessage, model::InputKind,
    },
    providers::testing::{answer, call, object, plain_model, request, result, user},
};

const API: &str = "google-generative-ai";
const NEW: &str = "gemini-3.8-flash";
const OLD: &str = "gemini-2.5-flash";

fn asked(id: &str, messages: Vec<Message>) -> Request {
    let mut model = plain_model(API);
    (model.id, model.input) = (id.into(), vec![InputKind::Text, InputKind::Image]);
    request(model, messages)
}

fn written(request: &Request) -> Value {
    serde_json::from_slice(&write(request).unwrap()).unwrap()
}

fn contents_of(id: &str, messages: Vec<Message>) -> Value {
    written(&asked(id, messages))["contents"].take()
}

fn system(message: Value) -> Message {
    Message::System(Arc::new(serde_json::from_value(message).unwrap()))
}

fn image() -> Block {
    Block::Image(ImageBlock { data: "AAAA".into(), mime_type: "image/png".into() })
}

fn blocks(content: Vec<Block>) -> Message {
    Message::User(Arc::new(UserMessage { content: Content::Blocks(content), timestamp: 1 }))
}

/// An answer of the model with that id.
fn answered(id: &str, content: Vec<Block>) -> Message {
    Message::Assistant(Arc::new(AssistantMessage { api: API.into(), model: id.into(), ..answer(content) }))
}

fn thought(text: &str, signature: Option<&str>) -> Block {
    let thinking_signature = signature.map(str::to_owned);
    Block::Thinking(ThinkingBlock { thinking: text.into(), thinking_signature, redacted: None })
}

fn signed_text(text: &str, signature: &str) -> Block {
    Block::Text(TextBlock { text: text.into(), text_signature: Some(signature.into()) })
}

fn signed_call(id: &str, signature: Option<&str>) -> Block {
    let thought_signature = signature.map(str::to_owned);
    Block::ToolCall(ToolCall { id: id.into(), name: "ls".into(), thought_signature, ..ToolCall::default() })
}

fn picture_result(id: &str, content: Vec<Block>, is_error: bool) -> Message {
    let tool_call_id = id.to_owned();
    Message::ToolResult(Arc::new(ToolResultMessage { tool_call_id, content, is_error, ..ToolResultMessage::default() }))
}

#[test]
fn the_plain_request() {
    let messages = vec![
        system(json!({"content": "Be brief.", "toolsAdded": [
            {"name": "ls", "description": "List", "parameters": {"type": "object", "properties": {"kind": {"const": "all"}}}},
            {"name": "now", "description": "Time"}]})),
        user("hi"),
    ];
    let body = write(&asked(NEW, messages)).unwrap();
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [{"functionDeclarations": [
            {"name": "ls", "description": "List",
                "parametersJsonSchema": {"type": "object", "properties": {"kind": {"enum": ["all"]}}}},
            {"name": "now", "description": "Time"}]}],
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "generationConfig": {"maxOutputTokens": 16384},
    });
    // The order counts too: what stays the same from turn to turn comes first.
    assert_eq!(String::from_utf8(body.to_vec()).unwrap(), expected.to_string());
    assert_eq!(
        written(&asked(NEW, vec![user("hi")])),
        json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "generationConfig": {"maxOutputTokens": 16384}})
    );
}

#[test]
fn later_system_messages_are_folded_into_the_instruction() {
    let messages = vec![
        system(json!({"content": "One.", "toolsAdded": [{"name": "a"}]})),
        user("q"),
        system(json!({"content": "Two.", "toolsAdded": [{"name": "b"}], "toolsRemoved": [{"name": "a"}]})),
        user("r"),
    ];
    let body = written(&asked(NEW, messages));
    assert_eq!(body["systemInstruction"]["parts"], json!([{"text": "One.\n\nTwo."}]));
    assert_eq!(body["tools"][0]["functionDeclarations"], json!([{"name": "b", "description": ""}]));
    assert_eq!(body["contents"].as_array().unwrap().len(), 2);
}

#[test]
fn pictures_calls_and_results_take_their_places() {
    let conversation = || {
        vec![
            blocks(vec![Block::text("look"), image(), Block::text(" ")]),
            answered(
                "other",
                vec![Block::text("I look."), call("a", "shot", json!({})), call("b|x", "ls", json!({"d": "é"}))],
            ),
            picture_result("a", vec![Block::text("one"), image()], false),
            result("b|x", "two"),
            user("go on"),
        ]
    };
    let inline = || json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}});
    let first = || json!({"role": "user", "parts": [{"text": "look"}, inline()]});
    let last = || json!({"role": "user", "parts": [{"text": "go on"}]});
    assert_eq!(
        contents_of(NEW, conversation()),
        json!([
            first(),
            {"role": "model", "parts": [{"text": "I look."},
                {"functionCall": {"id": "a", "name": "shot", "args": {}}},
                {"functionCall": {"id": "b_x", "name": "ls", "args": {"d": "é"}}}]},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "a", "name": "shot", "response": {"output": "one"}, "parts": [inline()]}},
                {"functionResponse": {"id": "b_x", "name": "ls", "response": {"output": "two"}}}]},
            last(),
        ])
    );
    assert_eq!(
        contents_of(OLD, conversation()),
        json!([
            first(),
            {"role": "model", "parts": [{"text": "I look."},
                {"functionCall": {"name": "shot", "args": {}}},
                {"functionCall": {"name": "ls", "args": {"d": "é"}}}]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "shot", "response": {"output": "one"}}},
                {"functionResponse": {"name": "ls", "response": {"output": "two"}}}]},
            {"role": "user", "parts": [{"text": "Image from the result of shot:"}, inline()]},
            last(),
        ])
    );
}

#[test]
fn results_say_whether_they_failed_and_are_never_empty() {
    let table = [
        (vec![Block::text("a"), Block::text("b")], false, json!({"output": "a\nb"})),
        (vec![Block::text("no such file")], true, json!({"error": "no such file"})),
        (vec![], false, json!({"output": "(no tool output)"})),
        (vec![image()], false, json!({"output": "(see attached image)"})),
        (vec![image()], true, json!({"error": "(see attached image)"})),
    ];
    for (content, is_error, response) in table {
        let messages =
            vec![user("q"), answered(NEW, vec![signed_call("a", None)]), picture_result("a", content, is_error)];
        let got = contents_of(NEW, messages);
        assert_eq!(got[2]["parts"][0]["functionResponse"]["response"], response);
    }
    let orphan = contents_of(NEW, vec![user("q"), answered(NEW, vec![signed_call("a", None)]), user("r")]);
    let response = &orphan[2]["parts"][0]["functionResponse"]["response"];
    assert_eq!(response, &json!({"error": "No result provided"}));
}

#[test]
fn models_behind_the_api_that_need_ids_get_them_in_its_form() {
    let long = format!("call.{}", "x".repeat(90));
    for (id, sent) in
        [(NEW, true), ("claude-sonnet-5", true), ("gpt-oss-120b", true), (OLD, false), ("gemma-4-9b", false)]
    {
        let got =
            contents_of(id, vec![user("q"), answered("other", vec![signed_call(&long, None)]), result(&long, "r")]);
        let (call, response) = (&got[1]["parts"][0]["functionCall"], &got[2]["parts"][0]["functionResponse"]);
        assert_eq!(call["id"], response["id"], "{id}");
        assert_eq!(call["id"].as_str().map(str::len), sent.then_some(64), "{id}");
    }
}

#[test]
fn fc_027_signatures_go_back_on_their_parts_to_the_model_that_made_them() {
    let content = || {
        vec![
            thought("Plan", Some("AAAA")),
            thought("", Some("BBBB")),
            thought("unsigned", None),
            thought(" ", None),
            signed_text("Text", "CCC="),
            signed_text("", "DDDD"),
            signed_call("a", Some("EE==")),
            signed_call("b", None),
            signed_call("c", Some("broken!")),
            signed_text(" ", "bad"),
        ]
    };
    let call = |id: &str| json!({"id": id, "name": "ls", "args": {}});
    let got = contents_of(NEW, vec![user("q"), answered(NEW, content())]);
    assert_eq!(
        got[1],
        json!({"role": "model", "parts": [
            {"text": "Plan", "thought": true, "thoughtSignature": "AAAA"},
            {"text": "", "thought": true, "thoughtSignature": "BBBB"},
            {"text": "unsigned", "thought": true},
            {"text": "Text", "thoughtSignature": "CCC="},
            {"text": "", "thoughtSignature": "DDDD"},
            {"functionCall": call("a"), "thoughtSignature": "EE=="},
            {"functionCall": call("b")},
            {"functionCall": call("c")},
        ]})
    );
    let plain = json!({"role": "model", "parts": [
        {"text": "Text"}, {"functionCall": call("a")}, {"functionCall": call("b")}, {"functionCall": call("c")}]});
    assert_eq!(contents_of(NEW, vec![user("q"), answered("gemini-3-pro", content())])[1], plain);
    let elsewhere = AssistantMessage { api: "google-vertex".into(), model: NEW.into(), ..answer(content()) };
    assert_eq!(contents_of(NEW, vec![user("q"), Message::Assistant(Arc::new(elsewhere))])[1], plain);
}

#[test]
fn an_answer_of_which_nothing_is_left_is_no_content() {
    let messages = vec![user("q"), answered(NEW, vec![signed_text(" ", "bad"), thought("", Some("bad"))]), user("r")];
    let roles: Vec<Value> = contents_of(NEW, messages).as_array().unwrap().iter().map(|c| c["role"].clone()).collect();
    assert_eq!(roles, ["user", "user"]);
}

#[test]
fn strict_tools_are_validated_where_the_model_can() {
    let tool = |strict: &str| {
        vec![system(json!({"toolsAdded": [{"name": "a"}, {"name": "b", "parameters": {"$ref": "#/x"},
            "constrainedSampling": {"type": "json_schema", "strict": strict}}]}))]
    };
    let mode = json!({"functionCallingConfig": {"mode": "VALIDATED"}});
    for strict in ["prefer", "require"] {
        let body = written(&asked(NEW, tool(strict)));
        assert_eq!(body["toolConfig"], mode);
        assert_eq!(body["tools"][0]["functionDeclarations"][1]["parametersJsonSchema"], json!({"$ref": "#/x"}));
    }
    assert_eq!(written(&asked(OLD, tool("prefer"))).get("toolConfig"), None);
    let refused = write(&asked(OLD, tool("require"))).unwrap_err();
    assert!(refused.message.contains("\"b\""), "{refused}");
}

#[test]
fn thinking_and_the_cap_are_settings_of_the_generation() {
    let mut request = asked(NEW, vec![user("q")]);
    Arc::make_mut(&mut request.model).reasoning = true;
    request.thinking = ThinkingLevel::Medium;
    request.max_tokens = Some(100);
    assert_eq!(
        written(&request)["generationConfig"],
        json!({"maxOutputTokens": 100, "thinkingConfig": {"includeThoughts": true, "thinkingLevel": "MEDIUM"}})
    );
}

#[test]
fn fc_039_a_longer_conversation_begins_with_the_bytes_of_the_shorter_one() {
    let mut messages = vec![
        system(json!({"content": "P", "toolsAdded": [{"name": "ls"}]})),
        user("q"),
        answered(NEW, vec![signed_call("", Some("AAAA"))]),
        result("", "r"),
    ];
    let prefix = |messages: &[Message]| {
        let body = String::from_utf8(write(&asked(NEW, messages.to_vec())).unwrap().to_vec()).unwrap();
        body.split("],\"generationConfig\"").next().unwrap().to_owned()
    };
    let shorter = prefix(&messages);
    messages.extend([answered(NEW, vec![Block::text("done")]), user("next")]);
    assert!(prefix(&messages).starts_with(&shorter));
}

#[test]
fn a_switch_that_a_model_does_not_know_changes_nothing() {
    let mut request = asked(NEW, vec![user("q")]);
    let plain = written(&request);
    Arc::make_mut(&mut request.model).compat = Some(object(json!({"supportsStore": true})));
    Arc::make_mut(&mut request.model).sampling_params = Some(object(json!({"top_p": 0.5})));
    assert_eq!(written(&request), plain, "sampling parameters are for the APIs of OpenAI alone");
}
