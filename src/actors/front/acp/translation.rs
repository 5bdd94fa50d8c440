//! From an agent's events to updates of its session: a pure fold.

use std::{collections::HashMap, path::PathBuf};

use agent_client_protocol_schema::v1::{
    Content, ContentBlock, ContentChunk, MessageId, SessionInfoUpdate, SessionUpdate, ToolCall, ToolCallContent,
    ToolCallId, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use serde_json::{Map, Value};

use super::tool_view::{self, CallView};
use crate::{
    actors::subscriber::merge,
    protocol::{
        AgentMessage, Event, StreamEvent, ToolOutput,
        content::{Block, ToolCall as Call},
        event::CallLabel,
    },
};

/// See the module.
#[derive(Debug)]
pub(super) struct Translation {
    cwd: PathBuf,
    /// What sets the ids of messages apart from those of other times.
    prefix: String,
    messages: u64,
    /// Bytes of text that were shown of each block of the streaming answer.
    shown: HashMap<usize, usize>,
    ids: CallIds,
    /// Calls of the streaming answer by their place in its content.
    streaming: Vec<(usize, ToolCallId)>,
    /// Calls of the running batch in order.
    batch: Vec<ShownCall>,
}

/// A call of the running batch.
#[derive(Clone, Debug)]
pub(super) struct ShownCall {
    /// Its id.
    pub id: ToolCallId,
    /// What the model calls it.
    pub label: String,
    /// It has a result.
    pub done: bool,
}

/// What a client was told of calls before it began to watch.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Their ids.
    pub ids: CallIds,
    /// Those of the last message in order: an interrupted run goes on with them.
    pub batch: Vec<ShownCall>,
}

/// Ids of calls: a model's own, made different where it sends one twice.
#[derive(Debug, Default)]
pub(super) struct CallIds(HashMap<String, u32>);

impl CallIds {
    /// The id of the next call that a model calls so.
    pub(super) fn next(&mut self, label: &str) -> ToolCallId {
        let times = self.0.entry(label.to_owned()).or_default();
        *times += 1;
        match *times {
            1 if !label.is_empty() => ToolCallId::new(label),
            times => ToolCallId::new(format!("{label}#{times}")),
        }
    }
}

impl Translation {
    /// For an agent that works in `cwd`; `prefix` is like no other, and `told` is what was shown already.
    pub(super) fn new(cwd: PathBuf, prefix: String, told: Told) -> Self {
        let Told { ids, batch } = told;
        Self { cwd, prefix, messages: 0, shown: HashMap::new(), ids, streaming: Vec::new(), batch }
    }

