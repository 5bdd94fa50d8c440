//! Reads the events of a Gemini stream.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::usage::Counts;
use crate::{
    protocol::{Failure, FailureClass, StopReason},
    providers::{
        assembler::{
            Assembler,
            run::{Kind, Run},
        },
        lax::{First, Flag, List, Obj, Text},
        sse::SseEvent,
        wire_api::{EventDecoder, read_event, told_failure},
    },
};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Event<'a> {
    #[serde(borrow)]
    candidates: First<Obj<Candidate<'a>>>,
    #[serde(borrow)]
    prompt_feedback: Obj<PromptFeedback<'a>>,
    usage_metadata: Obj<Counts>,
    #[serde(borrow)]
    model_version: Text<'a>,
    #[serde(borrow)]
    response_id: Text<'a>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Obj<Content<'a>>,
    #[serde(borrow)]
    finish_reason: Text<'a>,
    #[serde(borrow)]
    finish_message: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content<'a> {
    #[serde(borrow)]
    parts: List<Obj<Part<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PromptFeedback<'a> {
    #[serde(borrow)]
    block_reason: Text<'a>,
    #[serde(borrow)]
    block_reason_message: Text<'a>,
}

/// A part of the answer: text, a call, or one of the kinds that are ignored.
#[derive(Default)]
struct Part<'a> {
    text: Text<'a>,
    thought: Flag,
    signature: Text<'a>,
    call: Obj<FunctionCall<'a>>,
    /// It holds something else.
    foreign: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FunctionCall<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Part<'a> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Part<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a part")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Part<'de>, A::Error> {
                let mut part = Part::default();
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    match key.get() {
                        Some("text") => part.text = map.next_value()?,
                        Some("thought") => part.thought = map.next_value()?,
                        Some("thoughtSignature") => part.signature = map.next_value()?,
                        Some("functionCall") => part.call = map.next_value()?,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            part.foreign = true;
                        }
                    }
                }
                Ok(part)
            }
        }
        input.deserialize_map(Read)
    }
}

/// Reads one answer.
pub struct Decoder {
    provider: String,
    run: Run,
    counts: Counts,
    finish: Option<String>,
    finish_message: Option<String>,
    /// Why the prompt was not answered at all.
    blocked: Option<String>,
}

impl Decoder {
    /// A decoder for an answer of `provider`.
    #[must_use]
    pub fn new(provider: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            run: Run::default(),
            counts: Counts::default(),
            finish: None,
            finish_message: None,
            blocked: None,
        }
    }

    fn response(&mut self, event: &Event<'_>, out: &mut Assembler) {
        out.response_id(event.response_id.get().unwrap_or_default());
        out.response_model(event.model_version.get().unwrap_or_default());
        if let Some(feedback) = &event.prompt_feedback.0 {
            self.feedback(feedback);
        }
        if let Some(candidate) = event.candidates.0.as_ref().and_then(|candidate| candidate.0.as_ref()) {
            self.candidate(candidate, out);
        }
        if let Some(counts) = &event.usage_metadata.0 {
            self.counts.update(counts);
            out.usage(self.counts.usage(), None);
        }
    }

    fn feedback(&mut self, feedback: &PromptFeedback<'_>) {
        if let Some(reason) = feedback.block_reason.filled() {
            self.blocked = Some(match feedback.block_reason_message.filled() {
                Some(message) => format!("The prompt was blocked ({reason}): {message}"),
                None => format!("The prompt was blocked ({reason})"),
            });
        }
    }

    fn candidate(&mut self, candidate: &Candidate<'_>, out: &mut Assembler) {
        let parts = candidate.content.0.iter().flat_map(|content| &content.parts.0);
        for part in parts.filter_map(|part| part.0.as_ref()) {
            self.part(part, out);
        }
        if let Some(message) = candidate.finish_message.filled() {
            self.finish_message = Some(message.to_owned());
        }
        if let Some(reason) = candidate.finish_reason.filled() {
            out.raw_stop_reason(reason);
            self.finish = Some(reason.to_owned());
        }
    }

    /// A part without any content is an empty text, as long as it holds nothing that is ignored.
    fn part(&mut self, part: &Part<'_>, out: &mut Assembler) {
        let signature = part.signature.filled();
        if let Some(call) = &part.call.0 {
            self.call(call, signature, out);
        } else if part.text.get().is_some() || !part.foreign {
            let kind = if part.thought.0 { Kind::Thinking } else { Kind::Text };
            self.grow(kind, part.text.get().unwrap_or_default(), signature, out);
        }
    }

    /// Adds to the open block, or opens one. An empty part counts only for its signature (rules G1 to G4).
    fn grow(&mut self, kind: Kind, text: &str, signature: Option<&str>, out: &mut Assembler) {
        if text.is_empty() && signature.is_none() {
            return;
        }
        let place = self.run.add(kind, text, out);
        if let Some(signature) = signature {
            match kind {
                Kind::Text => out.text_replay(place, signature.to_owned()),
                Kind::Thinking => out.thinking_replay(place, signature.to_owned()),
            }
        }
    }

    /// Calls come whole.
    fn call(&mut self, call: &FunctionCall<'_>, signature: Option<&str>, out: &mut Assembler) {
        self.run.close(out);
        let place = out.call_start(call.id.get().unwrap_or_default(), call.name.get().unwrap_or_default());
        if let Some(signature) = signature {
            out.call_replay(place, signature.to_owned());
        }
        out.call_delta(place, call.args.map_or("", RawValue::get));
        out.end_block(place);
    }

    /// Ends the answer as its finish reason says.
    fn complete(&self, reason: &str, out: &mut Assembler) {
        let class = match reason {
            "STOP" => return out.done(StopReason::Stop),
            "MAX_TOKENS" | "CONTINUATION" => return out.done(StopReason::Length),
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => FailureClass::ToolUseFailed,
            "SAFETY"
            | "PROHIBITED_CONTENT"
            | "BLOCKLIST"
            | "SPII"
            | "RECITATION"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION" => FailureClass::ContentFilter,
            _ => FailureClass::ProviderStop,
        };
        let text = match &self.finish_message {
            Some(message) => format!("Provider stopped with: {reason}: {message}"),
            None => format!("Provider stopped with: {reason}"),
        };
        out.fail(Failure::new(class, text));
    }
}

impl EventDecoder for Decoder {
    fn event(&mut self, event: SseEvent<'_>, out: &mut Assembler) {
        let mut mended = String::new();
        let Some((parsed, json)) = read_event::<Event<'_>>(event, &mut mended, out) else { return };
        self.response(&parsed, out);
        if parsed.error.is_some() {
            out.fail(told_failure(&self.provider, json));
        }
    }

    fn finish(&mut self, fault: Option<Failure>, out: &mut Assembler) {
        let failure = match (&self.finish, self.blocked.take(), fault) {
            (Some(reason), ..) => return self.complete(reason, out),
            (None, Some(blocked), _) => Failure::new(FailureClass::ContentFilter, blocked),
            (None, None, Some(fault)) => fault,
            (None, None, None) => Failure::new(FailureClass::StreamTruncated, "Stream ended without finishReason"),
        };
        out.fail(failure);
    }

    fn is_complete(&self) -> bool {
        self.finish.is_some() || self.blocked.is_some()
    }
}

#[cfg(test)]
mod tests;
