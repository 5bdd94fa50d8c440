//! Session files: pi's format, version 3, read tolerantly and only ever appended to.
//!
//! | module | what |
//! |---|---|
//! | [`kind`] | what a line is |
//! | [`scan`] | the quick look at a line |
//! | [`decode`], [`encode`] | a line to an entry and back |
//! | [`surrogates`] | a quirk of JavaScript's JSON |
//! | [`header`] | the first line, also when it is damaged |
//! | [`migrate`] | lines of versions 1 and 2 |
//! | [`read`] | a whole file to its lines |
//! | [`damage`] | what could not be read |
//! | [`mod@file`] | appending |

pub mod damage;
pub mod decode;
pub mod encode;
pub mod file;
pub mod header;
pub mod kind;
pub mod migrate;
pub mod read;
pub mod scan;
pub mod surrogates;

#[cfg(test)]
mod tests;

pub use damage::Damage;
pub use file::{Change, SessionFile};
pub use kind::{EntryKind, Role};
pub use read::{Gap, Line, LineText, Loaded, ReadError, Span};

/// The version that we write.
pub const VERSION: u32 = 3;
