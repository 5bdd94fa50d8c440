//! The files in folders of sessions, found without opening one.

use std::{
    collections::HashSet,
    fs::Metadata,
    io::ErrorKind,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{protocol::time::Millis, store::StoreError};

/// What the system says of a file without opening it. As long as two stamps are equal, so are the contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Its length in bytes.
    pub size: u64,
    /// When its contents were last changed, in nanoseconds since the Unix epoch.
    pub modified: i64,
    /// When contents, owner, mode or names were last changed: nobody can set that time back.
    pub changed: i64,
    /// Its number in its file system.
    pub inode: u64,
    /// The file system.
    pub device: u64,
}

impl Stamp {
    /// The stamp that `metadata` holds.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        let nanoseconds =
            |seconds: i64, rest: i64| i64::try_from(i128::from(seconds) * 1_000_000_000 + i128::from(rest));
        Self {
            size: metadata.len(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()).unwrap_or(i64::MAX),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()).unwrap_or(i64::MAX),
            inode: metadata.ino(),
            device: metadata.dev(),
        }
    }

    /// When the contents were last changed.
    #[must_use]
    pub fn modified_ms(&self) -> Millis {
        self.modified.div_euclid(1_000_000)
    }
}

/// A file that is called like a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// Where it lies.
    pub path: PathBuf,
    /// What is known of it.
    pub stamp: Stamp,
}

/// What lies in folders of sessions.
#[derive(Debug, Default)]
pub struct Found {
    /// The files, those first that were changed last.
    pub files: Vec<FoundFile>,
    /// The folders that were read.
    pub folders: Vec<PathBuf>,
    /// Folders that could not be read. One that is not there is none.
    pub problems: Vec<StoreError>,
}

impl Found {
    /// The files in `dir`.
    #[must_use]
    pub fn in_folder(dir: &Path) -> Self {
        let mut found = Self::default();
        found.add(dir);
        found.sorted()
    }

    /// The files in all folders beside `dir`, and in itself. A file that has several names counts once.
    #[must_use]
    pub fn beside(dir: &Path) -> Self {
        let mut found = Self::default();
        let Some(above) = dir.parent() else { return Self::in_folder(dir) };
        match std::fs::read_dir(above) {
            Ok(entries) => {
                let mut folders: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
                folders.retain(|path| path.is_dir());
                folders.sort();
                folders.iter().for_each(|folder| found.add(folder));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => found.problems.push(StoreError::io("list", above)(error)),
        }
        let mut seen = HashSet::new();
        found.files.retain(|file| seen.insert((file.stamp.device, file.stamp.inode)));
        found.sorted()
    }

    fn add(&mut self, dir: &Path) {
        match std::fs::read_dir(dir) {
            Ok(entries) => self.files.extend(entries.flatten().filter_map(|entry| found_file(entry.path()))),
            Err(error) if error.kind() == ErrorKind::NotFound => return,
            Err(error) => self.problems.push(StoreError::io("list", dir)(error)),
        }
        self.folders.push(dir.to_owned());
    }

    fn sorted(mut self) -> Self {
        self.files.sort_by(|a, b| (b.stamp.modified, &b.path).cmp(&(a.stamp.modified, &a.path)));
        self
    }
}

/// The file at `path` when it is called like a session: regular, behind links too. Loops of links, pipes and folders
/// are none.
fn found_file(path: PathBuf) -> Option<FoundFile> {
    if path.extension()? != "jsonl" {
        return None;
    }
    let metadata = path.metadata().ok()?;
    metadata.is_file().then(|| FoundFile { stamp: Stamp::of(&metadata), path })
}
