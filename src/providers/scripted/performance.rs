//! From a turn of a script to the steps of a stream.

use serde_json::Value;

use super::{
    expectation,
    script::{Fault, FaultKind, Part, Turn},
};
use crate::{
    protocol::{Block, Failure, FailureClass, TextBlock, ThinkingBlock, ToolCall},
    providers::{
        Request, estimate,
        playback::{Performance, Step},
    },
};

/// The steps of turn `number` (from 0), with the fault that it plays this time.
pub(super) fn steps(turn: &Turn, fault: Option<&Fault>, request: &Request, number: usize) -> Vec<Step> {
    if let Some(fault) = fault.filter(|fault| fault.after_deltas.is_none()) {
        let wait = (!turn.pace.delay.is_zero()).then_some(Step::Wait(turn.pace.delay));
        return wait.into_iter().chain([fault_step(fault)]).collect();
    }
    let blocks: Vec<_> =
        turn.parts.iter().enumerate().map(|(index, part)| block(part, index, request, number)).collect();
    let content: Vec<Block> = blocks.iter().map(|(block, _)| block.clone()).collect();
    Performance {
        pace: turn.pace,
        usage: turn.usage.unwrap_or_else(|| estimate::usage(&request.messages, &content)),
        blocks,
        stop_reason: turn.stop_reason,
        breaks: fault.map(|fault| (fault.after_deltas.unwrap_or(0), fault_step(fault))),
    }
    .steps()
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
