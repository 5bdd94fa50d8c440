//! What goes between siblings, and what whoever sends or waits gets back.

use serde::{Deserialize, Serialize};

use super::{SiblingEnd, SiblingId, SiblingStatus};
use crate::protocol::AgentMessage;

/// What became of a spawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpawnReceipt {
    /// The sibling's id.
    pub id: SiblingId,
    /// It was there already: the key is known.
    pub existing: bool,
    /// How its last task ended, when the key is known and it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<SiblingEnd>,
}

/// When a message reaches a sibling's model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendMode {
    /// At its next turn boundary; at once when it is idle, which begins its next task.
    #[default]
    Steer,
    /// When it would stop; at once when it is idle, which begins its next task.
    FollowUp,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Receipt {
    /// The sibling was idle and took it as its next task, whose number follows.
    Delivered {
        /// The task.
        task: u32,
    },
    /// It waits in the sibling's queue; the end of this task comes after it.
    Queued {
        /// The task.
        task: u32,
    },
    /// The sibling was between two states (it is starting, stopping, or was restarted just then) and did not take it:
    /// nothing happened, and it can be sent again.
    Missed,
    /// The sibling is gone.
    Dead,
}

impl Receipt {
    /// The task whose end answers the message; none when it did not arrive.
    #[must_use]
    pub fn task(self) -> Option<u32> {
        match self {
            Self::Delivered { task } | Self::Queued { task } => Some(task),
            Self::Missed | Self::Dead => None,
        }
    }

    /// The receipt in a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Delivered { .. } => "delivered",
            Self::Queued { .. } => "queued",
            Self::Missed => "missed",
            Self::Dead => "dead",
        }
    }
}

/// What a wait waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitMode {
    /// The end of all.
    #[default]
    All,
    /// The first end.
    Any,
}

/// What a wait found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waited {
    /// The last end of each that has nothing to do, in the order of the question.
    pub ends: Vec<SiblingEnd>,
    /// Those that still work, as they are now.
    pub running: Vec<SiblingStatus>,
    /// The time was over first.
    pub timed_out: bool,
}

/// A part of a sibling's conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Transcript {
    /// The messages of its branch from place `from` on, without system messages.
    pub messages: Vec<AgentMessage>,
    /// The place of the first, from 0.
    pub from: usize,
    /// How many there are in all.
    pub total: usize,
}
