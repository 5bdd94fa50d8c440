//! Reads the frames of a Converse stream.

use std::collections::HashMap;

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose},
};
use serde_json::{Value, json, value::RawValue};

use super::events::{Event, ReasoningDelta, ToolStart};
use crate::{
    protocol::{Failure, FailureClass, StopReason},
    providers::{
        assembler::Assembler,
        aws::event_stream::{Frame, FrameDecoder, FrameError},
        errors::{malformed_event, stream_failure},
        json_repair::read_lax,
        lax::{Obj, Text},
        wire_api::BodyDecoder,
    },
};

/// A block that is open, and its place in our content.
enum Block {
    Text(usize),
    Thinking {
        place: usize,
        /// The payload of withheld thinking, which comes in pieces that are encoded one by one.
        redacted: Vec<u8>,
    },
    Call {
        place: usize,
        /// Arguments that came with the start; they count when no fragment follows.
        input: Option<String>,
    },
    /// Of a kind that is not used here; its deltas are ignored too.
    Ignored,
}

/// Reads one answer.
pub struct Decoder {
    frames: FrameDecoder,
    answer: Answer,
}

struct Answer {
    provider: String,
    /// Open blocks by the provider's index.
    open: HashMap<u64, Block>,
    /// The index that was named last.
    newest: Option<u64>,
    stop: Option<String>,
}

impl Decoder {
    /// A decoder for an answer of `provider`.
    #[must_use]
    pub fn new(provider: &str) -> Self {
        let answer = Answer { provider: provider.to_owned(), open: HashMap::new(), newest: None, stop: None };
        Self { frames: FrameDecoder::default(), answer }
    }
}

impl BodyDecoder for Decoder {
    fn push(&mut self, bytes: &[u8], out: &mut Assembler) {
        let Self { frames, answer } = self;
        let pushed = frames.push(bytes, &mut |frame| answer.frame(&frame, out));
        if let Err(error) = pushed
            && !out.is_finished()
        {
            answer.broken(error, out);
        }
    }

    fn finish(&mut self, fault: Option<Failure>, out: &mut Assembler) {
        if out.is_finished() {
            return;
        }
        // A fault behind the end mark does not matter.
        if self.answer.stop.is_some() {
            return self.answer.conclude(out);
        }
        let place = if self.frames.is_inside_frame() { ", inside a frame" } else { "" };
        let cut = || Failure::new(FailureClass::StreamTruncated, format!("Stream ended without messageStop{place}"));
        self.answer.fail(fault.unwrap_or_else(cut), out);
    }

    fn is_complete(&self) -> bool {
        self.answer.stop.is_some()
    }
}

impl Answer {
    fn frame(&mut self, frame: &Frame<'_>, out: &mut Assembler) {
        if out.is_finished() {
            return;
        }
        match (frame.text(":message-type"), frame.text(":event-type"), frame.text(":exception-type")) {
            (Some("exception"), _, name) | (None, None, name @ Some(_)) => {
                self.exception(name.unwrap_or_default(), frame.payload, out);
            }
            (Some("error"), ..) => {
                let text = |name| frame.text(name).unwrap_or_default();
                let error = json!({"message": text(":error-message"), "code": text(":error-code")});
                self.fail(stream_failure(&self.provider, &error), out);
            }
            (Some("event") | None, Some(name), _) => self.event(name, frame.payload, out),
            _ => {}
        }
    }

