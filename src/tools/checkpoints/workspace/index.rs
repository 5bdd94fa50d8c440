//! The stamps of all files of a workspace that `.gitignore` and the like do not name, and what changed in them.
//!
//! The first look walks the tree. Later ones go through the folders that are known: one whose own time is unchanged
//! holds the same names, so its files only need their stamps taken; another one is listed again.

use std::{
    collections::{HashMap, HashSet},
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use ignore::{WalkBuilder, WalkState};
use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, fstat, openat, statat},
    io::Errno,
};

use super::stamp::{Kind, Stamp, now};

/// More files than this are not looked at: 100,000.
pub const FILES_AT_MOST: usize = 100_000;
/// Threads that look at once. More do not help: the kernel's locks and the disk are shared.
const THREADS: usize = 4;
/// A thread is not worth its start for fewer files.
const FILES_FOR_A_THREAD: usize = 2_000;
/// When more folders than this are to be listed again, a walk is cheaper.
const LISTED_AT_MOST: usize = 200;

/// Why a workspace is not looked at.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// It is too large.
    #[error("it has more than {FILES_AT_MOST} files")]
    TooLarge,
    /// Nobody wants it any more.
    #[error("it was cancelled")]
    Cancelled,
    /// Its folder cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// A file or folder that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where.
    pub path: PathBuf,
    /// As it was; none when it was not there.
    pub before: Option<Stamp>,
    /// As it is; none when it is gone.
    pub after: Option<Stamp>,
}

/// The stamps of a workspace.
#[derive(Debug, Default)]
pub struct Index {
    folders: HashMap<PathBuf, Folder>,
    files: usize,
    /// When the last look began.
    looked: i64,
}

#[derive(Debug, Default)]
struct Folder {
    modified: i64,
    items: Vec<(OsString, Stamp)>,
}

/// What a look at one folder found.
enum Found {
    /// Its names are the same; these files changed.
    Same(Vec<Change>),
    /// It has to be listed again.
    List,
    /// It is gone.
    Gone,
}

impl Index {
    /// Walks the tree below `root`.
    pub fn first(root: &Path, cancel: &AtomicBool) -> Result<Self, IndexError> {
        let looked = now();
        let mut index = Self { looked, ..Self::default() };
        index.walk(root, cancel)?;
        Ok(index)
    }

