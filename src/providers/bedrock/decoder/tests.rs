use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    protocol::{AssistantMessage, StreamEvent},
    providers::{
        aws::event_stream::tests::frame,
        testing::{plain_model, request},
    },
};

fn event(name: &str, payload: &Value) -> Vec<u8> {
    raw_event(name, payload.to_string().as_bytes())
}

fn raw_event(name: &str, payload: &[u8]) -> Vec<u8> {
    frame(&[(":event-type", name), (":content-type", "application/json"), (":message-type", "event")], payload)
}

fn delta(index: u64, delta: &Value) -> Vec<u8> {
    event("contentBlockDelta", &json!({"contentBlockIndex": index, "delta": delta, "p": "abc"}))
}

fn start(index: u64, start: &Value) -> Vec<u8> {
    event("contentBlockStart", &json!({"contentBlockIndex": index, "start": start}))
}

fn close(index: u64) -> Vec<u8> {
    event("contentBlockStop", &json!({"contentBlockIndex": index}))
}

fn stop(reason: &str) -> Vec<u8> {
    event("messageStop", &json!({"stopReason": reason}))
}

fn exception(name: &str, payload: &str) -> Vec<u8> {
    frame(&[(":exception-type", name), (":message-type", "exception")], payload.as_bytes())
}

/// The end of an answer whose body is these frames, in whatever pieces they come.
fn run(frames: &[Vec<u8>]) -> (AssistantMessage, Option<Failure>) {
    run_with(frames, None)
}

fn run_with(frames: &[Vec<u8>], fault: Option<Failure>) -> (AssistantMessage, Option<Failure>) {
    let body = frames.concat();
    let results = [body.len().max(1), 1, 13].map(|size| {
        let request = request(plain_model("bedrock-converse-stream"), vec![]);
        let mut out = Assembler::new(&request);
        let mut decoder = Decoder::new("amazon-bedrock");
        for piece in body.chunks(size) {
            decoder.push(piece, &mut out);
        }
        decoder.finish(fault.clone(), &mut out);
        let events = out.take_events();
        assert_eq!(events.iter().filter(|event| event.is_terminal()).count(), 1);
        let (message, failure) = match events.into_iter().last() {
            Some(StreamEvent::Done(message)) => (message, None),
            Some(StreamEvent::Failed { message, failure }) => (message, Some(failure)),
            other => panic!("no end: {other:?}"),
        };
        let mut message = (*message).clone();
        (message.duration_ms, message.timestamp) = (None, 0);
        (message, failure)
    });
    assert_eq!((&results[0], &results[0]), (&results[1], &results[2]));
    results.into_iter().next().unwrap()
}

