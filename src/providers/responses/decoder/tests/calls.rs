//! Calls of tools: which pieces belong to which, and what their arguments are in the end.

use super::*;
use crate::protocol::ToolCall;

fn function(id: &str, call_id: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": id, "call_id": call_id, "name": "ls", "arguments": arguments})
}

fn arguments_delta(index: u64, id: &str, delta: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "output_index": index, "item_id": id, "delta": delta})
}

fn arguments_done(index: u64, id: &str, arguments: &str) -> Value {
    json!({"type": "response.function_call_arguments.done", "output_index": index, "item_id": id, "arguments": arguments})
}

fn without(mut event: Value, keys: &[&str]) -> Value {
    keys.iter().for_each(|key| drop(event.as_object_mut().unwrap().remove(*key)));
    event
}

fn calls(message: &AssistantMessage) -> Vec<String> {
    let shown = |call: &ToolCall| format!("{}({}){}", call.name, call.id, json!(call.arguments));
    message.tool_calls().map(shown).collect()
}

#[test]
fn the_last_word_on_arguments_counts_whatever_was_streamed() {
    let start = || added(0, function("fc_1", "c", ""));
    let table = [
        (
            vec![start(), arguments_delta(0, "fc_1", "{\"a\":"), done(0, function("fc_1", "c", "{\"a\":1}"))],
            "{\"a\":1}",
        ),
        (vec![start(), arguments_done(0, "fc_1", "{\"a\":1}"), done(0, function("fc_1", "c", ""))], "{\"a\":1}"),
        (vec![start(), done(0, function("fc_1", "c", "{\"a\":1}"))], "{\"a\":1}"),
        (
            vec![start(), arguments_done(0, "fc_1", "{\"a\":1}"), done(0, function("fc_1", "c", "{\"a\":2}"))],
            "{\"a\":2}",
        ),
        (vec![start(), arguments_delta(0, "fc_1", "{\"a\":1}"), done(0, function("fc_1", "c", ""))], "{\"a\":1}"),
        (vec![start(), done(0, function("fc_1", "c", " "))], "{}"),
        (vec![done(0, function("fc_1", "c", "{\"a\":1}"))], "{\"a\":1}"),
        // Arguments at the begin count when nothing follows.
        (vec![added(0, function("fc_1", "c", "{\"a\":1}")), done(0, function("fc_1", "c", ""))], "{\"a\":1}"),
        (
            vec![
                added(0, function("fc_1", "c", "{\"a\":1}")),
                arguments_delta(0, "fc_1", "{}"),
                done(0, function("fc_1", "c", "")),
            ],
            "{}",
        ),
    ];
    for (events, arguments) in table {
        let (message, failure) = completed(&events);
        assert_eq!((calls(&message), failure), (vec![format!("ls(c|fc_1){arguments}")], None), "{events:?}");
        assert_eq!(message.stop_reason, StopReason::ToolUse);
    }
    let object = json!({"type": "function_call", "id": "fc_1", "call_id": "c", "name": "ls", "arguments": {"a": 1}});
    assert_eq!(calls(&completed(&[done(0, object)]).0), ["ls(c|fc_1){\"a\":1}"]);
}

#[test]
fn fc_019_pieces_find_their_call_by_place_and_id_whichever_the_server_sends() {
    let events = || {
        vec![
            added(0, function("fc_a", "a", "")),
            added(1, function("fc_b", "b", "")),
            arguments_delta(0, "fc_a", "{\"p\":"),
            arguments_delta(1, "fc_b", "{\"p\":"),
            arguments_delta(0, "fc_a", "\"x\"}"),
            arguments_delta(1, "fc_b", "\"y\"}"),
            done(1, function("fc_b", "b", "")),
            done(0, function("fc_a", "a", "")),
        ]
    };
    let both = ["ls(a|fc_a){\"p\":\"x\"}", "ls(b|fc_b){\"p\":\"y\"}"];
    assert_eq!(calls(&completed(&events()).0), both);
    let by = |keys: &[&str]| events().into_iter().map(|event| without(event, keys)).collect::<Vec<_>>();
    assert_eq!(calls(&completed(&by(&["output_index"])).0), both);
    assert_eq!(calls(&completed(&by(&["item_id"])).0), both);
    // A server that numbers every item 0.
    let zero = |mut event: Value| {
        event["output_index"] = 0.into();
        event
    };
    assert_eq!(calls(&completed(&events().into_iter().map(zero).collect::<Vec<_>>()).0), both);
    // Ids that change from event to event: the last one stays.
    let renamed = [
        added(4, function("fc_a", "a", "")),
        arguments_delta(4, "fc_other", "{}"),
        done(4, function("fc_last", "a", "")),
    ];
    assert_eq!(calls(&completed(&renamed).0), ["ls(a|fc_last){}"]);
}

