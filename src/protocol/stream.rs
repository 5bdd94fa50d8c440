//! What a provider's answer looks like while it streams: one vocabulary for every wire API.

use std::sync::Arc;

use super::{
    failure::Failure,
    message::{AssistantMessage, Block, StopReason, TextBlock, ThinkingBlock, ToolCall},
    usage::Usage,
};

/// One step of a streaming answer.
///
/// `index` is the block's place in the message's content, counted in order of the start events. Blocks may be open at
/// the same time. Exactly one [`Done`](Self::Done) or [`Failed`](Self::Failed) comes last.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// The answer begins; the message has no content yet.
    Start(Arc<AssistantMessage>),
    /// A text block begins.
    TextStart {
        /// Place in the content.
        index: usize,
    },
    /// More text.
    TextDelta {
        /// Place in the content.
        index: usize,
        /// What is added.
        delta: String,
    },
    /// The text block as it is stored.
    TextEnd {
        /// Place in the content.
        index: usize,
        /// The whole block.
        block: TextBlock,
    },
    /// A thinking block begins.
    ThinkingStart {
        /// Place in the content.
        index: usize,
    },
    /// More thinking.
    ThinkingDelta {
        /// Place in the content.
        index: usize,
        /// What is added.
        delta: String,
    },
    /// The thinking block as it is stored.
    ThinkingEnd {
        /// Place in the content.
        index: usize,
        /// The whole block.
        block: ThinkingBlock,
    },
    /// A tool call begins.
    ToolCallStart {
        /// Place in the content.
        index: usize,
        /// Its id so far; the end event has the final one.
        id: String,
        /// The tool's name so far.
        name: String,
    },
    /// More of the raw argument text.
    ToolCallDelta {
        /// Place in the content.
        index: usize,
        /// What is added.
        delta: String,
    },
    /// The call as it is stored.
    ToolCallEnd {
        /// Place in the content.
        index: usize,
        /// The whole call.
        call: ToolCall,
    },
    /// Tokens and cost so far.
    Usage(Usage),
    /// The answer is complete.
    Done(Arc<AssistantMessage>),
    /// The call failed or was aborted; the message keeps what arrived.
    Failed {
        /// What arrived, with stop reason `error` or `aborted`.
        message: Arc<AssistantMessage>,
        /// Why.
        failure: Failure,
    },
}

impl StreamEvent {
    /// True for the last event of a stream.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Failed { .. })
    }
}

/// A message while it is being built from its events: what a late subscriber or a screen shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartialMessage {
    /// The message so far; argument texts of open calls are in `arguments`.
    pub message: AssistantMessage,
    /// Raw argument text of each open call, by place in the content; [`PartialArguments`](super::PartialArguments)
    /// reads it.
    pub arguments: Vec<(usize, String)>,
}

impl PartialMessage {
    /// Applies one event.
    pub fn apply(&mut self, event: &StreamEvent) {
        let content = &mut self.message.content;
        match event {
            StreamEvent::Start(message) => {
                self.message = AssistantMessage { stop_reason: StopReason::Pending, ..(**message).clone() };
            }
            StreamEvent::TextStart { .. } => content.push(Block::text("")),
            StreamEvent::ThinkingStart { .. } => content.push(Block::Thinking(ThinkingBlock::default())),
            StreamEvent::ToolCallStart { index, id, name } => {
                content.push(Block::ToolCall(ToolCall { id: id.clone(), name: name.clone(), ..ToolCall::default() }));
                self.arguments.push((*index, String::new()));
            }
            StreamEvent::TextDelta { index, delta } => {
                if let Some(Block::Text(block)) = content.get_mut(*index) {
                    block.text.push_str(delta);
                }
            }
            StreamEvent::ThinkingDelta { index, delta } => {
                if let Some(Block::Thinking(block)) = content.get_mut(*index) {
                    block.thinking.push_str(delta);
                }
            }
            StreamEvent::ToolCallDelta { index, delta } => {
                if let Some((_, raw)) = self.arguments.iter_mut().find(|(at, _)| at == index) {
                    raw.push_str(delta);
                }
            }
            StreamEvent::TextEnd { index, block } => set(content, *index, Block::Text(block.clone())),
            StreamEvent::ThinkingEnd { index, block } => set(content, *index, Block::Thinking(block.clone())),
            StreamEvent::ToolCallEnd { index, call } => {
                self.arguments.retain(|(at, _)| at != index);
                set(content, *index, Block::ToolCall(call.clone()));
            }
            StreamEvent::Usage(usage) => self.message.usage = *usage,
            StreamEvent::Done(message) | StreamEvent::Failed { message, .. } => {
                self.message = (**message).clone();
                self.arguments.clear();
            }
        }
    }
}

fn set(content: &mut [Block], index: usize, block: Block) {
    if let Some(place) = content.get_mut(index) {
        *place = block;
    }
}
