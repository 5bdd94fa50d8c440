//! The screen: an actor that looks at one agent and sends it commands, like any other front.
//!
//! Everything between a key and a frame is a plain value. [`model::Model`] is what the screen knows; `update` takes a
//! message and says what is to be done ([`model::Effect`]); views draw the model into a [`terminal::Frame`]. Only
//! [`screen`] is an actor, and only [`terminal`] touches the terminal.
//!
//! | folder | what |
//! |---|---|
//! | [`terminal`] | the terminal: input, modes, frames to bytes |
//! | [`keys`] | keys, actions, and which key means which action |
//! | [`text`] | lines of styled text: widths, wrapping, markdown, code, differences |
//! | [`theme`] | colours |
//! | [`editor`] | the text that is being written, and completion |

pub mod editor;
pub mod keys;
pub mod terminal;
pub mod text;
pub mod theme;
