use std::{path::PathBuf, sync::Arc, time::Duration};

use serde_json::json;
use tokio::time::Instant;
use tokio_stream::StreamExt as _;

use super::*;
use crate::{
    protocol::{
        AssistantMessage, Block, Content, Model, ModelRef, StopReason, StreamEvent, SystemMessage, ThinkingLevel,
        ToolDeclaration, UserMessage, stream::PartialMessage,
    },
    providers::catalogue::{self, builtin},
};

/// A request with these messages.
pub(in crate::providers) fn request(model: Arc<Model>, messages: Vec<Message>) -> Request {
    Request { thinking: ThinkingLevel::Medium, ..Request::new(model, messages) }
}

fn script_model() -> Arc<Model> {
    builtin::inside().into_iter().find(|model| model.id == builtin::SCRIPT).unwrap()
}

fn user(text: &str) -> Message {
    Message::User(Arc::new(UserMessage { content: Content::from(text), timestamp: 0 }))
}

fn answer(text: &str, stop_reason: StopReason) -> Message {
    let message = AssistantMessage { content: vec![Block::text(text)], stop_reason, ..AssistantMessage::default() };
    Message::Assistant(Arc::new(message))
}

fn scripted(script: Value) -> Scripted {
    Scripted::from_value(&script).unwrap()
}

async fn batches(provider: &Scripted, request: Request) -> Vec<Vec<StreamEvent>> {
    provider.stream(request).collect().await
}

async fn play(provider: &Scripted, messages: Vec<Message>) -> Vec<StreamEvent> {
    batches(provider, request(script_model(), messages)).await.concat()
}

/// The end of a stream in words.
async fn outcome(provider: &Scripted, messages: Vec<Message>) -> String {
    match play(provider, messages).await.pop() {
        Some(StreamEvent::Done(message)) => format!("{:?}: {}", message.stop_reason, text(&message)),
        Some(StreamEvent::Failed { failure, .. }) => format!("{}: {}", failure.class.name(), failure.message),
        other => panic!("no end: {other:?}"),
    }
}

fn text(message: &AssistantMessage) -> String {
    crate::protocol::message::text_of(&message.content, "|")
}

#[tokio::test]
async fn a_turn_streams_its_blocks_in_order_and_ends_with_the_whole_answer() {
    let provider = scripted(json!({"pace": {"deltas": 2}, "turns": [{
        "thinking": "hmmm", "text": "Héllo", "calls": [{"name": "bash", "arguments": {"command": "ls"}}, {"id": "x", "name": "read", "arguments": "{oops"}],
        "usage": {"input": 7, "output": 3, "cost": 0.5}}]}));
    let events = play(&provider, vec![user("hi")]).await;
    let mut built = PartialMessage::default();
    events[..events.len() - 1].iter().for_each(|event| built.apply(event));
    let StreamEvent::Done(message) = events.last().unwrap() else { panic!() };
    assert_eq!(built.message.content, message.content, "the events make up the answer");
    let names: Vec<_> =
        events.iter().map(|event| format!("{event:?}").split([' ', '(']).next().unwrap().to_owned()).collect();
    assert_eq!(names[..5], ["Start", "ThinkingStart", "ThinkingDelta", "ThinkingDelta", "ThinkingEnd"]);
    assert_eq!(names[names.len() - 2..], ["Usage", "Done"]);
    assert_eq!(
        (message.stop_reason, message.usage.total_tokens, message.usage.cost.total),
        (StopReason::ToolUse, 10, 0.5)
    );
    assert_eq!(
        (message.provider.as_str(), message.model.as_str(), message.api.as_str()),
        ("troupe", "script", "troupe-script")
    );
    let calls: Vec<_> = message.tool_calls().collect();
    assert_eq!((calls[0].id.as_str(), &calls[0].arguments["command"]), ("call_1_2", &json!("ls")));
    assert!(calls[1].arguments.is_empty() && calls[1].arguments_error.as_ref().unwrap().ends_with("{oops"));
}