    /// The number of files.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.files
    }

    /// When the last look began.
    pub fn looked(&self) -> i64 {
        self.looked
    }

    /// All files with their stamps.
    pub fn files(&self) -> impl Iterator<Item = (PathBuf, &Stamp)> {
        self.folders
            .iter()
            .flat_map(|(path, folder)| folder.items.iter().map(move |(name, stamp)| (path.join(name), stamp)))
    }

    /// The stamp of a file.
    pub fn get(&self, path: &Path) -> Option<Stamp> {
        let items = &self.folders.get(path.parent()?)?.items;
        let name = path.file_name()?;
        items.iter().find(|(other, _)| other == name).map(|(_, stamp)| *stamp)
    }

    /// Whether a folder is known.
    pub fn has_folder(&self, path: &Path) -> bool {
        self.folders.contains_key(path)
    }

    /// Looks again. Gives what changed, and the files whose stamps are the same and need not be: they were written
    /// right before the look that came before.
    pub fn refresh(&mut self, root: &Path, cancel: &AtomicBool) -> Result<(Vec<Change>, Vec<PathBuf>), IndexError> {
        let before = std::mem::replace(&mut self.looked, now());
        let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS);
        let threads = threads.min(self.files / FILES_FOR_A_THREAD + 1);
        let mut folders: Vec<(&PathBuf, &mut Folder)> = self.folders.iter_mut().collect();
        let share = folders.len().div_ceil(threads).max(1);
        let found: Vec<(PathBuf, Found, Vec<PathBuf>)> = thread::scope(|scope| {
            let mut parts = folders.chunks_mut(share);
            let own = parts.next();
            let others: Vec<_> = parts.map(|part| scope.spawn(move || look(part, before))).collect();
            let mut found = own.map(|part| look(part, before)).unwrap_or_default();
            found.extend(others.into_iter().flat_map(|other| other.join().unwrap_or_default()));
            found
        });
        let (mut changes, mut fresh, mut again) = (Vec::new(), Vec::new(), Vec::new());
        // Behind a link that took a folder's place, folders of the same names may be found: those below it are gone.
        let gone: HashSet<&Path> = found
            .iter()
            .filter(|(_, found, _)| matches!(found, Found::Gone))
            .map(|(path, ..)| path.as_path())
            .collect();
        let is_below_gone =
            |path: &Path| !gone.is_empty() && path.ancestors().skip(1).any(|above| gone.contains(above));
        let below_gone: Vec<PathBuf> = self.folders.keys().filter(|path| is_below_gone(path)).cloned().collect();
        below_gone.iter().for_each(|path| self.forget(path, &mut changes));
        for (path, found, same) in found {
            if !self.folders.contains_key(&path) {
                continue;
            }
            fresh.extend(same);
            match found {
                Found::Same(changed) => changes.extend(changed),
                Found::List => again.push(path),
                Found::Gone => self.forget(&path, &mut changes),
            }
        }
        let rules_changed = changes.iter().any(|change| is_rule(&change.path));
        if rules_changed || again.len() > LISTED_AT_MOST {
            self.walk_again(root, before, &mut changes, cancel)?;
            return Ok((changes, fresh));
        }
        let mut listed_rules = false;
        for path in again {
            let at = changes.len();
            self.list(&path, &mut changes, cancel)?;
            listed_rules |= changes[at..].iter().any(|change| is_rule(&change.path));
        }
        if listed_rules {
            self.walk_again(root, before, &mut changes, cancel)?;
        }
        Ok((changes, fresh))
    }

    /// Walks the tree below `root` and adds what it finds.
    fn walk(&mut self, root: &Path, cancel: &AtomicBool) -> Result<(), IndexError> {
        let found: Mutex<Vec<(PathBuf, Stamp, i64)>> = Mutex::default();
        let count = AtomicUsize::new(self.files);
        let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS);
        builder(root).threads(threads).build_parallel().run(|| {
            let mut own = Own { all: &found, found: Vec::new() };
            let count = &count;
            Box::new(move |entry| {
                if cancel.load(Ordering::Relaxed) || count.load(Ordering::Relaxed) > FILES_AT_MOST {
                    return WalkState::Quit;
                }
                // What cannot be looked at is not there for us.
                let Ok(entry) = entry else { return WalkState::Continue };
                let Ok(metadata) = entry.metadata() else { return WalkState::Continue };
                let stamp = Stamp::of(&metadata);
                if stamp.kind != Kind::Folder {
                    count.fetch_add(1, Ordering::Relaxed);
                }
                own.found.push((entry.into_path(), stamp, crate::tools::checkpoints::look::modified(&metadata)));
                WalkState::Continue
            })
        });
        if cancel.load(Ordering::Relaxed) {
            return Err(IndexError::Cancelled);
        }
        for (path, stamp, modified) in found.into_inner().unwrap_or_else(PoisonError::into_inner) {
            if stamp.kind == Kind::Folder {
                self.folders.entry(path).or_default().modified = modified;
            } else if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
                self.files += 1;
                if let Some(folder) = self.folders.get_mut(folder) {
                    folder.items.push((name.to_owned(), stamp));
                } else {
                    let items = vec![(name.to_owned(), stamp)];
                    self.folders.insert(folder.to_owned(), Folder { modified: 0, items });
                }
            }
        }
        if self.files > FILES_AT_MOST { Err(IndexError::TooLarge) } else { Ok(()) }
    }

    /// Walks the tree anew and adds to `changes` what differs since the look at `before`. What `.gitignore` names since,
    /// or does not name any more, did not change by that.
    fn walk_again(
        &mut self,
        root: &Path,
        before: i64,
        changes: &mut Vec<Change>,
        cancel: &AtomicBool,
    ) -> Result<(), IndexError> {
        let known: HashSet<PathBuf> = changes.iter().map(|change| change.path.clone()).collect();
        let mut fresh = Self { looked: self.looked, ..Self::default() };
        fresh.walk(root, cancel)?;
        let old = std::mem::replace(self, fresh);
        for (path, folder) in &old.folders {
            let now = self.folders.get(path);
            if now.is_none() && !known.contains(path) && !is_still(path, Kind::Folder) {
                changes.push(Change { path: path.clone(), before: Some(Stamp::FOLDER), after: None });
            }
            let stamps = now.map(Folder::stamps).unwrap_or_default();
            for (name, before) in &folder.items {
                let (path, after) = (path.join(name), stamps.get(name.as_os_str()).copied());
                if after != Some(*before)
                    && !known.contains(&path)
                    && (after.is_some() || !is_still(&path, before.kind))
                {
                    changes.push(Change { path, before: Some(*before), after });
                }
            }
        }
        // What is there and was not, with the time when it appeared at the earliest.
        let mut created = Vec::new();
        for (path, folder) in &self.folders {
            let then = old.folders.get(path);
            if then.is_none() {
                created.push((path.clone(), Stamp::FOLDER, folder.modified));
            }
            let stamps = then.map(Folder::stamps).unwrap_or_default();
            let is_new = |(name, _): &&(OsString, Stamp)| !stamps.contains_key(name.as_os_str());
            created.extend(
                folder.items.iter().filter(is_new).map(|(name, stamp)| (path.join(name), *stamp, stamp.changed)),
            );
        }
        created.retain(|(path, ..)| !known.contains(path));
        let rules_changed = changes.iter().map(|change| &change.path).chain(created.iter().map(|(path, ..)| path));
        if rules_changed.into_iter().any(|path| is_rule(path)) {
            created.retain(|(.., changed)| changed.saturating_add(super::stamp::TICK) >= before);
        }
        changes.extend(created.into_iter().map(|(path, stamp, _)| Change { path, before: None, after: Some(stamp) }));
        Ok(())
    }

    /// Lists a folder again.
    fn list(&mut self, path: &Path, changes: &mut Vec<Change>, cancel: &AtomicBool) -> Result<(), IndexError> {
        let modified = fs::symlink_metadata(path).map(|metadata| crate::tools::checkpoints::look::modified(&metadata));
        let Ok(modified) = modified else {
            self.forget(path, changes);
            return Ok(());
        };
        let Some(old) = self.folders.remove(path) else { return Ok(()) };
        let mut missing: HashMap<OsString, Stamp> = old.items.into_iter().collect();
        let mut items = Vec::with_capacity(missing.len());
        let mut folders = Vec::new();
        for entry in builder(path).max_depth(Some(1)).build().flatten().filter(|entry| entry.depth() == 1) {
            let Ok(metadata) = entry.metadata() else { continue };
            let stamp = Stamp::of(&metadata);
            if stamp.kind == Kind::Folder {
                folders.push(entry.into_path());
                continue;
            }
            let name = entry.file_name().to_owned();
            let before = missing.remove(&name);
            if before != Some(stamp) {
                changes.push(Change { path: entry.into_path(), before, after: Some(stamp) });
            }
            items.push((name, stamp));
        }
        for (name, stamp) in missing {
            let path = path.join(&name);
            // One that `.gitignore` names by now would be no change; then the rules changed, and all is walked again.
            if is_still(&path, stamp.kind) {
                items.push((name, stamp));
            } else {
                changes.push(Change { path, before: Some(stamp), after: None });
            }
        }
        self.folders.insert(path.to_owned(), Folder { modified, items });
        self.files = self.folders.values().map(|folder| folder.items.len()).sum();
        for folder in folders {
            if !self.folders.contains_key(&folder) {
                let mut below = Self::default();
                below.walk(&folder, cancel)?;
                changes.extend(below.folders.keys().map(|path| Change {
                    path: path.clone(),
                    before: None,
                    after: Some(Stamp::FOLDER),
                }));
                let found = below.files().map(|(path, stamp)| Change { path, before: None, after: Some(*stamp) });
                changes.extend(found);
                self.files += below.files;
                self.folders.extend(below.folders);
            }
        }
        if self.files > FILES_AT_MOST { Err(IndexError::TooLarge) } else { Ok(()) }
    }

    /// A folder is gone with its files; folders below it find that out by themselves.
    fn forget(&mut self, path: &Path, changes: &mut Vec<Change>) {
        let Some(folder) = self.folders.remove(path) else { return };
        self.files = self.files.saturating_sub(folder.items.len());
        changes.push(Change { path: path.to_owned(), before: Some(Stamp::FOLDER), after: None });
        let gone = |(name, stamp)| Change { path: path.join::<OsString>(name), before: Some(stamp), after: None };
        changes.extend(folder.items.into_iter().map(gone));
    }
}

