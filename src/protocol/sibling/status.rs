//! What a sibling does.

use serde::{Deserialize, Serialize};

use super::{Budget, Outcome, SiblingId, Spent};
use crate::protocol::ModelRef;

/// What a sibling does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SiblingState {
    /// It is being made, and stored in its parent's session.
    #[default]
    Starting,
    /// It works.
    Running,
    /// It is held at a turn boundary, or will be at the next one.
    Paused,
    /// Its task has ended; it takes messages.
    Idle,
    /// It is being stopped.
    Stopping,
    /// It is gone. Its session can be read, and its last end is known.
    Gone,
}

impl SiblingState {
    /// Whether it takes one of the places of those that run at once.
    #[must_use]
    pub fn is_active(self) -> bool {
        matches!(self, Self::Starting | Self::Running | Self::Paused | Self::Stopping)
    }

    /// The state as texts call it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Idle => "idle",
            Self::Stopping => "stopping",
            Self::Gone => "gone",
        }
    }
}

/// What is known of a sibling, for whoever shows it. A snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiblingStatus {
    /// Its id.
    pub id: SiblingId,
    /// Its own name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is for.
    pub role: String,
    /// The id of its parent.
    pub parent_id: SiblingId,
    /// Generations above it: 1 for a child of the root.
    pub depth: u32,
    /// What it does.
    pub state: SiblingState,
    /// The task that it works on, or did last, from 1; 0 before the first.
    pub task: u32,
    /// Its first message, cut to one line.
    pub title: String,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// What it and those below it have used.
    pub spent: Spent,
    /// What it may use.
    #[serde(default, skip_serializing_if = "Budget::is_unlimited")]
    pub budget: Budget,
    /// The tool that runs; the first, when several do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The last line that its model wrote, cut.
    pub last_line: String,
    /// How its last task ended; none before that, and while it works on the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The file of its session; none in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// Its worktree, while there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}
