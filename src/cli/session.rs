//! The session that a start uses: found, opened, or made.

use std::path::PathBuf;

use super::{
    args::{HiArgs, SessionChoice, SessionTarget},
    env::Environment,
    run::warn,
    start::{self, StartError},
};
use crate::store::{
    NewSession, SessionStore, Sidecar,
    session::Opened,
    sessions::{self, SessionDir},
    settings::Settings,
};

/// A session that is open.
pub struct ChosenSession {
    /// The session.
    pub store: SessionStore,
    /// The journal of its running trace.
    pub journal: Sidecar,
    /// The folder that it runs in.
    pub cwd: PathBuf,
    /// It has no entries of an earlier run.
    pub is_new: bool,
    /// The program begins with it.
    pub is_first: bool,
    /// The name that it is to get.
    pub name: Option<String>,
}

impl ChosenSession {
    /// A session that takes the place of the one that the program began with.
    #[must_use]
    pub fn following(store: SessionStore, journal: Sidecar) -> Self {
        let view = store.view();
        let cwd = PathBuf::from(&view.header().cwd);
        Self { cwd, is_new: view.is_empty(), is_first: false, name: None, store, journal }
    }
}

/// Finds, opens or makes the session.
///
/// # Errors
/// There is no such session, it cannot be used, or its folder is gone.
pub fn choose(environment: &Environment, args: &HiArgs, settings: &Settings) -> Result<ChosenSession, StartError> {
    let launch = &environment.cwd;
    let dir = match start::session_dir(environment, args, settings) {
        Some(path) => SessionDir::custom(path, launch),
        None => SessionDir::of_project(&environment.user_dir, launch),
    };
    let fresh = || NewSession::in_folder(launch);
    let store = match &args.session {
        SessionChoice::New => SessionStore::create_in(&dir.path, fresh()).map_err(StartError::of)?,
        SessionChoice::InMemory => SessionStore::in_memory(fresh()).map_err(StartError::of)?,
        SessionChoice::Continue => match sessions::resolve::most_recent(&dir) {
            Some(path) => open(&path)?,
            None => SessionStore::create_in(&dir.path, fresh()).map_err(StartError::of)?,
        },
        SessionChoice::Pick => {
            let text = "choosing a session from a list needs the interactive terminal, which is not available yet in \
                        this version. Use --continue, or --session with an id";
            return Err(StartError::Failed(text.into()));
        }
        SessionChoice::Open(target) => open(&find(target, &dir)?)?,
        SessionChoice::OpenOrCreate { id } => match sessions::resolve::with_id(id, &dir).map_err(StartError::of)? {
            Some(path) => open(&path)?,
            None => {
                warn(&format!("No session has the id {id} here: a new one is made with it."));
                let new = NewSession { id: Some(id.clone()), ..fresh() };
                SessionStore::create_in(&dir.path, new).map_err(StartError::of)?
            }
        },
        SessionChoice::Fork { source, id } => {
            if let Some(id) = id
                && sessions::resolve::with_id(id, &dir).map_err(StartError::of)?.is_some()
            {
                let text = format!("A session with the id {id} exists already. Choose another one for the copy.");
                return Err(StartError::Failed(text));
            }
            let source = find(source, &dir)?;
            let new = NewSession { id: id.clone(), ..fresh() };
            SessionStore::fork_file(&source, &dir.path, new).map_err(StartError::of)?
        }
    };
    store.writable().map_err(StartError::of)?;
    let view = store.view();
    let path = store.path().unwrap_or_default();
    sessions::resolve::check_folder(view.header(), &path).map_err(StartError::of)?;
    let journal = match store.path() {
        Some(path) => Sidecar::open(&path).map_err(StartError::of)?,
        None => Sidecar::in_memory(),
    };
    let chosen = ChosenSession::following(store, journal);
    Ok(ChosenSession { is_first: true, name: args.name.clone(), ..chosen })
}

fn find(target: &SessionTarget, dir: &SessionDir) -> Result<PathBuf, StartError> {
    match target {
        SessionTarget::Path(path) => Ok(path.clone()),
        SessionTarget::Id(id) => Ok(sessions::resolve::resolve(id, dir).map_err(StartError::of)?.path().to_owned()),
    }
}

fn open(path: &std::path::Path) -> Result<SessionStore, StartError> {
    let cwd = std::env::current_dir().unwrap_or_default();
    let opened: Opened = SessionStore::open(path, NewSession::in_folder(&cwd)).map_err(StartError::of)?;
    if let Some(notice) = opened.damage_notice() {
        warn(&notice);
    }
    Ok(opened.store)
}
