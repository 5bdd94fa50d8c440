use serde_json::json;

use super::*;
use crate::{protocol::stream::PartialMessage, providers::testing::model};

fn assembler() -> Assembler {
    Assembler::at(model("openai-completions"), ThinkingLevel::Medium, 1)
}

/// The final message and the failure, after checking that the events alone build the same message.
fn result(assembler: &mut Assembler) -> (Arc<AssistantMessage>, Option<Failure>) {
    let events = assembler.take_events();
    let mut partial = PartialMessage::default();
    for event in &events[..events.len() - 1] {
        assert!(!event.is_terminal());
        partial.apply(event);
    }
    let (message, failure) = match events.into_iter().last() {
        Some(StreamEvent::Done(message)) => (message, None),
        Some(StreamEvent::Failed { message, failure }) => (message, Some(failure)),
        other => panic!("no terminal event: {other:?}"),
    };
    if failure.is_none() {
        assert_eq!(partial.message.content, message.content);
    }
    (message, failure)
}

#[test]
fn blocks_are_placed_in_order_of_their_starts_and_end_together() {
    let mut out = assembler();
    let thinking = out.thinking_start();
    out.thinking_delta(thinking, "hm");
    let text = out.text_start();
    out.text_delta(text, "a");
    out.thinking_delta(thinking, "m");
    out.thinking_replay(thinking, "reasoning_content".into());
    out.raw_stop_reason("stop");
    out.done(StopReason::Stop);
    let kinds: Vec<_> = out.events.iter().map(std::mem::discriminant).collect();
    assert_eq!(kinds.len(), 9);
    assert!(matches!(&out.events[0], StreamEvent::Start(message) if message.stop_reason == StopReason::Pending));
    assert!(matches!(out.events[6], StreamEvent::ThinkingEnd { index: 0, .. }));
    assert!(matches!(out.events[7], StreamEvent::TextEnd { index: 1, .. }));
    let (message, _) = result(&mut out);
    assert_eq!(message.stop_reason, StopReason::Stop);
    assert_eq!(message.thinking_level.as_deref(), Some("medium"));
    assert_eq!((message.timestamp, message.raw_stop_reason.as_deref()), (1, Some("stop")));
    assert!(message.duration_ms.is_some());
}

#[test]
fn calls_make_a_normal_stop_a_request_for_tools_and_nothing_else_does() {
    let table = [
        (true, StopReason::Stop, StopReason::ToolUse),
        (true, StopReason::ToolUse, StopReason::ToolUse),
        (true, StopReason::Length, StopReason::Length),
        (false, StopReason::ToolUse, StopReason::Stop),
        (false, StopReason::Stop, StopReason::Stop),
    ];
    for (with_call, said, stored) in table {
        let mut out = assembler();
        if with_call {
            out.call_start("c", "ls");
        }
        out.done(said);
        assert_eq!(result(&mut out).0.stop_reason, stored);
    }
}

