//! The decoders of wire APIs: what holds for the answer that any body gives.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use troupe::{
    protocol::{
        AssistantMessage, Block, Failure, FailureClass, Message, Model, StreamEvent, ThinkingLevel, ToolResultMessage,
        UserMessage,
        model::{InputKind, ModelCost},
    },
    providers::{Request, assembler::Assembler, wire_api},
};

use crate::{
    invariants::invariants,
    random::{Random, hash},
    requests::check_request,
    texts::cut,
};

/// The model of the requests that the bodies answer.
pub fn model(api: &str) -> Model {
    Model {
        id: "m".into(),
        name: "M".into(),
        api: api.into(),
        provider: "custom".into(),
        base_url: "http://localhost/v1".into(),
        reasoning: true,
        thinking_level_map: None,
        input: vec![InputKind::Text, InputKind::Image],
        input_limits: None,
        cost: ModelCost { input: 1.0, output: 2.0, cache_read: 0.1, cache_write: 1.25, tiers: Vec::new() },
        prompt_cache: None,
        context_window: 200_000,
        max_tokens: 8000,
        sampling_params: None,
        sampling_params_by_thinking_level: None,
        headers: None,
        compat: None,
    }
}

fn user(text: &str) -> Message {
    Message::User(Arc::new(UserMessage { content: text.into(), timestamp: 1 }))
}

/// Checks a body; the kinds of its events are its shape.
pub fn check(api: &str, body: &[u8]) -> u64 {
    let mut request = Request::new(Arc::new(model(api)), vec![user("hi")]);
    request.thinking = ThinkingLevel::Medium;
    let begun = Instant::now();
    let whole = decode(api, &request, &[body], None);
    let time = begun.elapsed();
    let mut random = Random::of(body);
    assert_same(&whole, &decode(api, &request, &cut(body, &mut random), None), "another result in pieces");
    if body.len() <= 2048 {
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        assert_same(&whole, &decode(api, &request, &bytes, None), "another result byte by byte");
    }
    let message = check_answer(api, &whole);
    // A fault behind the end mark does not matter; before it, an answer is not complete either way.
    let reset = Failure::new(FailureClass::Network, "reset");
    let cut_off = decode(api, &request, &[body], Some(reset));
    assert_eq!(check_answer(api, &cut_off).is_failed(), message.is_failed(), "a fault at the end decides");
    check_replay(&request, message);
    check_time(time, body.len(), || drop(decode(api, &request, &[body], None)));
    shape(&whole)
}

/// The events of a body, alike in every run: with ids that were made up and times replaced.
fn decode(api: &str, request: &Request, pieces: &[&[u8]], fault: Option<Failure>) -> Vec<StreamEvent> {
    let mut out = Assembler::at(request.model.clone(), request.thinking, 1);
    let mut decoder = wire_api(api).unwrap().decoder(request);
    for piece in pieces {
        decoder.push(piece, &mut out);
    }
    decoder.finish(fault, &mut out);
    assert!(out.is_finished(), "no end");
    let mut events = out.take_events();
    // Nothing comes behind the end.
    decoder.push(pieces.concat().as_slice(), &mut out);
    decoder.finish(None, &mut out);
    assert!(out.take_events().is_empty(), "events behind the end");
    normalise(&mut events);
    events
}

fn normalise(events: &mut [StreamEvent]) {
    let mut made_up: HashMap<String, usize> = HashMap::new();
    let mut rename = |id: &mut String| {
        let digits = id.strip_prefix("call_").unwrap_or_default();
        if digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let number = made_up.len();
            *id = format!("made up {}", made_up.entry(id.clone()).or_insert(number));
        }
    };
    for event in events {
        match event {
            StreamEvent::ToolCallEnd { call, .. } => rename(&mut call.id),
            StreamEvent::Done(message) | StreamEvent::Failed { message, .. } => {
                let message = Arc::make_mut(message);
                message.duration_ms = None;
                for block in &mut message.content {
                    if let Block::ToolCall(call) = block {
                        rename(&mut call.id);
                    }
                }
            }
            _ => {}
        }
    }
}

fn assert_same(whole: &[StreamEvent], other: &[StreamEvent], what: &str) {
    assert!(whole == other, "{what}:\n{whole:#?}\n{other:#?}");
}

/// APIs that state the arguments of a call once more at its end. That word counts, also against the deltas (rule R7).
const FINAL_WORD: &[&str] = &["openai-responses", "azure-openai-responses", "openai-codex-responses"];

