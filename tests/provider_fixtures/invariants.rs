//! What holds for the events of every answer; the README of the fixtures lists it.

use std::collections::{HashMap, HashSet};

use troupe::protocol::{AssistantMessage, Block, StopReason, StreamEvent, stream::PartialMessage};

/// Notes what is wrong with the events of one answer, and with its message.
pub fn invariants(events: &[StreamEvent], message: &AssistantMessage, done: bool, faults: &mut Vec<String>) {
    let last = events.len() - 1;
    match &events[0] {
        StreamEvent::Start(start) => {
            if !start.content.is_empty() || start.stop_reason != StopReason::Pending {
                faults.push(format!("the start is not empty: {start:?}"));
            }
        }
        StreamEvent::Failed { .. } if last == 0 => {}
        other => faults.push(format!("the first event is {other:?}")),
    }
    let mut partial = PartialMessage::default();
    let mut starts = 0;
    let mut open: HashMap<usize, (&str, String)> = HashMap::new();
    let mut closed = HashSet::new();
    for (at, event) in events.iter().enumerate() {
        if event.is_terminal() && at != last {
            faults.push(format!("terminal event at {at} of {last}"));
        }
        if at != last {
            partial.apply(event);
        }
        let (kind, index, delta) = match event {
            StreamEvent::TextStart { index } => ("text", index, None),
            StreamEvent::ThinkingStart { index } => ("thinking", index, None),
            StreamEvent::ToolCallStart { index, .. } => ("call", index, None),
            StreamEvent::TextDelta { index, delta } => ("text", index, Some(delta)),
            StreamEvent::ThinkingDelta { index, delta } => ("thinking", index, Some(delta)),
            StreamEvent::ToolCallDelta { index, delta } => ("call", index, Some(delta)),
            StreamEvent::TextEnd { index, .. }
            | StreamEvent::ThinkingEnd { index, .. }
            | StreamEvent::ToolCallEnd { index, .. } => {
                if !open.contains_key(index) || !closed.insert(*index) {
                    faults.push(format!("block {index} ends without a start, or twice"));
                }
                continue;
            }
            _ => continue,
        };
        match (delta, open.get_mut(index)) {
            (None, None) if *index == starts => {
                starts += 1;
                open.insert(*index, (kind, String::new()));
            }
            (Some(delta), Some((known, text))) if *known == kind && !closed.contains(index) => text.push_str(delta),
            _ => faults.push(format!("event {at} is out of place: {event:?}")),
        }
    }
    if message.content.len() != open.len() {
        faults.push(format!("{} blocks, {} starts", message.content.len(), open.len()));
        return;
    }
    for (index, block) in message.content.iter().enumerate() {
        let (kind, text) = &open[&index];
        let same = match block {
            Block::Text(block) => *kind == "text" && *text == block.text,
            Block::Thinking(block) => *kind == "thinking" && *text == block.thinking,
            Block::ToolCall(call) => {
                let parsed = troupe::providers::arguments::parse(text);
                *kind == "call" && parsed.unwrap_or_default() == call.arguments
            }
            _ => false,
        };
        if !same {
            faults.push(format!("block {index}: the deltas {text:?} are not {block:?}"));
        }
        if done && !closed.contains(&index) {
            faults.push(format!("block {index} never ends"));
        }
    }
    if done {
        if message.is_failed() {
            faults.push("done with a failed message".into());
        }
        if partial.message.content != message.content || partial.message.usage != message.usage {
            faults.push("the events do not build the message".into());
        }
    }
}
