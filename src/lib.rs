//! Troupe: an agent runtime in which every component is a supervised, message-passing actor.
//!
//! Imports run downwards only: `protocol` < `store` < { `resources`, `providers`, `tools` } < `extensions` < `actors`
//! < `tui` < `cli`. `docs/architecture.md` has the map and the invariants; `tests/architecture.rs` enforces the direction.

pub mod actors;
pub mod cli;
pub mod extensions;
pub mod protocol;
pub mod providers;
pub mod resources;
pub mod store;
pub mod tools;
pub mod tui;

pub use cli::embed;
