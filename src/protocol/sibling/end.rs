//! How a task ended.

use serde::{Deserialize, Serialize};

use super::{BudgetKind, Patch, SiblingId};
use crate::protocol::{ModelRef, Usage};

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Outcome {
    /// Its model had nothing more to do.
    Done,
    /// A limit was reached. Never tried again.
    Budget {
        /// What ran out.
        what: BudgetKind,
        /// Which limit, and whose.
        message: String,
    },
    /// A model call failed for good, or the agent failed too often.
    Failed {
        /// Why.
        message: String,
        /// Another try may work: the cause was the provider or the network, or a defect.
        may_pass: bool,
    },
    /// The model refused to go on.
    Refused {
        /// What it said.
        message: String,
    },
    /// Somebody stopped it.
    Stopped {
        /// Who, and why.
        message: String,
    },
}

impl Outcome {
    /// Whether the task was done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        *self == Self::Done
    }

    /// The outcome in a word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Budget { .. } => "budget",
            Self::Failed { .. } => "failed",
            Self::Refused { .. } => "refused",
            Self::Stopped { .. } => "stopped",
        }
    }

    /// Why it was not done; empty when it was.
    #[must_use]
    pub fn message(&self) -> &str {
        match self {
            Self::Done => "",
            Self::Budget { message, .. }
            | Self::Failed { message, .. }
            | Self::Refused { message }
            | Self::Stopped { message } => message,
        }
    }
}

/// The end of a task. It reaches the parent exactly once: it is stored in the parent's session before anybody is told,
/// and told apart from others by `id` and `task`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiblingEnd {
    /// Which sibling.
    pub id: SiblingId,
    /// Which task, from 1.
    pub task: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// The text of its last answer: the whole of it as programs get it, its beginning in the parent's session.
    pub text: String,
    /// The text is not all of the answer; the session file has the rest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// What the task cost, with what was spawned below it.
    pub usage: Usage,
    /// The model that answered last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// The file of its session; none in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// Its changes, when it works in a worktree and has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Patch>,
}

impl SiblingEnd {
    /// Whether it wakes the model of an idle parent. Whoever stopped or aborted the sibling did not want more work.
    #[must_use]
    pub fn wakes(&self) -> bool {
        !matches!(self.outcome, Outcome::Stopped { .. })
    }
}
