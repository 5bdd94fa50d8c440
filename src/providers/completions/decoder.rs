//! Reads the events of a Chat Completions stream.
//!
//! The API has no blocks: there is one text block and one thinking block, placed at their first delta that is not
//! empty, and all blocks end when the stream does.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{
    calls::{Calls, Function},
    details::Details,
    ends::stop_reason,
    messages::REASONING_FIELDS,
    usage::WireUsage,
};
use crate::{
    protocol::{Failure, FailureClass},
    providers::{
        assembler::Assembler,
        error_body::is_error,
        lax::{Count, First, List, Obj, PartsOrText, Text},
        sse::SseEvent,
        wire_api::{EventDecoder, read_event, told_failure},
    },
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Chunk<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    /// `error` when the chunk itself is an error: SGLang and vLLM.
    #[serde(borrow)]
    object: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    choices: First<Obj<Choice<'a>>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Obj<Delta<'a>>,
    #[serde(borrow)]
    finish_reason: Text<'a>,
    /// Moonshot reports usage here.
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta<'a> {
    #[serde(borrow)]
    content: PartsOrText<'a>,
    #[serde(borrow)]
    refusal: Text<'a>,
    #[serde(borrow)]
    reasoning_content: Text<'a>,
    #[serde(borrow)]
    reasoning: Text<'a>,
    #[serde(borrow)]
    reasoning_text: Text<'a>,
    #[serde(borrow)]
    reasoning_details: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: List<Obj<Fragment<'a>>>,
    /// The form before parallel calls.
    #[serde(borrow)]
    function_call: Obj<Function<'a>>,
}

/// A piece of a call.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Fragment<'a> {
    index: Count,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    function: Obj<Function<'a>>,
    #[serde(borrow)]
    custom: Obj<Custom<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Custom<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    input: Text<'a>,
}

impl Chunk<'_> {
    /// Whether the chunk tells of an error, or is one itself.
    fn is_error(&self) -> bool {
        self.object.get() == Some("error") || is_error(self.error)
    }
}

/// Reads one answer.
pub struct Decoder {
    provider: String,
    /// Whether the host sends a finish reason; otherwise the end of the body is the end.
    sends_finish_reason: bool,
    /// Arguments that the texts of free-text tools become, by tool.
    free_text: HashMap<String, String>,
    text: Option<usize>,
    thinking: Option<usize>,
    calls: Calls,
    details: Details,
    finish: Option<String>,
}

impl Decoder {
    /// A decoder for an answer of `provider`.
    #[must_use]
    pub fn new(provider: &str, sends_finish_reason: bool, free_text: HashMap<String, String>) -> Self {
        Self {
            provider: provider.to_owned(),
            sends_finish_reason,
            free_text,
            text: None,
            thinking: None,
            calls: Calls::default(),
            details: Details::default(),
            finish: None,
        }
    }

    fn chunk(&mut self, chunk: &Chunk<'_>, out: &mut Assembler) {
        out.response_id(chunk.id.get().unwrap_or_default());
        out.response_model(chunk.model.get().unwrap_or_default());
        let choice = chunk.choices.0.as_ref().and_then(|choice| choice.0.as_ref());
        if !chunk.is_error() {
            out.start();
        }
        if let Some(delta) = choice.and_then(|choice| choice.delta.0.as_ref()) {
            self.reasoning(delta, out);
            self.text(delta.content.0.filled().or(delta.refusal.filled()), out);
            for fragment in delta.tool_calls.0.iter().filter_map(|fragment| fragment.0.as_ref()) {
                self.fragment(fragment, out);
            }
            if let Some(function) = &delta.function_call.0 {
                self.calls.function(Some(0), "", function, out);
            }
        }
        for usage in [chunk.usage, choice.and_then(|choice| choice.usage)].into_iter().flatten() {
            // Anything else than an object says nothing.
            if let Ok(Obj(Some(usage))) = serde_json::from_str::<Obj<WireUsage>>(usage.get()) {
                out.usage(usage.tokens(), usage.billed());
            }
        }
        if let Some(reason) = choice.and_then(|choice| choice.finish_reason.filled()) {
            out.raw_stop_reason(reason);
            self.finish = Some(reason.to_owned());
        }
    }

    /// Readable reasoning: the first field that holds some; hosts send two with equal text. The name of the field is
    /// remembered, because it goes back in the same one.
    fn reasoning(&mut self, delta: &Delta<'_>, out: &mut Assembler) {
        let fields = [&delta.reasoning_content, &delta.reasoning, &delta.reasoning_text];
        let named = REASONING_FIELDS.into_iter().zip(fields).find_map(|(name, field)| Some((name, field.filled()?)));
        if let Some((name, text)) = named {
            let place = self.thinking_place(name, out);
            out.thinking_delta(place, text);
        }
        let details = delta.reasoning_details.and_then(|raw| serde_json::from_str(raw.get()).ok());
        if let Some(Value::Array(pieces)) = details
            && !pieces.is_empty()
        {
            // Encrypted details come without any readable text, and are wanted back all the same.
            self.thinking_place("reasoning", out);
            self.details.push(pieces);
        }
    }

    fn thinking_place(&mut self, field: &str, out: &mut Assembler) -> usize {
        *self.thinking.get_or_insert_with(|| {
            let place = out.thinking_start();
            out.thinking_replay(place, field.to_owned());
            place
        })
    }

    fn text(&mut self, text: Option<&str>, out: &mut Assembler) {
        if let Some(text) = text {
            let place = *self.text.get_or_insert_with(|| out.text_start());
            out.text_delta(place, text);
        }
    }

    fn fragment(&mut self, fragment: &Fragment<'_>, out: &mut Assembler) {
        let id = fragment.id.get().unwrap_or_default();
        if let Some(custom) = &fragment.custom.0 {
            let name = custom.name.get().unwrap_or_default();
            let place = self.calls.place(fragment.index.0, id, name, out);
            let property = self.free_text.get(name).map_or("input", String::as_str);
            if !name.is_empty() {
                out.call_is_free_text(place, property);
            }
            out.call_delta(place, custom.input.get().unwrap_or_default());
        } else {
            let nothing = Function::default();
            self.calls.function(fragment.index.0, id, fragment.function.0.as_ref().unwrap_or(&nothing), out);
        }
    }

    /// Ends the answer as its finish reason says.
    fn complete(&self, reason: &str, out: &mut Assembler) {
        if let (Some(place), Some(details)) = (self.thinking, self.details.to_json()) {
            out.thinking_replay(place, details);
        }
        match stop_reason(reason) {
            Ok(stop) => out.done(stop),
            Err(failure) => out.fail(failure),
        }
    }
}

impl EventDecoder for Decoder {
    fn event(&mut self, event: SseEvent<'_>, out: &mut Assembler) {
        let mut mended = String::new();
        let Some((chunk, json)) = read_event::<Chunk<'_>>(event, &mut mended, out) else { return };
        self.chunk(&chunk, out);
        // Servers that stop with an error send it as an object in a chunk, or as an event of that name.
        if chunk.is_error() || event.name == "error" {
            out.fail(told_failure(&self.provider, json));
        }
    }

    fn finish(&mut self, fault: Option<Failure>, out: &mut Assembler) {
        match (&self.finish, fault) {
            (Some(reason), _) => self.complete(reason, out),
            (None, Some(fault)) => out.fail(fault),
            (None, None) if !self.sends_finish_reason => self.complete("stop", out),
            (None, None) => {
                out.fail(Failure::new(FailureClass::StreamTruncated, "Stream ended without finish_reason"));
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.finish.is_some()
    }
}

#[cfg(test)]
mod tests;
