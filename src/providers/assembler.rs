//! Builds the assistant message of one answer and emits its events.
//!
//! Decoders of all APIs drive this one: they say what arrived, in their provider's order, and the assembler keeps the
//! books: places in the content, ids of calls, arguments, usage and its price, and exactly one terminal event.

use std::{collections::HashSet, sync::Arc, time::Instant};

use uuid::Uuid;

use super::{Request, arguments, cost};
use crate::protocol::{
    AssistantMessage, Block, Failure, FailureClass, Model, StopReason, StreamEvent, TextBlock, ThinkingBlock,
    ThinkingLevel, ToolCall, Usage,
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

#[derive(Default)]
struct CallDraft {
    call: ToolCall,
    raw: String,
    /// The call takes free text: it becomes the value of this argument.
    property: Option<String>,
    closed: bool,
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

    /// The first valid event has come.
    pub fn start(&mut self) {
        if self.phase == Phase::Waiting {
            self.phase = Phase::Streaming;
            self.events.push(StreamEvent::Start(Arc::new(self.head.clone())));
        }
    }

    /// Tokens so far; they replace what was known. A total of zero is summed from its parts. Without a `billed` total
    /// the model's rates price them.
    pub fn usage(&mut self, mut usage: Usage, billed: Option<f64>) {
        if usage.total_tokens == 0 {
            usage = usage.summed();
        }
        usage.reasoning.get_or_insert(0);
        usage.cost = cost::price(&self.model.cost, &usage);
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

    /// Adds to a thinking block's signature, which comes in pieces.
    pub fn thinking_signature(&mut self, index: usize, piece: &str) {
        if let Some(Draft::Thinking { block, .. }) = self.blocks.get_mut(index)
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
        let call = ToolCall { id: id.to_owned(), name: name.to_owned(), ..ToolCall::default() };
        let index = self.open(Draft::Call(CallDraft { call, ..CallDraft::default() }));
        self.emit(StreamEvent::ToolCallStart { index, id: id.to_owned(), name: name.to_owned() });
        index
    }

    /// The call takes free text, which becomes the value of the argument `property`.
    pub fn call_is_free_text(&mut self, index: usize, property: &str) {
        if let Some(draft) = self.open_call(index) {
            draft.property = Some(property.to_owned());
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
            draft.raw.push_str(delta);
            self.emit(StreamEvent::ToolCallDelta { index, delta: delta.to_owned() });
        }
    }

    /// True when no argument text has come for the call.
    #[must_use]
    pub fn call_is_bare(&self, index: usize) -> bool {
        matches!(self.blocks.get(index), Some(Draft::Call(draft)) if draft.raw.trim().is_empty())
    }

    /// Closes a block: a call's arguments are read and its id is made unique.
    pub fn end_block(&mut self, index: usize) {
        let event = match self.blocks.get_mut(index) {
            Some(Draft::Text { block, open: open @ true }) => {
                *open = false;
                StreamEvent::TextEnd { index, block: block.clone() }
            }
            Some(Draft::Thinking { block, open: open @ true }) => {
                *open = false;
                StreamEvent::ThinkingEnd { index, block: block.clone() }
            }
            Some(Draft::Call(draft)) if !draft.closed => {
                draft.close(&mut self.ids);
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
        for draft in &mut self.blocks {
            if let Draft::Call(draft) = draft {
                draft.close(&mut self.ids);
            }
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

    fn open_call(&mut self, index: usize) -> Option<&mut CallDraft> {
        match self.blocks.get_mut(index) {
            Some(Draft::Call(draft)) if !draft.closed => Some(draft),
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

impl CallDraft {
    fn close(&mut self, ids: &mut HashSet<String>) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        match self.property.take() {
            Some(property) => {
                self.call.arguments.insert(property, self.raw.as_str().into());
            }
            None => match arguments::parse(&self.raw) {
                Ok(parsed) => self.call.arguments = parsed,
                Err(problem) => self.call.arguments_error = Some(problem),
            },
        }
        let id = self.call.id.trim();
        if id.is_empty() || id == "null" || ids.contains(&self.call.id) {
            self.call.id = format!("call_{}", Uuid::new_v4().simple());
        }
        ids.insert(self.call.id.clone());
    }
}

#[cfg(test)]
mod tests;