fn look(part: &mut [(&PathBuf, &mut Folder)], before: i64) -> Vec<(PathBuf, Found, Vec<PathBuf>)> {
    part.iter_mut().filter_map(|(path, folder)| folder.look(path, before)).collect()
}

/// What one thread of a walk has found; it goes to the others' when the thread ends.
struct Own<'a> {
    all: &'a Mutex<Vec<(PathBuf, Stamp, i64)>>,
    found: Vec<(PathBuf, Stamp, i64)>,
}

impl Drop for Own<'_> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.found);
    }
}

impl Folder {
    fn stamps(&self) -> HashMap<&OsStr, Stamp> {
        self.items.iter().map(|(name, stamp)| (name.as_os_str(), *stamp)).collect()
    }

    /// Takes the stamps anew. None when nothing is to be told.
    fn look(&mut self, path: &Path, looked: i64) -> Option<(PathBuf, Found, Vec<PathBuf>)> {
        let tell = |found, fresh| Some((path.to_owned(), found, fresh));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = match openat(CWD, path, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return tell(Found::Gone, Vec::new()),
            Err(_) => return None,
        };
        #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
        let modified = fstat(&folder).map(|stat| (stat.st_mtime as i64) * 1_000_000_000 + stat.st_mtime_nsec as i64);
        if modified != Ok(self.modified) || self.modified.saturating_add(super::stamp::TICK) >= looked {
            return tell(Found::List, self.fresh(path, looked));
        }
        let (mut changes, mut fresh) = (Vec::new(), Vec::new());
        for (name, stamp) in &mut self.items {
            let Ok(stat) = statat(&folder, name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW) else {
                return tell(Found::List, Vec::new());
            };
            let now = Stamp::of_stat(&stat);
            if now != *stamp {
                changes.push(Change { path: path.join(&name), before: Some(*stamp), after: Some(now) });
                *stamp = now;
            } else if stamp.is_fresh(looked) {
                fresh.push(path.join(&name));
            }
        }
        if changes.is_empty() && fresh.is_empty() { None } else { tell(Found::Same(changes), fresh) }
    }

    fn fresh(&self, path: &Path, looked: i64) -> Vec<PathBuf> {
        self.items.iter().filter(|(_, stamp)| stamp.is_fresh(looked)).map(|(name, _)| path.join(name)).collect()
    }
}

/// A walk over what git would look at, in a repository or not. Links are not followed.
fn builder(root: &Path) -> WalkBuilder {
    let mut walk = WalkBuilder::new(root);
    walk.hidden(false)
        .follow_links(false)
        .require_git(false)
        .current_dir(root)
        .filter_entry(|entry| entry.file_name() != ".git");
    walk
}

fn is_rule(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".gitignore" || name == ".ignore")
}

/// Whether something of this kind is at this place itself, not behind a link.
fn is_still(path: &Path, kind: Kind) -> bool {
    let is_own = |parent: &Path| parent.canonicalize().is_ok_and(|real| real == parent);
    path.symlink_metadata().is_ok_and(|metadata| Stamp::of(&metadata).kind == kind) && path.parent().is_none_or(is_own)
}

#[cfg(test)]
mod tests;
