//! What fronts want of siblings.

use serde::Serialize;

use super::{
    Merged, SendMode, SiblingEnd, SiblingSpec, SiblingStatus, SpawnReceipt, Spent, Transcript, WaitMode, Waited,
    WorktreeFate,
};

/// What a front wants of the agents below an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum SiblingCommand {
    /// Spawn a child.
    Spawn(Box<SiblingSpec>),
    /// Give one a message.
    Send {
        /// Its id or name.
        id: String,
        /// The message.
        message: String,
        /// When it is delivered.
        mode: SendMode,
    },
    /// Wait for ends.
    Wait {
        /// Ids or names; empty = all children.
        ids: Vec<String>,
        /// All or any.
        mode: WaitMode,
        /// Seconds at most; none: as long as it takes.
        timeout_s: Option<f64>,
    },
    /// All of them.
    List,
    /// End some, with all below them.
    Stop {
        /// Ids or names; empty = all.
        ids: Vec<String>,
        /// Seconds that they get to reach a turn boundary.
        grace_s: Option<f64>,
        /// What becomes of worktrees.
        worktree: WorktreeFate,
    },
    /// Hold some at their next turn boundary, or let them go on.
    Hold {
        /// Ids or names; empty = all.
        ids: Vec<String>,
        /// Hold.
        paused: bool,
    },
    /// A part of a conversation.
    Transcript {
        /// Its id or name.
        id: String,
        /// The place of the first message, from 0.
        from: usize,
        /// How many at most.
        limit: usize,
    },
    /// Put the changes of a worktree into the agent's folder.
    Merge {
        /// Its id or name.
        id: String,
    },
}

/// What a [`SiblingCommand`] gives back.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
#[expect(clippy::large_enum_variant, reason = "one an answer, and boxed on its way")]
pub enum SiblingReply {
    /// Of a spawn.
    Spawned(SpawnReceipt),
    /// Of a message.
    Sent {
        /// What became of it.
        receipt: &'static str,
        /// The task whose end answers it.
        #[serde(skip_serializing_if = "Option::is_none")]
        task: Option<u32>,
    },
    /// Of a wait.
    Waited(Waited),
    /// Of a list.
    Listed {
        /// All below the agent.
        agents: Vec<SiblingStatus>,
        /// How many of the family run.
        running: usize,
        /// How many may.
        max_running: usize,
        /// How many the family has had.
        total: usize,
        /// How many it may have.
        max_total: usize,
        /// What the agent and all below it have used.
        spent: Spent,
    },
    /// Of a stop.
    Stopped {
        /// Their last ends.
        ends: Vec<SiblingEnd>,
    },
    /// Of a pause, or of its end.
    Held {
        /// Those that it was about.
        agents: Vec<SiblingStatus>,
    },
    /// A part of a conversation.
    Transcript(Transcript),
    /// Of a merge.
    Merged(Merged),
}