fn content(frames: &[Vec<u8>]) -> Value {
    let (message, failure) = run(frames);
    assert_eq!(failure, None);
    serde_json::to_value(&message.content).unwrap()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn every_stop_reason_means_something() {
    use FailureClass as C;
    let table = [
        ("end_turn", Ok(StopReason::Stop)),
        ("stop_sequence", Ok(StopReason::Stop)),
        ("tool_use", Ok(StopReason::Stop)),
        ("max_tokens", Ok(StopReason::Length)),
        ("model_context_window_exceeded", Ok(StopReason::Length)),
        ("guardrail_intervened", Err(C::ContentFilter)),
        ("content_filtered", Err(C::ContentFilter)),
        ("malformed_tool_use", Err(C::ToolUseFailed)),
        ("malformed_model_output", Err(C::ProviderStop)),
        ("something_new", Err(C::ProviderStop)),
    ];
    for (reason, expected) in table {
        let usage = event("metadata", &json!({"usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}}));
        for extras in [vec![], vec![usage]] {
            let frames = [vec![delta(0, &json!({"text": "x"})), stop(reason)], extras.clone()].concat();
            let (message, failure) = run(&frames);
            assert_eq!(message.raw_stop_reason.as_deref(), Some(reason));
            assert_eq!(message.content.len(), 1);
            assert_eq!(message.usage.total_tokens, if extras.is_empty() { 0 } else { 5 }, "usage comes behind");
            match expected {
                Ok(stop) => assert_eq!((message.stop_reason, failure), (stop, None), "{reason}"),
                Err(class) => {
                    let failure = failure.unwrap();
                    assert_eq!((failure.class, message.stop_reason), (class, StopReason::Error), "{reason}");
                    assert!(failure.message.contains(reason));
                }
            }
        }
    }
    let call = start(0, &json!({"toolUse": {"toolUseId": "a", "name": "ls"}}));
    assert_eq!(run(&[call, stop("end_turn")]).0.stop_reason, StopReason::ToolUse);
    assert_eq!(run(&[event("messageStop", &json!({}))]).0.stop_reason, StopReason::Stop);
}

#[test]
fn blocks_are_kept_by_index_and_open_with_their_first_delta() {
    let frames = [
        event("messageStart", &json!({"role": "assistant"})),
        delta(0, &json!({"reasoningContent": {"text": "why"}})),
        delta(1, &json!({"text": "a"})),
        start(2, &json!({"toolUse": {"toolUseId": "t2", "name": "ls"}})),
        start(3, &json!({"toolUse": {"toolUseId": "t3", "name": "cat"}})),
        delta(2, &json!({"toolUse": {"input": "{\"p\":"}})),
        delta(1, &json!({"text": "b"})),
        delta(3, &json!({"toolUse": {"input": "{\"q\":2}"}})),
        delta(2, &json!({"toolUse": {"input": "1}"}})),
        delta(0, &json!({"reasoningContent": {"signature": "si"}})),
        delta(0, &json!({"reasoningContent": {"signature": "g"}})),
        stop("tool_use"),
    ];
    let expected = json!([
        {"type": "thinking", "thinking": "why", "thinkingSignature": "sig"},
        text("ab"),
        {"type": "toolCall", "id": "t2", "name": "ls", "arguments": {"p": 1}},
        {"type": "toolCall", "id": "t3", "name": "cat", "arguments": {"q": 2}},
    ]);
    assert_eq!(content(&frames), expected);
}

#[test]
fn what_is_not_known_is_ignored_with_all_that_belongs_to_it() {
    let frames = [
        event("somethingNew", &json!({"contentBlockIndex": 0})),
        raw_event("somethingNew", b"no json"),
        frame(&[(":event-type", "messageStop"), (":message-type", "novelty")], b"{\"stopReason\":\"max_tokens\"}"),
        frame(&[], b"{}"),
        start(0, &json!({"image": {"format": "png"}})),
        delta(0, &json!({"image": {"source": {"bytes": "AA=="}}})),
        delta(0, &json!({"text": "part of the picture"})),
        close(0),
        start(1, &json!({"toolResult": {"toolUseId": "x"}})),
        delta(1, &json!({"toolResult": [{"text": "of the server"}]})),
        start(2, &json!({"toolUse": {"toolUseId": "s", "name": "search", "type": "server_tool_use"}})),
        delta(2, &json!({"toolUse": {"input": "{}"}})),
        close(2),
        delta(3, &json!({"citation": {"title": "t"}})),
        delta(3, &json!({"text": "seen", "novel": 1})),
        delta(3, &json!({"citation": {"title": "t"}})),
        delta(4, &json!({"toolUse": {"input": "{\"of\":\"nobody\"}"}})),
        delta(4, &json!({"reasoningContent": {"novel": 1}})),
        event("contentBlockDelta", &json!({"contentBlockIndex": 5, "delta": null})),
        event("contentBlockDelta", &json!([1])),
        event("metadata", &json!({"usage": null, "metrics": {"latencyMs": 9}})),
        stop("end_turn"),
    ];
    assert_eq!(content(&frames), json!([text("seen")]));
}

#[test]
fn odd_shapes_of_blocks_lose_nothing() {
    let no_index = |delta: Value| event("contentBlockDelta", &json!({"delta": delta}));
    let table = [
        // A start without content, and a block that is never closed.
        (vec![start(0, &json!({})), delta(0, &json!({"text": "x"}))], json!([text("x")])),
        // An index that is used again.
        (
            vec![delta(0, &json!({"text": "a"})), close(0), delta(0, &json!({"text": "b"}))],
            json!([text("a"), text("b")]),
        ),
        // Two kinds under one index.
        (
            vec![delta(0, &json!({"reasoningContent": {"text": "t"}})), delta(0, &json!({"text": "a"}))],
            json!([{"type": "thinking", "thinking": "t"}, text("a")]),
        ),
        // No index at all.
        (
            vec![
                no_index(json!({"text": "a"})),
                event("contentBlockStart", &json!({"start": {"toolUse": {"toolUseId": "t", "name": "ls"}}})),
                no_index(json!({"toolUse": {"input": "{\"a\":"}})),
                no_index(json!({"toolUse": {"input": "1}"}})),
            ],
            json!([text("a"), {"type": "toolCall", "id": "t", "name": "ls", "arguments": {"a": 1}}]),
        ),
        // Arguments as an object, in a delta and with the start.
        (
            vec![
                start(0, &json!({"toolUse": {"toolUseId": "a", "name": "x"}})),
                delta(0, &json!({"toolUse": {"input": {"n": 1}}})),
                start(1, &json!({"toolUse": {"toolUseId": "b", "name": "y", "input": {"n": 2}}})),
                start(2, &json!({"toolUse": {"toolUseId": "c", "name": "z", "input": {}}})),
                delta(2, &json!({"toolUse": {"input": "{\"n\":3}"}})),
            ],
            json!([
                {"type": "toolCall", "id": "a", "name": "x", "arguments": {"n": 1}},
                {"type": "toolCall", "id": "b", "name": "y", "arguments": {"n": 2}},
                {"type": "toolCall", "id": "c", "name": "z", "arguments": {"n": 3}},
            ]),
        ),
    ];
    for (mut frames, expected) in table {
        frames.push(stop("end_turn"));
        assert_eq!(content(&frames), expected);
    }
}

#[test]
fn ids_that_are_missing_or_repeated_are_made_unique() {
    let frames = [
        start(0, &json!({"toolUse": {"toolUseId": "same", "name": "a"}})),
        start(1, &json!({"toolUse": {"toolUseId": "same", "name": "b"}})),
        start(2, &json!({"toolUse": {"name": "c"}})),
        start(3, &json!({"toolUse": {"toolUseId": null, "name": "d"}})),
        stop("tool_use"),
    ];
    let request = request(plain_model("bedrock-converse-stream"), vec![]);
    let mut out = Assembler::new(&request);
    let mut decoder = Decoder::new("amazon-bedrock");
    decoder.push(&frames.concat(), &mut out);
    decoder.finish(None, &mut out);
    let Some(StreamEvent::Done(message)) = out.take_events().pop() else { panic!() };
    let mut ids: Vec<_> = message.tool_calls().map(|call| call.id.clone()).collect();
    assert_eq!(ids[0], "same");
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

#[test]
fn arguments_are_mended_or_marked() {
    let call = |input: &str| {
        let started = start(0, &json!({"toolUse": {"toolUseId": "a", "name": "x"}}));
        content(&[started, delta(0, &json!({"toolUse": {"input": input}})), stop("tool_use")])[0].clone()
    };
    assert_eq!(call(r#"{"re":"\d"}"#)["arguments"], json!({"re": "\\d"}));
    for broken in ["{\"a\":", "[1]"] {
        let call = call(broken);
        assert_eq!(call["arguments"], json!({}));
        assert!(call["argumentsError"].as_str().unwrap().contains(broken));
    }
}

#[test]
fn withheld_thinking_is_decoded_by_piece_and_encoded_once() {
    let redacted = |data: &str| delta(0, &json!({"reasoningContent": {"redactedContent": data}}));
    // "opaque-payload" in three pieces, each with its own padding, one without.
    let pieces = [redacted("b3Bh"), redacted("cXVlLQ=="), redacted("cGF5bG9hZA")];
    let thinking =
        json!({"type": "thinking", "thinking": "", "thinkingSignature": "b3BhcXVlLXBheWxvYWQ=", "redacted": true});
    let whole = [&pieces[..], &[close(0), delta(1, &json!({"text": "x"})), stop("end_turn")]].concat();
    assert_eq!(content(&whole), json!([thinking, text("x")]));
    // What arrived is kept when the stream breaks.
    let (message, failure) = run(&pieces);
    assert_eq!(failure.unwrap().class, FailureClass::StreamTruncated);
    assert_eq!(serde_json::to_value(&message.content).unwrap(), json!([thinking]));
    let (_, failure) = run(&[redacted("!!")]);
    assert_eq!(failure.unwrap().class, FailureClass::ProtocolError);
}

#[test]
fn usage_is_read_as_it_is_given() {
    let usage = |usage: Value| {
        let usage = run(&[stop("end_turn"), event("metadata", &json!({ "usage": usage }))]).0.usage;
        (usage.input, usage.output, usage.cache_read, usage.cache_write, usage.cache_write_1h, usage.total_tokens)
    };
    assert_eq!(usage(json!({"inputTokens": 3, "outputTokens": 4, "totalTokens": 100})), (3, 4, 0, 0, None, 100));
    let details = json!([{"ttl": "1h", "inputTokens": 5}, null, {"ttl": "5m", "inputTokens": 2}, {"ttl": "1h", "inputTokens": 1}]);
    let cached = json!({"inputTokens": 3, "outputTokens": 4, "cacheReadInputTokens": 10, "cacheWriteInputTokens": 8, "cacheDetails": details});
    assert_eq!(usage(cached), (3, 4, 10, 8, Some(6), 7));
    assert_eq!(usage(json!({"inputTokens": "x", "cacheDetails": {}})), (0, 0, 0, 0, None, 0));
    // Usage may come first.
    let early = [event("metadata", &json!({"usage": {"inputTokens": 3, "outputTokens": 4}})), stop("end_turn")];
    assert_eq!(run(&early).0.usage.input, 3);
}

#[test]
fn exceptions_have_the_class_of_their_name() {
    use FailureClass as C;
    let table = [
        ("internalServerException", "oops", C::ServerError, true),
        ("modelStreamErrorException", "the model broke", C::ServerError, true),
        ("serviceUnavailableException", "not now", C::ServerError, true),
        ("serviceUnavailableException", "The model is overloaded", C::Overloaded, true),
        ("throttlingException", "Too many tokens, please wait before trying again.", C::RateLimited, true),
        ("throttlingException", "Too many tokens for this account, quota exceeded", C::RateLimited, true),
        ("ThrottlingException", "slower", C::RateLimited, true),
        ("serviceQuotaExceededException", "Your quota exceeded: too many tokens", C::RateLimited, true),
        ("modelNotReadyException", "warming up", C::RateLimited, true),
        ("validationException", "Input is too long for requested model.", C::ContextOverflow, false),
        (
            "validationException",
            "The model returned the following errors: prompt is too long: 9 tokens > 8 maximum",
            C::ContextOverflow,
            false,
        ),
        ("validationException", "temperature is not for you", C::InvalidRequest, false),
        ("accessDeniedException", "no", C::Permission, false),
        ("resourceNotFoundException", "no", C::NotFound, false),
        ("modelTimeoutException", "late", C::ServerError, true),
        ("somethingNewException", "?", C::ServerError, true),
    ];
    for (name, said, class, retryable) in table {
        for key in ["message", "Message"] {
            let frames = [delta(0, &json!({"text": "kept"})), exception(name, &json!({ key: said }).to_string())];
            let (message, failure) = run(&frames);
            let failure = failure.unwrap();
            assert_eq!((failure.class, failure.retryable), (class, retryable), "{name} {said}");
            assert!(failure.message.contains(said) && failure.message.contains(name), "{failure}");
            assert_eq!(message.content.len(), 1);
            assert_eq!(
                crate::providers::overflow::is_overflow_text(&failure.message, "amazon-bedrock"),
                class == C::ContextOverflow,
                "the stored text says the same: {failure}"
            );
        }
    }
}

#[test]
fn exceptions_are_understood_in_every_shape() {
    let failure = |frame: Vec<u8>| run(&[frame]).1.unwrap();
    assert!(failure(exception("internalServerException", "")).message.contains("internalServerException"));
    assert!(failure(exception("internalServerException", "plain words")).message.contains("plain words"));
    let original = r#"{"message":"the model failed","originalMessage":"out of memory","originalStatusCode":500}"#;
    assert!(failure(exception("modelStreamErrorException", original)).message.contains("out of memory"));
    // Without a message type the other headers say what it is.
    let bare = frame(&[(":exception-type", "throttlingException")], b"{}");
    assert_eq!(failure(bare).class, FailureClass::RateLimited);
    // An exception behind the stop still counts.
    let (_, late) = run(&[stop("end_turn"), exception("throttlingException", "{}")]);
    assert_eq!(late.unwrap().class, FailureClass::RateLimited);
}

#[test]
fn error_frames_have_their_text_in_headers() {
    use FailureClass as C;
    let table = [
        ("InternalFailure", "it broke", C::ServerError, None),
        ("ThrottlingException", "Too many tokens", C::RateLimited, None),
        ("503", "busy", C::ServerError, Some(503)),
        ("429", "busy", C::RateLimited, Some(429)),
    ];
    for (code, said, class, status) in table {
        let frames = [frame(&[(":message-type", "error"), (":error-code", code), (":error-message", said)], b"")];
        let failure = run(&frames).1.unwrap();
        assert_eq!((failure.class, failure.status, failure.retryable), (class, status, true), "{code}");
        assert!(failure.message.contains(said) && failure.message.contains(code), "{failure}");
    }
}

#[test]
fn a_cut_or_broken_stream_is_told_from_a_whole_one() {
    use FailureClass as C;
    let text = delta(0, &json!({"text": "x"}));
    let mut corrupt = text.clone();
    corrupt[40] ^= 1;
    let half = text[..20].to_vec();
    let network = || Some(Failure::new(C::Network, "reset"));
    let table = [
        (vec![], None, Some(C::StreamTruncated)),
        (vec![text.clone()], None, Some(C::StreamTruncated)),
        (vec![text.clone(), half.clone()], None, Some(C::StreamTruncated)),
        (vec![text.clone()], network(), Some(C::Network)),
        (vec![text.clone(), corrupt.clone(), stop("end_turn")], None, Some(C::ProtocolError)),
        (vec![text.clone(), raw_event("messageStop", b"{\"stop")], None, Some(C::ProtocolError)),
        // Behind the end mark nothing of it matters.
        (vec![text.clone(), stop("end_turn"), half], None, None),
        (vec![text.clone(), stop("end_turn"), corrupt], None, None),
        (vec![text, stop("end_turn")], network(), None),
    ];
    for (frames, fault, class) in table {
        let (_, failure) = run_with(&frames, fault);
        assert_eq!(failure.as_ref().map(|failure| failure.class), class, "{failure:?}");
        if class == Some(C::ProtocolError) && frames.len() == 3 {
            assert!(failure.unwrap().message.contains("checksum"));
        }
    }
}

#[test]
fn broken_json_is_mended_as_far_as_it_can_be() {
    let tab = raw_event("contentBlockDelta", b"{\"contentBlockIndex\":0,\"delta\":{\"text\":\"a\tb \\d\"}}");
    assert_eq!(content(&[tab, stop("end_turn")]), json!([text("a\tb \\d")]));
    let empty = [raw_event("messageStart", b""), delta(0, &json!({"text": ""})), close(0), stop("end_turn")];
    assert_eq!(content(&empty), json!([text("")]));
    assert_eq!(content(&[stop("end_turn")]), json!([]));
}

#[test]
fn the_end_mark_is_known_while_extras_may_come() {
    let request = request(plain_model("bedrock-converse-stream"), vec![]);
    let (mut out, mut decoder) = (Assembler::new(&request), Decoder::new("amazon-bedrock"));
    decoder.push(&delta(0, &json!({"text": "x"})), &mut out);
    assert!(!decoder.is_complete());
    decoder.push(&stop("end_turn"), &mut out);
    assert!(decoder.is_complete() && !out.is_finished());
    decoder.push(&event("metadata", &json!({})), &mut out);
    assert!(out.is_finished(), "nothing comes behind the numbers");
}

/// Payloads that are nearly right.
fn payload() -> impl Strategy<Value = String> {
    let value = prop::sample::select(vec![
        "0",
        "1",
        "-1",
        "1e99",
        "null",
        "\"x\"",
        "\"\"",
        "\"AA==\"",
        "\"end_turn\"",
        "[1]",
        "{}",
        "{\"text\":\"a\"}",
        "{\"toolUse\":{\"name\":\"ls\"}}",
        "{\"toolUse\":{\"input\":\"{}\"}}",
        "{\"reasoningContent\":{\"text\":\"t\"}}",
        "{\"reasoningContent\":{\"redactedContent\":\"AA\"}}",
        "{\"inputTokens\":1e30,\"totalTokens\":-1}",
        "{\"a\":",
        "\\",
    ]);
    let key = prop::sample::select(vec!["contentBlockIndex", "start", "delta", "stopReason", "usage", "message", "p"]);
    prop::collection::vec((key, value), 0..4).prop_map(|fields| {
        let fields: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        format!("{{{}}}", fields.join(","))
    })
}

proptest! {
    #[test]
    fn whatever_sound_frames_hold_there_is_one_end_and_the_pieces_do_not_matter(
        events in prop::collection::vec((prop::sample::select(vec![
            "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata",
            "novelty", "throttlingException",
        ]), payload()), 0..12),
    ) {
        let frames: Vec<Vec<u8>> = events.iter().map(|(name, payload)| match *name {
            "throttlingException" => exception(name, payload),
            name => raw_event(name, payload.as_bytes()),
        }).collect();
        // Ids are made anew each time: a call without one is left out of the comparison.
        if !frames.concat().windows(11).any(|part| part == b"\"toolUse\":{") {
            run(&frames);
        }
        let request = request(plain_model("bedrock-converse-stream"), vec![]);
        let (mut out, mut decoder) = (Assembler::new(&request), Decoder::new("amazon-bedrock"));
        decoder.push(&frames.concat(), &mut out);
        decoder.finish(None, &mut out);
        let events = out.take_events();
        prop_assert_eq!(events.iter().filter(|event| event.is_terminal()).count(), 1);
        prop_assert!(events.last().is_some_and(StreamEvent::is_terminal));
    }
}
