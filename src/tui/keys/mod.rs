//! Keys, actions, and which key means which action.

mod action;
mod canonical;
mod key;
mod keymap;
mod name;

pub use action::Action;
pub use key::{Key, KeyCode, Modifiers};
pub use keymap::Keymap;
pub use name::KeyNameError;
