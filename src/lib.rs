//! Troupe: an agent runtime in which every component is a supervised, message-passing actor.
//!
//! Imports run downwards only: `protocol` < `store` < { `resources`, `providers`, `tools` } < `extensions` < `actors`
//! < `cli`. `docs/architecture.md` has the map and the invariants; `tests/architecture.rs` enforces the direction.

pub mod actors;
pub mod protocol;
pub mod providers;
pub mod tools;
