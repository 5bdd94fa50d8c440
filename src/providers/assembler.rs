//! Builds the assistant message of one answer and emits its events.
//!
//! Decoders of all APIs drive this one: they say what arrived, in their provider's order, and the assembler keeps the
//! books: places in the content, ids of calls, arguments, usage and its price, and exactly one terminal event.

mod call;
pub(crate) mod run;

use std::{collections::HashSet, sync::Arc, time::Instant};

use self::call::CallDraft;
use super::{Request, cost};
use crate::protocol::{
    AssistantMessage, Block, Failure, FailureClass, Model, StopReason, StreamEvent, TextBlock, ThinkingBlock,
    ThinkingLevel, Usage,
    time::{Millis, now_ms},
};

/// An answer while it streams.
pub struct Assembler {
    /// All of the message but its content.
    head: AssistantMessage,
    model: Arc<Model>,
    blocks: Vec<Draft>,
    ids: HashSet<String>,
    events: Vec<StreamEvent>,
    /// The price is the model's rates times this: service tiers.
    price_factor: f64,
    begun: Instant,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Streaming,
    Finished,
}

/// A block that may still grow.
enum Draft {
    Text { block: TextBlock, open: bool },
    Thinking { block: ThinkingBlock, open: bool },
    Call(CallDraft),
}

impl Assembler {
    /// An assembler for the answer to `request`. Time counts from here.
    #[must_use]
    pub fn new(request: &Request) -> Self {
        Self::at(request.model.clone(), request.thinking, now_ms())
    }

    /// An assembler for an answer of `model`, asked at `timestamp`.
    #[must_use]
    pub fn at(model: Arc<Model>, thinking: ThinkingLevel, timestamp: Millis) -> Self {
        let head = AssistantMessage {
            api: model.api.clone(),
            provider: model.provider.clone(),
            model: model.id.clone(),
            thinking_level: Some(thinking.as_str().to_owned()),
            stop_reason: StopReason::Pending,
            timestamp,
            ..AssistantMessage::default()
        };
        Self {
            head,
            model,
            blocks: Vec::new(),
            ids: HashSet::new(),
            events: Vec::new(),
            price_factor: 1.0,
            begun: Instant::now(),
            phase: Phase::Waiting,
        }
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> Vec<StreamEvent> {
        std::mem::take(&mut self.events)
    }

    /// True after the terminal event: nothing more is emitted, whatever is called.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.phase == Phase::Finished
    }

