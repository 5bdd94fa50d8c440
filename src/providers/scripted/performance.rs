//! From a turn of a script to the steps of a stream.

use std::time::Duration;

use serde_json::Value;

use super::{
    expectation,
    script::{Cut, Fault, FaultKind, Pace, Part, Turn},
};
use crate::{
    protocol::{Block, Failure, FailureClass, StopReason, StreamEvent, TextBlock, ThinkingBlock, ToolCall, Usage},
    providers::{Request, estimate},
};

/// A step of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Nothing for that long.
    Wait(Duration),
    /// The answer begins.
    Start,
    /// What one read brings.
    Emit(Vec<StreamEvent>),
    /// The last read and the whole answer.
    Finish {
        /// Events before the end.
        events: Vec<StreamEvent>,
        /// The answer.
        answer: Answer,
    },
    /// The call fails.
    Fail(Failure),
    /// Nothing any more.
    Stall,
    /// The worker panics.
    Panic(String),
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    pub content: Vec<Block>,
    pub usage: Usage,
    pub stop_reason: StopReason,
}

/// The steps of turn `number` (from 0), with the fault that it plays this time.
pub(super) fn steps(turn: &Turn, fault: Option<&Fault>, request: &Request, number: usize) -> Vec<Step> {
    let mut stage = Stage { pace: turn.pace, steps: Vec::new(), read: Vec::new(), deltas_read: 0 };
    stage.wait(turn.pace.delay);
    if let Some(fault) = fault.filter(|fault| fault.after_deltas.is_none()) {
        stage.steps.push(fault_step(fault));
        return stage.steps;
    }
    stage.steps.push(Step::Start);
    let blocks: Vec<_> =
        turn.parts.iter().enumerate().map(|(index, part)| block(part, index, request, number)).collect();
    let mut budget = fault.and_then(|fault| fault.after_deltas);
    for (index, (block, raw)) in blocks.iter().enumerate() {
        stage.event(start(index, block));
        for piece in pieces(raw, turn.pace.cut) {
            if budget == Some(0) {
                break;
            }
            budget = budget.map(|left| left - 1);
            stage.delta(delta(index, block, piece));
        }
        if budget == Some(0) {
            break;
        }
        stage.event(end(index, block));
    }
    if let Some(fault) = fault {
        stage.flush();
        stage.steps.push(fault_step(fault));
        return stage.steps;
    }
    let content: Vec<Block> = blocks.into_iter().map(|(block, _)| block).collect();
    let calls = content.iter().any(|block| block.as_tool_call().is_some());
    let usual = if calls { StopReason::ToolUse } else { StopReason::Stop };
    let usage = turn.usage.unwrap_or_else(|| estimate::usage(&request.messages, &content));
    let answer = Answer { usage, stop_reason: turn.stop_reason.unwrap_or(usual), content };
    let events = std::mem::take(&mut stage.read);
    stage.steps.push(Step::Finish { events, answer });
    stage.steps
}

/// Collects events into reads.
struct Stage {
    pace: Pace,
    steps: Vec<Step>,
    read: Vec<StreamEvent>,
    deltas_read: usize,
}

impl Stage {
    fn wait(&mut self, time: Duration) {
        if !time.is_zero() {
            self.steps.push(Step::Wait(time));
        }
    }

    fn event(&mut self, event: StreamEvent) {
        self.read.push(event);
    }

    fn delta(&mut self, event: StreamEvent) {
        if self.deltas_read == self.pace.batch {
            self.flush();
            self.wait(self.pace.delta_delay);
        }
        self.read.push(event);
        self.deltas_read += 1;
    }

    fn flush(&mut self) {
        if !self.read.is_empty() {
            self.steps.push(Step::Emit(std::mem::take(&mut self.read)));
        }
        self.deltas_read = 0;
    }
}

fn fault_step(fault: &Fault) -> Step {
    match &fault.kind {
        FaultKind::Error(failure) => Step::Fail(failure.clone()),
        FaultKind::Disconnect => {
            Step::Fail(Failure::new(FailureClass::StreamTruncated, "the connection ended before the answer did"))
        }
        FaultKind::Stall => Step::Stall,
        FaultKind::Panic(text) => Step::Panic(text.clone()),
    }
}

/// A block as it is stored, and the text that streams.
fn block(part: &Part, index: usize, request: &Request, number: usize) -> (Block, String) {
    match part {
        Part::Text(text) => {
            let text = filled(text, request, number);
            (Block::Text(TextBlock { text: text.clone(), text_signature: None }), text)
        }
        Part::Thinking(text) => {
            let text = filled(text, request, number);
            (Block::Thinking(ThinkingBlock { thinking: text.clone(), ..ThinkingBlock::default() }), text)
        }
        Part::Call { id, name, arguments } => {
            let id = id.clone().unwrap_or_else(|| format!("call_{}_{index}", number + 1));
            let (parsed, error) = match serde_json::from_str(arguments) {
                Ok(Value::Object(map)) => (map, None),
                Ok(_) => (serde_json::Map::new(), Some("expected a JSON object".to_owned())),
                Err(error) => (serde_json::Map::new(), Some(error.to_string())),
            };
            let call = ToolCall {
                id,
                name: name.clone(),
                arguments: parsed,
                arguments_error: error.map(|error| format!("{error}\n\nReceived arguments:\n{arguments}")),
                ..ToolCall::default()
            };
            (Block::ToolCall(call), arguments.clone())
        }
    }
}

/// The text with its placeholders replaced.
fn filled(text: &str, request: &Request, number: usize) -> String {
    if !text.contains("{{") {
        return text.to_owned();
    }
    text.replace("{{turn}}", &(number + 1).to_string())
        .replace("{{lastUser}}", &expectation::last_user(&request.messages))
        .replace("{{lastToolResult}}", &expectation::last_tool_result(&request.messages))
}

fn start(index: usize, block: &Block) -> StreamEvent {
    match block {
        Block::Thinking(_) => StreamEvent::ThinkingStart { index },
        Block::ToolCall(call) => StreamEvent::ToolCallStart { index, id: call.id.clone(), name: call.name.clone() },
        _ => StreamEvent::TextStart { index },
    }
}

fn delta(index: usize, block: &Block, delta: String) -> StreamEvent {
    match block {
        Block::Thinking(_) => StreamEvent::ThinkingDelta { index, delta },
        Block::ToolCall(_) => StreamEvent::ToolCallDelta { index, delta },
        _ => StreamEvent::TextDelta { index, delta },
    }
}

fn end(index: usize, block: &Block) -> StreamEvent {
    match block {
        Block::Thinking(block) => StreamEvent::ThinkingEnd { index, block: block.clone() },
        Block::ToolCall(call) => StreamEvent::ToolCallEnd { index, call: call.clone() },
        Block::Text(block) => StreamEvent::TextEnd { index, block: block.clone() },
        _ => StreamEvent::TextEnd { index, block: TextBlock::default() },
    }
}

/// Cuts a text; the pieces joined are the text.
fn pieces(text: &str, cut: Cut) -> Vec<String> {
    let size = match cut {
        Cut::Chars(chars) => chars,
        Cut::Count(count) => text.chars().count().div_ceil(count).max(1),
    };
    let mut pieces = Vec::new();
    let mut chars = text.chars().peekable();
    while chars.peek().is_some() {
        pieces.push(chars.by_ref().take(size).collect());
    }
    pieces
}
