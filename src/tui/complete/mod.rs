//! What the text could go on with: commands, their arguments, files, paths.

pub mod fuzzy;
mod menu;

pub use menu::{Accept, Accepted, Menu, MenuItem, MenuKind};
