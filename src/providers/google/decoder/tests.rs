use serde_json::{Value, json};

use super::*;
use crate::{
    protocol::{AssistantMessage, Block, StreamEvent, TextBlock, ThinkingBlock, ThinkingLevel},
    providers::testing::model,
};

fn run_raw(events: &[String], fault: Option<Failure>) -> (AssistantMessage, Option<Failure>) {
    let mut out = Assembler::at(model("google-generative-ai"), ThinkingLevel::Off, 1);
    let mut decoder = Decoder::new("google");
    for event in events {
        decoder.event(SseEvent { name: "", data: event.as_bytes() }, &mut out);
    }
    decoder.finish(fault, &mut out);
    match out.take_events().pop() {
        Some(StreamEvent::Done(message)) => ((*message).clone(), None),
        Some(StreamEvent::Failed { message, failure }) => ((*message).clone(), Some(failure)),
        other => panic!("no terminal event: {other:?}"),
    }
}

fn run(events: &[Value]) -> (AssistantMessage, Option<Failure>) {
    run_raw(&events.iter().map(Value::to_string).collect::<Vec<_>>(), None)
}

fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}]})
}

fn finish(reason: &str) -> Value {
    json!({"candidates": [{"finishReason": reason}]})
}

fn text(text: &str, signature: Option<&str>) -> Block {
    Block::Text(TextBlock { text: text.into(), text_signature: signature.map(str::to_owned) })
}

fn thinking(text: &str, signature: Option<&str>) -> Block {
    let thinking_signature = signature.map(str::to_owned);
    Block::Thinking(ThinkingBlock { thinking: text.into(), thinking_signature, redacted: None })
}

#[test]
fn parts_become_blocks_in_their_order_and_signatures_stay_on_them() {
    let table = [
        // An empty signed part belongs to the open block of its kind (G1).
        (json!([{"text": "a"}, {"text": "", "thoughtSignature": "S"}, {"text": "b"}]), vec![text("ab", Some("S"))]),
        (
            json!([{"text": "a", "thought": true}, {"text": "", "thought": true, "thoughtSignature": "S"}]),
            vec![thinking("a", Some("S"))],
        ),
        // Otherwise it is a block of its own kind.
        (json!([{"text": "", "thoughtSignature": "S"}]), vec![text("", Some("S"))]),
        (json!([{"thoughtSignature": "S"}]), vec![text("", Some("S"))]),
        (json!([{"thought": true, "thoughtSignature": "S"}]), vec![thinking("", Some("S"))]),
        (
            json!([{"text": "t", "thought": true}, {"text": "", "thoughtSignature": "S"}]),
            vec![thinking("t", None), text("", Some("S"))],
        ),
        (
            json!([{"text": "t"}, {"text": "", "thought": true, "thoughtSignature": "S"}]),
            vec![text("t", None), thinking("", Some("S"))],
        ),
        // A signature makes no part thinking; the last one that is not empty counts (G2).
        (
            json!([{"text": "a", "thoughtSignature": "S"}, {"text": "b", "thoughtSignature": "R"}, {"text": "c", "thoughtSignature": ""}]),
            vec![text("abc", Some("R"))],
        ),
        (json!([{"text": "a", "thought": false, "thoughtSignature": "S"}]), vec![text("a", Some("S"))]),
        (json!([{"text": "a", "thought": "true"}]), vec![text("a", None)]),
        // Empty parts open nothing (G3).
        (
            json!([{"text": ""}, {"text": "", "thought": true}, {}, {"text": null}, {"text": "", "thoughtSignature": ""}]),
            vec![],
        ),
        // A change of the kind ends a block; thinking may come again (G4).
        (
            json!([{"text": "t", "thought": true}, {"text": "u", "thought": true}, {"text": "a"}, {"text": "v", "thought": true}, {"text": "b"}]),
            vec![thinking("tu", None), text("a", None), thinking("v", None), text("b", None)],
        ),
        // What is ignored neither ends a block nor leaves its signature.
        (
            json!([{"text": "a"}, {"executableCode": {"code": "1"}, "thoughtSignature": "S"}, {"inlineData": {"data": "AA=="}}, 7, {"text": "b"}]),
            vec![text("ab", None)],
        ),
        (json!([{"text": "a", "partMetadata": {"x": 1}}]), vec![text("a", None)]),
    ];
    for (list, expected) in table {
        // At once, and each part in an event of its own.
        let single: Vec<Value> = list.as_array().unwrap().iter().map(|part| parts(json!([part]))).collect();
        for events in [vec![parts(list.clone())], single] {
            let (message, failure) = run(&[events, vec![finish("STOP")]].concat());
            assert_eq!((message.content, failure), (expected.clone(), None), "{list}");
        }
    }
}

