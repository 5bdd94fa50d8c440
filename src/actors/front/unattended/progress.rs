//! How far a run is, read off its session: whatever process looks, it sees the same.

use std::sync::Arc;

use super::{
    limits::Spent,
    task::{Message, Task},
};
use crate::{
    protocol::{
        AgentMessage, AssistantMessage, Block, Entry, EntryBody, EntryId, StopReason, ToolResultMessage,
        message::text_of, tool::is_denied,
    },
    store::TreeView,
};

/// Where the conversation of a run stands while no trace runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// The model has not answered what was said last.
    #[default]
    Owed,
    /// It failed, or was aborted.
    Failed(String),
    /// It was cut off by the limit of its length.
    CutOff(String),
    /// This is it.
    Given(String),
}

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Prompts that were delivered.
    pub prompts: usize,
    /// The message after the latest stop was delivered, or there was no stop.
    pub goes_on: bool,
    /// Failures of the check that were delivered.
    pub checks: u32,
    /// The request for another form was delivered.
    pub form: bool,
    /// Where the conversation stands.
    pub answer: Answer,
    /// The last entry of the branch.
    pub leaf: Option<EntryId>,
}

impl Progress {
    /// How far the run is in this session.
    #[must_use]
    pub fn of(tree: &TreeView, task: &Task) -> Self {
        let has = |message: Message| tree.find(&message.id(&task.stem)).is_some();
        let is_there = |id: &Option<EntryId>| id.as_ref().is_some_and(|id| tree.find(id).is_some());
        Self {
            prompts: task.prompts.iter().take_while(|prompt| is_there(&prompt.entry_id)).count(),
            goes_on: task.continued == 0 || has(Message::GoOn(task.continued)),
            checks: (1..).take_while(|n| has(Message::CheckFailed(*n))).count().try_into().unwrap_or(u32::MAX),
            form: has(Message::Form),
            answer: answer(tree),
            leaf: tree.leaf().map(|leaf| leaf.id().clone()),
        }
    }
}

/// Where the conversation stands.
fn answer(tree: &TreeView) -> Answer {
    let last = tree.last_message(|message| match message {
        AgentMessage::Assistant(message) => Some(of_message(message)),
        AgentMessage::User(_) | AgentMessage::ToolResult(_) => Some(Answer::Owed),
        _ => None,
    });
    last.unwrap_or_default()
}

fn of_message(message: &AssistantMessage) -> Answer {
    let text = answer_text(message);
    match message.stop_reason {
        StopReason::Error | StopReason::Aborted => {
            Answer::Failed(message.error_message.clone().unwrap_or_else(|| "The request failed.".to_owned()))
        }
        _ if message.tool_calls().next().is_some() => Answer::Owed,
        StopReason::Length => Answer::CutOff(text),
        _ => Answer::Given(text),
    }
}

fn answer_text(message: &AssistantMessage) -> String {
    let blocks: Vec<Block> = message.content.iter().filter(|block| block.as_text().is_some()).cloned().collect();
    text_of(&blocks, "\n")
}

/// The text of the last answer, also of one that failed; none when it has no text.
#[must_use]
pub fn last_text(tree: &TreeView) -> Option<String> {
    tree.last_message(|message| match message {
        AgentMessage::Assistant(message) => Some(answer_text(message)).filter(|text| !text.is_empty()),
        _ => None,
    })
}

/// The entries of a run, in the order in which they came; `first` is that of its first message. None of them when the
/// session does not have that.
pub fn entries_of<'v>(tree: &'v TreeView, first: &EntryId) -> impl Iterator<Item = Arc<Entry>> + use<'v> {
    let from = tree.find(first).map_or(tree.len(), |entry| entry.position());
    tree.entries().skip(from).map(|entry| entry.entry_once())
}

/// What the run spent in a session.
#[must_use]
pub fn spent(tree: &TreeView, first: &EntryId) -> Spent {
    let mut spent = Spent::default();
    entries_of(tree, first).for_each(|entry| spent.add_entry(&entry));
    spent
}

/// What was denied to the run in a session, in order.
#[must_use]
pub fn denied(tree: &TreeView, first: &EntryId) -> Vec<String> {
    results(tree, first)
        .filter(|result| is_denied(result.details.as_ref()))
        .map(|result| format!("{}: {}", result.tool_name, text_of(&result.content, "\n")))
        .collect()
}

/// The results of calls of the run, in order.
pub fn results<'v>(tree: &'v TreeView, first: &EntryId) -> impl Iterator<Item = Arc<ToolResultMessage>> + use<'v> {
    entries_of(tree, first).filter_map(|entry| match &entry.body {
        EntryBody::Message { message: AgentMessage::ToolResult(result) } => Some(result.clone()),
        _ => None,
    })
}
