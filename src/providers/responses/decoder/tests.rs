//! Answers by tables: ends, texts and usage here, calls and reasoning in files of their own.

mod calls;
mod reasoning;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    protocol::{AssistantMessage, Block, StreamEvent, ThinkingLevel, stream::PartialMessage},
    providers::{error_text::classify_text, testing::plain_model},
};

fn decoder() -> Decoder {
    let free_text = HashMap::from([("patch".to_owned(), "text".to_owned())]);
    Decoder::new(&plain_model("openai-responses"), "test-model", None, free_text)
}

/// All events of a stream of `events`, whose `event:` names are empty.
fn play(mut decoder: Decoder, events: &[Value]) -> Vec<StreamEvent> {
    let mut model = plain_model("openai-responses");
    (model.cost.input, model.cost.output) = (1.0, 1.0);
    let mut out = Assembler::at(model.into(), ThinkingLevel::Off, 1);
    for event in events {
        if !out.is_finished() {
            decoder.event(SseEvent { name: "", data: event.to_string().as_bytes() }, &mut out);
        }
    }
    decoder.finish(None, &mut out);
    out.take_events()
}

fn ended(events: Vec<StreamEvent>) -> (AssistantMessage, Option<Failure>) {
    match events.into_iter().last() {
        Some(StreamEvent::Done(message)) => ((*message).clone(), None),
        Some(StreamEvent::Failed { message, failure }) => ((*message).clone(), Some(failure)),
        other => panic!("no terminal event: {other:?}"),
    }
}

/// The answer to a stream of `events`.
fn run(events: &[Value]) -> (AssistantMessage, Option<Failure>) {
    ended(play(decoder(), events))
}

/// The answer to a stream of `events` that is completed.
fn completed(events: &[Value]) -> (AssistantMessage, Option<Failure>) {
    run(&[events, &[end("completed", json!({}))]].concat())
}

/// A terminal event with that status and more of the response.
fn end(status: &str, more: Value) -> Value {
    let mut response = json!({"id": "resp_1", "model": "test-model", "status": status, "output": []});
    response.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"type": format!("response.{status}"), "response": response})
}

