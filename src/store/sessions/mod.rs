//! Many sessions: where their files lie, which one is meant, what to show of each.
//!
//! | module | what |
//! |---|---|
//! | [`dir`] | folders and file names |
//! | [`mod@resolve`] | which session is meant by a path, an id, "the last one" |
//! | [`list`] | what to show of each |
//! | [`copy`] | import and export |

pub mod copy;
pub mod dir;
pub mod list;
pub mod resolve;

#[cfg(test)]
mod tests;

pub use copy::{export_branch, import};
pub use dir::{SessionDir, file_name};
pub use list::{SessionInfo, list_sessions};
pub use resolve::{Resolved, resolve};
