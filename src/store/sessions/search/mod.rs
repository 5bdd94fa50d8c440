//! Words in all that was said in sessions.
//!
//! Files are read by a few threads, in pieces of bounded size, and what is found comes in the order of the sessions,
//! those first that were changed last. Texts are searched as people read them: not pictures, not names of fields, not
//! what a model thought or called.
//!
//! | module | what |
//! |---|---|
//! | [`walk`] | the texts of a line |
//! | [`snippet`] | the query in a text, and the piece to show |
//! | [`mod@file`] | one file |

pub mod file;
pub mod snippet;
pub mod walk;

#[cfg(test)]
mod tests;

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
};

pub use snippet::Snippet;

use super::{
    dir::{Scope, SessionDir, read_header},
    files::FoundFile,
    query::Query,
};
use crate::{
    protocol::entry::SessionHeader,
    store::{StoreError, regular_file},
};

/// Threads that read at most.
const THREADS: usize = 4;
/// Sessions that are searched ahead of the one whose hits are taken, at most.
const AHEAD: usize = 32;
/// Hits of one of them that wait to be taken, at most.
const WAITING: usize = 16;

/// An entry in which all words occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The entry's id.
    pub entry: String,
    /// Who said it: the message's role, or `compactionSummary`, `branchSummary`, `custom`.
    pub role: String,
    /// A piece of the text around the first word that was found.
    pub snippet: Snippet,
}

/// An entry in which all words occur, with its session.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The session's file.
    pub file: Arc<FoundFile>,
    /// Its header.
    pub header: Arc<SessionHeader>,
    /// The entry.
    pub found: Found,
}

/// How to search.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// In whose sessions.
    pub scope: Scope,
    /// Entries of one session at most; none for all.
    pub per_session: Option<usize>,
}

/// Stops a search from elsewhere.
#[derive(Clone, Debug, Default)]
pub struct CancelSearch(Arc<AtomicBool>);

impl CancelSearch {
    /// The search ends soon; what it found already still comes.
    pub fn cancel(&self) {
        self.0.store(true, Relaxed);
    }
}

/// A search that runs: an iterator that waits for what is found next. Dropping it ends the search.
#[derive(Debug)]
pub struct Search {
    /// Where the hits of each session come from, in the order of the sessions.
    sessions: Receiver<Receiver<Hit>>,
    /// The session whose turn it is.
    current: Option<Receiver<Hit>>,
    problems: Vec<StoreError>,
    cancelled: CancelSearch,
}

/// What the threads share.
struct Shared {
    dir: SessionDir,
    query: Query,
    options: SearchOptions,
    jobs: Mutex<Jobs>,
    cancelled: CancelSearch,
}

struct Jobs {
    files: std::vec::IntoIter<FoundFile>,
    sessions: SyncSender<Receiver<Hit>>,
}

impl Search {
    /// Begins to search the sessions of `dir`.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(dir: &SessionDir, query: Query, options: SearchOptions) -> std::io::Result<Self> {
        let found = dir.found(options.scope);
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS).min(found.files.len());
        let (sender, sessions) = sync_channel(AHEAD);
        let cancelled = CancelSearch::default();
        let jobs = Mutex::new(Jobs { files: found.files.into_iter(), sessions: sender });
        let shared = Arc::new(Shared { dir: dir.clone(), query, options, jobs, cancelled: cancelled.clone() });
        for _ in 0..threads {
            let shared = shared.clone();
            std::thread::Builder::new().name("search".into()).spawn(move || shared.work())?;
        }
        Ok(Self { sessions, current: None, problems: found.problems, cancelled })
    }

    /// What stops it from elsewhere.
    #[must_use]
    pub fn cancel_handle(&self) -> CancelSearch {
        self.cancelled.clone()
    }

    /// Folders that could not be read.
    #[must_use]
    pub fn problems(&self) -> &[StoreError] {
        &self.problems
    }
}

impl Iterator for Search {
    type Item = Hit;

    fn next(&mut self) -> Option<Hit> {
        loop {
            if let Some(hit) = self.current.as_ref().and_then(|hits| hits.recv().ok()) {
                return Some(hit);
            }
            self.current = Some(self.sessions.recv().ok()?);
        }
    }
}

impl Drop for Search {
    fn drop(&mut self) {
        self.cancelled.cancel();
    }
}

impl Shared {
    fn work(&self) {
        // A session whose hits are not taken yet holds its thread up; the one whose turn it is never waits for another.
        while let Some((file, hits)) = self.next_job() {
            // A file that cannot be read, or no longer, is no session: like in lists.
            let _ = self.search(file, &hits);
        }
    }

    /// The next file. Under the lock, so that sessions are handed over in their order.
    fn next_job(&self) -> Option<(FoundFile, SyncSender<Hit>)> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if self.cancelled.0.load(Relaxed) {
            return None;
        }
        let file = jobs.files.next()?;
        let (sender, hits) = sync_channel(WAITING);
        jobs.sessions.send(hits).ok()?;
        Some((file, sender))
    }

    fn search(&self, file: FoundFile, hits: &SyncSender<Hit>) -> std::io::Result<()> {
        let Some(header) = read_header(&file.path).filter(|header| self.dir.holds_in(self.options.scope, header))
        else {
            return Ok(());
        };
        let source = regular_file::open_to_read(&file.path)?;
        let (file, header) = (Arc::new(file), Arc::new(header));
        let mut left = self.options.per_session.unwrap_or(usize::MAX);
        file::search(source, &self.query, &self.cancelled.0, |found| {
            left = left.saturating_sub(1);
            let sent = hits.send(Hit { file: file.clone(), header: header.clone(), found });
            if sent.is_err() || left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    }
}
