//! `troupe sessions rename` and `delete`.

use std::io::{self, BufRead as _, IsTerminal as _};

use super::{
    Place,
    words::{count, one_line, short_id},
};
use crate::{
    actors::front::say,
    cli::{
        env::Environment,
        exit::Exit,
        run::{fail, print, warn},
        start::StartError,
    },
    protocol::{EntryBody, time::now_ms},
    store::{
        NewSession, SessionStore,
        sessions::{
            SessionInfo,
            dir::SessionFileHead,
            files::{FoundFile, Stamp},
            info::read_info,
            remove::{Doomed, RemoveError},
        },
        trash::Trash,
        tree::labels::normal_name,
    },
};

/// Characters of a title.
const TITLE: usize = 60;

/// Gives a session a name.
pub fn rename(place: &Place<'_>, id: &str, name: &str) -> Result<Exit, StartError> {
    let head = place.session(id)?;
    let name = normal_name(name);
    if name.is_empty() {
        return Err(StartError::Failed("A name needs at least one character.".to_owned()));
    }
    let new = NewSession::in_folder(&place.environment.cwd);
    let opened = SessionStore::open(&head.path, new).map_err(StartError::of)?;
    let body = EntryBody::SessionInfo { name: Some(name.clone()) };
    let stored = opened.store.writable().and_then(|()| opened.store.append(None, vec![body.into()]));
    stored.map_err(StartError::of)?;
    Ok(print(&format!("{} is called \"{name}\" now.\n", short_id(&head.header.id))))
}

/// Puts sessions into the trash, or deletes them where there is none.
pub fn delete(place: &Place<'_>, ids: &[String], yes: bool) -> Result<Exit, StartError> {
    let asks = !yes && io::stdin().is_terminal();
    if !yes && !asks {
        let text = "delete asks before it acts, and there is no terminal to ask at. Add --yes.";
        return Err(StartError::Failed(text.to_owned()));
    }
    // All are found before the first is touched: a mistyped id deletes nothing.
    let mut sessions: Vec<SessionFileHead> = Vec::new();
    for id in ids {
        let session = place.session(id)?;
        if sessions.iter().all(|known| known.path != session.path) {
            sessions.push(session);
        }
    }
    if asks {
        let lines: String = sessions.iter().map(|session| format!("  {}\n", told(session))).collect();
        if !agrees(&format!("{lines}Put {} into the trash? [y/N] ", count(sessions.len(), "session"))) {
            return Ok(Exit::Done);
        }
    }
    let trash = trash_of(place.environment);
    let mut exit = Exit::Done;
    for session in &sessions {
        let title = told(session);
        let done = Doomed::of(&session.path).and_then(|doomed| match doomed.to_trash(&trash, now_ms()) {
            Ok(()) => Ok(Some("moved to the trash")),
            Err(RemoveError::NoTrash(error)) => {
                warn(&error.to_string());
                if asks && !agrees(&format!("Delete {title} for good? [y/N] ")) {
                    return Ok(None);
                }
                warn("it is deleted for good");
                doomed.for_good().map(|()| Some("deleted for good"))
            }
            Err(error) => Err(error),
        });
        match done {
            Ok(Some(what)) => exit = worse(exit, print(&format!("{what}: {title}\n"))),
            Ok(None) => {}
            Err(error) => exit = fail(&error.to_string()),
        }
    }
    Ok(exit)
}

fn worse(exit: Exit, next: Exit) -> Exit {
    if exit == Exit::Done { next } else { exit }
}

/// A session as it is named in questions and answers.
fn told(session: &SessionFileHead) -> String {
    let info: Option<SessionInfo> = session
        .path
        .metadata()
        .ok()
        .and_then(|metadata| read_info(&FoundFile { path: session.path.clone(), stamp: Stamp::of(&metadata) }));
    let title = info.map(|info| one_line(info.title(), TITLE)).unwrap_or_default();
    format!("{} {title}", short_id(&session.header.id))
}

/// Asks at the terminal; anything but a yes is a no.
fn agrees(question: &str) -> bool {
    say(question);
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Where deleted sessions go.
pub(in crate::cli) fn trash_of(environment: &Environment) -> Trash {
    let path = environment.variable("PATH").map(std::ffi::OsStr::new);
    let data_home = environment.variable("XDG_DATA_HOME").map(std::path::Path::new);
    Trash::of_user(environment.home.as_deref(), path, data_home)
}
