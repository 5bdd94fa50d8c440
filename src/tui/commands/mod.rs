//! Slash commands of the screen. Those of skills, templates and extensions go to the agent as prompts.
//!
//! | file | what |
//! |---|---|
//! | [`session`] | new, name, compact, quit and others that go straight to the agent |
//! | [`select`] | models, sessions, the tree: lists to choose from |
//! | [`setup`] | settings, trust, tools, jobs, permissions: how the agent works |
//! | [`info`], [`copy`], [`transfer`] | what the session is; its last answer; export, import, share |
//! | [`diff`], [`doctor`], [`report`] | changes of files; what is wrong; reports of faults |
//! | [`help`] | commands, keys, news |
//! | [`login`] | logging in and out, and the first model |
//! | [`arguments`] | what may follow a command's name, for completion |
//! | [`results`] | what commands make of what workers found |

pub mod arguments;
mod copy;
mod diff;
mod doctor;
mod help;
pub(in crate::tui) mod info;
pub mod login;
mod report;
mod results;
mod select;
mod session;
mod setup;
mod transfer;

pub use copy::last_answer;
pub use results::worked;

use std::sync::LazyLock;

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

/// The tables of all of them.
const TABLES: &[&[SlashCommand]] = &[
    session::COMMANDS,
    select::COMMANDS,
    setup::COMMANDS,
    info::COMMANDS,
    copy::COMMANDS,
    transfer::COMMANDS,
    diff::COMMANDS,
    login::COMMANDS,
    help::COMMANDS,
    doctor::COMMANDS,
    report::COMMANDS,
];

/// Those that are wanted most, in the order of the menu.
const FIRST: [&str; 12] =
    ["model", "resume", "new", "tree", "settings", "thinking", "compact", "session", "undo", "diff", "help", "quit"];

/// All of them, sorted for the menu.
static SORTED: LazyLock<Vec<&'static SlashCommand>> = LazyLock::new(|| {
    let mut all: Vec<_> = TABLES.iter().copied().flatten().collect();
    let place = |name: &str| FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len());
    all.sort_by_key(|command| place(command.name));
    all
});

/// All of them, in the order of the menu.
pub fn all() -> impl Iterator<Item = &'static SlashCommand> {
    SORTED.iter().copied()
}

/// The command that a text calls, and what follows its name. Only an exact name calls: everything else is a prompt.
#[must_use]
pub fn find(text: &str) -> Option<(&'static SlashCommand, &str)> {
    let body = text.strip_prefix('/')?;
    let (name, argument) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
    let command = all().chain(report::HIDDEN).find(|command| command.name == name)?;
    Some((command, argument.trim()))
}

#[cfg(test)]
mod tests;