#[test]
fn fc_021_every_call_has_an_id_of_its_own() {
    let mut out = assembler();
    for id in ["a", "", "null", "a", " "] {
        let index = out.call_start(id, "ls");
        out.call_delta(index, "{}");
    }
    let late = out.call_start("", "");
    out.call_id(late, "late");
    out.call_id(late, "later");
    out.call_name(late, "grep");
    out.done(StopReason::Stop);
    let (message, _) = result(&mut out);
    let ids: Vec<_> = message.tool_calls().map(|call| call.id.as_str()).collect();
    assert_eq!((ids[0], ids[5]), ("a", "late"));
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 6);
    assert!(ids.iter().all(|id| id.len() <= 40 && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')));
    assert_eq!(message.tool_calls().last().map(|call| call.name.as_str()), Some("grep"));
}

#[test]
fn arguments_are_read_once_and_their_faults_stay_with_the_call() {
    let mut out = assembler();
    let good = out.call_start("a", "x");
    out.call_delta(good, "{\"n\":");
    out.call_delta(good, "1}");
    let cut = out.call_start("b", "x");
    out.call_delta(cut, "{\"n\":");
    let free = out.call_start("c", "run");
    out.call_is_free_text(free, "code");
    out.call_delta(free, "return \"1\"");
    out.done(StopReason::Length);
    let (message, failure) = result(&mut out);
    assert_eq!(failure, None);
    let calls: Vec<_> = message.tool_calls().collect();
    assert_eq!(json!(calls[0].arguments), json!({"n": 1}));
    assert!(calls[1].arguments.is_empty());
    assert!(calls[1].arguments_error.as_ref().is_some_and(|text| text.ends_with("Received arguments:\n{\"n\":")));
    assert_eq!(json!(calls[2].arguments), json!({"code": "return \"1\""}));
}

/// The joined argument text of the events, and the arguments in the end.
fn arguments(drive: impl FnOnce(&mut Assembler, usize)) -> (String, serde_json::Value) {
    let mut out = assembler();
    let index = out.call_start("a", "x");
    drive(&mut out, index);
    out.done(StopReason::Stop);
    let deltas = out.events.iter().filter_map(|event| match event {
        StreamEvent::ToolCallDelta { delta, .. } => Some(delta.as_str()),
        _ => None,
    });
    let deltas = deltas.collect();
    (deltas, json!(result(&mut out).0.tool_calls().next().unwrap().arguments))
}

#[test]
fn the_final_word_on_arguments_counts_and_only_what_is_new_of_it_is_told() {
    let table: [(&[&str], &[&str], &str, _); 7] = [
        (&["{\"a\""], &["{\"a\":1}"], "{\"a\":1}", json!({"a": 1})),
        (&[], &["{\"a\":1}", "{\"a\":1}"], "{\"a\":1}", json!({"a": 1})),
        (&["{\"a\":1}"], &["", " "], "{\"a\":1}", json!({"a": 1})),
        (&["{\"a\":1}"], &["{ \"a\": 1 }"], "{\"a\":1}", json!({"a": 1})),
        (&["{\"a\":1}"], &["{\"b\":2}"], "{\"a\":1}", json!({"b": 2})),
        (&["{\"a\":"], &["{\"a\":1", "{\"a\":12}"], "{\"a\":12}", json!({"a": 12})),
        (&[], &[""], "", json!({})),
    ];
    for (deltas, words, told, stored) in table {
        let got = arguments(|out, index| {
            deltas.iter().for_each(|delta| out.call_delta(index, delta));
            words.iter().for_each(|whole| out.call_complete(index, whole));
        });
        assert_eq!(got, (told.to_owned(), stored), "{deltas:?} {words:?}");
    }
}

#[test]
fn free_text_is_told_as_the_json_of_its_argument() {
    let table: [(&[&str], &str, _); 4] = [
        (&["a\n\"", "é\\"], "", "{\"co\\\"de\":\"a\\n\\\"é\\\\\"}"),
        (&["a"], "ab", "{\"co\\\"de\":\"ab\"}"),
        (&[], "a", "{\"co\\\"de\":\"a\"}"),
        (&[], "", "{\"co\\\"de\":\"\"}"),
    ];
    for (deltas, whole, told) in table {
        let got = arguments(|out, index| {
            out.call_is_free_text(index, "co\"de");
            deltas.iter().for_each(|delta| out.call_delta(index, delta));
            out.call_complete(index, whole);
        });
        assert_eq!(got, (told.to_owned(), serde_json::from_str(told).unwrap()), "{deltas:?} {whole}");
    }
}

#[test]
fn the_final_word_on_a_text_adds_what_is_missing_and_takes_nothing_back() {
    for (delta, whole, shown) in [("ab", "abc", "abc"), ("", "abc", "abc"), ("abc", "ab", "abc"), ("x", "abc", "x")] {
        let mut out = assembler();
        let (text, thinking) = (out.text_start(), out.thinking_start());
        out.text_delta(text, delta);
        out.text_complete(text, whole);
        out.thinking_delta(thinking, delta);
        out.thinking_complete(thinking, whole);
        out.done(StopReason::Stop);
        let (message, _) = result(&mut out);
        let Block::Thinking(thinking) = &message.content[1] else { panic!("{message:?}") };
        assert_eq!((&message.content[0], thinking.thinking.as_str()), (&Block::text(shown), shown));
    }
}

#[test]
fn a_call_may_get_its_final_id_late() {
    let mut out = assembler();
    let call = out.call_start("c|fc_1", "ls");
    out.call_renamed(call, "");
    out.call_renamed(call, "c|fc_2");
    out.done(StopReason::Stop);
    assert_eq!(result(&mut out).0.tool_calls().next().unwrap().id, "c|fc_2");
}

#[test]
fn a_total_that_the_provider_gives_stays_and_a_service_tier_scales_the_price() {
    let mut model = crate::providers::testing::plain_model("openai-responses");
    model.cost.input = 2.0;
    let mut out = Assembler::at(Arc::new(model), ThinkingLevel::Off, 1);
    out.price_factor(0.5);
    out.usage(Usage { input: 1_000_000, total_tokens: 7, ..Usage::default() }, None);
    out.done(StopReason::Stop);
    let usage = result(&mut out).0.usage;
    assert_eq!((usage.total_tokens, usage.cost.total), (7, 1.0));
}

#[test]
fn a_failure_keeps_what_arrived_and_nothing_follows_it() {
    let mut out = assembler();
    let text = out.text_start();
    out.text_delta(text, "half");
    out.usage(Usage { input: 5, output: 2, ..Usage::default() }, None);
    out.fail(Failure::new(FailureClass::StreamTruncated, "cut"));
    out.text_delta(text, "late");
    out.done(StopReason::Stop);
    out.fail(Failure::new(FailureClass::Network, "again"));
    let (message, failure) = result(&mut out);
    assert_eq!(message.content, [Block::text("half")]);
    assert_eq!((message.stop_reason, message.error_message.as_deref()), (StopReason::Error, Some("cut")));
    assert_eq!(message.usage.total_tokens, 7);
    assert_eq!(failure.map(|failure| failure.class), Some(FailureClass::StreamTruncated));
    assert!(out.take_events().is_empty());
}

#[test]
fn a_failure_before_the_first_event_comes_alone() {
    let mut out = assembler();
    out.fail(super::super::errors::aborted());
    let events = out.take_events();
    let [StreamEvent::Failed { message, .. }] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(
        (message.stop_reason, message.error_message.as_deref()),
        (StopReason::Aborted, Some("Request was aborted"))
    );
}

#[test]
fn usage_is_reported_when_it_changes_and_filled_as_pi_fills_it() {
    let mut out = assembler();
    let usage = Usage { input: 10, output: 4, cache_read: 6, ..Usage::default() };
    out.usage(usage, None);
    out.usage(usage, None);
    out.usage(usage, Some(0.25));
    out.done(StopReason::Stop);
    let reports = out.events.iter().filter(|event| matches!(event, StreamEvent::Usage(_))).count();
    assert_eq!(reports, 2);
    let message = result(&mut out).0;
    let json = serde_json::to_value(message.usage).unwrap();
    assert_eq!((&json["reasoning"], &json["totalTokens"]), (&json!(0), &json!(20)));
    assert_eq!((&json["cost"]["total"], &json["cost"]["totalFromProvider"]), (&json!(0.25), &json!(true)));
}

#[test]
fn the_answering_model_is_recorded_when_it_is_another() {
    let mut out = assembler();
    out.response_model("");
    out.response_model("test-model");
    out.response_model("other");
    out.response_model("third");
    out.response_id("");
    out.response_id("r1");
    out.response_id("r2");
    out.done(StopReason::Stop);
    let message = result(&mut out).0;
    assert_eq!((message.response_model.as_deref(), message.response_id.as_deref()), (Some("other"), Some("r1")));
}
