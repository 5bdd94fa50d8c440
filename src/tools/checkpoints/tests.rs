//! What checkpoints promise: tools and commands change files in a folder, and undos bring them back.
//!
//! - `world`: a folder, a session and tools.
//! - `files`: changes by tools; `commands`: by commands; `random`: any order of both.

mod commands;
mod files;
mod random;
mod world;
