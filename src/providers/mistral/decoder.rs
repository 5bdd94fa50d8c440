//! Reads the events of an answer from Mistral (rules M2, M4, M5 and U9).
//!
//! Content comes as plain text or as a list of pieces, also both in one answer. Blocks follow the order of the pieces:
//! a block ends where another kind begins.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::usage::WireUsage;
use crate::{
    protocol::{Failure, FailureClass},
    providers::{
        assembler::{
            Assembler,
            run::{Kind, Run},
        },
        completions::{
            calls::{Calls, Function},
            ends::stop_reason,
        },
        error_body::is_error,
        lax::{Count, First, List, Obj, Text, TextOrList},
        sse::SseEvent,
        wire_api::{EventDecoder, read_event, told_failure},
    },
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Chunk<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    object: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    choices: First<Obj<Choice<'a>>>,
    usage: Obj<WireUsage>,
    /// What gateways call an error.
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    /// What the API says in place of a message when it refuses.
    #[serde(borrow)]
    detail: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Obj<Delta<'a>>,
    #[serde(borrow)]
    finish_reason: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta<'a> {
    #[serde(borrow)]
    content: TextOrList<'a, Obj<Piece<'a>>>,
    #[serde(borrow)]
    tool_calls: List<Obj<Call<'a>>>,
}

/// A piece of the content.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Piece<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    /// Pieces again; those without a text are references.
    #[serde(borrow)]
    thinking: TextOrList<'a, Obj<Thought<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Thought<'a> {
    #[serde(borrow)]
    text: Text<'a>,
}

/// A call, or a piece of one.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
    index: Count,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    function: Obj<Function<'a>>,
}

impl Chunk<'_> {
    fn is_error(&self) -> bool {
        is_error(self.error)
            || self.object.get() == Some("error")
            || (self.detail.is_some() && self.choices.0.is_none())
    }
}

/// Reads one answer.
pub struct Decoder {
    provider: String,
    run: Run,
    calls: Calls,
    finish: Option<String>,
}

impl Decoder {
    /// A decoder for an answer of `provider`.
    #[must_use]
    pub fn new(provider: &str) -> Self {
        Self { provider: provider.to_owned(), run: Run::default(), calls: Calls::default(), finish: None }
    }

    fn chunk(&mut self, chunk: &Chunk<'_>, out: &mut Assembler) {
        out.response_id(chunk.id.get().unwrap_or_default());
        out.response_model(chunk.model.get().unwrap_or_default());
        out.start();
        let choice = chunk.choices.0.as_ref().and_then(|choice| choice.0.as_ref());
        if let Some(delta) = choice.and_then(|choice| choice.delta.0.as_ref()) {
            self.delta(delta, out);
        }
        if let Some(usage) = &chunk.usage.0 {
            out.usage(usage.tokens(), None);
        }
        if let Some(reason) = choice.and_then(|choice| choice.finish_reason.filled()) {
            out.raw_stop_reason(reason);
            self.finish = Some(reason.to_owned());
        }
    }

    fn delta(&mut self, delta: &Delta<'_>, out: &mut Assembler) {
        match &delta.content {
            TextOrList::Text(text) => self.piece(Kind::Text, text, out),
            TextOrList::List(pieces) => {
                for piece in pieces.iter().filter_map(|piece| piece.0.as_ref()) {
                    match piece.kind.get() {
                        Some("text") | None => self.piece(Kind::Text, &piece.text, out),
                        Some("thinking") => self.thoughts(&piece.thinking, out),
                        Some(_) => {}
                    }
                }
            }
        }
        for call in delta.tool_calls.0.iter().filter_map(|call| call.0.as_ref()) {
            self.run.close(out);
            let nothing = Function::default();
            let function = call.function.0.as_ref().unwrap_or(&nothing);
            self.calls.function(call.index.0, call.id.get().unwrap_or_default(), function, out);
        }
    }

    /// Whether a piece calls itself closed says nothing of what follows: more of the same thinking may.
    fn thoughts(&mut self, thoughts: &TextOrList<'_, Obj<Thought<'_>>>, out: &mut Assembler) {
        match thoughts {
            TextOrList::Text(text) => self.piece(Kind::Thinking, text, out),
            TextOrList::List(thoughts) => {
                for thought in thoughts.iter().filter_map(|thought| thought.0.as_ref()) {
                    self.piece(Kind::Thinking, &thought.text, out);
                }
            }
        }
    }

    /// An empty text opens no block: between two pieces of thinking it would cut the thinking in two, and such a
    /// conversation cannot be replayed.
    fn piece(&mut self, kind: Kind, text: &Text<'_>, out: &mut Assembler) {
        let Some(text) = text.filled() else { return };
        self.run.add(kind, text, out);
    }
}

impl EventDecoder for Decoder {
    fn event(&mut self, event: SseEvent<'_>, out: &mut Assembler) {
        let mut mended = String::new();
        let Some((chunk, json)) = read_event::<Chunk<'_>>(event, &mut mended, out) else { return };
        let is_error = chunk.is_error() || event.name == "error";
        if !is_error || chunk.choices.0.is_some() {
            self.chunk(&chunk, out);
        }
        if is_error {
            out.fail(told_failure(&self.provider, json));
        }
    }

    fn finish(&mut self, fault: Option<Failure>, out: &mut Assembler) {
        match (self.finish.as_deref().map(stop_reason), fault) {
            (Some(Ok(stop)), _) => out.done(stop),
            (Some(Err(failure)), _) | (None, Some(failure)) => out.fail(failure),
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
