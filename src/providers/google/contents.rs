//! From turns to the contents of a Gemini request.

use super::{
    family::Family,
    signature::replayable,
    wire::{Outcome, Payload, Role, WireCall, WireContent, WirePart, WireResult},
};
use crate::{
    protocol::ThinkingBlock,
    providers::{
        result_text::text_or_note,
        transform::{AssistantPart, AssistantTurn, Call, CallResult, Part, Turn},
    },
};

/// The contents of a conversation.
pub(super) fn contents<'a>(turns: Vec<Turn<'a>>, family: &Family) -> Vec<WireContent<'a>> {
    let mut writer = Writer { family, out: Vec::with_capacity(turns.len()) };
    for turn in turns {
        match turn {
            // Folded into the leading prompt.
            Turn::System(..) => {}
            Turn::User(parts) => writer.push(Role::User, parts.iter().map(user_part).collect()),
            Turn::Assistant(turn) => writer.assistant(turn),
            Turn::Results(results) => writer.results(results),
        }
    }
    writer.out
}

struct Writer<'a, 'f> {
    family: &'f Family,
    out: Vec<WireContent<'a>>,
}

impl<'a> Writer<'a, '_> {
    fn push(&mut self, role: Role, parts: Vec<WirePart<'a>>) {
        if !parts.is_empty() {
            self.out.push(WireContent { role: Some(role), parts });
        }
    }

    fn assistant(&mut self, turn: AssistantTurn<'a>) {
        let call_ids = self.family.call_ids;
        let parts = turn.parts.into_iter().filter_map(|part| match part {
            AssistantPart::Text(text, signature) => said(text, signature, false),
            AssistantPart::Thinking(block) => thought(block),
            AssistantPart::Call(call) => Some(called(call, call_ids)),
        });
        let parts = parts.collect();
        self.push(Role::Model, parts);
    }

    /// All results of a turn in one content. Older models take pictures only beside results: they follow in a content
    /// of their own.
    fn results(&mut self, results: Vec<CallResult<'a>>) {
        let mut parts = Vec::with_capacity(results.len());
        let mut attached = Vec::new();
        for result in results {
            let mut images: Vec<_> = result.images().map(WirePart::image).collect();
            let text = text_or_note(&result);
            if !self.family.newest && !images.is_empty() {
                attached.push(WirePart::text(format!("Image from the result of {}:", result.name)));
                attached.append(&mut images);
            }
            parts.push(WirePart::plain(Payload::FunctionResponse(WireResult {
                id: self.family.call_ids.then_some(result.id),
                name: result.name,
                response: if result.is_error { Outcome::Error(text) } else { Outcome::Output(text) },
                parts: images,
            })));
        }
        self.push(Role::User, parts);
        self.push(Role::User, attached);
    }
}

fn user_part<'a>(part: &Part<'a>) -> WirePart<'a> {
    match part {
        Part::Text(text) => WirePart::text(*text),
        Part::Image(image) => WirePart::image(image),
    }
}

/// Text or thinking with its signature. Without one, blank text says nothing; with one, the empty part is wanted back.
fn said<'a>(text: &'a str, signature: Option<&'a str>, thought: bool) -> Option<WirePart<'a>> {
    let thought_signature = replayable(signature);
    let counts = thought_signature.is_some() || !text.trim().is_empty();
    counts.then(|| WirePart { thought, thought_signature, ..WirePart::text(text) })
}

fn thought(block: &ThinkingBlock) -> Option<WirePart<'_>> {
    said(&block.thinking, block.thinking_signature.as_deref(), true)
}

fn called(call: Call<'_>, with_id: bool) -> WirePart<'_> {
    let thought_signature = replayable(call.thought_signature);
    let data = WireCall { id: with_id.then_some(call.id), name: call.name, args: call.arguments };
    WirePart { thought_signature, ..WirePart::plain(Payload::FunctionCall(data)) }
}
