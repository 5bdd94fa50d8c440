//! From turns to the messages and tools of a request to Mistral.

use std::borrow::Cow;

use super::{
    compat::Compat,
    wire::{Function, WireAssistant, WireCall, WireContent, WireMessage, WirePart, WireThought},
};
use crate::{
    protocol::{Failure, ToolDeclaration},
    providers::{
        completions::wire::{WireFunction, WireFunctionCall, WireTool},
        prompt::update_text,
        request_json::{DataUrl, JsonText},
        result_text::text_or_note,
        sampling::{parameters, strict_schema},
        transform::{AssistantPart, AssistantTurn, CallResult, Part, Turn},
    },
};

/// The API has no other mark for a result that is a failure.
const TOOL_ERROR: &str = "[tool error] ";

/// The messages of a conversation behind its leading prompt.
pub(super) fn messages<'a>(prompt: &'a str, turns: Vec<Turn<'a>>) -> Vec<WireMessage<'a>> {
    let mut out = Vec::with_capacity(turns.len() + 1);
    if !prompt.is_empty() {
        out.push(WireMessage::System { content: prompt.into() });
    }
    for turn in turns {
        match turn {
            Turn::System(_, message) => {
                let text = update_text(message);
                if !text.is_empty() {
                    out.push(WireMessage::System { content: text.into() });
                }
            }
            Turn::User(parts) => out.push(WireMessage::User { content: user(&parts) }),
            Turn::Assistant(turn) => out.extend(assistant(turn)),
            Turn::Results(results) => out.extend(results.into_iter().map(result)),
        }
    }
    out
}

fn user<'a>(parts: &[Part<'a>]) -> WireContent<'a> {
    WireContent::said(parts, |part| match part {
        Part::Text(text) => WirePart::Text { text: (*text).into() },
        Part::Image(image) => WirePart::ImageUrl { image_url: DataUrl(image) },
    })
}

/// An answer in the order of its blocks; `None` when nothing of it can be replayed. Plain text is no list: models copy
/// the form of a list into their answers.
fn assistant(turn: AssistantTurn<'_>) -> Option<WireMessage<'_>> {
    let mut parts = Vec::with_capacity(turn.parts.len());
    let mut tool_calls = Vec::new();
    for part in turn.parts {
        match part {
            AssistantPart::Text(text, _) if !text.trim().is_empty() => parts.push(WirePart::Text { text: text.into() }),
            AssistantPart::Thinking(block) if !block.thinking.trim().is_empty() => {
                parts.push(WirePart::Thinking { thinking: [WireThought::Text { text: &block.thinking }] });
            }
            AssistantPart::Text(..) | AssistantPart::Thinking(_) => {}
            AssistantPart::Call(call) => tool_calls.push(WireCall {
                id: call.id,
                kind: Function::Function,
                function: WireFunctionCall { name: call.name, arguments: JsonText(call.arguments) },
                index: tool_calls.len(),
            }),
        }
    }
    if parts.is_empty() && tool_calls.is_empty() {
        return None;
    }
    Some(WireMessage::Assistant(WireAssistant { prefix: false, content: answer(parts), tool_calls }))
}

fn answer(mut parts: Vec<WirePart<'_>>) -> Option<WireContent<'_>> {
    match parts.as_mut_slice() {
        [] => None,
        [WirePart::Text { text }] => Some(WireContent::Text(std::mem::take(text))),
        _ => Some(WireContent::Parts(parts)),
    }
}

/// The text of a result and then its pictures.
fn result(result: CallResult<'_>) -> WireMessage<'_> {
    let mut text = text_or_note(&result);
    if result.is_error {
        text = Cow::Owned(format!("{TOOL_ERROR}{text}"));
    }
    let mut content = vec![WirePart::Text { text }];
    content.extend(result.images().map(|image| WirePart::ImageUrl { image_url: DataUrl(image) }));
    WireMessage::Tool { tool_call_id: result.id, name: result.name, content }
}

/// Declares tools.
pub(super) fn tools<'a>(declared: &'a [ToolDeclaration], compat: Compat) -> Result<Vec<WireTool<'a>>, Failure> {
    declared.iter().map(|tool| declare(tool, compat)).collect()
}

fn declare(tool: &ToolDeclaration, compat: Compat) -> Result<WireTool<'_>, Failure> {
    let is_required = || tool.constrained_sampling.as_ref().is_some_and(|asked| asked["strict"] == "require");
    let strict = strict_schema(tool, compat.supports_strict_mode.unwrap_or_else(is_required), |_, _| true)?;
    let is_strict = strict.is_some().then_some(true);
    let function = WireFunction {
        name: &tool.name,
        description: &tool.description,
        parameters: parameters(tool, strict),
        strict: is_strict,
    };
    Ok(WireTool::Function { function, cache_control: None })
}
