//! Compaction: what is folded away, what a model is asked to write about it, and what is stored. All of it but
//! [`request`] is pure.
//!
//! - [`mod@plan`]: from a context to the messages that are summarised, by the rules of [`cut`].
//! - [`mod@branch`]: the same for a branch that is left.
//! - [`files`]: which files the folded part read and changed.
//! - [`conversation`]: messages as text; [`prompts`]: what is asked for.
//! - [`request`]: asking for it.

pub mod branch;
pub mod conversation;
pub mod cut;
pub mod files;
pub mod plan;
pub mod prompts;
pub mod request;

pub use branch::{BranchPlan, branch};
pub use files::FileOps;
pub use plan::{Plan, Refusal, plan};

/// Why a compaction ended without a result when somebody cancelled it.
pub const CANCELLED: &str = "Compaction cancelled";

/// Tokens that a context may have: the window less the reserve. A reserve that is meant for a larger window leaves three
/// quarters. None where the window is unknown.
#[must_use]
pub fn room(window: u64, reserve: u64) -> Option<u64> {
    let room = if reserve < window { window - reserve } else { window / 4 * 3 };
    (window > 0).then_some(room)
}

/// Tokens of recent messages that stay: no more than half of the room, so that a compaction makes some.
#[must_use]
pub fn keep(wanted: u64, room: Option<u64>) -> u64 {
    room.map_or(wanted, |room| wanted.min(room / 2))
}
