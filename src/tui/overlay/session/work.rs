//! What workers do for the list of sessions.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    protocol::{
        EntryBody,
        time::{Millis, now_ms},
    },
    store::{
        NewSession, SessionStore,
        sessions::{
            Listing, Scope, SessionInfo, index,
            query::Query,
            remove::Doomed,
            search::{CancelSearch, Search, SearchOptions},
        },
        trash::Trash,
        tree::labels::normal_name,
    },
    tui::{surroundings::Surroundings, work::WorkDone, working::WorkContext},
};

/// Sessions that are told at first: what a screen shows.
const FIRST_PAGE: usize = 50;
/// Sessions that are told at once after that.
const PAGE: usize = 500;
/// Hits that are told at once.
const HITS: usize = 20;
/// Hits that are looked for at most.
const MOST_HITS: usize = 500;

/// Ends what workers look for, when nobody wants it any more.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Stopping>);

#[derive(Debug, Default)]
struct Stopping {
    stopped: AtomicBool,
    search: Mutex<Option<CancelSearch>>,
}

impl PartialEq for Stop {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Stop {
    /// Nobody wants it any more.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
        if let Some(search) = self.0.search.lock().unwrap_or_else(PoisonError::into_inner).take() {
            search.cancel();
        }
    }

    fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }

    /// A search is to end with it.
    fn ends(&self, search: CancelSearch) {
        self.0.search.lock().unwrap_or_else(PoisonError::into_inner).replace(search);
        if self.is_stopped() {
            self.stop();
        }
    }
}

