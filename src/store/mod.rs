//! What outlives a process: sessions, their journals, answers about trust; and where all of it lies.
//!
//! Blocking calls of the standard library only. Whoever calls them may wait: the session writer for its own file,
//! workers for anything else.
//!
//! | module | what |
//! |---|---|
//! | [`jsonl`] | session files, line by line |
//! | [`tree`] | the session as a tree (pure) |
//! | [`session`] | a session that is being written |
//! | [`sessions`] | many of them: listing, finding, copying, deleting |
//! | [`sidecar`] | the journal of a running trace |
//! | [`checkpoints`] | what files held before they were changed |
//! | [`lock`] | one writing process for a session |
//! | [`settings`] | what the user and the project prefer |
//! | [`auth_file`] | keys and logins |
//! | [`document`], [`lock_folder`], [`replace`] | files of people's own making: errors by place, pi's locks, whole writes |
//! | [`replica`] | a copy that is kept elsewhere, and says who may add to it |
//! | [`sync`] | from the system's memory to the disk |
//! | [`paths`] | folders |
//! | [`regular_file`] | files, and nothing that only looks like one |
//! | [`permissions`] | rules that were remembered |
//! | [`trash`] | where deleted files go |
//! | [`trust`] | which projects may bring resources |

pub mod auth_file;
pub mod checkpoints;
pub mod document;
mod error;
pub mod jsonl;
pub mod lock;
pub mod lock_folder;
pub mod paths;
pub mod permissions;
pub mod regular_file;
pub mod replace;
pub mod replica;
pub mod session;
pub mod sessions;
pub mod settings;
pub mod sidecar;
pub mod sync;
#[cfg(test)]
pub(crate) mod testing;
pub mod trash;
pub mod tree;
pub mod trust;

pub use error::StoreError;
pub use session::{Appended, NewEntry, NewSession, SessionStore};
pub use sidecar::{RunState, Sidecar};
pub use sync::Syncer;
pub use tree::{SessionContext, TreeView};
