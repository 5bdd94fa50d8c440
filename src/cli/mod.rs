//! The command line: what was typed, what it means, and what goes into the first message.
//!
//! Reading order: [`mod@env`] takes the process's surroundings once, [`subcommand`] looks at the first word
//! ([`listing`] has what one of them prints, [`auth`] handles keys and logins, [`packages`] installs, [`sessions`] lists and moves sessions, [`runs`] supervises runs ([`nats`]: on any machine), [`team`] runs team files, [`live`] looks at other processes by the sockets that [`control`] offers), [`args`] reads the flags ([`args::LowArgs`], what was typed) and works out
//! their meaning ([`args::HiArgs`]), [`mode`] picks the front end, [`stdin`], [`files`] and [`first_message`] gather the
//! prompts, [`base`] holds what all agents of the process have in common, [`setup`] makes one of them, [`operations`] chooses what files and processes the agent works with ([`remote`]: another machine's; [`sandbox`]: how
//! far it is confined), [`siblings`] makes agents that others spawn in folders of their own,
//! [`cassette`] records or replays the exchanges with providers, [`exit`] names the ways out. With the feature `otlp`, `otlp` exports spans.

pub mod acp;
pub mod args;
pub mod auth;
pub mod base;
pub mod cassette;
mod checkpoints;
pub mod control;
pub mod embed;
pub mod env;
pub mod exit;
mod export;
pub mod files;
pub mod first_message;
pub mod help;
mod interactive;
pub mod legacy;
pub mod listing;
pub mod live;
mod local;
pub mod logging;
pub mod mode;
pub mod nats;
mod notices;
pub mod operations;
#[cfg(feature = "otlp")]
pub mod otlp;
pub mod packages;
pub mod paths;
mod patience;
pub mod permissions;
pub mod project;
pub mod prompt;
pub mod remote;
pub mod run;
pub mod runs;
pub mod sandbox;
pub mod session;
pub mod sessions;
pub mod setup;
mod siblings;
pub mod signals;
pub mod start;
pub mod stdin;
pub mod subcommand;
pub mod team;
pub mod undo;

/// The program's version: what `--version` prints.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
