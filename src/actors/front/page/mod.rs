//! A session as a page for people: one file that a browser shows without anything else, and that reads without scripts.
//!
//! All of the session is in it, all branches included. The page is written entry by entry, so a session of hundreds of
//! megabytes needs little memory. Everything that comes from the session goes through [`html`], which lets no text be
//! markup and no character hide. Nothing is fetched: the policy in the page's head forbids all but its own style, its
//! own script and pictures that lie in it.
//!
//! | module | what |
//! |---|---|
//! | [`mod@file`] | where a page is written, and how |
//! | [`document`] | the page from head to foot |
//! | [`plan`] | what is on which branch, and which results belong to which call (pure) |
//! | [`head`] | what the session is: name, folder, times, models, totals |
//! | [`system`] | what the model was told |
//! | [`entries`] | an entry of the session |
//! | [`calls`], [`arguments`], [`results`] | a call of a tool, and what it gave |
//! | [`outline`] | the tree beside the page |
//! | [`prose`], [`code`], [`blocks`] | markdown, source code and differences, content of messages |
//! | [`html`], [`numbers`] | how anything gets into the page |
//! | [`assets`] | style and script |

mod arguments;
mod assets;
mod blocks;
mod calls;
mod code;
mod document;
mod entries;
pub mod file;
mod head;
pub(in crate::actors) mod html;
pub mod numbers;
mod outline;
mod plan;
mod prose;
mod results;
mod system;

#[cfg(test)]
mod tests;

pub use document::write;
pub use file::{PageError, export};
