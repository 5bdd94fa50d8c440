//! Keys, actions, and which key means which action.

mod key;

pub use key::{Key, KeyCode, Modifiers};