fn added(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn message(id: &str, parts: Value) -> Value {
    json!({"type": "message", "id": id, "role": "assistant", "content": parts})
}

fn text_delta(index: u64, id: &str, delta: &str) -> Value {
    json!({"type": "response.output_text.delta", "output_index": index, "item_id": id, "delta": delta})
}

#[test]
fn every_status_has_its_end() {
    use FailureClass as C;
    use StopReason as S;
    let with = |kind: &str, status: Option<&str>, more: Value| {
        let mut event = end(status.unwrap_or("completed"), more);
        event["type"] = kind.into();
        if status.is_none() {
            event["response"].as_object_mut().unwrap().remove("status");
        }
        event
    };
    let why = |reason: &str| json!({"incomplete_details": {"reason": reason}});
    let error = |code: &str| json!({"error": {"code": code, "message": "m"}});
    let table = [
        (with("response.completed", Some("completed"), json!({})), S::Stop, Some("completed"), None),
        (with("response.done", Some("completed"), json!({"end_turn": false})), S::Stop, Some("completed"), None),
        (with("response.completed", None, json!({})), S::Stop, None, None),
        (with("response.done", Some("brand_new"), json!({})), S::Stop, None, None),
        (with("response.completed", Some("in_progress"), json!({})), S::Stop, Some("in_progress"), None),
        (json!({"type": "response.completed"}), S::Stop, None, None),
        (
            with("response.completed", Some("incomplete"), why("max_output_tokens")),
            S::Length,
            Some("incomplete.max_output_tokens"),
            None,
        ),
        (
            with("response.incomplete", None, why("max_output_tokens")),
            S::Length,
            Some("incomplete.max_output_tokens"),
            None,
        ),
        (
            with("response.incomplete", Some("incomplete"), why("content_filter")),
            S::Error,
            Some("incomplete.content_filter"),
            Some(C::ContentFilter),
        ),
        (
            with("response.incomplete", Some("incomplete"), why("odd")),
            S::Error,
            Some("incomplete.odd"),
            Some(C::ProviderStop),
        ),
        (
            with("response.incomplete", Some("incomplete"), json!({})),
            S::Error,
            Some("incomplete"),
            Some(C::ProviderStop),
        ),
        (
            with("response.failed", Some("failed"), error("server_error")),
            S::Error,
            Some("failed"),
            Some(C::ServerError),
        ),
        (with("response.failed", None, error("rate_limit_exceeded")), S::Error, Some("failed"), Some(C::RateLimited)),
        (
            with("response.failed", Some("failed"), error("invalid_prompt")),
            S::Error,
            Some("failed"),
            Some(C::InvalidRequest),
        ),
        (
            with("response.failed", Some("failed"), error("content_filter")),
            S::Error,
            Some("failed"),
            Some(C::ContentFilter),
        ),
        (
            with("response.failed", Some("failed"), json!({"error": null})),
            S::Error,
            Some("failed"),
            Some(C::ServerError),
        ),
        (with("response.completed", Some("failed"), error("429")), S::Error, Some("failed"), Some(C::RateLimited)),
        (with("response.completed", Some("cancelled"), json!({})), S::Error, Some("cancelled"), Some(C::ProviderStop)),
        (
            json!({"type": "response.failed", "error": {"code": "server_is_overloaded", "message": "m"}}),
            S::Error,
            Some("failed"),
            Some(C::Overloaded),
        ),
    ];
    for (event, stop, raw, class) in table {
        let (message, failure) = run(std::slice::from_ref(&event));
        assert_eq!((message.stop_reason, message.raw_stop_reason.as_deref()), (stop, raw), "{event}");
        assert_eq!(failure.as_ref().map(|failure| failure.class), class, "{event}");
        if let Some(failure) = failure {
            // What is stored says the same about another try as the live failure.
            let stored = classify_text(&failure.message, "openai");
            assert_eq!(stored.retryable, failure.retryable, "{failure}");
        }
    }
}

#[test]
fn errors_come_flat_nested_and_in_the_form_of_other_apis() {
    use FailureClass as C;
    let table = [
        (
            json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow"}),
            C::RateLimited,
            "slow (rate_limit_exceeded)",
        ),
        (
            json!({"type": "error", "error": {"type": "server_error", "code": "server_is_overloaded", "message": "busy"}}),
            C::Overloaded,
            "busy (server_error, server_is_overloaded)",
        ),
        (
            json!({"type": "error", "status": 400, "error": {"type": "invalid_request_error", "code": "context_length_exceeded", "message": "big"}}),
            C::ContextOverflow,
            "big (invalid_request_error, context_length_exceeded)",
        ),
        (json!({"error": {"message": "gone", "code": 502}}), C::ServerError, "gone (502)"),
        (json!({"type": "exception", "error": {"message": "gone"}}), C::ServerError, "gone"),
    ];
    for (event, class, text) in table {
        let half = [added(0, message("m", json!([]))), text_delta(0, "m", "half")];
        let (message, failure) = run(&[&half[..], &[event]].concat());
        let failure = failure.unwrap();
        assert_eq!((failure.class, failure.message.as_str()), (class, text));
        assert_eq!(message.content.len(), 1);
    }
}

#[test]
fn what_was_said_is_kept_with_the_names_that_the_api_knows_it_by() {
    let part = |kind: &str, text: &str| json!({"type": "output_text", kind: text});
    let with_phase = |mut item: Value| {
        item["phase"] = "commentary".into();
        item
    };
    let kept = r#"{"v":1,"id":"msg_1","phase":"commentary"}"#;
    let refusal = json!({"type": "response.refusal.delta", "output_index": 0, "delta": "a"});
    let table = [
        (vec![added(0, with_phase(message("msg_1", json!([])))), text_delta(0, "msg_1", "ab")], "ab", kept),
        (
            vec![
                added(0, message("msg_0", json!([]))),
                done(0, with_phase(message("msg_1", json!([part("text", "ab")])))),
            ],
            "ab",
            kept,
        ),
        (
            vec![
                added(0, message("msg_1", json!([]))),
                refusal,
                done(0, with_phase(message("", json!([part("text", "a"), part("refusal", "b")])))),
            ],
            "ab",
            kept,
        ),
        (vec![done(0, with_phase(message("msg_1", json!([part("text", "ab")]))))], "ab", kept),
        // Said twice, it counts once.
        (
            vec![
                done(0, with_phase(message("msg_1", json!([part("text", "ab")])))),
                done(0, message("msg_1", json!([]))),
            ],
            "ab",
            kept,
        ),
        // The phase is told at the begin or at the end.
        (
            vec![
                added(0, with_phase(message("msg_1", json!([])))),
                text_delta(0, "msg_1", "ab"),
                done(0, message("msg_1", json!([part("text", "ab")]))),
            ],
            "ab",
            kept,
        ),
        (vec![added(0, message("msg_2", json!(null))), text_delta(0, "x", "ab")], "ab", r#"{"v":1,"id":"msg_2"}"#),
    ];
    for (events, text, signature) in table {
        let (message, failure) = completed(&events);
        let [Block::Text(block)] = message.content.as_slice() else { panic!("{message:?}") };
        assert_eq!((block.text.as_str(), block.text_signature.as_deref()), (text, Some(signature)), "{events:?}");
        assert_eq!(failure, None);
    }
}

#[test]
fn usage_is_priced_by_the_tier_that_answers_else_by_the_one_that_was_asked_for() {
    let usage = json!({"input_tokens": 1_000_000, "output_tokens": 0, "total_tokens": 1_000_001});
    let table = [
        (None, json!(null), 1.0),
        (Some("flex"), json!(null), 0.5),
        (Some("flex"), json!("default"), 1.0),
        (None, json!("priority"), 2.0),
    ];
    for (asked, told, cost) in table {
        let decoder = Decoder::new(&plain_model("openai-responses"), "test-model", asked, HashMap::new());
        let (message, _) = ended(play(decoder, &[end("completed", json!({"usage": usage, "service_tier": told}))]));
        assert_eq!((message.usage.cost.total, message.usage.total_tokens), (cost, 1_000_001), "{asked:?} {told}");
    }
    // An answer that failed was paid for too.
    let (message, _) =
        run(&[end("failed", json!({"usage": usage, "error": {"code": "server_error", "message": "m"}}))]);
    assert_eq!((message.usage.input, message.response_id.as_deref()), (1_000_000, Some("resp_1")));
}

#[test]
fn whether_the_model_wants_to_go_on_is_recorded() {
    for (told, recorded) in
        [(json!(true), Some(true)), (json!(false), Some(false)), (json!(null), None), (json!(1), None)]
    {
        let (message, _) = run(&[end("done", json!({"end_turn": told}))]);
        assert_eq!((message.end_turn, message.stop_reason), (recorded, StopReason::Stop), "{told}");
    }
}

#[test]
fn the_answering_model_is_recorded_unless_it_is_the_deployment() {
    for (told, recorded) in [("test-model", None), ("deployed", None), ("", None), ("other", Some("other"))] {
        let decoder = Decoder::new(&plain_model("azure-openai-responses"), "deployed", None, HashMap::new());
        let created = json!({"type": "response.created", "response": {"model": told}});
        let (message, _) = ended(play(decoder, &[created, json!({"type": "response.completed"})]));
        assert_eq!(message.response_model.as_deref(), recorded, "{told}");
    }
}

#[test]
fn events_of_hosted_tools_and_of_days_to_come_are_ignored() {
    let noise = include_str!("noise.jsonl");
    let noise: Vec<Value> = noise.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut events = vec![json!({"type": "response.queued"}), added(0, message("msg_1", json!([])))];
    events.extend(noise.clone());
    events.push(text_delta(0, "msg_1", "kept"));
    events.extend(noise.clone());
    events.push(end("completed", json!({"input_transformations": [{"reason": "prefix_mismatch"}, null, 4]})));
    events.extend(noise);
    let all = play(decoder(), &events);
    assert_eq!(all.iter().filter(|event| event.is_terminal()).count(), 1);
    let (message, failure) = ended(all);
    let [Block::Text(block)] = message.content.as_slice() else { panic!("{message:?}") };
    assert_eq!((block.text.as_str(), failure), ("kept", None));
}

#[test]
fn the_event_line_speaks_when_the_data_does_not_say_its_type() {
    let mut decoder = decoder();
    let mut out = Assembler::at(plain_model("openai-responses").into(), ThinkingLevel::Off, 1);
    let mut send = |name: &str, data: Value| {
        decoder.event(SseEvent { name, data: data.to_string().as_bytes() }, &mut out);
    };
    send("response.output_item.added", json!({"output_index": 0, "item": message("m", json!([]))}));
    send("response.output_text.delta", json!({"output_index": 0, "delta": "a"}));
    // The data's own word wins.
    send("response.completed", text_delta(0, "m", "b"));
    send("response.completed", json!({"response": {"status": "completed"}}));
    let (message, failure) = ended(out.take_events());
    let [Block::Text(block)] = message.content.as_slice() else { panic!("{message:?}") };
    assert_eq!((block.text.as_str(), failure), ("ab", None));
    let mut out = Assembler::at(plain_model("openai-responses").into(), ThinkingLevel::Off, 1);
    let busy = json!({"type": "server_error", "code": "server_is_overloaded", "message": "busy"}).to_string();
    decoder.event(SseEvent { name: "error", data: busy.as_bytes() }, &mut out);
    assert_eq!(ended(out.take_events()).1.map(|failure| failure.class), Some(FailureClass::Overloaded));
}

/// Events of all kinds, with and without what they are found by.
fn any_event() -> impl Strategy<Value = Value> {
    let index = prop_oneof![Just(None), (0u64..2).prop_map(Some)];
    let kinds = prop::sample::select(vec![
        "output_item.added",
        "output_item.done",
        "output_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_text.delta",
        "reasoning_summary_part.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
    ]);
    let items = prop::sample::select(vec!["message", "reasoning", "function_call", "custom_tool_call", "new"]);
    let texts = prop::sample::select(vec!["", "{", "{\"a\":1}", "x", "\"é\\"]);
    (kinds, index, prop::sample::select(vec!["", "a", "b"]), items, texts).prop_map(|(kind, index, id, item, text)| {
        json!({"type": format!("response.{kind}"), "output_index": index, "item_id": id, "delta": text, "input": text,
            "arguments": text, "summary_index": text.len(), "item": {"type": item, "id": id, "call_id": id, "name": "patch",
            "arguments": text, "input": text, "content": [{"text": text}], "summary": [{"text": text}]}})
    })
}

proptest! {
    #[test]
    fn any_order_of_events_builds_the_message_that_its_end_holds(events in prop::collection::vec(any_event(), 0..14)) {
        let output = json!({"output": [{"type": "reasoning", "id": "a", "encrypted_content": "late"}]});
        let events = play(decoder(), &[&events[..], &[end("completed", output)]].concat());
        prop_assert_eq!(events.iter().filter(|event| event.is_terminal()).count(), 1);
        let mut partial = PartialMessage::default();
        events[..events.len() - 1].iter().for_each(|event| partial.apply(event));
        let (message, failure) = ended(events);
        if failure.is_none() {
            prop_assert_eq!(partial.message.content, message.content);
        }
    }
}
