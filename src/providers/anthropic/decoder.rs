//! Reads the events of a Messages stream.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::usage::WireUsage;
use crate::{
    protocol::{Failure, FailureClass, StopReason, Usage},
    providers::{
        assembler::Assembler,
        lax::{Count, Obj, Text},
        sse::SseEvent,
        wire_api::{EventDecoder, read_event, told_failure},
    },
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    index: Count,
    #[serde(borrow)]
    message: Obj<Message<'a>>,
    #[serde(borrow)]
    content_block: Obj<ContentBlock<'a>>,
    #[serde(borrow)]
    delta: Obj<Delta<'a>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ContentBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    thinking: Text<'a>,
    #[serde(borrow)]
    signature: Text<'a>,
    /// The payload of withheld thinking.
    #[serde(borrow)]
    data: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    thinking: Text<'a>,
    #[serde(borrow)]
    signature: Text<'a>,
    #[serde(borrow)]
    partial_json: Text<'a>,
    #[serde(borrow)]
    stop_reason: Text<'a>,
    #[serde(borrow)]
    stop_details: Obj<StopDetails<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StopDetails<'a> {
    #[serde(borrow)]
    explanation: Text<'a>,
}

/// A block of the provider's and its place in our content; blocks of unknown types have none.
struct OpenBlock {
    index: u64,
    place: Option<usize>,
    /// Arguments that came with the start of a call; they count when no fragment follows.
    input: Option<String>,
}

/// Reads one answer.
pub struct Decoder {
    provider: String,
    effort: Option<String>,
    blocks: Vec<OpenBlock>,
    usage: Usage,
    billed: Option<f64>,
    stop: Option<String>,
    explanation: Option<String>,
}

impl Decoder {
    /// A decoder for an answer of `provider`. `effort` is recorded with the answer.
    #[must_use]
    pub fn new(provider: &str, effort: Option<&str>) -> Self {
        Self {
            provider: provider.to_owned(),
            effort: effort.map(str::to_owned),
            blocks: Vec::new(),
            usage: Usage::default(),
            billed: None,
            stop: None,
            explanation: None,
        }
    }

    fn message_start(&mut self, message: &Message<'_>, out: &mut Assembler) {
        out.response_id(message.id.get().unwrap_or_default());
        out.response_model(message.model.get().unwrap_or_default());
        if let Some(effort) = &self.effort {
            out.provider_thinking_level(effort);
        }
        out.start();
        self.add_usage(message.usage, out);
    }

    fn block_start(&mut self, index: u64, block: &ContentBlock<'_>, out: &mut Assembler) {
        let mut input = None;
        let place = match block.kind.get() {
            Some("text") => {
                let place = out.text_start();
                if let Some(text) = block.text.filled() {
                    out.text_delta(place, text);
                }
                Some(place)
            }
            Some("thinking") => {
                let place = out.thinking_start();
                if let Some(thinking) = block.thinking.filled() {
                    out.thinking_delta(place, thinking);
                }
                out.thinking_signature(place, block.signature.get().unwrap_or_default());
                Some(place)
            }
            Some("redacted_thinking") => {
                let place = out.thinking_start();
                out.thinking_redacted(place, block.data.get().unwrap_or_default());
                Some(place)
            }
            Some("tool_use") => {
                input = block.input.map(RawValue::get).filter(|raw| raw.starts_with('{')).map(str::to_owned);
                Some(out.call_start(block.id.get().unwrap_or_default(), block.name.get().unwrap_or_default()))
            }
            // Tools of the server, fallback marks and what comes next year: ignored with all their deltas.
            _ => None,
        };
        self.blocks.push(OpenBlock { index, place, input });
    }

    fn place(&self, index: u64) -> Option<usize> {
        self.blocks.iter().rev().find(|block| block.index == index)?.place
    }

    fn block_delta(&self, index: u64, delta: &Delta<'_>, out: &mut Assembler) {
        let Some(place) = self.place(index) else { return };
        match delta.kind.get() {
            Some("text_delta") => out.text_delta(place, delta.text.get().unwrap_or_default()),
            Some("thinking_delta") => out.thinking_delta(place, delta.thinking.get().unwrap_or_default()),
            Some("signature_delta") => out.thinking_signature(place, delta.signature.get().unwrap_or_default()),
            Some("input_json_delta") => out.call_delta(place, delta.partial_json.get().unwrap_or_default()),
            _ => {}
        }
    }

