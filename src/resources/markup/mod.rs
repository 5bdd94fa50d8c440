//! Texts that people look at: what the marks in them mean. Nothing here knows a screen or a page; those draw it.
//!
//! | module | what |
//! |---|---|
//! | [`markdown`] | the markdown of messages, as blocks and spans |
//! | [`links`] | addresses in texts, and which of them may be followed |
//! | [`highlight`] | the tokens of source code |

pub mod highlight;
pub mod links;
pub mod markdown;

pub use highlight::{Highlighter, Language, Token};
pub use markdown::{Document, MarkdownBlock, Span};
