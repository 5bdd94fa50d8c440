//! What is on disk: settings and the pieces that files of people's own making need.

pub mod document;
pub mod lock_folder;
pub mod settings;
