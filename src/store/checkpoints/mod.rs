//! Checkpoints: what files held before they were changed, so that changes can be undone. `docs/checkpoints.md` tells
//! users about it.
//!
//! Beside the sessions of a project lies a folder `checkpoints`: contents by their hash, shared by all sessions, and a
//! log for each session. Everything here is plain values and blocking calls; who takes and restores is in
//! `tools::checkpoints`.
//!
//! | module | what |
//! |---|---|
//! | [`state`] | what a path holds at one moment |
//! | [`object`] | contents by hash |
//! | [`log`] | the log of a session |
//! | [`timeline`] | the checkpoints that a log tells of (pure) |
//! | [`plan`] | what an undo has to do (pure) |
//! | [`clean`] | keeping it small |

pub mod clean;
pub mod log;
pub mod object;
pub mod plan;
pub mod state;
pub mod timeline;

pub use log::{Log, PathState, Record, Restored};
pub use object::{ObjectId, ObjectStore};
pub use plan::{Action, Plan, PlanError, Skip, Wish};
pub use state::{Content, FileFacts, FileState, StoredPath, Unkept};
pub use timeline::{Change, Checkpoint, Step, Timeline};
