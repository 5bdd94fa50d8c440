//! What the fleet is told about families.

use std::{sync::Arc, time::Duration};

use tokio::sync::oneshot;

use crate::{
    actors::{reply::CommandResult, shared::AgentShared},
    protocol::{
        event::NoticeLevel,
        sibling::{
            Receipt, SendMode, SiblingEnd, SiblingError, SiblingId, SiblingSpec, SiblingStatus, SpawnReceipt, WaitMode,
            Waited, WorktreeFate,
        },
    },
};

/// The duty to answer. Dropped without an answer, the one who waits hears that it is lost.
pub type Answer<T> = oneshot::Sender<Result<T, SiblingError>>;

/// What the fleet is told about families. `parent` is the name in the fleet of the agent whose family is meant; ids are
/// ids or names of agents below it.
#[expect(clippy::large_enum_variant, reason = "it is boxed on its way")]
pub enum FamilyMsg {
    /// Spawn a child.
    Spawn {
        /// Whose.
        parent: Arc<str>,
        /// What.
        spec: Box<SiblingSpec>,
        /// Who wants to know.
        reply: Answer<SpawnReceipt>,
    },
    /// Give a sibling a message.
    Send {
        /// Whose family.
        parent: Arc<str>,
        /// To whom.
        id: String,
        /// The message.
        text: String,
        /// When.
        mode: SendMode,
        /// Who wants to know.
        reply: Answer<Receipt>,
    },
    /// Answer when these have ended: each at least the task of this number, or, for 0, with nothing to do.
    Wait {
        /// Whose family.
        parent: Arc<str>,
        /// About whom; empty = about all children.
        about: Vec<(String, u32)>,
        /// All or any.
        mode: WaitMode,
        /// For how long at most.
        limit: Option<Duration>,
        /// Who waits.
        reply: Answer<Waited>,
    },
    /// End siblings with all below them.
    Stop {
        /// Whose family.
        parent: Arc<str>,
        /// Whom; empty = all.
        ids: Vec<String>,
        /// Why, for their ends.
        reason: String,
        /// How long they get to reach a turn boundary.
        grace: Duration,
        /// What becomes of worktrees.
        fate: WorktreeFate,
        /// Who wants to know when they are gone.
        reply: Answer<Vec<SiblingEnd>>,
    },
    /// Hold siblings at their next turn boundary, or let them go on.
    Hold {
        /// Whose family.
        parent: Arc<str>,
        /// Whom; empty = all.
        ids: Vec<String>,
        /// Hold.
        paused: bool,
        /// Who wants to know.
        reply: Answer<Vec<SiblingStatus>>,
    },
    /// A worker made an agent, or could not.
    Made {
        /// The root of the family.
        root: Arc<str>,
        /// Which.
        id: SiblingId,
        /// The agent.
        result: Result<Arc<AgentShared>, String>,
    },
    /// A note is in the parent's session, or could not be stored.
    Noted {
        /// The root of the family.
        root: Arc<str>,
        /// About whom.
        id: SiblingId,
        /// What is done then.
        then: Noted,
        /// Whether it is there.
        result: Result<(), String>,
    },
    /// An agent answered to the message that begins a task.
    Begun {
        /// The root of the family.
        root: Arc<str>,
        /// Which agent.
        id: SiblingId,
        /// The task.
        task: u32,
        /// What it said.
        result: CommandResult,
    },
    /// No trace of a child runs.
    Settled(Arc<str>, SiblingId),
    /// A child waits at its gate.
    Held(Arc<str>, SiblingId),
    /// A worker looked at the end of a task.
    Looked {
        /// The root of the family.
        root: Arc<str>,
        /// The end.
        end: Box<SiblingEnd>,
    },
    /// A wait has had its time.
    WaitOver(u64),
    /// The time of a stop's grace is over.
    GraceOver(Arc<str>, SiblingId),
    /// A time limit is over, perhaps.
    TimeOver(Arc<str>, SiblingId),
    /// A note that could not be stored is tried again.
    NoteAgain(Arc<str>, SiblingId),
    /// A worktree is gone, or stays because it could not go.
    Cleared(Arc<str>, SiblingId),
    /// Something that those who watch the root should know.
    Notice(Arc<str>, NoticeLevel, String),
}

/// What a note was needed for.
#[derive(Clone, Debug, PartialEq)]
pub enum Noted {
    /// A child may begin.
    Spawned,
    /// A child may begin its next task.
    Task {
        /// The number of the task.
        task: u32,
    },
    /// An end may be told.
    Ended(Box<SiblingEnd>),
    /// A child is gone.
    Gone,
}

impl std::fmt::Debug for FamilyMsg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FamilyMsg")
    }
}