/// Something about sessions for a worker. `number` tells results of one list or search from those of another.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionsWork {
    /// Lists sessions, page by page.
    List {
        /// Which list.
        number: u64,
        /// Whose sessions.
        scope: Scope,
        /// Ends it.
        stop: Stop,
    },
    /// Looks for words in all that was said.
    Search {
        /// Which search.
        number: u64,
        /// In whose sessions.
        scope: Scope,
        /// What is looked for.
        query: String,
        /// Ends it.
        stop: Stop,
    },
    /// Gives a session that nobody has open a name.
    Rename {
        /// Its file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// Puts a session into the trash.
    Delete(PathBuf),
    /// Copies a session into the folder that the program works in.
    Copy(PathBuf),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionsDone {
    /// Sessions of a list.
    Page {
        /// Which list.
        number: u64,
        /// The sessions, those in which something was said last first.
        sessions: Vec<SessionInfo>,
        /// Folders of them that are gone.
        gone: Vec<String>,
        /// There are more to come.
        more: bool,
        /// The time now.
        now: Millis,
        /// Folders that could not be read.
        problems: Vec<String>,
    },
    /// Sessions in which words were said.
    Hits {
        /// Which search.
        number: u64,
        /// The hits.
        hits: Vec<SaidIn>,
        /// There are more to come.
        more: bool,
    },
    /// A session has this name now.
    Renamed(PathBuf, Result<String, String>),
    /// A session is in the trash.
    Deleted(PathBuf, Result<(), String>),
    /// A session was copied to this file.
    Copied(Result<PathBuf, String>),
}

/// A session in which the words were said.
#[derive(Clone, Debug, PartialEq)]
pub struct SaidIn {
    /// Its file.
    pub path: PathBuf,
    /// Its folder.
    pub cwd: String,
    /// The folder is gone.
    pub gone: bool,
    /// A piece of the text.
    pub snippet: String,
}

impl SessionsWork {
    /// Does it. Blocks.
    pub fn run(self, context: &WorkContext) {
        let surroundings = &context.surroundings;
        let send = |done| context.send(WorkDone::Sessions(done));
        match self {
            Self::List { number, scope, stop } => list(surroundings, number, scope, &stop, send),
            Self::Search { number, scope, query, stop } => search(surroundings, number, scope, &query, &stop, send),
            Self::Rename { path, name } => {
                let renamed = rename(&path, &name, &surroundings.sessions.cwd);
                send(SessionsDone::Renamed(path, renamed));
            }
            Self::Delete(path) => {
                let deleted = delete(&path, &surroundings.trash);
                send(SessionsDone::Deleted(path, deleted));
            }
            Self::Copy(path) => {
                let new = NewSession::in_folder(&context.shared.config.cwd);
                let copied = SessionStore::fork_file(&path, &surroundings.sessions.path, new);
                let copied = copied.map_err(|error| error.to_string());
                let path = copied.and_then(|store| {
                    let path = store.path().ok_or("The copy has no file.".to_owned());
                    store.close().map_err(|unsaved| unsaved.reason)?;
                    path
                });
                send(SessionsDone::Copied(path));
            }
        }
    }
}

/// Which folders are gone, each looked at once.
#[derive(Default)]
struct Folders(HashMap<String, bool>);

impl Folders {
    fn is_gone(&mut self, cwd: &str) -> bool {
        *self.0.entry(cwd.to_owned()).or_insert_with(|| !Path::new(cwd).is_dir())
    }
}

fn list(surroundings: &Surroundings, number: u64, scope: Scope, stop: &Stop, send: impl Fn(SessionsDone)) {
    let index = index::path_in(&surroundings.user_dir);
    let mut listing = Listing::open(&surroundings.sessions, scope, Some(&index));
    let mut folders = Folders::default();
    let mut size = FIRST_PAGE;
    while !stop.is_stopped() {
        let sessions = listing.page(size);
        let more = sessions.len() == size;
        let mut gone: Vec<String> = sessions.iter().map(|session| session.cwd.clone()).collect();
        gone.sort();
        gone.dedup();
        gone.retain(|cwd| folders.is_gone(cwd));
        let problems = listing.problems().iter().map(ToString::to_string).collect();
        send(SessionsDone::Page { number, sessions, gone, more, now: now_ms(), problems });
        if !more {
            break;
        }
        size = PAGE;
    }
    if let Err(error) = listing.save_index() {
        tracing::debug!(%error, "the index of sessions was not saved");
    }
}

fn search(
    surroundings: &Surroundings,
    number: u64,
    scope: Scope,
    query: &str,
    stop: &Stop,
    send: impl Fn(SessionsDone),
) {
    let options = SearchOptions { scope, per_session: Some(1) };
    let search = Query::parse(query).ok().and_then(|query| {
        Search::start(&surroundings.sessions, query, options).inspect_err(|error| tracing::warn!(%error)).ok()
    });
    let Some(search) = search else { return send(SessionsDone::Hits { number, hits: Vec::new(), more: false }) };
    stop.ends(search.cancel_handle());
    let mut folders = Folders::default();
    let mut hits = Vec::new();
    for hit in search.take(MOST_HITS) {
        if stop.is_stopped() {
            return;
        }
        hits.push(SaidIn {
            path: hit.file.path.clone(),
            cwd: hit.header.cwd.clone(),
            gone: folders.is_gone(&hit.header.cwd),
            snippet: hit.found.snippet.text,
        });
        if hits.len() == HITS {
            send(SessionsDone::Hits { number, hits: std::mem::take(&mut hits), more: true });
        }
    }
    send(SessionsDone::Hits { number, hits, more: false });
}

fn rename(path: &Path, name: &str, cwd: &Path) -> Result<String, String> {
    let name = normal_name(name);
    let told = |error: crate::store::StoreError| error.to_string();
    let store = SessionStore::open(path, NewSession::in_folder(cwd)).map_err(told)?.store;
    store.writable().map_err(told)?;
    let body = EntryBody::SessionInfo { name: Some(name.clone()) };
    store.append(None, vec![body.into()]).map_err(told)?;
    store.close().map_err(|unsaved| unsaved.reason)?;
    Ok(name)
}

fn delete(path: &Path, trash: &Trash) -> Result<(), String> {
    let doomed = Doomed::of(path).map_err(|error| error.to_string())?;
    doomed.to_trash(trash, now_ms()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::{
        store::{
            sessions::SessionDir,
            testing::{header_of, user},
            trash::TrashKind,
        },
        tui::overlay::testing::World,
    };

    /// A user's folder with sessions of a folder that exists, and what is around them.
    fn place(count: usize) -> (tempfile::TempDir, Surroundings) {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().join("shop");
        let sessions = SessionDir::of_project(dir.path(), &cwd);
        std::fs::create_dir_all(&sessions.path).unwrap();
        std::fs::create_dir_all(&cwd).unwrap();
        for n in 0..count {
            let id = format!("0000000{n}-2222-7333-8444-555555555555");
            let lines = [header_of(&id, &cwd.to_string_lossy()), user("a", "", &format!("topic {n} apple"))];
            std::fs::write(sessions.path.join(format!("s{n}.jsonl")), lines.join("\n") + "\n").unwrap();
        }
        let trash = Trash { command: None, folder: Some(dir.path().join("trash")), kind: TrashKind::Plain };
        let surroundings =
            Surroundings { sessions, user_dir: dir.path().to_owned(), trash, ..World::default().surroundings };
        (dir, surroundings)
    }

    #[test]
    fn sessions_are_listed_and_found_by_what_was_said() {
        let (dir, surroundings) = place(3);
        let (sender, done) = channel();
        list(&surroundings, 7, Scope::Project, &Stop::default(), |page| sender.send(page).unwrap());
        let SessionsDone::Page { number: 7, sessions, gone, more: false, .. } = done.recv().unwrap() else { panic!() };
        assert_eq!((sessions.len(), gone.len()), (3, 0));
        search(&surroundings, 8, Scope::Project, "topic 1", &Stop::default(), |hits| sender.send(hits).unwrap());
        let SessionsDone::Hits { number: 8, hits, more: false } = done.recv().unwrap() else { panic!() };
        assert_eq!(hits.len(), 1);
        assert!(hits[0].snippet.contains("topic 1 apple") && !hits[0].gone, "{hits:?}");
        std::fs::remove_dir(dir.path().join("shop")).unwrap();
        list(&surroundings, 9, Scope::Project, &Stop::default(), |page| sender.send(page).unwrap());
        assert!(matches!(done.recv().unwrap(), SessionsDone::Page { gone, .. } if gone.len() == 1));
    }

    #[test]
    fn what_nobody_wants_any_more_is_not_told() {
        let (_dir, surroundings) = place(3);
        let stop = Stop::default();
        stop.stop();
        list(&surroundings, 1, Scope::Project, &stop, |page| panic!("{page:?}"));
        search(&surroundings, 1, Scope::Project, "topic", &stop, |hits| {
            assert!(matches!(hits, SessionsDone::Hits { hits, .. } if hits.is_empty()));
        });
    }

    #[test]
    fn a_session_is_renamed_and_goes_into_the_trash() {
        let (dir, surroundings) = place(1);
        let path = surroundings.sessions.path.join("s0.jsonl");
        assert_eq!(rename(&path, " Blue\nWhale ", &surroundings.sessions.cwd).as_deref(), Ok("Blue Whale"));
        let mut listing = Listing::open(&surroundings.sessions, Scope::Project, None);
        assert_eq!(listing.rest()[0].name.as_deref(), Some("Blue Whale"));
        assert_eq!(delete(&path, &surroundings.trash), Ok(()));
        assert!(!path.exists() && dir.path().join("trash/s0.jsonl").exists());
        assert!(delete(&path, &surroundings.trash).is_err());
    }
}
