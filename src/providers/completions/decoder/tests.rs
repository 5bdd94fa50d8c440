use serde_json::json;

use super::*;
use crate::{
    protocol::{AssistantMessage, Block, StopReason, StreamEvent, ThinkingLevel},
    providers::testing::model,
};

/// Runs the data of events through a decoder; `end` finishes without `[DONE]`.
fn run_with(mut decoder: Decoder, events: &[Value]) -> (Vec<StreamEvent>, AssistantMessage, Option<Failure>) {
    let mut out = Assembler::at(model("openai-completions"), ThinkingLevel::Off, 1);
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

fn run(events: &[Value]) -> (AssistantMessage, Option<Failure>) {
    let (_, message, failure) = run_with(Decoder::new("custom", true, HashMap::new()), events);
    (message, failure)
}

fn delta(delta: Value) -> Value {
    json!({"id": "r", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn fragment(fragment: Value) -> Value {
    delta(json!({ "tool_calls": [fragment] }))
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"delta": {}, "finish_reason": reason}]})
}

/// The calls as `name(id)arguments`.
fn calls(events: &[Value]) -> Vec<String> {
    let mut all = events.to_vec();
    all.push(finish("tool_calls"));
    let (message, failure) = run(&all);
    assert_eq!(failure, None);
    message.tool_calls().map(|call| format!("{}({}){}", call.name, call.id, json!(call.arguments))).collect()
}

#[test]
fn fc_018_a_usage_chunk_without_choices_is_read() {
    for choices in [json!([]), json!(null), json!({})] {
        let usage = json!({"choices": choices, "usage": {"prompt_tokens": 9, "completion_tokens": 2}});
        let (message, failure) = run(&[delta(json!({"content": "x"})), finish("stop"), usage]);
        assert_eq!((message.usage.input, message.usage.output, failure), (9, 2, None));
    }
}

#[test]
fn fc_019_fragments_of_parallel_calls_find_their_call_by_index() {
    let events = [
        fragment(json!({"index": 0, "id": "a", "function": {"name": "read", "arguments": "{\"pa"}})),
        fragment(json!({"index": 1, "id": "b", "function": {"name": "read", "arguments": "{\"pa"}})),
        fragment(json!({"index": 0, "function": {"arguments": "th\":\"x\"}"}})),
        fragment(json!({"index": 1, "function": {"arguments": "th\":\"y\"}"}})),
    ];
    assert_eq!(calls(&events), ["read(a){\"path\":\"x\"}", "read(b){\"path\":\"y\"}"]);
}

#[test]
fn fc_020_two_calls_with_the_same_index_are_two() {
    let events = [
        fragment(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"n\":1}"}})),
        fragment(json!({"index": 0, "id": "b", "function": {"name": "f", "arguments": "{\"n\":"}})),
        fragment(json!({"index": 0, "function": {"arguments": "2}"}})),
    ];
    assert_eq!(calls(&events), ["f(a){\"n\":1}", "f(b){\"n\":2}"]);
}

#[test]
fn a_new_id_without_a_name_is_the_same_call() {
    let events = [
        fragment(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"n\""}})),
        fragment(json!({"index": 0, "id": "b", "function": {"arguments": ":1}"}})),
        fragment(json!({"index": 0, "id": "c", "function": {"name": "", "arguments": ""}})),
    ];
    assert_eq!(calls(&events), ["f(a){\"n\":1}"]);
}

#[test]
fn without_an_index_the_id_and_then_the_name_decide() {
    let events = [
        fragment(json!({"id": "a", "function": {"name": "f", "arguments": "{\"n\""}})),
        fragment(json!({"id": "b", "function": {"name": "g", "arguments": "{\"m\""}})),
        fragment(json!({"id": "a", "function": {"arguments": ":1}"}})),
        fragment(json!({"function": {"arguments": ":2}"}})),
        fragment(json!({"function": {"name": "h", "arguments": "{}"}})),
    ];
    let calls = calls(&events);
    assert_eq!(calls[..2], ["f(a){\"n\":1}", "g(b){\"m\":2}"]);
    assert!(calls[2].starts_with("h(call_") && calls[2].ends_with("){}"), "{calls:?}");
}

#[test]
fn a_late_id_and_a_late_name_are_taken() {
    let events = [
        fragment(json!({"index": 0, "id": null, "function": {"arguments": ""}})),
        fragment(json!({"index": 0, "id": "late", "function": {"name": "f"}})),
        fragment(json!({"index": 0, "function": {"arguments": "{}"}})),
    ];
    assert_eq!(calls(&events), ["f(late){}"]);
}

