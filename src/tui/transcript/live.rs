//! What runs: the streaming answer, the calls of the batch, the user's shell commands. None of it is in the session
//! yet.

use std::sync::Arc;

use serde_json::Value;

use super::item::Item;
use crate::{
    protocol::{
        AgentMessage, Event, PartialArguments, StreamEvent,
        command::BashResult,
        event::CallLabel,
        message::{AssistantMessage, Block},
        stream::PartialMessage,
        tool::ToolOutput,
        view::View,
    },
    store::{
        jsonl::{EntryKind, Role},
        tree::TreeView,
    },
    tools::truncate::ceil_char_boundary,
    tui::text::StreamingMarkdown,
};

/// How much of a command's output is kept for the screen, in bytes: more than is shown, and little enough to be laid out
/// for each frame.
const BASH_TAIL: usize = 8 << 10;

/// See the module.
#[derive(Default)]
pub struct Live {
    /// The streaming answer.
    pub message: Option<LiveMessage>,
    /// Calls of the batch that runs.
    pub calls: Vec<LiveCall>,
    /// Shell commands of the user.
    pub commands: Vec<LiveCommand>,
    /// A trace runs: calls without a result may still get one.
    pub runs: bool,
}

/// The streaming answer.
#[derive(Default)]
pub struct LiveMessage {
    /// Its blocks in order.
    pub blocks: Vec<LiveBlock>,
}

/// A block of it.
pub enum LiveBlock {
    /// Text.
    Text(StreamingMarkdown),
    /// Thinking.
    Thinking(StreamingMarkdown),
    /// A call.
    Call {
        /// The tool's name so far.
        name: String,
        /// The text of its arguments so far.
        raw: String,
        /// What is understood of it.
        arguments: Box<PartialArguments>,
    },
    /// Anything else.
    Other,
}

/// A call of the batch.
pub struct LiveCall {
    /// Which.
    pub call: CallLabel,
    /// When it began.
    pub since: u64,
    /// What it printed, or its result.
    pub output: Arc<ToolOutput>,
    /// It is over; the milliseconds that it ran, where it ran.
    pub ended: Option<Option<u64>>,
}

/// A shell command of the user.
pub struct LiveCommand {
    /// The id of its request.
    pub id: String,
    /// The command.
    pub command: String,
    /// The model does not see it.
    pub excluded: bool,
    /// The end of what it printed.
    pub output: String,
    /// When it began.
    pub since: u64,
    /// What came of it; none while it runs.
    pub ended: Option<BashResult>,
}

impl Live {
    /// What runs in an agent that is looked at for the first time.
    #[must_use]
    pub fn of(view: &View) -> Self {
        let calls = view.tools.iter().map(|(call, output)| LiveCall {
            call: call.clone(),
            since: 0,
            output: output.clone(),
            ended: None,
        });
        Self {
            message: view.partial.as_ref().map(LiveMessage::of),
            calls: calls.collect(),
            commands: Vec::new(),
            runs: view.running,
        }
    }

    /// Folds in what happened; true when items that are laid out may look different now.
    pub fn apply(&mut self, event: &Event, now: u64) -> bool {
        match event {
            Event::MessageStart { message: AgentMessage::Assistant(message) } => {
                self.message = Some(LiveMessage::begun(message));
            }
            Event::MessageUpdate { events } => {
                if let Some(message) = &mut self.message {
                    events.iter().for_each(|event| message.apply(event));
                }
            }
            Event::MessageEnd { message: AgentMessage::Assistant(_), .. } => {
                self.message = None;
                self.calls.clear();
            }
            Event::ToolExecutionStart { call } => {
                self.calls.retain(|known| known.call.place != call.place);
                self.calls.push(LiveCall { call: call.clone(), since: now, output: Arc::default(), ended: None });
                return true;
            }
            Event::ToolExecutionUpdate { call, partial } => {
                if let Some(live) = self.call_mut(call.place) {
                    live.output = partial.clone();
                }
                return true;
            }
            Event::ToolExecutionEnd { call, result, duration_ms } => {
                if let Some(live) = self.call_mut(call.place) {
                    live.output = result.clone();
                    live.ended = Some(*duration_ms);
                }
                return true;
            }
            Event::BashExecutionUpdate { id, delta } => {
                let command = self.commands.iter_mut().find(|command| Some(&command.id) == id.as_ref());
                if let Some(command) = command {
                    command.print(delta);
                }
            }
            Event::AgentStart => self.runs = true,
            Event::AgentSettled { .. } => {
                self.runs = false;
                self.message = None;
                self.calls.clear();
                return true;
            }
            _ => {}
        }
        false
    }

