//! What a session is told beside the user's words: the system prompt, context files, skills and prompt templates.
//!
//! Everything here takes explicit folders and gives back values and warnings: nothing reads the environment, keeps
//! state or asks anybody. Project resources are only looked at when the caller says that the project is trusted;
//! context files are plain text and load without trust. [`markup`] is for the way back: what the marks mean in texts
//! that people look at.

pub mod context_files;
pub mod expand;
pub mod frontmatter;
pub mod kind;
pub mod listing;
pub mod markup;
pub mod packages;
pub mod patterns;
pub mod project;
pub mod roots;
pub mod skills;
pub mod source;
pub mod system_files;
pub mod system_prompt;
pub mod templates;
pub mod text_file;
pub mod warning;
pub mod xml;

pub use warning::{Loaded, Warning};
