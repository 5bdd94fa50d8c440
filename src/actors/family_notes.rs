//! What an agent's session tells of its children: entries of the kind `custom`, which other programs keep and skip.
//!
//! A child is noted before its first request, each further task before it begins, each end before anybody is told of
//! it, and that a child is gone for good. A restarted process reads off them what its family is.

use serde::{Deserialize, Serialize};
use serde_json::{Value, to_value};

use crate::protocol::{
    EntryBody, EntryId, Usage,
    sibling::{SiblingEnd, SiblingId, SiblingSpec},
};

/// A child was spawned.
pub const SPAWN: &str = crate::store::jsonl::kind::AGENT_SPAWN;
/// A child was given its next task.
pub const TASK: &str = "agent_task";
/// A task of a child ended.
pub const END: &str = "agent_end";
/// A child is gone.
pub const GONE: &str = "agent_gone";

/// The kind of the `usage` entries that count what children cost.
pub const USAGE_KIND: &str = "agent";

/// Characters of an answer that the parent's session keeps; the child's session has all of it.
pub const END_CHARS: usize = 8 * 1024;

/// A child as it was spawned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpawnNote {
    /// Its id.
    pub id: SiblingId,
    /// The session that it was spawned from: in a fork of it, the child is somebody else's.
    pub session: String,
    /// The id of its session.
    pub session_id: String,
    /// The entry of its session that its task becomes.
    pub entry: EntryId,
    /// The file of its session; none in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// What was asked for.
    pub spec: SiblingSpec,
}

/// A further task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskNote {
    /// The child.
    pub id: SiblingId,
    /// The number of the task.
    pub task: u32,
    /// The message that it begins with.
    pub message: String,
    /// The entry of the child's session that the message becomes.
    pub entry: EntryId,
}

/// A child that is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoneNote {
    /// The child.
    pub id: SiblingId,
}

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A child was spawned.
    Spawn(Box<SpawnNote>),
    /// A child was given its next task.
    Task(TaskNote),
    /// A task ended.
    End(Box<SiblingEnd>),
    /// A child is gone.
    Gone(GoneNote),
}

impl Note {
    /// The note that an entry is; none when it is something else, or cannot be read.
    #[must_use]
    pub fn of(body: &EntryBody) -> Option<Self> {
        let EntryBody::Custom { custom_type, data: Some(data) } = body else { return None };
        let read = match custom_type.as_str() {
            SPAWN => serde_json::from_value(data.clone()).map(|note| Self::Spawn(Box::new(note))),
            TASK => serde_json::from_value(data.clone()).map(Self::Task),
            END => serde_json::from_value(data.clone()).map(|note| Self::End(Box::new(note))),
            GONE => serde_json::from_value(data.clone()).map(Self::Gone),
            _ => return None,
        };
        read.ok()
    }

    /// The entry that it is.
    #[must_use]
    pub fn entry(&self) -> EntryBody {
        let (kind, data) = match self {
            Self::Spawn(note) => (SPAWN, to_value(note)),
            Self::Task(note) => (TASK, to_value(note)),
            Self::End(note) => (END, to_value(note)),
            Self::Gone(note) => (GONE, to_value(note)),
        };
        // All of them are plain data, which is always JSON.
        EntryBody::Custom { custom_type: kind.to_owned(), data: Some(data.unwrap_or(Value::Null)) }
    }
}

/// The entry that counts the cost of a task in the parent's session; none when it cost nothing.
#[must_use]
pub fn usage_entry(end: &SiblingEnd) -> Option<EntryBody> {
    if end.usage == Usage::default() {
        return None;
    }
    let model = end.model.clone();
    let (provider, model) = model.map_or_else(Default::default, |model| (model.provider, model.model_id));
    let note = Some(format!("{} task {}", end.id, end.task));
    Some(EntryBody::Usage { kind: USAGE_KIND.to_owned(), provider, model, usage: end.usage, note })
}
