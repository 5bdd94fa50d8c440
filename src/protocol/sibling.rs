//! Siblings: agents that another agent, their parent, spawned.
//!
//! All agents below one root agent, with it, are a *family*. A sibling is a whole agent with a session of its own; that
//! it has a parent is data. It is spawned with a *task*; when it has nothing left to do, the task has ended
//! ([`SiblingEnd`]) and it stays open and idle, until it is stopped: a message then begins its next task. Tasks are
//! numbered from 1, so that an end is told apart from the one before it, and nobody hears of one twice.
//!
//! | module | what |
//! |---|---|
//! | [`id`] | names within a family |
//! | [`spec`], [`budget`] | what is spawned, and what it may use |
//! | [`status`], [`end`], [`worktree`] | what it does, how its tasks end, what it changed |
//! | [`mail`] | messages, waits and their answers |
//! | [`command`], [`error`] | what fronts want, and why they do not get it |

pub mod budget;
pub mod command;
pub mod end;
pub mod error;
pub mod id;
pub mod mail;
pub mod spec;
pub mod status;
pub mod worktree;

pub use budget::{Budget, BudgetKind, Spent};
pub use command::{SiblingCommand, SiblingReply};
pub use end::{Outcome, SiblingEnd};
pub use error::SiblingError;
pub use id::SiblingId;
pub use mail::{Receipt, SendMode, SpawnReceipt, Transcript, WaitMode, Waited};
pub use spec::{Isolation, SiblingLimits, SiblingSpec};
pub use status::{SiblingState, SiblingStatus};
pub use worktree::{Merged, Patch, WorktreeFate};
