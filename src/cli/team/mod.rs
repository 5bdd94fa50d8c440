//! `troupe team`: agents that work by a team file.
//!
//! [`args`] reads the words, [`source`] the file, [`check`] says what is in it and [`models`] whether its models are there;
//! [`mod@run`] has it carried out, [`record`] keeps what is to be run, with the digests of its [`texts`], and [`resume`] goes
//! on with it, [`away`] says where agents work, [`results`] writes what came of it and reads it again, [`report`] tells it.

pub mod args;
mod away;
mod check;
mod models;
mod record;
mod report;
mod results;
mod resume;
mod run;
mod source;
mod texts;

use std::path::PathBuf;

use super::{env::Environment, exit::Exit, paths::absolute};
use crate::extensions::ExtensionRegistry;
use args::TeamCommand;

/// Carries out the command.
#[must_use]
pub fn run(environment: &Environment, command: TeamCommand, extensions: &ExtensionRegistry) -> Exit {
    let path = |text: &str| -> PathBuf { absolute(text, &environment.cwd, environment.home.as_deref()) };
    match command {
        TeamCommand::Run(args) => run::run(environment, &args, extensions),
        TeamCommand::Resume(args) => resume::run(environment, &args, extensions),
        TeamCommand::Check { file, json } => check::run(environment, &path(&file), json, extensions),
        TeamCommand::Compare { folders, json } => results::compare(&folders, path, json),
    }
}
