use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::protocol::{
    AssistantMessage,
    content::{TextBlock, ThinkingBlock},
};

fn translation() -> Translation {
    Translation::new("/p".into(), "m".into(), Told::default())
}

fn stream(events: Vec<StreamEvent>) -> Event {
    Event::MessageUpdate { events }
}

fn assistant(content: Value) -> AgentMessage {
    serde_json::from_value(json!({"role": "assistant", "content": content})).unwrap()
}

fn begins() -> Event {
    Event::MessageStart { message: AgentMessage::Assistant(Arc::new(AssistantMessage::default())) }
}

fn ends(content: Value) -> Event {
    Event::MessageEnd { message: assistant(content), entry_id: None }
}

fn label(place: usize, id: &str, tool: &str, args: Value) -> CallLabel {
    let args = Arc::new(args.as_object().cloned().unwrap());
    CallLabel { place, tool_call_id: id.into(), tool_name: tool.into(), args }
}

/// Updates as short lines.
fn lines(updates: &[SessionUpdate]) -> Vec<String> {
    let line = |update: &SessionUpdate| {
        let value = serde_json::to_value(update).unwrap();
        let at = |path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or("-").to_owned();
        let kind = at("/sessionUpdate");
        match kind.as_str() {
            "tool_call" | "tool_call_update" => {
                let content = at("/content/0/content/text").replace('\n', "|");
                format!("{kind} {} {} {} {content}", at("/toolCallId"), at("/title"), at("/status"))
            }
            _ => format!("{kind} {} {}", at("/messageId"), at("/content/text")),
        }
    };
    updates.iter().map(line).collect()
}

fn told(translation: &mut Translation, events: &[Event]) -> Vec<String> {
    let updates: Vec<_> = events.iter().flat_map(|event| translation.on(event)).collect();
    lines(&updates)
}

#[test]
fn words_and_thoughts_are_chunks_of_one_message() {
    let text = |delta: &str| StreamEvent::TextDelta { index: 1, delta: delta.into() };
    let whole = TextBlock { text: "ab".into(), text_signature: None };
    let events = [
        begins(),
        stream(vec![StreamEvent::ThinkingDelta { index: 0, delta: "hm".into() }, text("a"), text("b")]),
        stream(vec![StreamEvent::TextEnd { index: 1, block: whole.clone() }]),
        ends(json!([{"type": "text", "text": "ab"}])),
        begins(),
        // Wires that say everything at once.
        stream(vec![
            StreamEvent::ThinkingEnd { index: 0, block: ThinkingBlock { thinking: "ok".into(), ..Default::default() } },
            StreamEvent::TextEnd { index: 1, block: whole },
        ]),
        ends(json!([])),
    ];
    assert_eq!(
        told(&mut translation(), &events),
        [
            "agent_thought_chunk m-1 hm",
            "agent_message_chunk m-1 ab",
            "agent_thought_chunk m-2 ok",
            "agent_message_chunk m-2 ab",
        ]
    );
}

#[test]
fn a_call_is_seen_from_its_first_word_to_its_result() {
    let call = |id: &str| json!({"type": "toolCall", "id": id, "name": "bash", "arguments": {"command": "ls"}});
    let arguments = call("c")["arguments"].as_object().cloned().unwrap();
    let whole = Call { id: "c".into(), name: "bash".into(), arguments, ..Call::default() };
    let bash = |place| label(place, "c", "bash", json!({"command": "ls"}));
    let events = [
        begins(),
        stream(vec![
            StreamEvent::ToolCallStart { index: 0, id: "c".into(), name: "bash".into() },
            StreamEvent::ToolCallDelta { index: 0, delta: "{".into() },
            StreamEvent::ToolCallEnd { index: 0, call: whole },
        ]),
        // The second was never streamed, and has the same id.
        ends(json!([call("c"), call("c")])),
        Event::ToolExecutionStart { call: bash(0) },
        Event::ToolExecutionUpdate { call: bash(0), partial: Arc::new(ToolOutput::text("a")) },
        Event::ToolExecutionStart { call: bash(1) },
        Event::ToolExecutionEnd { call: bash(1), result: Arc::new(ToolOutput::error("no")), duration_ms: None },
        Event::ToolExecutionEnd { call: bash(0), result: Arc::new(ToolOutput::text("a\n")), duration_ms: Some(1) },
        Event::TurnEnd { message: Arc::default(), tool_results: Vec::new() },
    ];
    assert_eq!(
        told(&mut translation(), &events),
        [
            "tool_call c bash - -",
            "tool_call_update c ls - -",
            "tool_call c#2 ls - -",
            "tool_call_update c - in_progress -",
            "tool_call_update c - - ```|a|```",
            "tool_call_update c#2 - in_progress -",
            "tool_call_update c#2 - failed ```|no|```",
            "tool_call_update c - completed ```|a|```",
        ]
    );
}

#[test]
fn calls_that_never_run_are_closed() {
    let start = |index| StreamEvent::ToolCallStart { index, id: format!("c{index}"), name: "ls".into() };
    let call = json!({"type": "toolCall", "id": "c0", "name": "ls", "arguments": {}});
    let mut translation = translation();
    // An extension took the second out, and the turn ended before the first ran.
    let events = [begins(), stream(vec![start(0), start(1)]), ends(json!([call]))];
    told(&mut translation, &events[..2]);
    assert_eq!(told(&mut translation, &events[2..]), ["tool_call_update c1 - failed It has no result."]);
    assert_eq!(translation.open_call("c0").map(|id| id.to_string()), Some("c0".to_owned()));
    let settled = [Event::AgentSettled { aborted: true }];
    assert_eq!(told(&mut translation, &settled), ["tool_call_update c0 - failed It has no result."]);
    assert_eq!(translation.open_call("c0"), None);
    assert!(told(&mut translation, &settled).is_empty());
}

#[test]
fn a_call_of_a_batch_that_began_earlier_becomes_known() {
    let mut translation = translation();
    let event = Event::ToolExecutionStart { call: label(1, "x", "ls", json!({"path": "d"})) };
    assert_eq!(told(&mut translation, &[event]), ["tool_call x#2 List d - -", "tool_call_update x#2 - in_progress -"]);
}

#[test]
fn a_run_that_was_interrupted_goes_on_with_the_calls_that_were_told() {
    let mut ids = CallIds::default();
    let mut shown = |done| ShownCall { id: ids.next("c"), label: "c".into(), done };
    let batch = vec![shown(true), shown(false)];
    let mut translation = Translation::new("/p".into(), "m".into(), Told { ids, batch });
    let call = label(1, "c", "bash", json!({}));
    let result = Arc::new(ToolOutput::error("interrupted"));
    let ended = [Event::ToolExecutionEnd { call, result, duration_ms: None }];
    assert_eq!(told(&mut translation, &ended), ["tool_call_update c#2 - failed ```|interrupted|```"]);
    assert!(told(&mut translation, &[Event::AgentSettled { aborted: false }]).is_empty());
}