    fn block_stop(&mut self, index: u64, out: &mut Assembler) {
        if let Some(block) = self.blocks.iter_mut().rev().find(|block| block.index == index) {
            block.close(out);
        }
    }

    fn message_delta(&mut self, event: &Event<'_>, out: &mut Assembler) {
        if let Some(delta) = &event.delta.0 {
            if let Some(reason) = delta.stop_reason.filled() {
                out.raw_stop_reason(reason);
                self.stop = Some(reason.to_owned());
            }
            let explanation = delta.stop_details.0.as_ref().and_then(|details| details.explanation.filled());
            self.explanation = explanation.map(str::to_owned).or(self.explanation.take());
        }
        self.add_usage(event.usage, out);
    }

    /// Numbers replace what was known, nulls and missing keys keep it; output is a running total.
    fn add_usage(&mut self, usage: Option<&RawValue>, out: &mut Assembler) {
        let parsed = usage.and_then(|raw| serde_json::from_str::<Obj<WireUsage>>(raw.get()).ok());
        if let Some(Obj(Some(usage))) = parsed {
            usage.update(&mut self.usage);
            self.billed = usage.billed().or(self.billed);
            out.usage(self.usage, self.billed);
        }
    }

    fn message_stop(&mut self, out: &mut Assembler) {
        self.blocks.iter_mut().for_each(|block| block.close(out));
        let reason = self.stop.as_deref().unwrap_or("end_turn");
        let fail = |class, text: String| Failure::new(class, text);
        match reason {
            "end_turn" | "stop_sequence" | "pause_turn" => out.done(StopReason::Stop),
            "tool_use" => out.done(StopReason::ToolUse),
            "max_tokens" | "model_context_window_exceeded" => out.done(StopReason::Length),
            "refusal" => {
                let text = self.explanation.take().unwrap_or_else(|| "The model refused to answer (refusal)".into());
                out.fail(fail(FailureClass::Refusal, text));
            }
            "sensitive" => {
                out.fail(fail(FailureClass::ContentFilter, format!("Provider stop_reason: {reason}")));
            }
            _ => out.fail(fail(FailureClass::ProviderStop, format!("Provider stop_reason: {reason}"))),
        }
    }
}

impl OpenBlock {
    fn close(&mut self, out: &mut Assembler) {
        let Some(place) = self.place else { return };
        if let Some(input) = self.input.take().filter(|input| input != "{}" && out.call_is_bare(place)) {
            out.call_delta(place, &input);
        }
        out.end_block(place);
    }
}

impl EventDecoder for Decoder {
    fn event(&mut self, event: SseEvent<'_>, out: &mut Assembler) {
        let mut mended = String::new();
        let Some((parsed, json)) = read_event::<Event<'_>>(event, &mut mended, out) else { return };
        // Some gateways drop the event line, others the type.
        let kind = parsed.kind.filled().unwrap_or(event.name);
        let index = parsed.index.0.or_else(|| self.blocks.last().map(|block| block.index)).unwrap_or(0);
        match kind {
            "message_start" => self.message_start(parsed.message.0.as_ref().unwrap_or(&Message::default()), out),
            "content_block_start" => {
                let index = parsed.index.0.unwrap_or(self.blocks.len() as u64);
                self.block_start(index, parsed.content_block.0.as_ref().unwrap_or(&ContentBlock::default()), out);
            }
            "content_block_delta" => self.block_delta(index, parsed.delta.0.as_ref().unwrap_or(&Delta::default()), out),
            "content_block_stop" => self.block_stop(index, out),
            "message_delta" => self.message_delta(&parsed, out),
            "message_stop" => self.message_stop(out),
            "error" => out.fail(told_failure(&self.provider, json)),
            _ => {}
        }
    }

    fn finish(&mut self, fault: Option<Failure>, out: &mut Assembler) {
        out.fail(
            fault.unwrap_or_else(|| Failure::new(FailureClass::StreamTruncated, "Stream ended before message_stop")),
        );
    }

    fn is_complete(&self) -> bool {
        // The end mark ends the stream at once.
        false
    }
}

#[cfg(test)]
mod tests;
