//! The session that a start uses: found, opened, or made.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    args::{HiArgs, SessionChoice, SessionTarget, Task},
    env::Environment,
    exit::Exit,
    mode::Mode,
    run::{fail, warn},
    start::{self, StartError},
};
use crate::{
    actors::session_writer::{OnRefusal, SessionPlace},
    store::{
        NewSession, SessionStore, Sidecar,
        replica::Replica,
        session::{Claim, Opened},
        sessions::{self, Resolved, SessionDir},
        settings::Settings,
    },
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
    /// A trace that a killed process left running is gone on with at once.
    pub takes_over: bool,
    /// The copy of it that is kept elsewhere.
    pub replica: Option<Arc<dyn Replica>>,
}

impl ChosenSession {
    /// A session that takes the place of the one that the program began with.
    #[must_use]
    pub fn following(store: SessionStore, journal: Sidecar) -> Self {
        let view = store.view();
        let cwd = PathBuf::from(&view.header().cwd);
        Self {
            cwd,
            is_new: view.is_empty(),
            is_first: false,
            name: None,
            takes_over: false,
            replica: None,
            store,
            journal,
        }
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
    let open = |path: &Path| open(path, args.read_only, fresh());
    let create = |new: NewSession| SessionStore::create_in(&dir.path, new).map_err(StartError::of);
    let store = match &args.session {
        SessionChoice::New => create(fresh())?,
        SessionChoice::InMemory => SessionStore::in_memory(fresh()).map_err(StartError::of)?,
        SessionChoice::Continue => match sessions::resolve::most_recent(&dir) {
            Some(path) => open(&path)?,
            None if args.read_only => return Err(nothing_to_read("this folder has no session")),
            None => create(fresh())?,
        },
        // The screen begins with the list; nothing is written for a session that nobody says anything in.
        SessionChoice::Pick if matches!(args.task, Task::Run(Mode::Interactive)) => create(fresh())?,
        SessionChoice::Pick => {
            let text = "choosing a session from a list needs a terminal. `troupe sessions` lists them; --session ID opens \
                        one, --continue the last one";
            return Err(StartError::Failed(text.into()));
        }
        SessionChoice::Open(target) => open(&of_this_project(target, &dir)?)?,
        SessionChoice::OpenOrCreate { id, tells } => match with_id(id, &dir)? {
            Some(path) => open(&path)?,
            None if args.read_only => return Err(nothing_to_read(&format!("no session here has the id {id}"))),
            None => {
                let claim = Claim::take(&dir.path, id).map_err(StartError::of)?;
                // Somebody else may have made it between the two looks.
                match with_id(id, &dir)? {
                    Some(path) => open(&path)?,
                    None => {
                        if *tells {
                            warn(&format!("No session has the id {id} here: a new one is made with it."));
                        }
                        create(NewSession { id: Some(id.clone()), ..fresh() })?.with_claim(claim)
                    }
                }
            }
        },
        SessionChoice::Fork { source, id } => {
            let claim = id.as_ref().map(|id| Claim::take(&dir.path, id)).transpose().map_err(StartError::of)?.flatten();
            if let Some(id) = id
                && with_id(id, &dir)?.is_some()
            {
                let text = format!("A session with the id {id} exists already. Choose another one for the copy.");
                return Err(StartError::Failed(text));
            }
            let source = find(source, &dir)?;
            let new = NewSession { id: id.clone(), ..fresh() };
            SessionStore::fork_file(&source, &dir.path, new).map_err(StartError::of)?.with_claim(claim)
        }
    };
    check_writable(&store, args)?;
    let view = store.view();
    let path = store.path().unwrap_or_default();
    if !args.moved {
        sessions::resolve::check_folder(view.header(), &path).map_err(StartError::of)?;
    }
    let journal = Sidecar::of(&store).map_err(StartError::of)?;
    let chosen = ChosenSession::following(store, journal);
    let cwd = if args.moved { launch.clone() } else { chosen.cwd };
    Ok(ChosenSession { cwd, is_first: true, name: args.name.clone(), ..chosen })
}

/// Refuses a session that can only be read, unless that was asked for, or somebody is there who can look at it all the
/// same: a run that was given prompts cannot store them.
fn check_writable(store: &SessionStore, args: &HiArgs) -> Result<(), StartError> {
    match store.writable() {
        Ok(()) => Ok(()),
        Err(_) if args.read_only => Ok(()),
        Err(reason) if matches!(args.task, Task::Run(mode) if goes_on(mode)) => {
            warn(&reason.to_string());
            Ok(())
        }
        Err(reason) => Err(StartError::of(reason)),
    }
}

/// Whether somebody sees what happens and can act.
fn goes_on(mode: Mode) -> bool {
    matches!(mode, Mode::Interactive | Mode::Rpc)
}

/// What a run does while the disk refuses: a person, or the program of one, sees it and can act; a run with its prompts
/// given waits a while.
pub fn on_refusal(mode: Mode, settings: &Settings) -> OnRefusal {
    match goes_on(mode) {
        true => OnRefusal::GoOn,
        false => OnRefusal::Wait(settings.session_save_wait()),
    }
}

/// The exit code, after a last attempt to save what the disk refused.
pub fn saved_at_last(place: &SessionPlace, exit: Exit) -> Exit {
    place.store.save_again();
    match place.store.unsaved() {
        None => exit,
        Some(unsaved) => {
            let (entries, reason) = (unsaved.entries, unsaved.reason);
            fail(&format!("{entries} entries of the session could not be saved and are lost: {reason}"));
            if exit == Exit::Done { Exit::NotSaved } else { exit }
        }
    }
}

fn nothing_to_read(what: &str) -> StartError {
    StartError::Failed(format!("--read-only needs a session that exists, and {what}"))
}

fn with_id(id: &str, dir: &SessionDir) -> Result<Option<PathBuf>, StartError> {
    sessions::resolve::with_id(id, dir).map_err(StartError::of)
}

/// The session to go on with. One that was found by its id in another project is not taken without a word: it would
/// run there, and whoever mistyped an id would not notice.
fn of_this_project(target: &SessionTarget, dir: &SessionDir) -> Result<PathBuf, StartError> {
    let SessionTarget::Id(id) = target else { return find(target, dir) };
    match sessions::resolve::resolve(id, dir).map_err(StartError::of)? {
        Resolved::Elsewhere(path, cwd) => Err(StartError::Failed(format!(
            "Session {id} belongs to another project: {cwd}. Use --fork {id} to go on with a copy of it in this \
             folder, or --session {} to go on with it there.",
            path.display()
        ))),
        found => Ok(found.path().to_owned()),
    }
}

fn find(target: &SessionTarget, dir: &SessionDir) -> Result<PathBuf, StartError> {
    match target {
        SessionTarget::Path(path) => Ok(path.clone()),
        SessionTarget::Id(id) => Ok(sessions::resolve::resolve(id, dir).map_err(StartError::of)?.path().to_owned()),
    }
}

/// Opens the session in a file; without one, `new` says what is made.
fn open(path: &Path, read_only: bool, new: NewSession) -> Result<SessionStore, StartError> {
    let opened: Opened = match read_only {
        true => SessionStore::open_read_only(path),
        false => SessionStore::open(path, new),
    }
    .map_err(StartError::of)?;
    opened.damage_notice().iter().chain(&opened.lock_notice).for_each(|notice| warn(notice));
    Ok(opened.store)
}
