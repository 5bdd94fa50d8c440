//! Streams of the models inside the program: an answer that is known beforehand, played step by step.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{EventStream, Request};
use crate::protocol::{
    AssistantMessage, Block, Failure, FailureClass, StopReason, StreamEvent, TextBlock, Usage, stream::PartialMessage,
    time::now_ms,
};

/// How an answer streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Before anything arrives.
    pub delay: Duration,
    /// Between two reads.
    pub delta_delay: Duration,
    /// How blocks are cut.
    pub cut: Cut,
    /// Deltas that one read brings.
    pub batch: usize,
}

/// How a block is cut into deltas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Into that many.
    Count(usize),
    /// Each of that many characters.
    Chars(usize),
}

impl Default for Pace {
    fn default() -> Self {
        Self { delay: Duration::ZERO, delta_delay: Duration::ZERO, cut: Cut::Chars(24), batch: 1 }
    }
}

/// A step of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Nothing for that long.
    Wait(Duration),
    /// The answer begins.
    Start,
    /// What one read brings.
    Emit(Vec<StreamEvent>),
    /// The last read and the whole answer.
    Finish {
        /// Events before the end.
        events: Vec<StreamEvent>,
        /// The answer.
        answer: Answer,
    },
    /// The call fails.
    Fail(Failure),
    /// Nothing any more.
    Stall,
    /// The worker panics.
    Panic(String),
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    pub content: Vec<Block>,
    pub usage: Usage,
    pub stop_reason: StopReason,
}

/// Plays steps as the stream of an answer to `request`.
pub(super) fn play(api: &str, request: Request, steps: Vec<Step>) -> EventStream {
    let model = &request.model;
    let message = AssistantMessage {
        api: api.to_owned(),
        provider: model.provider.clone(),
        model: model.id.clone(),
        thinking_level: model.reasoning.then(|| request.thinking.to_string()),
        stop_reason: StopReason::Pending,
        timestamp: now_ms(),
        ..AssistantMessage::default()
    };
    let player = Player {
        steps: steps.into(),
        so_far: PartialMessage { message, arguments: Vec::new() },
        cancel: request.cancel,
        began: Instant::now(),
        over: false,
    };
    Box::pin(futures_util::stream::unfold(player, Player::next))
}

/// An answer to be cut into steps.
pub(super) struct Performance {
    /// How it streams.
    pub pace: Pace,
    /// Its blocks, each with the text that streams.
    pub blocks: Vec<(Block, String)>,
    /// Its tokens.
    pub usage: Usage,
    /// Why it ends; follows from the content unless set.
    pub stop_reason: Option<StopReason>,
    /// What happens instead of the end, and after how many deltas.
    pub breaks: Option<(u64, Step)>,
}

impl Performance {
    /// The steps of the stream.
    pub fn steps(self) -> Vec<Step> {
        let mut stage = Stage { pace: self.pace, steps: Vec::new(), read: Vec::new(), deltas_read: 0 };
        stage.wait(self.pace.delay);
        stage.steps.push(Step::Start);
        let mut budget = self.breaks.as_ref().map(|(deltas, _)| *deltas);
        for (index, (block, raw)) in self.blocks.iter().enumerate() {
            stage.read.push(start(index, block));
            for piece in pieces(raw, self.pace.cut) {
                if budget == Some(0) {
                    break;
                }
                budget = budget.map(|left| left - 1);
                stage.delta(delta(index, block, piece));
            }
            if budget == Some(0) {
                break;
            }
            stage.read.push(end(index, block));
        }
        if let Some((_, step)) = self.breaks {
            stage.flush();
            stage.steps.push(step);
            return stage.steps;
        }
        let content: Vec<Block> = self.blocks.into_iter().map(|(block, _)| block).collect();
        let calls = content.iter().any(|block| block.as_tool_call().is_some());
        let usual = if calls { StopReason::ToolUse } else { StopReason::Stop };
        let answer = Answer { usage: self.usage, stop_reason: self.stop_reason.unwrap_or(usual), content };
        let events = std::mem::take(&mut stage.read);
        stage.steps.push(Step::Finish { events, answer });
        stage.steps
    }
}

/// Collects events into reads.
struct Stage {
    pace: Pace,
    steps: Vec<Step>,
    read: Vec<StreamEvent>,
    deltas_read: usize,
}

impl Stage {
    fn wait(&mut self, time: Duration) {
        if !time.is_zero() {
            self.steps.push(Step::Wait(time));
        }
    }

    fn delta(&mut self, event: StreamEvent) {
        if self.deltas_read == self.pace.batch {
            self.flush();
            self.wait(self.pace.delta_delay);
        }
        self.read.push(event);
        self.deltas_read += 1;
    }