#[test]
fn calls_come_whole_with_their_own_signatures() {
    let list = json!([
        {"text": "a"},
        {"functionCall": {"id": "c1", "name": "ls", "args": {"d": [1, {"x": "é\n"}]}}, "thoughtSignature": "S"},
        {"functionCall": {"id": "c1", "name": "ls", "args": null}},
        {"functionCall": {"name": "now"}},
        {"functionCall": {"id": "null", "name": "odd", "args": [1]}},
        {"text": "", "thoughtSignature": "T"},
    ]);
    let (message, failure) = run(&[parts(list), finish("STOP")]);
    assert_eq!((message.stop_reason, failure), (StopReason::ToolUse, None));
    let calls: Vec<_> = message.tool_calls().collect();
    assert_eq!(json!(calls[0].arguments), json!({"d": [1, {"x": "é\n"}]}));
    assert_eq!((calls[0].id.as_str(), calls[0].thought_signature.as_deref()), ("c1", Some("S")));
    let ids: std::collections::HashSet<_> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids.len(), 4, "missing and repeated ids are replaced");
    assert!(calls[1..].iter().all(|call| call.thought_signature.is_none() && call.arguments.is_empty()));
    assert_eq!(
        calls.iter().map(|call| call.arguments_error.is_some()).collect::<Vec<_>>(),
        [false, false, false, true]
    );
    assert_eq!((&message.content[0], &message.content[5]), (&text("a", None), &text("", Some("T"))));
}

#[test]
fn every_finish_reason_has_its_end() {
    use FailureClass as C;
    let table = [
        ("STOP", StopReason::Stop, None),
        ("MAX_TOKENS", StopReason::Length, None),
        ("CONTINUATION", StopReason::Length, None),
        ("MALFORMED_FUNCTION_CALL", StopReason::Error, Some((C::ToolUseFailed, true))),
        ("UNEXPECTED_TOOL_CALL", StopReason::Error, Some((C::ToolUseFailed, true))),
        ("SAFETY", StopReason::Error, Some((C::ContentFilter, false))),
        ("PROHIBITED_CONTENT", StopReason::Error, Some((C::ContentFilter, false))),
        ("BLOCKLIST", StopReason::Error, Some((C::ContentFilter, false))),
        ("SPII", StopReason::Error, Some((C::ContentFilter, false))),
        ("RECITATION", StopReason::Error, Some((C::ContentFilter, false))),
        ("IMAGE_SAFETY", StopReason::Error, Some((C::ContentFilter, false))),
        ("IMAGE_PROHIBITED_CONTENT", StopReason::Error, Some((C::ContentFilter, false))),
        ("IMAGE_RECITATION", StopReason::Error, Some((C::ContentFilter, false))),
        ("OTHER", StopReason::Error, Some((C::ProviderStop, false))),
        ("LANGUAGE", StopReason::Error, Some((C::ProviderStop, false))),
        ("TOO_MANY_TOOL_CALLS", StopReason::Error, Some((C::ProviderStop, false))),
        ("NO_IMAGE", StopReason::Error, Some((C::ProviderStop, false))),
        ("IMAGE_OTHER", StopReason::Error, Some((C::ProviderStop, false))),
        ("FINISH_REASON_UNSPECIFIED", StopReason::Error, Some((C::ProviderStop, false))),
        ("BRAND_NEW", StopReason::Error, Some((C::ProviderStop, false))),
    ];
    for (reason, stop, failed) in table {
        let (message, failure) = run(&[parts(json!([{"text": "t"}])), finish(reason)]);
        assert_eq!((message.stop_reason, message.raw_stop_reason.as_deref()), (stop, Some(reason)));
        assert_eq!(failure.as_ref().map(|failure| (failure.class, failure.retryable)), failed, "{reason}");
        assert!(failure.is_none_or(|failure| failure.message == format!("Provider stopped with: {reason}")));
        assert_eq!(message.content, [text("t", None)]);
    }
}

#[test]
fn the_reason_that_came_last_counts_and_its_message_is_told() {
    let (message, failure) = run(&[finish("FINISH_REASON_UNSPECIFIED"), finish("STOP")]);
    assert_eq!((message.raw_stop_reason.as_deref(), message.content.len(), failure), (Some("STOP"), 0, None));
    let (_, failure) = run(&[json!({"candidates": [{"finishReason": "OTHER", "finishMessage": "Why."}]})]);
    assert_eq!(failure.unwrap().message, "Provider stopped with: OTHER: Why.");
}

#[test]
fn fc_034_a_malformed_call_without_parts_is_a_failure_that_may_be_tried_again() {
    let (message, failure) = run(&[json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]})]);
    let failure = failure.unwrap();
    assert_eq!((failure.class, failure.retryable), (FailureClass::ToolUseFailed, true));
    assert_eq!(message.error_message.as_deref(), Some("Provider stopped with: MALFORMED_FUNCTION_CALL"));
}