#[tokio::test]
async fn the_turn_follows_from_the_answers_in_the_history_that_did_not_fail() {
    let provider = scripted(json!({"turns": ["one", "two {{lastUser}} {{turn}}"]}));
    let first = || user("a");
    let ok = answer("one", StopReason::Stop);
    let failed = answer("", StopReason::Error);
    let aborted = answer("", StopReason::Aborted);
    assert_eq!(outcome(&provider, vec![first()]).await, "Stop: one");
    assert_eq!(outcome(&provider, vec![first()]).await, "Stop: one", "asking again gives the same");
    assert_eq!(outcome(&provider, vec![first(), failed.clone(), aborted, user("b")]).await, "Stop: one");
    assert_eq!(outcome(&provider, vec![first(), ok.clone(), failed, user("b")]).await, "Stop: two b 2");
    let end = outcome(&provider, vec![first(), ok.clone(), user("b"), ok, user("c")]).await;
    assert_eq!(end, "invalid_request: the script has 2 turns, and the request is for turn 3");
}

#[tokio::test]
async fn scripts_can_repeat_loop_and_count_calls_by_session() {
    let history = |answers| vec![answer("x", StopReason::Stop); answers];
    let repeat = scripted(json!({"end": "repeat", "turns": ["a", "b"]}));
    let looped = scripted(json!({"end": "loop", "turns": ["a", "b"]}));
    for (number, repeated, around) in [(0, "a", "a"), (1, "b", "b"), (2, "b", "a"), (3, "b", "b")] {
        assert_eq!(outcome(&repeat, history(number)).await, format!("Stop: {repeated}"));
        assert_eq!(outcome(&looped, history(number)).await, format!("Stop: {around}"));
    }
    let counted = scripted(json!({"select": "calls", "turns": ["a", "b"]}));
    for (session, expected) in [("s1", "a"), ("s1", "b"), ("s2", "a")] {
        let request = Request { session_id: Some(session.into()), ..request(script_model(), vec![user("hi")]) };
        let events = batches(&counted, request).await.concat();
        assert!(matches!(events.last(), Some(StreamEvent::Done(message)) if text(message) == expected));
    }
}

#[tokio::test]
async fn a_scene_plays_for_requests_that_fit_its_condition() {
    let provider = scripted(json!({
        "scenes": [
            {"when": {"lastUser": "<conversation>"}, "end": "repeat", "turns": ["SUMMARY"]},
            {"when": {"system": ["reviewer", "role"], "tools": "read"}, "turns": ["review"]},
        ],
        "turns": ["main"],
    }));
    let system = |text: &str| {
        Message::System(Arc::new(SystemMessage {
            content: Content::from(text),
            tools_added: Some(vec![ToolDeclaration { name: "read".into(), ..ToolDeclaration::default() }]),
            ..SystemMessage::default()
        }))
    };
    assert_eq!(outcome(&provider, vec![user("go")]).await, "Stop: main");
    assert_eq!(outcome(&provider, vec![user("<conversation> x")]).await, "Stop: SUMMARY");
    assert_eq!(outcome(&provider, vec![system("your role: reviewer"), user("go")]).await, "Stop: review");
    assert_eq!(outcome(&provider, vec![system("your role: writer"), user("go")]).await, "Stop: main");
}

#[tokio::test]
async fn an_expectation_that_fails_says_what_was_expected_and_found() {
    let table = [
        (json!({"lastUser": "hello"}), "expected the last user message to contain \"hello\", found \"hi\""),
        (json!({"lastToolResult": "x"}), "expected the last tool result to contain \"x\", found \"\""),
        (json!({"tools": ["bash"]}), "expected the tool bash among []"),
        (json!({"lastRole": "toolResult"}), "expected the last message's role to be toolResult, found user"),
        (json!({"messages": 2}), "expected the number of messages to be 2, found 1"),
        (json!({"thinking": "high"}), "expected the thinking level to be high, found medium"),
    ];
    for (expect, message) in table {
        let provider = scripted(json!({"turns": [{"expect": expect, "text": "t"}]}));
        let expected = format!("invalid_request: turn 1 of the script: {message}");
        assert_eq!(outcome(&provider, vec![user("hi")]).await, expected);
    }
    let fits = json!({"lastUser": ["h", "i"], "lastRole": "user", "messages": 1, "thinking": "medium"});
    let provider = scripted(json!({"turns": [{"expect": fits, "text": "t"}]}));
    assert_eq!(outcome(&provider, vec![user("hi")]).await, "Stop: t");
}

