//! What the text could go on with: commands, their arguments, files, paths.
//!
//! [`mod@trigger`] says what the text before the caret asks for. From that come menus: of commands ([`command_menu`]) and
//! arguments ([`argument_menu`]) at once, of files ([`file_menu`], from a [`FileIndex`]) and paths ([`complete_path`])
//! by a worker, since they read the disk.

mod commands;
mod files;
pub mod fuzzy;
mod index;
mod menu;
mod paths;
#[cfg(test)]
mod tests;
mod trigger;

pub use commands::{ArgumentItem, SlashItem, argument_menu, command_menu};
pub use files::file_menu;
pub use index::{FileIndex, MAX_FILES, REFRESH_AFTER_MS};
pub use menu::{Accept, Accepted, Menu, MenuItem, MenuKind};
pub use paths::{PathCompletion, Place, complete_path};
pub use trigger::{Trigger, TriggerKind, path_at, trigger};
