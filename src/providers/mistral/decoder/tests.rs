use serde_json::{Value, json};

use super::*;
use crate::{
    protocol::{AssistantMessage, Block, StopReason, StreamEvent, ThinkingLevel},
    providers::testing::model,
};

fn run(events: &[Value]) -> (Vec<StreamEvent>, AssistantMessage, Option<Failure>) {
    let mut out = Assembler::at(model("mistral-conversations"), ThinkingLevel::Off, 1);
    let mut decoder = Decoder::new("mistral");
    for event in events {
        decoder.event(SseEvent { name: "", data: event.to_string().as_bytes() }, &mut out);
    }
    decoder.finish(None, &mut out);
    let events = out.take_events();
    match events.last().cloned() {
        Some(StreamEvent::Done(message)) => (events, (*message).clone(), None),
        Some(StreamEvent::Failed { message, failure }) => (events, (*message).clone(), Some(failure)),
        other => panic!("no terminal event: {other:?}"),
    }
}

fn delta(delta: &Value) -> Value {
    json!({"id": "r", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn content(content: &Value) -> Value {
    delta(&json!({ "content": content }))
}

fn think(text: &str, closed: bool) -> Value {
    json!({"type": "thinking", "thinking": [{"type": "text", "text": text}], "closed": closed})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn calls(calls: &Value) -> Value {
    delta(&json!({"content": "", "tool_calls": calls}))
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"delta": {"content": ""}, "finish_reason": reason}]})
}

/// The content in a line: `think(…) text(…) name(id){…}`.
fn shape(message: &AssistantMessage) -> String {
    let block = |block: &Block| match block {
        Block::Text(block) => format!("text({})", block.text),
        Block::Thinking(block) => format!("think({})", block.thinking),
        Block::ToolCall(call) => format!("{}({}){}", call.name, call.id, json!(call.arguments)),
        other => format!("{other:?}"),
    };
    message.content.iter().map(block).collect::<Vec<_>>().join(" ")
}

#[test]
fn blocks_follow_the_order_of_the_pieces() {
    let call = json!([{"id": "D681PevKs", "function": {"name": "ls", "arguments": "{}"}, "index": 0}]);
    let table = [
        (vec![content(&json!("a")), content(&json!("b"))], "text(ab)"),
        (
            vec![content(&json!([think("a", false)])), content(&json!([think("b", true), text("c")]))],
            "think(ab) text(c)",
        ),
        // M2: empty texts between pieces of thinking, in both forms, and thinking that called itself closed.
        (
            vec![
                content(&json!([think("a", true), text("")])),
                content(&json!("")),
                content(&json!([think("", false)])),
                content(&json!([])),
                content(&json!([think("b", false)])),
            ],
            "think(ab)",
        ),
        (
            vec![
                content(&json!([think("a", true)])),
                content(&json!("b")),
                content(&json!([think("c", true), text("d")])),
            ],
            "think(a) text(b) think(c) text(d)",
        ),
        (vec![content(&json!("a")), calls(&call), content(&json!("b"))], "text(a) ls(D681PevKs){} text(b)"),
        (vec![delta(&json!({"content": [text("a")], "tool_calls": call}))], "text(a) ls(D681PevKs){}"),
        // A thinking piece may be several, a text, or refer to something; unknown pieces say nothing.
        (
            vec![content(&json!([
                {"type": "thinking", "thinking": [text("a"), {"type": "reference", "reference_ids": [1]}, text("b")]},
                {"type": "thinking", "thinking": "c"},
                {"type": "thinking", "thinking": null},
                {"type": "thinking"},
                {"type": "reference", "reference_ids": [1], "text": "not shown"},
                {"type": "image_url", "image_url": "https://h/x.png"},
                null, 3, "s", ["x"],
            ]))],
            "think(abc)",
        ),
        (vec![content(&json!(null)), content(&json!(7)), content(&json!({"type": "text"})), delta(&json!(null))], ""),
    ];
    for (mut events, expected) in table {
        events.push(finish("stop"));
        let (_, message, failure) = run(&events);
        assert_eq!((shape(&message).as_str(), failure), (expected, None), "{events:?}");
    }
}

#[test]
fn a_block_ends_where_another_kind_begins() {
    let (events, ..) = run(&[content(&json!([think("a", true), text("b")])), content(&json!("c")), finish("stop")]);
    let names: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::ThinkingStart { index } => Some(format!("thinking_start {index}")),
            StreamEvent::ThinkingEnd { index, .. } => Some(format!("thinking_end {index}")),
            StreamEvent::TextStart { index } => Some(format!("text_start {index}")),
            StreamEvent::TextEnd { index, .. } => Some(format!("text_end {index}")),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["thinking_start 0", "thinking_end 0", "text_start 1", "text_end 1"]);
}

#[test]
fn calls_come_whole_as_text_or_object_and_also_in_pieces() {
    let table = [
        (vec![calls(&json!([{"id": "a", "function": {"name": "f", "arguments": "{\"n\": 1}"}}]))], "f(a){\"n\":1}"),
        (vec![calls(&json!([{"id": "a", "function": {"name": "f", "arguments": {"n": 1}}}]))], "f(a){\"n\":1}"),
        (vec![calls(&json!([{"id": "a", "function": {"name": "f", "arguments": ""}}]))], "f(a){}"),
        (vec![calls(&json!([{"id": "a", "function": {"name": "f"}}, null, {"function": null}]))], "f(a){}"),
        (
            vec![
                calls(&json!([{"id": "a", "index": 0, "function": {"name": "f", "arguments": "{\"n\""}}])),
                calls(&json!([{"index": 0, "function": {"arguments": ": 1}"}}])),
            ],
            "f(a){\"n\":1}",
        ),
        (
            vec![calls(&json!([
                {"id": "a", "index": 0, "function": {"name": "f", "arguments": "{}"}},
                {"id": "b", "index": 0, "function": {"name": "g", "arguments": {"n": 2}}},
            ]))],
            "f(a){} g(b){\"n\":2}",
        ),
    ];
    for (mut events, expected) in table {
        events.push(finish("tool_calls"));
        let (_, message, failure) = run(&events);
        assert_eq!((shape(&message).as_str(), failure), (expected, None), "{events:?}");
        assert_eq!(message.stop_reason, StopReason::ToolUse);
    }
}

