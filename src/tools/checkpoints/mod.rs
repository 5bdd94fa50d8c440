//! Checkpoints: taking them while tools run, and going back to them. `docs/checkpoints.md` tells users about it;
//! `store::checkpoints` keeps them.
//!
//! - [`recorder`]: the checkpoints of a session; `turn`: of one turn.
//! - [`operations`]: what tools work with, so that they need not know; `process`: commands.
//! - `look`: what a path holds; [`workspace`]: what commands change.
//! - [`changes`]: what a session changed, for people.
//! - [`mod@undo`]: what is asked, and what the model is told; `restore`: doing it; `git_blobs`: contents that git has.

pub mod changes;
mod git_blobs;
mod look;
pub mod operations;
mod process;
pub mod recorder;
mod restore;
mod turn;
pub mod undo;
pub mod workspace;

#[cfg(test)]
mod tests;

pub use operations::Checkpointing;
pub use recorder::{CheckpointConfig, Checkpoints, DEFAULT_MAX_SIZE};
pub use turn::Turn;
pub use undo::{UndoError, Undone, list, undo};