fn check_answer<'e>(api: &str, events: &'e [StreamEvent]) -> &'e AssistantMessage {
    let (message, done) = match events.last() {
        Some(StreamEvent::Done(message)) => (message, true),
        Some(StreamEvent::Failed { message, failure }) => {
            assert!(!failure.message.is_empty(), "a failure without a text");
            (message, false)
        }
        other => panic!("the last event is {other:?}"),
    };
    let mut faults = Vec::new();
    invariants(events, message, done, &mut faults);
    if FINAL_WORD.contains(&api) {
        faults.retain(|fault| !(fault.contains("the deltas") && fault.contains("are not ToolCall")));
    }
    assert!(faults.is_empty(), "{faults:#?}\n{events:#?}");
    message
}

/// What came can be stored, and goes back to the same model and to every other.
fn check_replay(request: &Request, message: &AssistantMessage) {
    let stored = serde_json::to_string(message).unwrap();
    let read: AssistantMessage = serde_json::from_str(&stored).unwrap();
    assert_eq!(without_fractions(&read), without_fractions(message), "stored and read: something else");
    let mut request = request.clone();
    let results = message.tool_calls().map(|call| {
        Message::ToolResult(Arc::new(ToolResultMessage {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            content: vec![Block::text("ok")],
            ..ToolResultMessage::default()
        }))
    });
    let results: Vec<_> = results.collect();
    request.messages.push(Message::Assistant(Arc::new(message.clone())));
    request.messages.extend(results);
    request.messages.push(user("go on"));
    check_request(&request);
}

/// The message as JSON, without its prices and with whole numbers: `serde_json` reads fractions almost exactly.
fn without_fractions(message: &AssistantMessage) -> Value {
    fn cut(value: &mut Value) {
        match value {
            Value::Number(number) if number.is_f64() => *value = json!("a fraction"),
            Value::Array(elements) => elements.iter_mut().for_each(cut),
            Value::Object(members) => members.values_mut().for_each(cut),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(message).unwrap();
    cut(&mut value);
    value
}

/// Time in proportion to the size: twenty times what an unoptimised build needs. Measured again, without what other
/// threads took, when it was exceeded.
fn check_time(first: Duration, size: usize, again: impl Fn()) {
    let limit = Duration::from_millis(50) + Duration::from_nanos(4000) * u32::try_from(size).unwrap();
    let mut time = first;
    for _ in 0..3 {
        if time <= limit {
            return;
        }
        let begun = thread_time();
        again();
        time = thread_time().saturating_sub(begun);
    }
    panic!("{time:?} for {size} bytes");
}

/// The time that this thread had a processor, where the system tells it.
fn thread_time() -> Duration {
    static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.as_deref().and_then(|told| told.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| BEGUN.elapsed(), Duration::from_nanos)
}

/// The kinds of the events, the ways that arguments failed, and the end.
fn shape(events: &[StreamEvent]) -> u64 {
    let mut names: Vec<String> = Vec::new();
    for event in events {
        let name = match event {
            StreamEvent::Start(_) => "start".to_owned(),
            StreamEvent::TextStart { .. } => "text".to_owned(),
            StreamEvent::TextDelta { index, .. } => format!("text {}", index.min(&3)),
            StreamEvent::TextEnd { block, .. } => format!("text end {}", block.text_signature.is_some()),
            StreamEvent::ThinkingStart { .. } => "thinking".to_owned(),
            StreamEvent::ThinkingDelta { index, .. } => format!("thinking {}", index.min(&3)),
            StreamEvent::ThinkingEnd { block, .. } => {
                format!("thinking end {} {:?}", block.thinking_signature.is_some(), block.redacted)
            }
            StreamEvent::ToolCallStart { id, name, .. } => format!("call {} {}", id.is_empty(), name.is_empty()),
            StreamEvent::ToolCallDelta { index, .. } => format!("call {}", index.min(&3)),
            StreamEvent::ToolCallEnd { call, .. } => {
                let problem = call.arguments_error.as_deref().unwrap_or_default();
                let problem = problem.split_whitespace().next().unwrap_or_default();
                format!("call end {} {problem}", call.id.starts_with("made up"))
            }
            StreamEvent::Usage(usage) => format!("usage {} {}", usage.cache_read > 0, usage.cost.total > 0.0),
            StreamEvent::Done(message) => {
                format!("done {:?} {}", message.stop_reason, message.response_model.is_some())
            }
            StreamEvent::Failed { failure, .. } => format!("failed {:?} {:?}", failure.class, failure.status),
        };
        // Repetitions are not new, and neither is what comes far behind.
        if !names.contains(&name) && names.len() < 40 {
            names.push(name);
        }
    }
    hash(names.join(";").as_bytes())
}