#[test]
fn arguments_as_an_object_and_the_old_form_of_calls_are_understood() {
    assert_eq!(
        calls(&[fragment(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": {"n": 1}}}))]),
        ["f(a){\"n\":1}"]
    );
    let events = [
        delta(json!({"function_call": {"name": "ls", "arguments": "{"}})),
        delta(json!({"function_call": {"arguments": "}"}})),
    ];
    assert!(calls(&events)[0].ends_with("){}"));
}

#[test]
fn free_text_calls_become_the_argument_of_their_tool() {
    let decoder = Decoder::new("openai", true, HashMap::from([("js".to_owned(), "code".to_owned())]));
    let events = [
        fragment(json!({"index": 0, "id": "a", "type": "custom", "custom": {"name": "js", "input": "1"}})),
        fragment(json!({"index": 0, "custom": {"input": "+\"1\""}})),
        finish("tool_calls"),
    ];
    let (_, message, _) = run_with(decoder, &events);
    assert_eq!(json!(message.tool_calls().next().unwrap().arguments), json!({"code": "1+\"1\""}));
}

#[test]
fn reasoning_comes_from_the_first_field_that_has_some_and_before_the_text() {
    let both = delta(json!({"content": "t", "reasoning": "r", "reasoning_text": "r"}));
    let (message, _) = run(&[delta(json!({"reasoning_content": "", "content": null})), both, finish("stop")]);
    let [Block::Thinking(thinking), Block::Text(text)] = message.content.as_slice() else { panic!("{message:?}") };
    assert_eq!((thinking.thinking.as_str(), text.text.as_str()), ("r", "t"));
    assert_eq!(thinking.thinking_signature.as_deref(), Some("reasoning"));
}

#[test]
fn encrypted_details_alone_are_kept_for_the_replay() {
    let details = json!([{"type": "reasoning.encrypted", "data": "x"}]);
    let (message, _) =
        run(&[delta(json!({ "reasoning_details": details })), delta(json!({"content": "t"})), finish("stop")]);
    let [Block::Thinking(thinking), Block::Text(_)] = message.content.as_slice() else { panic!("{message:?}") };
    assert_eq!(thinking.thinking_signature.as_deref(), Some(details.to_string().as_str()));
}

#[test]
fn every_finish_reason_has_its_end() {
    use FailureClass as C;
    let table = [
        ("stop", StopReason::Stop, None),
        ("end", StopReason::Stop, None),
        ("length", StopReason::Length, None),
        ("tool_calls", StopReason::Stop, None),
        ("content_filter", StopReason::Error, Some((C::ContentFilter, false))),
        ("model_context_window_exceeded", StopReason::Error, Some((C::ContextOverflow, false))),
        ("network_error", StopReason::Error, Some((C::ServerError, true))),
        ("error", StopReason::Error, Some((C::ServerError, true))),
        ("insufficient_system_resource", StopReason::Error, Some((C::ProviderStop, true))),
        ("weird", StopReason::Error, Some((C::ProviderStop, false))),
    ];
    for (reason, stop, failed) in table {
        let (message, failure) = run(&[delta(json!({"content": "t"})), finish(reason)]);
        assert_eq!((message.stop_reason, message.raw_stop_reason.as_deref()), (stop, Some(reason)));
        assert_eq!(failure.as_ref().map(|failure| (failure.class, failure.retryable)), failed, "{reason}");
        if failed.is_some() {
            assert_eq!(message.error_message, Some(format!("Provider finish_reason: {reason}")));
        }
    }
}

#[test]
fn without_a_finish_reason_the_stream_was_cut_unless_the_host_sends_none() {
    let events = [delta(json!({"content": "t"})), json!({"choices": [{"delta": {}, "finish_reason": ""}]})];
    let (_, failure) = run(&events);
    assert_eq!(
        failure.map(|failure| (failure.class, failure.message)),
        Some((FailureClass::StreamTruncated, "Stream ended without finish_reason".into()))
    );
    let (_, message, failure) = run_with(Decoder::new("custom", false, HashMap::new()), &events);
    assert_eq!((message.stop_reason, failure), (StopReason::Stop, None));
}

#[test]
fn odd_shapes_are_survived() {
    let (message, failure) = run(&[
        json!(null),
        json!(7),
        json!([]),
        json!({}),
        json!({"id": 5, "model": {}, "choices": [null], "usage": [], "error": null}),
        json!({"choices": [{"delta": "x", "finish_reason": 3}], "error": ""}),
        delta(json!({"content": [{"type": "text", "text": "pa"}, {"text": "rts"}], "tool_calls": {"0": 1}})),
        delta(json!({"tool_calls": [null, 5]})),
        finish("stop"),
    ]);
    assert_eq!((message.content, failure), (vec![Block::text("parts")], None));
}

#[test]
fn a_fault_after_the_finish_reason_does_not_matter_and_before_it_does() {
    for (finished, ok) in [(true, true), (false, false)] {
        let mut out = Assembler::at(model("openai-completions"), ThinkingLevel::Off, 1);
        let mut decoder = Decoder::new("custom", true, HashMap::new());
        if finished {
            decoder.event(SseEvent { name: "", data: finish("stop").to_string().as_bytes() }, &mut out);
        }
        decoder.finish(Some(Failure::new(FailureClass::Network, "reset")), &mut out);
        assert_eq!(matches!(out.take_events().last(), Some(StreamEvent::Done(_))), ok);
    }
}

#[test]
fn a_key_that_comes_twice_and_bad_utf8_do_not_lose_the_event() {
    let mut out = Assembler::at(model("openai-completions"), ThinkingLevel::Off, 1);
    let mut decoder = Decoder::new("custom", true, HashMap::new());
    let data = b"{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"role\":\"assistant\",\"content\":\"caf\xE9\"}}]}";
    decoder.event(SseEvent { name: "", data }, &mut out);
    assert!(
        out.take_events()
            .iter()
            .any(|event| matches!(event, StreamEvent::TextDelta { delta, .. } if delta == "caf\u{FFFD}"))
    );
}

#[test]
fn a_chunk_that_is_an_error_itself_is_the_servers_error() {
    let error = json!({"object": "error", "message": "no such parameter", "type": "BadRequestError", "code": 400});
    let (message, failure) = run(&[delta(json!({"content": "x"})), error]);
    let failure = failure.unwrap();
    assert_eq!((failure.class, failure.status), (FailureClass::InvalidRequest, Some(400)));
    assert_eq!(failure.message, "no such parameter (BadRequestError, 400)");
    assert_eq!(message.content, [Block::text("x")]);
}
