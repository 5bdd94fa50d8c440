use serde_json::{Value, json};

use super::*;
use crate::{
    protocol::{AssistantMessage, Block, StreamEvent, ThinkingLevel},
    providers::testing::model,
};

fn run_with(mut decoder: Decoder, events: &[Value]) -> (AssistantMessage, Option<Failure>) {
    let mut out = Assembler::at(model("anthropic-messages"), ThinkingLevel::Off, 1);
    for event in events {
        decoder.event(SseEvent { name: "", data: event.to_string().as_bytes() }, &mut out);
    }
    decoder.finish(None, &mut out);
    match out.take_events().pop() {
        Some(StreamEvent::Done(message)) => ((*message).clone(), None),
        Some(StreamEvent::Failed { message, failure }) => ((*message).clone(), Some(failure)),
        other => panic!("no terminal event: {other:?}"),
    }
}

/// Runs an answer of `blocks` that stops with `reason`.
fn run(blocks: &[Value], reason: &str) -> (AssistantMessage, Option<Failure>) {
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": "m", "model": "test-model", "usage": {"input_tokens": 5}}}),
    ];
    events.extend_from_slice(blocks);
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 2}}));
    events.push(json!({"type": "message_stop"}));
    run_with(Decoder::new("anthropic", None), &events)
}

fn start(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

#[test]
fn blocks_that_interleave_find_their_deltas_by_index() {
    let (message, _) = run(
        &[
            start(3, json!({"type": "text", "text": "a"})),
            start(7, json!({"type": "tool_use", "id": "t", "name": "ls", "input": {}})),
            delta(7, json!({"type": "input_json_delta", "partial_json": "{\"d\":"})),
            delta(3, json!({"type": "text_delta", "text": "b"})),
            delta(7, json!({"type": "input_json_delta", "partial_json": "1}"})),
            delta(9, json!({"type": "text_delta", "text": "nowhere"})),
            stop(7),
            delta(7, json!({"type": "input_json_delta", "partial_json": "late"})),
            stop(3),
        ],
        "tool_use",
    );
    assert_eq!(message.content[0], Block::text("ab"));
    assert_eq!(json!(message.tool_calls().next().unwrap().arguments), json!({"d": 1}));
    assert_eq!(message.stop_reason, StopReason::ToolUse);
}

#[test]
fn arguments_in_the_start_of_a_call_count_when_no_fragment_follows() {
    let call = |input: Value| start(0, json!({"type": "tool_use", "id": "t", "name": "ls", "input": input}));
    let fragment = delta(0, json!({"type": "input_json_delta", "partial_json": "{\"b\":2}"}));
    let empty = delta(0, json!({"type": "input_json_delta", "partial_json": ""}));
    let table = [
        (vec![call(json!({"a": 1})), stop(0)], json!({"a": 1})),
        (vec![call(json!({"a": 1})), empty, stop(0)], json!({"a": 1})),
        (vec![call(json!({"a": 1}))], json!({"a": 1})),
        (vec![call(json!({"a": 1})), fragment.clone(), stop(0)], json!({"b": 2})),
        (vec![call(json!({})), fragment, stop(0)], json!({"b": 2})),
        (vec![call(json!({})), stop(0)], json!({})),
        (vec![call(json!(null)), stop(0)], json!({})),
    ];
    for (blocks, arguments) in table {
        let (message, _) = run(&blocks, "tool_use");
        assert_eq!(json!(message.tool_calls().next().unwrap().arguments), arguments);
    }
}

#[test]
fn signatures_come_in_pieces_and_without_text() {
    let (message, _) = run(
        &[
            start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
            delta(0, json!({"type": "signature_delta", "signature": "Eq"})),
            delta(0, json!({"type": "signature_delta", "signature": "QB"})),
            stop(0),
        ],
        "end_turn",
    );
    let Block::Thinking(block) = &message.content[0] else { panic!() };
    assert_eq!((block.thinking.as_str(), block.thinking_signature.as_deref()), ("", Some("EqQB")));
}

#[test]
fn every_stop_reason_has_its_end() {
    use FailureClass as C;
    let table = [
        ("end_turn", StopReason::Stop, None),
        ("stop_sequence", StopReason::Stop, None),
        ("pause_turn", StopReason::Stop, None),
        ("max_tokens", StopReason::Length, None),
        ("model_context_window_exceeded", StopReason::Length, None),
        ("refusal", StopReason::Error, Some((C::Refusal, "The model refused to answer (refusal)"))),
        ("sensitive", StopReason::Error, Some((C::ContentFilter, "Provider stop_reason: sensitive"))),
        ("weird", StopReason::Error, Some((C::ProviderStop, "Provider stop_reason: weird"))),
    ];
    for (reason, stop, failed) in table {
        let (message, failure) = run(&[start(0, json!({"type": "text", "text": "t"}))], reason);
        assert_eq!((message.stop_reason, message.raw_stop_reason.as_deref()), (stop, Some(reason)));
        assert_eq!(failure.as_ref().map(|failure| (failure.class, failure.message.as_str())), failed);
        assert_eq!(message.content, [Block::text("t")]);
    }
}

#[test]
fn fc_033_without_the_end_mark_the_stream_was_cut() {
    let events = [
        json!({"type": "message_start", "message": {}}),
        start(0, json!({"type": "tool_use", "id": "t", "name": "rm", "input": {}})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "{\"path\":\"/"})),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
    ];
    let (message, failure) = run_with(Decoder::new("anthropic", None), &events);
    let failure = failure.unwrap();
    assert_eq!((failure.class, failure.retryable), (FailureClass::StreamTruncated, true));
    assert_eq!(failure.message, "Stream ended before message_stop");
    assert_eq!(message.stop_reason, StopReason::Error);
}

#[test]
fn events_without_an_index_or_with_odd_shapes_are_survived() {
    let (message, failure) = run(
        &[
            json!(null),
            json!("x"),
            json!({"type": "content_block_start", "content_block": {"type": "text", "text": null}}),
            json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "ok"}}),
            json!({"type": "content_block_delta", "delta": null}),
            json!({"type": "content_block_delta", "delta": {"type": "text_delta"}}),
            json!({"type": "content_block_stop"}),
            json!({"type": "ping"}),
            json!({"no": "type"}),
        ],
        "end_turn",
    );
    assert_eq!((message.content, failure), (vec![Block::text("ok")], None));
}

#[test]
fn an_error_event_ends_the_stream_with_its_class() {
    let error =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "req_1"});
    let (_, failure) = run_with(Decoder::new("anthropic", None), &[error, json!({"type": "message_stop"})]);
    let failure = failure.unwrap();
    let text = "Overloaded (overloaded_error, request id: req_1)";
    assert_eq!((failure.class, failure.message.as_str()), (FailureClass::Overloaded, text));
}

#[test]
fn the_effort_of_the_request_is_recorded() {
    let events = [json!({"type": "message_start", "message": {}}), json!({"type": "message_stop"})];
    let (message, _) = run_with(Decoder::new("anthropic", Some("high")), &events);
    assert_eq!(message.provider_thinking_level.as_deref(), Some("high"));
}