#[test]
fn a_blocked_prompt_is_no_cut_stream_whatever_else_comes() {
    let reasons =
        ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "MODEL_ARMOR", "JAILBREAK", "NEW"];
    for reason in reasons {
        let blocked = json!({"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 3}});
        for fault in [None, Some(Failure::new(FailureClass::Network, "reset"))] {
            let (message, failure) = run_raw(&[blocked.to_string(), json!({"candidates": []}).to_string()], fault);
            let failure = failure.unwrap();
            assert_eq!((failure.class, failure.retryable), (FailureClass::ContentFilter, false));
            assert_eq!(failure.message, format!("The prompt was blocked ({reason})"));
            assert_eq!(message.usage.input, 3);
        }
    }
    let explained = json!({"promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "Because."}});
    assert_eq!(run(&[explained]).1.unwrap().message, "The prompt was blocked (OTHER): Because.");
    let rated = json!({"promptFeedback": {"safetyRatings": []}});
    assert_eq!(run(&[rated.clone(), finish("STOP")]).1, None);
    assert_eq!(run(&[rated]).1.unwrap().class, FailureClass::StreamTruncated);
    let answered = json!({"promptFeedback": {"blockReason": ""}, "candidates": [{"finishReason": "STOP"}]});
    assert_eq!(run(&[answered]).1, None);
}

#[test]
fn fc_018_missing_and_odd_pieces_are_survived() {
    let events = [
        json!({}),
        json!({"candidates": []}),
        json!({"candidates": null, "usageMetadata": null, "promptFeedback": null, "error": null}),
        json!({"candidates": [null]}),
        json!({"candidates": [{"content": null}]}),
        json!({"candidates": [{"content": {"role": "model"}}]}),
        json!({"candidates": [{"content": {"parts": null}}]}),
        json!({"candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": null}]}),
        json!({"candidates": {"content": 1}, "responseId": 5, "modelVersion": {}}),
        json!([{"candidates": []}]),
        json!("x"),
        json!({"candidates": [{"finishReason": "MAX_TOKENS"}], "usageMetadata": {"thoughtsTokenCount": 9}}),
    ];
    let (message, failure) = run(&events);
    assert_eq!((message.content, message.stop_reason, failure), (vec![text("ok", None)], StopReason::Length, None));
    assert_eq!((message.usage.output, message.usage.reasoning), (9, Some(9)));
}

#[test]
fn who_answered_and_what_it_cost_are_kept_also_after_the_end() {
    let events = [
        json!({"responseId": "r1", "modelVersion": "test-model-002", "candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": "a"}]}}]}),
        json!({"responseId": "r2", "modelVersion": "other", "usageMetadata": {
            "promptTokenCount": 10, "candidatesTokenCount": 2, "totalTokenCount": 20, "toolUsePromptTokenCount": 8}}),
    ];
    let (message, _) = run(&events);
    assert_eq!(
        (message.response_id.as_deref(), message.response_model.as_deref()),
        (Some("r1"), Some("test-model-002"))
    );
    assert_eq!((message.usage.input, message.usage.output, message.usage.total_tokens), (10, 2, 20));
    assert_eq!(run(&[json!({"modelVersion": "test-model"}), finish("STOP")]).0.response_model, None);
}

#[test]
fn an_error_ends_the_stream_and_keeps_what_came() {
    let error = json!({"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED", "details": [{"retryDelay": "2s"}]}});
    let (message, failure) = run(&[parts(json!([{"text": "half"}])), error, finish("STOP")]);
    let failure = failure.unwrap();
    assert_eq!(
        (failure.class, failure.status, failure.retry_after_ms),
        (FailureClass::RateLimited, Some(429), Some(2000))
    );
    assert_eq!(message.content, [text("half", None)]);
}

#[test]
fn after_the_end_mark_a_fault_does_not_matter() {
    let fault = || Some(Failure::new(FailureClass::Network, "reset"));
    let answer = parts(json!([{"text": "a"}])).to_string();
    assert_eq!(run_raw(&[answer.clone(), finish("STOP").to_string()], fault()).1, None);
    assert_eq!(run_raw(&[answer], fault()).1.unwrap().class, FailureClass::Network);
    assert_eq!(run_raw(&["{\"candidates\":[{".into()], None).1.unwrap().class, FailureClass::ProtocolError);
    let raw = "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"tab\there \\d\"}]},\"finishReason\":\"STOP\"}]}";
    assert_eq!(run_raw(&[raw.into()], None).0.content, [text("tab\there \\d", None)]);
}
