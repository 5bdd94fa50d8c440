//! Slash commands of the screen. Those of skills, templates and extensions go to the agent as prompts.
//!
//! | file | what |
//! |---|---|
//! | [`session`] | new, name, compact, quit and others that go straight to the agent |

mod session;

use super::{effect::Effect, model::Model};

/// A slash command.
pub struct SlashCommand {
    /// Its name without the slash.
    pub name: &'static str,
    /// What may follow it; empty = nothing.
    pub argument: &'static str,
    /// What it does, for the menu.
    pub description: &'static str,
    /// Does it; the text is what follows the name, trimmed.
    pub run: fn(&mut Model, &str) -> Vec<Effect>,
}

/// The tables of all of them, in the order of the menu.
const TABLES: &[&[SlashCommand]] = &[session::COMMANDS];

/// All of them, in the order of the menu.
pub fn all() -> impl Iterator<Item = &'static SlashCommand> {
    TABLES.iter().copied().flatten()
}

/// The command that a text calls, and what follows its name. Only an exact name calls: everything else is a prompt.
#[must_use]
pub fn find(text: &str) -> Option<(&'static SlashCommand, &str)> {
    let body = text.strip_prefix('/')?;
    let (name, argument) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
    let command = all().find(|command| command.name == name)?;
    Some((command, argument.trim()))
}