    fn flush(&mut self) {
        if !self.read.is_empty() {
            // A long answer is a million of them.
            self.read.shrink_to_fit();
            self.steps.push(Step::Emit(std::mem::take(&mut self.read)));
        }
        self.deltas_read = 0;
    }
}

fn start(index: usize, block: &Block) -> StreamEvent {
    match block {
        Block::Thinking(_) => StreamEvent::ThinkingStart { index },
        Block::ToolCall(call) => StreamEvent::ToolCallStart { index, id: call.id.clone(), name: call.name.clone() },
        _ => StreamEvent::TextStart { index },
    }
}

fn delta(index: usize, block: &Block, delta: String) -> StreamEvent {
    match block {
        Block::Thinking(_) => StreamEvent::ThinkingDelta { index, delta },
        Block::ToolCall(_) => StreamEvent::ToolCallDelta { index, delta },
        _ => StreamEvent::TextDelta { index, delta },
    }
}

fn end(index: usize, block: &Block) -> StreamEvent {
    match block {
        Block::Thinking(block) => StreamEvent::ThinkingEnd { index, block: block.clone() },
        Block::ToolCall(call) => StreamEvent::ToolCallEnd { index, call: call.clone() },
        Block::Text(block) => StreamEvent::TextEnd { index, block: block.clone() },
        _ => StreamEvent::TextEnd { index, block: TextBlock::default() },
    }
}

/// Cuts a text; the pieces joined are the text.
fn pieces(text: &str, cut: Cut) -> Vec<String> {
    let size = match cut {
        Cut::Chars(chars) => chars,
        Cut::Count(count) => text.chars().count().div_ceil(count).max(1),
    };
    let mut pieces = Vec::new();
    let mut chars = text.chars().peekable();
    while chars.peek().is_some() {
        pieces.push(chars.by_ref().take(size).collect());
    }
    pieces
}

/// Plays steps as a stream.
struct Player {
    steps: VecDeque<Step>,
    so_far: PartialMessage,
    cancel: CancellationToken,
    began: Instant,
    over: bool,
}

impl Player {
    async fn next(mut self) -> Option<(Vec<StreamEvent>, Self)> {
        while !self.over {
            let step = self.steps.pop_front().unwrap_or(Step::Stall);
            let events = match step {
                _ if self.cancel.is_cancelled() => Some(self.aborted()),
                Step::Wait(time) => self.wait(time).await,
                Step::Stall => self.stall().await,
                Step::Start => Some(vec![StreamEvent::Start(Arc::new(self.so_far.message.clone()))]),
                Step::Emit(events) => Some(events),
                Step::Finish { mut events, answer } => {
                    self.over = true;
                    let message = AssistantMessage {
                        content: answer.content,
                        usage: answer.usage,
                        stop_reason: answer.stop_reason,
                        duration_ms: Some(self.elapsed()),
                        ..self.so_far.message.clone()
                    };
                    events.push(StreamEvent::Usage(message.usage));
                    events.push(StreamEvent::Done(Arc::new(message)));
                    Some(events)
                }
                Step::Fail(failure) => Some(self.failed(StopReason::Error, failure)),
                // A worker's panic is a case to be tested: supervision has to turn it into a failed answer.
                Step::Panic(text) => panic!("{text}"),
            };
            if let Some(events) = events {
                events.iter().filter(|event| !event.is_terminal()).for_each(|event| self.so_far.apply(event));
                return Some((events, self));
            }
        }
        None
    }

    async fn wait(&mut self, time: Duration) -> Option<Vec<StreamEvent>> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Some(self.aborted()),
            () = tokio::time::sleep(time) => None,
        }
    }

    async fn stall(&mut self) -> Option<Vec<StreamEvent>> {
        self.cancel.cancelled().await;
        Some(self.aborted())
    }

    fn aborted(&mut self) -> Vec<StreamEvent> {
        self.failed(StopReason::Aborted, Failure::new(FailureClass::Aborted, "Request was aborted"))
    }

    /// The end of an answer that is not whole: it keeps what arrived, and a call that was cut says so.
    fn failed(&mut self, stop_reason: StopReason, failure: Failure) -> Vec<StreamEvent> {
        self.over = true;
        let mut message = self.so_far.message.clone();
        for (index, raw) in &self.so_far.arguments {
            if let Some(Block::ToolCall(call)) = message.content.get_mut(*index) {
                call.arguments_error =
                    Some(format!("the answer ended inside the arguments\n\nReceived arguments:\n{raw}"));
            }
        }
        message.stop_reason = stop_reason;
        message.error_message = Some(failure.message.clone());
        message.duration_ms = Some(self.elapsed());
        vec![StreamEvent::Failed { message: Arc::new(message), failure }]
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