#[tokio::test]
async fn faults_play_as_often_as_they_say_and_keep_what_arrived() {
    let provider = scripted(json!({"pace": {"deltaChars": 1}, "turns": [{"text": "abc", "fault":
        {"kind": "error", "class": "overloaded", "status": 529, "message": "busy", "retryAfterMs": 1500, "times": 2}}]}));
    for _ in 0..2 {
        let events = play(&provider, vec![user("hi")]).await;
        let [StreamEvent::Failed { message, failure }] = &events[..] else { panic!("{events:?}") };
        assert_eq!((failure.status, failure.retry_after_ms, failure.retryable), (Some(529), Some(1500), true));
        assert_eq!((message.stop_reason, message.error_message.as_deref()), (StopReason::Error, Some("busy")));
    }
    assert_eq!(outcome(&provider, vec![user("hi")]).await, "Stop: abc");
    let provider = scripted(json!({"pace": {"deltaChars": 1}, "turns": [{"text": "ab",
        "calls": [{"name": "bash", "arguments": {"a": 1}}], "fault": {"kind": "disconnect", "afterDeltas": 4}}]}));
    let events = play(&provider, vec![user("hi")]).await;
    let StreamEvent::Failed { message, failure } = events.last().unwrap() else { panic!() };
    assert_eq!(failure.class, FailureClass::StreamTruncated);
    assert_eq!(text(message), "ab");
    let cut = message.tool_calls().next().unwrap();
    assert!(cut.arguments_error.as_ref().unwrap().ends_with("Received arguments:\n{\""), "{cut:?}");
}

#[tokio::test(start_paused = true)]
async fn time_passes_only_as_the_script_says_and_cancelling_ends_any_wait() {
    let provider = scripted(
        json!({"turns": [{"text": "abcdef", "pace": {"delayMs": 1000, "deltaDelayMs": 10, "deltaChars": 1, "batch": 2}}]}),
    );
    let began = Instant::now();
    let found = batches(&provider, request(script_model(), vec![user("hi")])).await;
    assert_eq!(began.elapsed(), Duration::from_millis(1020));
    let deltas: Vec<usize> = found
        .iter()
        .map(|batch| batch.iter().filter(|event| matches!(event, StreamEvent::TextDelta { .. })).count())
        .collect();
    assert_eq!(deltas, [0, 2, 2, 2], "one read brings two deltas");
    let Some(StreamEvent::Done(message)) = found.last().and_then(|batch| batch.last()) else { panic!() };
    assert_eq!(message.duration_ms, Some(1020));

    let stalls =
        json!({"turns": [{"text": "abc", "pace": {"deltaChars": 1}, "fault": {"kind": "stall", "afterDeltas": 1}}]});
    let waits = json!({"turns": [{"text": "abc", "pace": {"delayMs": 60_000_000}}]});
    for (script, kept) in [(stalls, "a"), (waits, "")] {
        let request = request(script_model(), vec![user("hi")]);
        let cancel = request.cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(5)).await;
            cancel.cancel();
        });
        let began = Instant::now();
        let events = batches(&scripted(script), request).await.concat();
        assert_eq!(began.elapsed(), Duration::from_secs(5));
        let Some(StreamEvent::Failed { message, failure }) = events.last() else { panic!() };
        assert_eq!((failure.class, message.stop_reason), (FailureClass::Aborted, StopReason::Aborted));
        assert_eq!(text(message), kept);
    }
}

