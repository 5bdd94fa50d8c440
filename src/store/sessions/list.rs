//! The sessions of a project or of all, page by page.

use std::{
    cmp::Ordering,
    collections::BinaryHeap,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::SystemTime,
};

use super::{
    dir::{Scope, SessionDir, read_header},
    files::{Found, FoundFile},
    index::Index,
    info::{SessionInfo, read_info},
};
use crate::store::StoreError;

/// Files that are read at least at once: threads need something to share.
const BATCH: usize = 16;
/// Threads that read at most. More do not help: they wait for the same disk.
const THREADS: usize = 8;

/// A list of sessions, those first in which something was said last.
///
/// Files are read when a page needs them: what is said in a session is said before its file is changed, so a file that
/// was not changed for long need not be read to know that it comes later. Blocks while it reads.
#[derive(Debug)]
pub struct Listing {
    dir: SessionDir,
    scope: Scope,
    found: Found,
    /// So many of the files were read.
    read: usize,
    /// Read, and not given out yet.
    ready: BinaryHeap<Ready>,
    index: Index,
}

impl Listing {
    /// Begins a list: looks for files and opens none. `index` is the file of the index; none to do without.
    #[must_use]
    pub fn open(dir: &SessionDir, scope: Scope, index: Option<&Path>) -> Self {
        Self::open_at(dir, scope, index, SystemTime::now())
    }

    /// The same at another time.
    #[must_use]
    pub fn open_at(dir: &SessionDir, scope: Scope, index: Option<&Path>, now: SystemTime) -> Self {
        Self {
            dir: dir.clone(),
            scope,
            found: dir.found(scope),
            read: 0,
            ready: BinaryHeap::new(),
            index: index.map(|path| Index::load(path, now)).unwrap_or_default(),
        }
    }

    /// The next sessions, up to `size` of them; none when there are no more. Files that cannot be read or are no
    /// sessions are left out.
    pub fn page(&mut self, size: usize) -> Vec<SessionInfo> {
        let mut page = Vec::new();
        while page.len() < size {
            let unread = self.found.files.get(self.read);
            let is_next = |ready: &Ready| unread.is_none_or(|file| ready.0.modified >= file.stamp.modified_ms());
            match self.ready.peek() {
                Some(ready) if is_next(ready) => page.extend(self.ready.pop().map(|ready| ready.0)),
                _ if unread.is_none() => break,
                _ => self.read_some(size - page.len()),
            }
        }
        page
    }

    /// All sessions that were not given out yet.
    pub fn rest(&mut self) -> Vec<SessionInfo> {
        self.page(usize::MAX)
    }

    /// The number of files that are called like sessions: there are no more sessions than this.
    #[must_use]
    pub fn files(&self) -> usize {
        self.found.files.len()
    }

    /// Folders that could not be read.
    #[must_use]
    pub fn problems(&self) -> &[StoreError] {
        &self.found.problems
    }

    /// Keeps what was read for the next list.
    ///
    /// # Errors
    /// When the index cannot be written. Nothing depends on it.
    pub fn save_index(&mut self) -> Result<(), StoreError> {
        self.index.save(&self.found.folders, &self.found.files)
    }

    fn read_some(&mut self, wanted: usize) {
        let end = self.found.files.len().min(self.read.saturating_add(wanted.max(BATCH)));
        let files = &self.found.files[self.read..end];
        let infos = in_parallel(files, |file| self.info_of(file));
        for (file, info) in files.iter().zip(infos) {
            let Some((info, is_new)) = info else { continue };
            if is_new {
                self.index.note(file, &info);
            }
            if self.scope == Scope::All || !self.dir.custom || Path::new(&info.cwd) == self.dir.cwd {
                self.ready.push(Ready(info));
            }
        }
        self.read = end;
    }

    /// What to show of a file, and whether it had to be read.
    fn info_of(&self, file: &FoundFile) -> Option<(SessionInfo, bool)> {
        if let Some(info) = self.index.get(file) {
            return Some((info, false));
        }
        // Among the sessions of many projects, the first line tells whether the rest is worth reading.
        if self.dir.custom && self.scope == Scope::Project && !self.dir.holds(&read_header(&file.path)?) {
            return None;
        }
        Some((read_info(file)?, true))
    }
}

/// `work` done for each of `items` on a few threads; results in the order of the items.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS).min(items.len());
    let next = AtomicUsize::new(0);
    let share = || {
        let mut done = Vec::new();
        while let Some((at, item)) = Some(next.fetch_add(1, Relaxed)).and_then(|at| Some((at, items.get(at)?))) {
            done.push((at, work(item)));
        }
        done
    };
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(share)).collect();
        let mut done = share();
        for other in others {
            match other.join() {
                Ok(theirs) => done.extend(theirs),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// A session in the heap: the one in which something was said last comes first.
#[derive(Debug)]
struct Ready(SessionInfo);

impl Ord for Ready {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.0.modified, &self.0.path).cmp(&(other.0.modified, &other.0.path))
    }
}

impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ready {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ready {}