#[test]
fn calls_that_never_end_or_cannot_be_told_apart_do_not_run() {
    let half = [added(0, function("fc_1", "c", "")), arguments_delta(0, "fc_1", "{\"a\":1}")];
    let (message, failure) = completed(&half);
    assert_eq!(failure.map(|failure| (failure.class, failure.retryable)), Some((FailureClass::ProtocolError, false)));
    assert_eq!((calls(&message).len(), message.stop_reason), (1, StopReason::Error));
    let mixed = [
        added(0, function("fc_a", "a", "")),
        added(1, function("fc_b", "b", "")),
        without(arguments_delta(0, "", "{}"), &["output_index"]),
    ];
    assert_eq!(completed(&mixed).1.map(|failure| failure.class), Some(FailureClass::ProtocolError));
    // With one open call there is no doubt.
    let single = [
        added(0, function("fc_a", "a", "")),
        without(arguments_delta(0, "", "{\"n\":1}"), &["output_index"]),
        without(done(0, function("", "", "")), &["output_index"]),
    ];
    assert_eq!(calls(&completed(&single).0), ["ls(a|fc_a){\"n\":1}"]);
}

#[test]
fn fc_033_an_answer_cut_by_its_limit_keeps_its_calls_from_running() {
    let events = [
        added(0, function("fc_1", "c", "")),
        arguments_delta(0, "fc_1", "{\"path\":\"/"),
        end("incomplete", json!({"incomplete_details": {"reason": "max_output_tokens"}})),
    ];
    let (message, failure) = run(&events);
    assert_eq!((message.stop_reason, failure), (StopReason::Length, None));
    assert_eq!(message.raw_stop_reason.as_deref(), Some("incomplete.max_output_tokens"));
    assert!(message.tool_calls().next().unwrap().arguments_error.is_some());
    let (message, failure) = run(&events[..2]);
    let failure = failure.unwrap();
    assert_eq!((failure.class, message.stop_reason), (FailureClass::StreamTruncated, StopReason::Error));
    assert_eq!(failure.message, "Stream ended before a terminal response event");
}

#[test]
fn free_text_of_a_call_becomes_the_argument_of_its_tool() {
    let custom = |name: &str, input: &str| json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": name, "input": input});
    let delta =
        |delta: &str| json!({"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": delta});
    let whole =
        |input: &str| json!({"type": "response.custom_tool_call_input.done", "output_index": 0, "input": input});
    let table = [
        (
            vec![
                added(0, custom("patch", "")),
                delta("*** \"B\n"),
                delta("é"),
                whole("*** \"B\né"),
                done(0, custom("patch", "*** \"B\né")),
            ],
            "patch",
            "text",
            "*** \"B\né",
        ),
        (vec![added(0, custom("patch", "")), whole("x"), done(0, custom("patch", ""))], "patch", "text", "x"),
        (vec![added(0, custom("other", "")), delta("x"), done(0, custom("other", "xy"))], "other", "input", "xy"),
        (vec![done(0, custom("other", ""))], "other", "input", ""),
    ];
    for (events, name, property, text) in table {
        let all = play(decoder(), &[&events[..], &[end("completed", json!({}))]].concat());
        let told: String = all
            .iter()
            .filter_map(
                |event| if let StreamEvent::ToolCallDelta { delta, .. } = event { Some(delta.as_str()) } else { None },
            )
            .collect();
        let arguments = json!({property: text});
        assert_eq!(serde_json::from_str::<Value>(&told).unwrap(), arguments, "{events:?}");
        assert_eq!(calls(&ended(all).0), [format!("{name}(c|ctc_1){arguments}")]);
    }
}

#[test]
fn fc_021_calls_without_an_id_or_with_the_same_one_get_ids_of_their_own() {
    let (message, _) = completed(&[
        done(0, function("fc_1", "c", "")),
        done(1, function("fc_2", "", "")),
        done(2, function("fc_3", "null", "")),
        done(3, function("", "c", "")),
        added(4, json!({"type": "function_call", "arguments": ""})),
        done(4, function("fc_5", "late", "")),
    ]);
    let ids: Vec<_> = message.tool_calls().map(|call| call.id.as_str()).collect();
    assert_eq!((ids[0], ids[3], ids[4]), ("c|fc_1", "c", "late|fc_5"));
    assert!(ids[1].starts_with("call_") && ids[2].starts_with("call_") && ids[1] != ids[2], "{ids:?}");
    assert!(message.tool_calls().all(|call| call.name == "ls"));
}