    fn event(&mut self, name: &str, payload: &[u8], out: &mut Assembler) {
        const KNOWN: [&str; 6] =
            ["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"];
        if !KNOWN.contains(&name) {
            return;
        }
        let mut mended = String::new();
        let payload = if payload.trim_ascii().is_empty() { b"{}" } else { payload };
        let event = match read_lax::<Obj<Event<'_>>>(payload, &mut mended) {
            Ok((Obj(event), _)) => event.unwrap_or_default(),
            Err(error) => return self.fail(malformed_event(&error), out),
        };
        match name {
            "messageStart" => out.start(),
            "contentBlockStart" => self.block_start(&event, out),
            "contentBlockDelta" => self.block_delta(&event, out),
            "contentBlockStop" => {
                let index = self.index(&event);
                self.close(index, out);
            }
            "messageStop" => {
                let reason = event.stop_reason.filled().unwrap_or("end_turn");
                out.start();
                out.raw_stop_reason(reason);
                self.stop = Some(reason.to_owned());
            }
            _ => {
                if let Some(usage) = &event.usage.0 {
                    out.usage(usage.read(), None);
                }
                // The service sends nothing behind it.
                if self.stop.is_some() {
                    self.conclude(out);
                }
            }
        }
    }

    /// The block that an event is about: without an index the newest.
    fn index(&mut self, event: &Event<'_>) -> u64 {
        let index = event.content_block_index.0.or(self.newest).unwrap_or(0);
        self.newest = Some(index);
        index
    }

    /// Only calls are announced for certain; texts and thoughts begin with their first delta.
    fn block_start(&mut self, event: &Event<'_>, out: &mut Assembler) {
        let next = || self.newest.map_or(0, |newest| newest.saturating_add(1));
        let index = event.content_block_index.0.unwrap_or_else(next);
        self.newest = Some(index);
        self.close(index, out);
        let Some(start) = &event.start.0 else { return };
        if let Some(call) = start.get("toolUse") {
            let call: Obj<ToolStart<'_>> = serde_json::from_str(call.get()).unwrap_or_default();
            let call = call.0.unwrap_or_default();
            let block = match call.kind.filled() {
                Some(kind) if kind != "tool_use" => Block::Ignored,
                _ => Block::Call {
                    place: out
                        .call_start(call.tool_use_id.get().unwrap_or_default(), call.name.get().unwrap_or_default()),
                    input: call.input.map(RawValue::get).filter(|raw| raw.starts_with('{')).map(str::to_owned),
                },
            };
            self.open.insert(index, block);
        } else if start.keys().any(|kind| !matches!(kind.as_str(), "text" | "reasoningContent")) {
            self.open.insert(index, Block::Ignored);
        }
    }

    fn block_delta(&mut self, event: &Event<'_>, out: &mut Assembler) {
        let index = self.index(event);
        let Some(delta) = &event.delta.0 else { return };
        if matches!(self.open.get(&index), Some(Block::Ignored)) {
            return;
        }
        if let Some(text) = delta.text.get() {
            let place = self.text(index, out);
            if !text.is_empty() {
                out.text_delta(place, text);
            }
        }
        if let Some(reasoning) = &delta.reasoning_content.0 {
            self.reasoning_delta(index, reasoning, out);
        }
        if let (Some(delta), Some(Block::Call { place, .. })) = (&delta.tool_use.0, self.open.get(&index)) {
            match delta.input.map(RawValue::get) {
                // Some gateways send the object itself.
                Some(raw) if raw.starts_with('{') => out.call_delta(*place, raw),
                Some(raw) => {
                    let text: Text<'_> = serde_json::from_str(raw).unwrap_or_default();
                    out.call_delta(*place, text.get().unwrap_or_default());
                }
                None => {}
            }
        }
    }

    fn text(&mut self, index: u64, out: &mut Assembler) -> usize {
        if let Some(Block::Text(place)) = self.open.get(&index) {
            return *place;
        }
        self.close(index, out);
        let place = out.text_start();
        self.open.insert(index, Block::Text(place));
        place
    }

    fn reasoning_delta(&mut self, index: u64, delta: &ReasoningDelta<'_>, out: &mut Assembler) {
        let (text, signature, redacted) = (delta.text.get(), delta.signature.get(), delta.redacted_content.get());
        if text.or(signature).or(redacted).is_none() {
            return;
        }
        let place = match self.open.get(&index) {
            Some(Block::Thinking { place, .. }) => *place,
            _ => {
                self.close(index, out);
                let place = out.thinking_start();
                self.open.insert(index, Block::Thinking { place, redacted: Vec::new() });
                place
            }
        };
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            out.thinking_delta(place, text);
        }
        out.thinking_signature(place, signature.unwrap_or_default());
        let Some(Block::Thinking { redacted: payload, .. }) = self.open.get_mut(&index) else { return };
        let decoded = redacted.map_or(Ok(()), |piece| LENIENT.decode_vec(piece.trim(), payload));
        if decoded.is_err() {
            let text = "The provider sent withheld thinking (redactedContent) that is no base64";
            self.fail(Failure::new(FailureClass::ProtocolError, text), out);
        }
    }

    fn close(&mut self, index: u64, out: &mut Assembler) {
        if let Some(block) = self.open.remove(&index) {
            block.close(out);
        }
    }

    fn close_all(&mut self, out: &mut Assembler) {
        let mut open: Vec<Block> = self.open.drain().map(|(_, block)| block).collect();
        open.sort_by_key(Block::place);
        open.into_iter().for_each(|block| block.close(out));
    }

    /// An error of the service in the stream. Its name says what it is.
    fn exception(&mut self, name: &str, payload: &[u8], out: &mut Assembler) {
        let body: Value = serde_json::from_slice(payload).unwrap_or_default();
        let text = |key: &str| body[key].as_str().filter(|text| !text.is_empty());
        let said = text("message").or_else(|| text("Message")).map(str::to_owned);
        let said = said.unwrap_or_else(|| String::from_utf8_lossy(payload).trim().to_owned());
        // What the model itself reported.
        let original = text("originalMessage").filter(|original| !said.contains(original));
        let message = original.map_or_else(|| said.clone(), |original| format!("{said}: {original}"));
        self.fail(stream_failure(&self.provider, &json!({"message": message, "type": name})), out);
    }

    /// The bytes cannot be read on. Behind the end mark that does not matter.
    fn broken(&mut self, error: FrameError, out: &mut Assembler) {
        if self.stop.is_some() {
            return self.conclude(out);
        }
        let text = format!(
            "The answer of provider \"{}\" is no sound event stream: {error}; check its baseUrl",
            self.provider
        );
        self.fail(Failure::new(FailureClass::ProtocolError, text), out);
    }

    fn fail(&mut self, failure: Failure, out: &mut Assembler) {
        // Withheld thinking is part of what arrived.
        self.open.retain(|_, block| matches!(block, Block::Thinking { .. }));
        self.close_all(out);
        out.fail(failure);
    }

    fn conclude(&mut self, out: &mut Assembler) {
        self.close_all(out);
        let reason = self.stop.take().unwrap_or_default();
        let class = match reason.as_str() {
            "end_turn" | "stop_sequence" => return out.done(StopReason::Stop),
            "tool_use" => return out.done(StopReason::ToolUse),
            "max_tokens" | "model_context_window_exceeded" => return out.done(StopReason::Length),
            "guardrail_intervened" | "content_filtered" => FailureClass::ContentFilter,
            "malformed_tool_use" => FailureClass::ToolUseFailed,
            _ => FailureClass::ProviderStop,
        };
        out.fail(Failure::new(class, format!("Provider stopReason: {reason}")));
    }
}

impl Block {
    fn place(&self) -> usize {
        match self {
            Self::Text(place) | Self::Thinking { place, .. } | Self::Call { place, .. } => *place,
            Self::Ignored => usize::MAX,
        }
    }

    fn close(self, out: &mut Assembler) {
        let place = self.place();
        match self {
            Self::Thinking { redacted, .. } if !redacted.is_empty() => {
                out.thinking_redacted(place, &general_purpose::STANDARD.encode(redacted));
            }
            Self::Call { input: Some(input), .. } if out.call_is_bare(place) => out.call_delta(place, &input),
            Self::Ignored => return,
            _ => {}
        }
        out.end_block(place);
    }
}

/// Padding may be there or not.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

#[cfg(test)]
mod tests;