    /// The updates that tell of an event.
    pub(super) fn on(&mut self, event: &Event) -> Vec<SessionUpdate> {
        match event {
            Event::MessageStart { message: AgentMessage::Assistant(_) } => {
                self.messages += 1;
                self.shown.clear();
                self.streaming.clear();
                Vec::new()
            }
            Event::MessageUpdate { events } => {
                // A message for each word would weigh ten times what it says.
                let mut merged = Vec::new();
                events.iter().for_each(|event| merge(&mut merged, event));
                merged.iter().filter_map(|event| self.step(event)).collect()
            }
            Event::MessageEnd { message, .. } => self.message(message),
            Event::ToolExecutionStart { call } => self.started(call),
            Event::ToolExecutionUpdate { call, partial } => self.progress(call, partial),
            Event::ToolExecutionEnd { call, result, .. } => self.finished(call, result),
            Event::TurnEnd { .. } | Event::AgentSettled { .. } => self.abandon(),
            Event::SessionInfoChanged { name } => {
                vec![SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title(name.clone()))]
            }
            _ => Vec::new(),
        }
    }

    /// The call that the model calls so and that has no result yet: the latest of several.
    pub(super) fn open_call(&self, label: &str) -> Option<ToolCallId> {
        self.batch.iter().rev().find(|call| !call.done && call.label == label).map(|call| call.id.clone())
    }

    /// How a call looks.
    pub(super) fn view(&self, tool: &str, args: &Map<String, Value>) -> CallView {
        tool_view::view(tool, args, &self.cwd)
    }

    fn message_id(&self) -> MessageId {
        MessageId::new(format!("{}-{}", self.prefix, self.messages))
    }

    fn chunk(&self, content: impl Into<ContentBlock>) -> ContentChunk {
        ContentChunk::new(content.into()).message_id(self.message_id())
    }

    fn step(&mut self, event: &StreamEvent) -> Option<SessionUpdate> {
        match event {
            StreamEvent::TextDelta { index, delta } => {
                *self.shown.entry(*index).or_default() += delta.len();
                Some(SessionUpdate::AgentMessageChunk(self.chunk(delta.as_str())))
            }
            StreamEvent::ThinkingDelta { index, delta } => {
                *self.shown.entry(*index).or_default() += delta.len();
                Some(SessionUpdate::AgentThoughtChunk(self.chunk(delta.as_str())))
            }
            // Wires that say everything at once have no deltas.
            StreamEvent::TextEnd { index, block } if !self.was_shown(*index) && !block.text.is_empty() => {
                Some(SessionUpdate::AgentMessageChunk(self.chunk(block.text.as_str())))
            }
            StreamEvent::ThinkingEnd { index, block } if !self.was_shown(*index) && !block.thinking.is_empty() => {
                Some(SessionUpdate::AgentThoughtChunk(self.chunk(block.thinking.as_str())))
            }
            StreamEvent::ToolCallStart { index, id, name } => {
                let id = self.ids.next(id);
                self.streaming.push((*index, id.clone()));
                Some(SessionUpdate::ToolCall(ToolCall::new(id, name.clone()).kind(tool_view::kind(name))))
            }
            StreamEvent::ToolCallEnd { index, call } => {
                let (_, id) = self.streaming.iter().find(|(at, _)| at == index)?;
                Some(update(id.clone(), described(self.view(&call.name, &call.arguments), call)))
            }
            _ => None,
        }
    }

    fn was_shown(&self, index: usize) -> bool {
        self.shown.contains_key(&index)
    }

    /// A message is complete: an answer's calls are the batch that may run.
    fn message(&mut self, message: &AgentMessage) -> Vec<SessionUpdate> {
        match message {
            AgentMessage::Assistant(answer) => {
                let mut updates = Vec::new();
                self.batch.clear();
                for (index, block) in answer.content.iter().enumerate() {
                    let Block::ToolCall(call) = block else { continue };
                    let known = self.streaming.iter().position(|(at, _)| *at == index);
                    let id = match known {
                        Some(at) => self.streaming.remove(at).1,
                        None => {
                            let id = self.ids.next(&call.id);
                            updates.push(announced(id.clone(), self.view(&call.name, &call.arguments), call));
                            id
                        }
                    };
                    self.batch.push(ShownCall { id, label: call.id.clone(), done: false });
                }
                // Calls that an extension took out.
                updates.extend(self.streaming.drain(..).map(|(_, id)| update(id, without_result())));
                updates
            }
            AgentMessage::Custom(custom) if custom.display => {
                self.messages += 1;
                let text = custom.content.text("\n");
                vec![SessionUpdate::AgentMessageChunk(self.chunk(text))]
            }
            _ => Vec::new(),
        }
    }

    /// The call of the batch. One that is not known (the front came late) becomes known.
    fn call(&mut self, call: &CallLabel) -> (ToolCallId, Option<SessionUpdate>) {
        if let Some(open) = self.batch.get(call.place) {
            return (open.id.clone(), None);
        }
        let mut announcement = None;
        while self.batch.len() <= call.place {
            let id = self.ids.next(&call.tool_call_id);
            let known = Call { name: call.tool_name.clone(), arguments: (*call.args).clone(), ..Call::default() };
            announcement = Some(announced(id.clone(), self.view(&call.tool_name, &call.args), &known));
            self.batch.push(ShownCall { id, label: call.tool_call_id.clone(), done: false });
        }
        (self.batch[call.place].id.clone(), announcement)
    }

    fn started(&mut self, call: &CallLabel) -> Vec<SessionUpdate> {
        let (id, announcement) = self.call(call);
        let running = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
        announcement.into_iter().chain([update(id, running)]).collect()
    }

    fn progress(&mut self, call: &CallLabel, partial: &ToolOutput) -> Vec<SessionUpdate> {
        let (id, announcement) = self.call(call);
        let view = tool_view::result(&call.tool_name, &call.args, &self.cwd, partial);
        let shown = view.content.map(|content| update(id, ToolCallUpdateFields::new().content(content)));
        announcement.into_iter().chain(shown).collect()
    }

    fn finished(&mut self, call: &CallLabel, output: &ToolOutput) -> Vec<SessionUpdate> {
        let (id, announcement) = self.call(call);
        self.batch[call.place].done = true;
        let ended = update(id, outcome(&call.tool_name, &call.args, &self.cwd, output));
        announcement.into_iter().chain([ended]).collect()
    }

    /// Nothing more comes of calls that are still open.
    fn abandon(&mut self) -> Vec<SessionUpdate> {
        let open = self.batch.drain(..).filter(|call| !call.done).map(|call| call.id);
        let streaming = self.streaming.drain(..).map(|(_, id)| id);
        open.chain(streaming).map(|id| update(id, without_result())).collect()
    }
}

/// An update of a call.
pub(super) fn update(id: ToolCallId, fields: ToolCallUpdateFields) -> SessionUpdate {
    SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields))
}

/// A call that is shown for the first time.
pub(super) fn announced(id: ToolCallId, view: CallView, call: &Call) -> SessionUpdate {
    let CallView { kind, title, locations, content } = view;
    let shown = ToolCall::new(id, title).name(call.name.clone()).kind(kind).locations(locations).content(content);
    SessionUpdate::ToolCall(shown.raw_input(Value::Object(call.arguments.clone())))
}

/// What is known of a call once its arguments are.
fn described(view: CallView, call: &Call) -> ToolCallUpdateFields {
    let CallView { kind, title, locations, content } = view;
    let fields = ToolCallUpdateFields::new().kind(kind).title(title).name(call.name.clone()).locations(locations);
    fields.content(content).raw_input(Value::Object(call.arguments.clone()))
}

/// How a call ended.
pub(super) fn outcome(
    tool: &str,
    args: &Map<String, Value>,
    cwd: &std::path::Path,
    output: &ToolOutput,
) -> ToolCallUpdateFields {
    let view = tool_view::result(tool, args, cwd, output);
    let status = if output.is_error { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
    let empty = |details: &&Value| details.as_object().is_none_or(|fields| !fields.is_empty());
    let details = output.details.as_ref().filter(empty).cloned();
    ToolCallUpdateFields::new().status(status).content(view.content).locations(view.locations).raw_output(details)
}

pub(super) fn without_result() -> ToolCallUpdateFields {
    let text = ToolCallContent::Content(Content::new("It has no result."));
    ToolCallUpdateFields::new().status(ToolCallStatus::Failed).content(vec![text])
}

#[cfg(test)]
mod tests;
