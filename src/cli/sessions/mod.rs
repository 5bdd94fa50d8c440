//! `troupe sessions …`: finding, naming, moving and deleting sessions from the command line.
//!
//! | module | what |
//! |---|---|
//! | [`args`] | the verbs and their arguments |
//! | [`list`], [`search`], [`show`] | telling what there is |
//! | [`change`] | names, the trash |
//! | [`transfer`] | import and export |
//! | [`words`] | how sessions and times are told |

pub mod args;
pub(super) mod change;
mod list;
mod search;
mod show;
mod transfer;
mod words;

use std::path::PathBuf;

use args::{Action, SessionsCommand};

use super::{
    env::Environment,
    exit::Exit,
    paths::absolute,
    run::fail,
    start::{self, StartError},
};
use crate::store::{
    sessions::{SessionDir, dir::SessionFileHead, index, resolve},
    settings::Settings,
};

/// Carries out a command.
#[must_use]
pub fn run(environment: &Environment, command: &SessionsCommand) -> Exit {
    let place = Place::of(environment, command.session_dir.as_deref());
    let done = match &command.action {
        Action::List(args) => list::run(&place, args),
        Action::Search(args) => search::run(&place, args),
        Action::Show { id, json } => show::run(&place, id, *json),
        Action::Rename { id, name } => change::rename(&place, id, name),
        Action::Delete { ids, yes } => change::delete(&place, ids, *yes),
        Action::Export { id, form, path, force } => transfer::export(&place, id, *form, (path.as_deref(), *force)),
        Action::Import { file } => transfer::import(&place, file),
    };
    match done {
        Ok(exit) => exit,
        Err(StartError::Failed(text)) => fail(&text),
    }
}

/// Where sessions are looked for.
pub(super) struct Place<'e> {
    environment: &'e Environment,
    dir: SessionDir,
    /// The file of the index.
    index: PathBuf,
}

impl<'e> Place<'e> {
    fn of(environment: &'e Environment, session_dir: Option<&str>) -> Self {
        let settings = Settings::load(&environment.user_dir.join("settings.json"), None);
        let home = environment.home.as_deref();
        let flag = session_dir.map(|dir| absolute(dir, &environment.cwd, home));
        let dir = match start::session_dir_with(environment, flag, &settings) {
            Some(path) => SessionDir::custom(path, &environment.cwd),
            None => SessionDir::of_project(&environment.user_dir, &environment.cwd),
        };
        Self { environment, dir, index: index::path_in(&environment.user_dir) }
    }

    /// The one session that `text` means, of this project or else of any.
    fn session(&self, text: &str) -> Result<SessionFileHead, StartError> {
        let text = text.strip_prefix("~/").map_or_else(
            || text.to_owned(),
            |_| absolute(text, &self.environment.cwd, self.environment.home.as_deref()).display().to_string(),
        );
        resolve::only(&text, &self.dir)
            .map_err(|error| StartError::Failed(format!("{error}. `troupe sessions --all` lists all.")))
    }
}