#[tokio::test]
async fn a_panic_leaves_the_stream() {
    let provider = scripted(json!({"turns": [{"fault": {"kind": "panic", "message": "boom"}}]}));
    let task = tokio::spawn(async move { play(&provider, vec![user("hi")]).await });
    assert!(task.await.unwrap_err().is_panic());
}

#[test]
fn errors_in_a_script_name_file_line_field_and_what_was_expected() {
    let table = [
        ("{\"turns\": [\n  {\"txt\": \"x\"}]}", "s.json:2:4: turns[0].txt: unknown field (did you mean text?)"),
        ("{}", "s.json:1:1: turns: expected a list of turns, found nothing"),
        ("{\"turns\": []}", "turns: expected at least one turn"),
        ("{\"turns\": [5]}", "turns[0]: expected a turn: a text or an object, found 5"),
        (
            "{\"turns\": [{\"fault\": {\"kind\": \"error\", \"class\": \"busy\"}}]}",
            "fault.class: expected a failure class such as overloaded",
        ),
        ("{\"turns\": [{\"fault\": {\"kind\": \"stall\", \"status\": 5}}]}", "fault.status: unknown field"),
        (
            "{\"turns\": [{\"content\": [{\"text\": \"a\", \"thinking\": \"b\"}]}]}",
            "content[0]: expected exactly one of text, thinking, call",
        ),
        ("{\"turns\": [{\"text\": \"a\", \"content\": []}]}", "turns[0].content: expected either content or"),
        ("{\"turns\": [\"a\"], \"pace\": {\"deltas\": 0}}", "pace.deltas: expected a number above zero, found 0"),
        (
            "{\"turns\": [\"a\"], \"scenes\": [{\"turns\": [\"b\"]}]}",
            "scenes[0].when: expected a condition, found nothing",
        ),
        (
            "{\"turns\": [\"a\"], \"model\": {\"contextWindow\": \"8k\"}}",
            "model.contextWindow: expected a whole number",
        ),
        (
            "{\"turns\": [\n{\"text\": {\"repeat\": \"ab\", \"times\": 99999999999}}]}",
            "s.json:2:27: turns[0].text.times: expected at most 33554432 (a text of 64 MiB), found 99999999999",
        ),
        (
            "{\"turns\": [{\"thinking\": {\"repeat\": \"\", \"times\": 18446744073709551615}}]}",
            "turns[0].thinking.times: expected at most 67108864",
        ),
        ("{\"turns\": [\"a\"", "s.json:1:11: expected a closing bracket"),
    ];
    let dir = tempfile::tempdir().unwrap();
    let file: PathBuf = dir.path().join("s.json");
    for (text, expected) in table {
        std::fs::write(&file, text).unwrap();
        let error = Scripted::from_file(&file).map(|_| ()).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}\n{error}");
    }
    let pipe = crate::store::testing::pipe_in(dir.path(), "pipe.json");
    let error = Scripted::from_file(&pipe).map(|_| ()).unwrap_err().to_string();
    assert!(error.ends_with("pipe.json:1:1: cannot be read: expected a regular file, found a pipe"), "{error}");
}

#[test]
fn a_script_changes_its_model() {
    let provider =
        scripted(json!({"model": {"contextWindow": 8000, "cost": {"input": 2}, "reasoning": false}, "turns": ["a"]}));
    let mut catalogue = catalogue::tests::catalogue("{}", &[]);
    catalogue.override_script_model(provider.model_fields().unwrap()).unwrap();
    let name = ModelRef { provider: catalogue::TROUPE.into(), model_id: builtin::SCRIPT.into() };
    let model = catalogue.find(&name).unwrap();
    assert_eq!((model.context_window, model.cost.input, model.reasoning), (8000, 2.0, false));
}

#[tokio::test]
async fn the_example_in_the_documentation_is_a_script() {
    let page = include_str!("../../../docs/scripted-provider.md");
    let blocks: Vec<_> = page.split("```jsonc\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(blocks.len() >= 3);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("example.json");
    for block in blocks {
        std::fs::write(&file, block).unwrap();
        Scripted::from_file(&file).map_err(|error| format!("{error}\n{block}")).unwrap();
    }
}
