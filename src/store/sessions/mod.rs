//! Many sessions: where their files lie, which one is meant, what to show of each.
//!
//! | module | what |
//! |---|---|
//! | [`dir`], [`files`] | folders, file names, files that were not opened yet |
//! | [`mod@resolve`] | which session is meant by a path, an id, "the last one" |
//! | [`info`], [`list`], [`index`] | what to show of each, page by page, and what is kept of it for the next list |
//! | [`query`], [`order`] | choosing and sorting |
//! | [`search`] | words in all that was said |
//! | [`copy`], [`mod@import`], [`remove`] | import and export, deleting |

pub mod copy;
pub mod dir;
pub mod files;
pub mod import;
pub mod index;
pub mod info;
pub mod list;
pub mod order;
pub mod query;
pub mod remove;
pub mod resolve;
pub mod search;

#[cfg(test)]
mod tests;

pub use copy::{export_branch, import};
pub use dir::{Scope, SessionDir, file_name};
pub use info::SessionInfo;
pub use list::Listing;
pub use resolve::{Resolved, resolve};