#[test]
fn fc_021_missing_empty_null_and_repeated_ids_become_distinct() {
    let call =
        |id: Value, index: usize| json!({"id": id, "index": index, "function": {"name": "f", "arguments": "{}"}});
    let list = json!([
        call(json!("null"), 0),
        call(json!("null"), 1),
        call(json!(null), 2),
        call(json!(""), 3),
        call(json!("same"), 4),
        call(json!("same"), 5)
    ]);
    let (_, message, _) = run(&[calls(&list), finish("stop")]);
    let ids: std::collections::HashSet<_> = message.tool_calls().map(|call| call.id.as_str()).collect();
    assert_eq!(ids.len(), 6);
    assert!(ids.iter().all(|id| !id.is_empty() && *id != "null"));
    // An id that comes with a later piece is the call's.
    let late = [calls(&json!([call(json!("null"), 0)])), calls(&json!([{"id": "late", "index": 0}])), finish("stop")];
    assert_eq!(shape(&run(&late).1), "f(late){}");
}

#[test]
fn finish_reasons_decide_how_the_answer_ends() {
    let table = [
        ("stop", Ok(StopReason::Stop)),
        ("end", Ok(StopReason::Stop)),
        ("length", Ok(StopReason::Length)),
        ("model_length", Ok(StopReason::Length)),
        ("tool_calls", Ok(StopReason::Stop)),
        ("error", Err((FailureClass::ServerError, true))),
        ("content_filter", Err((FailureClass::ContentFilter, false))),
        ("brand_new", Err((FailureClass::ProviderStop, false))),
    ];
    for (reason, expected) in table {
        let (_, message, failure) = run(&[content(&json!("x")), finish(reason)]);
        let end = failure.map_or(Ok(message.stop_reason), |failure| {
            assert!(failure.message.contains(reason));
            Err((failure.class, failure.retryable))
        });
        assert_eq!(end, expected, "{reason}");
        assert_eq!((shape(&message).as_str(), message.raw_stop_reason.as_deref()), ("text(x)", Some(reason)));
    }
    let (_, _, failure) = run(&[content(&json!("x"))]);
    let failure = failure.expect("fc_033: no end mark");
    assert_eq!((failure.class, failure.retryable), (FailureClass::StreamTruncated, true));
}

#[test]
fn errors_in_a_stream_are_known_in_every_form() {
    let table = [
        (
            json!({"object": "error", "message": "Rate limit exceeded", "type": "rate_limited", "code": "1300"}),
            FailureClass::RateLimited,
            "Rate limit exceeded",
        ),
        (
            json!({"object": "error", "message": "Prompt contains 9 tokens, too large for model with 8 maximum context length",
                "type": "invalid_request_prompt", "code": "3051"}),
            FailureClass::ContextOverflow,
            "too large",
        ),
        (
            json!({"object": "error", "message": {"detail": [{"msg": "Extra inputs"}]}, "type": "invalid_request_error"}),
            FailureClass::InvalidRequest,
            "Extra inputs",
        ),
        (json!({"detail": "Service unavailable"}), FailureClass::ServerError, "Service unavailable"),
        (json!({"detail": [{"msg": "odd"}]}), FailureClass::ServerError, "odd"),
        (json!({"error": {"message": "gone", "code": 502}}), FailureClass::ServerError, "gone"),
        (
            json!({"choices": [{"delta": {"content": "y"}, "finish_reason": "error"}], "error": {"message": "gone"}}),
            FailureClass::ServerError,
            "gone",
        ),
    ];
    for (error, class, words) in table {
        let (_, message, failure) = run(&[content(&json!("x")), error.clone()]);
        let failure = failure.unwrap_or_else(|| panic!("no failure of {error}"));
        assert_eq!(failure.class, class, "{error}: {failure}");
        assert!(failure.message.contains(words), "{failure}");
        assert!(shape(&message).starts_with("text(x"), "what came is kept");
    }
    for harmless in [json!(null), json!(""), json!({}), json!(false)] {
        let mut chunk = content(&json!("x"));
        chunk["error"] = harmless;
        assert_eq!(run(&[chunk, finish("stop")]).2, None);
    }
}

#[test]
fn usage_comes_with_any_chunk_and_the_last_counts() {
    let mut first = content(&json!("x"));
    first["usage"] = json!({"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10});
    let last = json!({"choices": [], "usage": {"prompt_tokens": 90, "completion_tokens": 2, "total_tokens": 95, "num_cached_tokens": 64}});
    let (_, message, _) = run(&[first.clone(), finish("stop"), last]);
    let usage = message.usage;
    assert_eq!((usage.input, usage.output, usage.cache_read, usage.total_tokens), (26, 2, 64, 95));
    let nothing = json!({"choices": null, "usage": null});
    assert_eq!(run(&[first, finish("stop"), nothing]).1.usage.total_tokens, 10);
}
