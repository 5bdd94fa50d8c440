//! The screen: an actor that looks at one agent and sends it commands, like any other front.
//!
//! Everything between a key and a frame is a plain value. [`model::Model`] is what the screen knows; `update` takes a
//! message and says what is to be done ([`effect::Effect`]); [`view`] draws the model into a [`terminal::Frame`]. Only
//! [`screen`] is an actor, and only [`terminal`] touches the terminal. What reads files or takes time is done by
//! [`working`], a worker for each piece of [`work`].
//!
//! | folder | what |
//! |---|---|
//! | [`terminal`] | the terminal: input, modes, frames to bytes |
//! | [`keys`] | keys, actions, and which key means which action |
//! | [`text`] | lines of styled text: widths, wrapping, markdown, code, differences |
//! | [`theme`] | colours |
//! | [`editor`] | the text that is being written |
//! | [`complete`] | completion of it |
//! | [`transcript`] | the conversation |
//! | [`tool_view`] | tool calls |
//! | [`overlay`] | selectors and dialogs |
//! | [`commands`] | slash commands |
//! | [`update`] | what the model makes of messages |
//! | [`view`] | the model as a frame |

pub mod cache_watch;
pub mod cards;
pub mod commands;
pub mod complete;
pub mod editor;
pub mod effect;
pub mod facts;
pub mod gauges;
pub mod git;
pub mod keys;
pub mod look;
pub mod model;
pub mod notify;
mod outside;
pub mod overlay;
pub mod picture;
pub mod queue;
pub mod screen;
pub mod search;
pub mod selection;
pub mod settings;
pub mod start_page;
pub mod surroundings;
pub mod terminal;
#[cfg(test)]
pub mod testing;
pub mod text;
pub mod theme;
pub mod title;
pub mod tool_view;
pub mod transcript;
pub mod update;
pub mod view;
pub mod work;
pub mod working;
