//! Which contents are known: what git has, what tools wrote, what was kept.

use std::{
    collections::HashMap,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::{
    git_index::{GitIndex, Repository},
    stamp::{Kind, Stamp},
};
use crate::{
    store::{
        checkpoints::{Content, FileFacts, FileState, ObjectId, ObjectStore, StoredPath, Unkept},
        regular_file,
    },
    tools::checkpoints::look::{KEPT_AT_MOST, look},
};

/// What is kept of files that no tool has read, before each command: so many files, so many bytes, none larger than
/// that. Git has most files of a repository; in other folders, small projects are covered.
const FILES: usize = 2_000;
const BYTES: u64 = 32 << 20;
const FILE: u64 = 1 << 20;

/// The contents that are known.
#[derive(Debug, Default)]
pub struct Contents {
    kept: HashMap<PathBuf, (Stamp, Kept)>,
    git: Git,
}

#[derive(Clone, Debug)]
enum Kept {
    Object(ObjectId),
    Link(PathBuf),
}

/// What is left of the limits of one look.
pub struct Budget {
    files: usize,
    bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { files: FILES, bytes: BYTES }
    }
}

impl Budget {
    fn pays(&mut self, len: u64) -> bool {
        let can = self.files > 0 && len <= FILE && len <= self.bytes;
        if can {
            self.files -= 1;
            self.bytes -= len;
        }
        can
    }
}

impl Contents {
    /// A tool wrote this content.
    pub fn insert(&mut self, path: PathBuf, stamp: Stamp, object: ObjectId) {
        self.kept.insert(path, (stamp, Kept::Object(object)));
    }

    /// Whether the index of git is another one since; then it is read again.
    pub fn read_git(&mut self, root: &Path) -> bool {
        self.git.read(root)
    }

    /// What a file with this stamp holds, or held.
    pub fn state(&mut self, path: &Path, stamp: &Stamp) -> FileState {
        match stamp.kind {
            Kind::Folder => FileState::Folder,
            Kind::Special => FileState::Special,
            Kind::Link => match self.kept.get(path) {
                Some((known, Kept::Link(target))) if known == stamp => {
                    FileState::Link { target: StoredPath(target.clone()) }
                }
                _ => FileState::Unknown,
            },
            Kind::File => {
                let content = match self.object(path, stamp) {
                    Some(object) => Content::Object(object),
                    None => self.git.blob(path, stamp).map_or(Content::Unkept(Unkept::NotSeen), Content::Git),
                };
                FileState::File(FileFacts {
                    content,
                    len: stamp.len,
                    mode: Some(stamp.mode),
                    modified: Some(stamp.modified),
                })
            }
        }
    }

    /// The object of a file with this stamp.
    pub fn object(&self, path: &Path, stamp: &Stamp) -> Option<ObjectId> {
        match self.kept.get(path) {
            Some((known, Kept::Object(object))) if known == stamp => Some(*object),
            _ => None,
        }
    }

    /// Keeps the content of a file, when it is not known and the budget allows it; one that a tool has seen costs
    /// nothing.
    pub fn keep(&mut self, path: &Path, stamp: &Stamp, store: &ObjectStore, budget: &mut Budget, seen: bool) {
        if self.kept.get(path).is_some_and(|(known, _)| known == stamp) {
            return;
        }
        let kept = match stamp.kind {
            Kind::Folder | Kind::Special => return,
            Kind::Link => match fs::read_link(path) {
                Ok(target) => Kept::Link(target),
                Err(_) => return,
            },
            Kind::File => {
                if self.git.blob(path, stamp).is_some() || !(seen || budget.pays(stamp.len)) {
                    return;
                }
                match look(path, Some(store), if seen { KEPT_AT_MOST } else { FILE }) {
                    FileState::File(FileFacts { content: Content::Object(object), .. }) => Kept::Object(object),
                    _ => return,
                }
            }
        };
        // A command may run by now: what was read is what was there before only when nothing changed since.
        if fs::symlink_metadata(path).is_ok_and(|metadata| Stamp::of(&metadata) == *stamp) {
            self.kept.insert(path.to_owned(), (*stamp, kept));
        } else {
            self.kept.remove(path);
        }
    }
}

/// The index of git as it was read last.
#[derive(Debug, Default)]
struct Git {
    repository: Option<Repository>,
    /// Inode, size and time of the index file.
    read: Option<(u64, u64, i64)>,
    bytes: Vec<u8>,
    parsed: Option<Option<GitIndex>>,
}

impl Git {
    fn read(&mut self, root: &Path) -> bool {
        if self.repository.is_none() {
            self.repository = Repository::of(root);
        }
        let Some(repository) = &self.repository else { return false };
        let stamp = fs::metadata(&repository.index)
            .ok()
            .map(|metadata| (metadata.ino(), metadata.len(), crate::tools::checkpoints::look::modified(&metadata)));
        if stamp == self.read {
            return false;
        }
        self.read = stamp;
        // Parsed when somebody asks; but read now, before a command can change it.
        self.bytes = regular_file::read(&repository.index).unwrap_or_default();
        self.parsed = None;
        true
    }

    fn blob(&mut self, path: &Path, stamp: &Stamp) -> Option<String> {
        let (repository, (_, _, written)) = (self.repository.as_ref()?, self.read?);
        let parse = || {
            let index = GitIndex::parse(repository, &self.bytes, written);
            self.bytes = Vec::new();
            index
        };
        self.parsed.get_or_insert_with(parse).as_ref()?.blob(path, stamp)
    }
}