    fn call_mut(&mut self, place: usize) -> Option<&mut LiveCall> {
        self.calls.iter_mut().find(|call| call.call.place == place)
    }

    /// Entries were stored: what they say runs no more.
    pub fn stored(&mut self, tree: &TreeView, items: &[Item]) {
        for entry in items.iter().filter_map(Item::position).filter_map(|at| tree.entry_at(at)) {
            if entry.kind() == EntryKind::Message(Role::BashExecution) && !self.commands.is_empty() {
                self.commands.remove(0);
            }
        }
    }

    /// The user's command of this id is over. It stays until its entry comes; without a result it did not run.
    pub fn command_over(&mut self, id: &str, result: Option<BashResult>) {
        match result {
            None => self.commands.retain(|command| command.id != id),
            Some(result) => {
                if let Some(command) = self.commands.iter_mut().find(|command| command.id == id) {
                    command.ended = Some(result);
                }
            }
        }
    }

    /// A command of the user runs.
    #[must_use]
    pub fn runs_command(&self) -> bool {
        self.commands.iter().any(|command| command.ended.is_none())
    }

    /// Something in it changes as time passes.
    #[must_use]
    pub fn is_moving(&self) -> bool {
        self.runs_command() || self.calls.iter().any(|call| call.ended.is_none())
    }
}

impl LiveMessage {
    fn begun(message: &AssistantMessage) -> Self {
        Self::of(&PartialMessage { message: message.clone(), arguments: Vec::new() })
    }

    fn of(partial: &PartialMessage) -> Self {
        let block = |(at, block): (usize, &Block)| match block {
            Block::Text(text) => LiveBlock::Text(streaming(&text.text)),
            Block::Thinking(thinking) => LiveBlock::Thinking(streaming(&thinking.thinking)),
            Block::ToolCall(call) => {
                let known = partial.arguments.iter().find(|(place, _)| *place == at);
                let raw =
                    known.map_or_else(|| Value::Object(call.arguments.clone()).to_string(), |(_, raw)| raw.clone());
                LiveBlock::call(call.name.clone(), raw)
            }
            _ => LiveBlock::Other,
        };
        Self { blocks: partial.message.content.iter().enumerate().map(block).collect() }
    }

    fn apply(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::TextStart { .. } => self.blocks.push(LiveBlock::Text(StreamingMarkdown::default())),
            StreamEvent::ThinkingStart { .. } => self.blocks.push(LiveBlock::Thinking(StreamingMarkdown::default())),
            StreamEvent::ToolCallStart { name, .. } => self.blocks.push(LiveBlock::call(name.clone(), String::new())),
            StreamEvent::TextDelta { index, delta } | StreamEvent::ThinkingDelta { index, delta } => {
                if let Some(LiveBlock::Text(text) | LiveBlock::Thinking(text)) = self.blocks.get_mut(*index) {
                    text.append(delta);
                }
            }
            StreamEvent::ToolCallDelta { index, delta } => {
                if let Some(LiveBlock::Call { raw, .. }) = self.blocks.get_mut(*index) {
                    raw.push_str(delta);
                }
            }
            StreamEvent::ToolCallEnd { index, call } => {
                if let Some(block) = self.blocks.get_mut(*index) {
                    *block = LiveBlock::call(call.name.clone(), Value::Object(call.arguments.clone()).to_string());
                }
            }
            // Marks and links that reach far are right from now on.
            StreamEvent::TextEnd { index, .. } | StreamEvent::ThinkingEnd { index, .. } => {
                if let Some(LiveBlock::Text(text) | LiveBlock::Thinking(text)) = self.blocks.get_mut(*index) {
                    text.finish();
                }
            }
            StreamEvent::Done(message) => *self = Self::begun(message),
            _ => {}
        }
    }
}

/// Text that may grow.
fn streaming(text: &str) -> StreamingMarkdown {
    let mut streaming = StreamingMarkdown::default();
    streaming.append(text);
    streaming
}

impl LiveBlock {
    fn call(name: String, raw: String) -> Self {
        Self::Call { name, raw, arguments: Box::default() }
    }
}

impl LiveCommand {
    fn print(&mut self, delta: &str) {
        self.output.push_str(delta);
        if self.output.len() > 2 * BASH_TAIL {
            let from = ceil_char_boundary(&self.output, self.output.len() - BASH_TAIL);
            self.output.drain(..from);
        }
    }
}