    /// True when the answer has at least one tool call.
    #[must_use]
    pub fn has_calls(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Draft::Call(_)))
    }

    /// The provider's name of the answer's effort, recorded beside the requested level.
    pub fn provider_thinking_level(&mut self, level: &str) {
        self.head.provider_thinking_level = Some(level.to_owned());
    }

    /// The provider's id of the answer; the first that is not empty counts.
    pub fn response_id(&mut self, id: &str) {
        if self.head.response_id.is_none() && !id.is_empty() {
            self.head.response_id = Some(id.to_owned());
        }
    }

    /// The model that answers; recorded when it is not the requested one. The first that is not empty counts.
    pub fn response_model(&mut self, model: &str) {
        if self.head.response_model.is_none() && !model.is_empty() && model != self.head.model {
            self.head.response_model = Some(model.to_owned());
        }
    }

    /// The provider's own word for the end.
    pub fn raw_stop_reason(&mut self, reason: &str) {
        self.head.raw_stop_reason = Some(reason.to_owned());
    }

    /// Whether the model wants its turn to end here, of providers that tell.
    pub fn end_turn(&mut self, ends: bool) {
        self.head.end_turn = Some(ends);
    }

    /// The first valid event has come.
    pub fn start(&mut self) {
        if self.phase == Phase::Waiting {
            self.phase = Phase::Streaming;
            self.events.push(StreamEvent::Start(Arc::new(self.head.clone())));
        }
    }

    /// The factor at which the answer's service tier is sold; counts for usage that is told after it.
    pub fn price_factor(&mut self, factor: f64) {
        self.price_factor = factor;
    }

    /// Tokens so far; they replace what was known. A total of 0 is summed up, another is the provider's own and stays.
    /// Without a `billed` total the model's rates price them.
    pub fn usage(&mut self, mut usage: Usage, billed: Option<f64>) {
        if usage.total_tokens == 0 {
            usage = usage.summed();
        }
        usage.reasoning.get_or_insert(0);
        usage.cost = cost::price_scaled(&self.model.cost, &usage, self.price_factor);
        if let Some(total) = billed {
            usage.cost = cost::billed(usage.cost, total);
        }
        if usage != self.head.usage {
            self.head.usage = usage;
            self.emit(StreamEvent::Usage(usage));
        }
    }

    /// Opens a text block; gives its place.
    pub fn text_start(&mut self) -> usize {
        let index = self.open(Draft::Text { block: TextBlock::default(), open: true });
        self.emit(StreamEvent::TextStart { index });
        index
    }

    /// Adds to a text block.
    pub fn text_delta(&mut self, index: usize, delta: &str) {
        if let Some(Draft::Text { block, open: true }) = self.blocks.get_mut(index) {
            block.text.push_str(delta);
            self.emit(StreamEvent::TextDelta { index, delta: delta.to_owned() });
        }
    }

    /// The whole text of a block as the provider states it at the end: what was not streamed is added. Where it says
    /// something else, what was shown stays.
    pub fn text_complete(&mut self, index: usize, whole: &str) {
        if let Some(Draft::Text { block, open: true }) = self.blocks.get(index)
            && let Some(rest) = whole.strip_prefix(block.text.as_str()).filter(|rest| !rest.is_empty())
        {
            self.text_delta(index, rest);
        }
    }

    /// Sets a text block's replay data: a signature, or the names that the provider knows it by.
    pub fn text_replay(&mut self, index: usize, data: String) {
        if let Some(Draft::Text { block, .. }) = self.blocks.get_mut(index) {
            block.text_signature = Some(data);
        }
    }

    /// Opens a thinking block; gives its place.
    pub fn thinking_start(&mut self) -> usize {
        let index = self.open(Draft::Thinking { block: ThinkingBlock::default(), open: true });
        self.emit(StreamEvent::ThinkingStart { index });
        index
    }

    /// Adds to a thinking block's readable text.
    pub fn thinking_delta(&mut self, index: usize, delta: &str) {
        if let Some(Draft::Thinking { block, open: true }) = self.blocks.get_mut(index) {
            block.thinking.push_str(delta);
            self.emit(StreamEvent::ThinkingDelta { index, delta: delta.to_owned() });
        }
    }

    /// The whole readable text of a thinking block, as [`Self::text_complete`].
    pub fn thinking_complete(&mut self, index: usize, whole: &str) {
        if let Some(Draft::Thinking { block, open: true }) = self.blocks.get(index)
            && let Some(rest) = whole.strip_prefix(block.thinking.as_str()).filter(|rest| !rest.is_empty())
        {
            self.thinking_delta(index, rest);
        }
    }

    /// Adds to a thinking block's signature, which comes in pieces. Behind the end of the block it is too late: the
    /// signed block has been shown.
    pub fn thinking_signature(&mut self, index: usize, piece: &str) {
        if let Some(Draft::Thinking { block, open: true }) = self.blocks.get_mut(index)
            && !piece.is_empty()
        {
            block.thinking_signature.get_or_insert_default().push_str(piece);
        }
    }

    /// Sets a thinking block's replay data.
    pub fn thinking_replay(&mut self, index: usize, data: String) {
        if let Some(Draft::Thinking { block, .. }) = self.blocks.get_mut(index) {
            block.thinking_signature = Some(data);
        }
    }

    /// Marks a thinking block as withheld: `payload` goes back as it came.
    pub fn thinking_redacted(&mut self, index: usize, payload: &str) {
        if let Some(Draft::Thinking { block, .. }) = self.blocks.get_mut(index) {
            block.redacted = Some(true);
            block.thinking_signature = Some(payload.to_owned());
        }
    }

    /// Opens a tool call with what is known of it; gives its place.
    pub fn call_start(&mut self, id: &str, name: &str) -> usize {
        let index = self.open(Draft::Call(CallDraft::new(id, name)));
        self.emit(StreamEvent::ToolCallStart { index, id: id.to_owned(), name: name.to_owned() });
        index
    }

    /// The call takes free text, which becomes the value of the argument `property`. Its events hold the JSON of that.
    pub fn call_is_free_text(&mut self, index: usize, property: &str) {
        if let Some(draft) = self.open_call(index) {
            draft.take_free_text(property);
        }
    }

    /// A call's id that came later than its start; the first that is not empty counts.
    pub fn call_id(&mut self, index: usize, id: &str) {
        if let Some(draft) = self.open_call(index)
            && draft.call.id.is_empty()
        {
            id.clone_into(&mut draft.call.id);
        }
    }

    /// A call's final id, of a provider that called it something else at first.
    pub fn call_renamed(&mut self, index: usize, id: &str) {
        if let Some(draft) = self.open_call(index)
            && !id.is_empty()
        {
            id.clone_into(&mut draft.call.id);
        }
    }

    /// A call's name that came later than its start; the first that is not empty counts.
    pub fn call_name(&mut self, index: usize, name: &str) {
        if let Some(draft) = self.open_call(index)
            && draft.call.name.is_empty()
        {
            name.clone_into(&mut draft.call.name);
        }
    }

    /// Sets a call's replay data: the signature of the thoughts that led to it.
    pub fn call_replay(&mut self, index: usize, data: String) {
        if let Some(draft) = self.open_call(index) {
            draft.call.thought_signature = Some(data);
        }
    }

    /// Adds to a call's raw argument text. Providers that send an object give its JSON text.
    pub fn call_delta(&mut self, index: usize, delta: &str) {
        if let Some(draft) = self.open_call(index)
            && !delta.is_empty()
        {
            let delta = draft.push(delta);
            self.emit(StreamEvent::ToolCallDelta { index, delta });
        }
    }

    /// A call's whole argument text as the provider states it at the end: it counts, unless it is empty. What of it was
    /// not streamed is added.
    pub fn call_complete(&mut self, index: usize, whole: &str) {
        if let Some(delta) = self.open_call(index).and_then(|draft| draft.complete(whole)) {
            self.emit(StreamEvent::ToolCallDelta { index, delta });
        }
    }

    /// True when no argument text has come for the call.
    #[must_use]
    pub fn call_is_bare(&self, index: usize) -> bool {
        matches!(self.blocks.get(index), Some(Draft::Call(draft)) if draft.is_bare())
    }

    /// Closes a block: a call's arguments are read and its id is made unique.
    pub fn end_block(&mut self, index: usize) {
        self.close_call(index);
        let event = match self.blocks.get_mut(index) {
            Some(Draft::Text { block, open: open @ true }) => {
                *open = false;
                StreamEvent::TextEnd { index, block: block.clone() }
            }
            Some(Draft::Thinking { block, open: open @ true }) => {
                *open = false;
                StreamEvent::ThinkingEnd { index, block: block.clone() }
            }
            Some(Draft::Call(draft)) if !draft.ended => {
                draft.ended = true;
                StreamEvent::ToolCallEnd { index, call: draft.call.clone() }
            }
            _ => return,
        };
        self.emit(event);
    }

    /// The answer is complete: closes the blocks that are open, in order, and ends the stream. With at least one call
    /// in the content a normal stop is a request for tools, whatever the provider called it.
    pub fn done(&mut self, stop_reason: StopReason) {
        self.start();
        for index in 0..self.blocks.len() {
            self.end_block(index);
        }
        let stop_reason = match stop_reason {
            StopReason::Stop | StopReason::ToolUse if self.has_calls() => StopReason::ToolUse,
            StopReason::ToolUse => StopReason::Stop,
            other => other,
        };
        self.finish(stop_reason, None);
    }

    /// The call failed: ends the stream and keeps what arrived.
    pub fn fail(&mut self, failure: Failure) {
        for index in 0..self.blocks.len() {
            self.close_call(index);
        }
        let aborted = failure.class == FailureClass::Aborted;
        self.finish(if aborted { StopReason::Aborted } else { StopReason::Error }, Some(failure));
    }

    fn finish(&mut self, stop_reason: StopReason, failure: Option<Failure>) {
        if self.is_finished() {
            return;
        }
        let mut message = std::mem::take(&mut self.head);
        message.content = std::mem::take(&mut self.blocks).into_iter().map(Draft::into_block).collect();
        message.stop_reason = stop_reason;
        message.duration_ms = Some(u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX));
        message.error_message = failure.as_ref().map(|failure| failure.message.clone());
        let message = Arc::new(message);
        self.events.push(match failure {
            Some(failure) => StreamEvent::Failed { message, failure },
            None => StreamEvent::Done(message),
        });
        self.phase = Phase::Finished;
    }

    fn open(&mut self, draft: Draft) -> usize {
        self.blocks.push(draft);
        self.blocks.len() - 1
    }

    /// Reads the arguments of a call.
    fn close_call(&mut self, index: usize) {
        if let Some(Draft::Call(draft)) = self.blocks.get_mut(index)
            && let Some(delta) = draft.close(&mut self.ids)
        {
            self.emit(StreamEvent::ToolCallDelta { index, delta });
        }
    }

    fn open_call(&mut self, index: usize) -> Option<&mut CallDraft> {
        match self.blocks.get_mut(index) {
            Some(Draft::Call(draft)) if !draft.is_closed() => Some(draft),
            _ => None,
        }
    }

    fn emit(&mut self, event: StreamEvent) {
        if self.is_finished() {
            return;
        }
        self.start();
        self.events.push(event);
    }
}

impl Draft {
    fn into_block(self) -> Block {
        match self {
            Self::Text { block, .. } => Block::Text(block),
            Self::Thinking { block, .. } => Block::Thinking(block),
            Self::Call(draft) => Block::ToolCall(draft.call),
        }
    }
}

#[cfg(test)]
mod tests;
