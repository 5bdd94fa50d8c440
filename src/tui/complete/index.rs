//! The files and folders of the project, kept to be searched.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use ignore::DirEntry;
use tokio_util::sync::CancellationToken;

use super::paths::is_writable;
use crate::tools::operations::local::walk::{self, Bound};

/// Files and folders that are kept.
pub const MAX_FILES: usize = 200_000;

/// Milliseconds after which the files are looked at again.
pub const REFRESH_AFTER_MS: u64 = 5_000;

/// The files and folders of a project: hidden ones too, but nothing that `.gitignore` and the like exclude, and no
/// `.git`.
#[derive(Clone, Debug, Default)]
pub struct FileIndex {
    /// By path.
    entries: Vec<Entry>,
    /// Whether there was more than fits.
    is_cut: bool,
}

/// A file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its path below the root, with slashes between its names.
    pub path: Box<str>,
    /// The same in lower case, where that is something else.
    lower: Option<Box<str>>,
    /// Whether it is a folder, or a link to one.
    pub is_folder: bool,
}

impl Entry {
    fn new(path: String, is_folder: bool) -> Self {
        let lower = path.chars().any(char::is_uppercase).then(|| path.to_lowercase().into());
        Self { path: path.into(), lower, is_folder }
    }

    /// Its path in lower case.
    pub fn lower(&self) -> &str {
        self.lower.as_deref().unwrap_or(&self.path)
    }
}

impl FileIndex {
    /// Walks through a folder; at most `limit` files and folders are kept. It takes time: this is work for a worker.
    ///
    /// Links to folders are followed last, so that a link to much leaves out nothing else, and links in them are not.
    #[must_use]
    pub fn build(root: &Path, limit: usize, cancel: &CancellationToken) -> Self {
        let found =
            Found { root, limit, entries: Mutex::default(), links: Mutex::default(), full: cancel.child_token() };
        found.walk(root);
        let mut links = std::mem::take(&mut *found.links.lock().unwrap_or_else(PoisonError::into_inner));
        links.sort();
        let real = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        for link in links {
            let leads_back = |to: PathBuf| real.starts_with(&to) || to.starts_with(&real);
            if !found.full.is_cancelled() && fs::canonicalize(&link).is_ok_and(|to| !leads_back(to)) {
                found.walk(&link);
            }
        }
        let is_cut = found.full.is_cancelled();
        let mut entries = found.entries.into_inner().unwrap_or_else(PoisonError::into_inner);
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Self { entries, is_cut }
    }

    /// How many files and folders.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether there was more than fits, or the walk was cancelled.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// All below a folder, whose path ends in a slash; all there is for an empty path.
    pub(super) fn below(&self, folder: &str) -> &[Entry] {
        let start = self.entries.partition_point(|entry| &*entry.path < folder);
        let count = self.entries[start..].partition_point(|entry| entry.path.starts_with(folder));
        &self.entries[start..start + count]
    }
}

/// What the threads of a walk found.
struct Found<'a> {
    root: &'a Path,
    limit: usize,
    entries: Mutex<Vec<Entry>>,
    /// Links to folders.
    links: Mutex<Vec<PathBuf>>,
    /// Cancelled when no more is to be found.
    full: CancellationToken,
}

impl Found<'_> {
    fn walk(&self, from: &Path) {
        let follows = from == self.root;
        let walk = walk::builder(from, walk::in_repository(self.root), &walk::everything())
            .add_custom_ignore_filename(".fdignore")
            .build_parallel();
        walk::visit(walk, &Bound::default(), &self.full, || |entry| self.add(entry, follows));
    }

    fn add(&self, entry: &DirEntry, follows: bool) {
        let path = entry.path();
        let Some(below) = path.strip_prefix(self.root).ok().and_then(Path::to_str).filter(|path| is_writable(path))
        else {
            return;
        };
        let is_link = entry.path_is_symlink() && fs::metadata(path).is_ok_and(|target| target.is_dir());
        if is_link && follows {
            self.links.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() < self.limit && path.file_name().is_some_and(|name| name != ".git") {
            entries.push(Entry::new(below.to_owned(), is_link || walk::is_folder(entry)));
        } else if entries.len() == self.limit {
            self.full.cancel();
        }
    }
}
