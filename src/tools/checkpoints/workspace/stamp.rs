//! By what a file is known without reading it.

use std::{fs::Metadata, os::unix::fs::MetadataExt};

use rustix::fs::{FileType, Stat};

/// What kind of thing it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A folder.
    Folder,
    /// Anything else.
    Special,
}

/// By what a file is known without reading it. Two equal stamps are the same content, unless it was written within a
/// tick of the clock that file systems use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// What it is.
    pub kind: Kind,
    /// Permissions.
    pub mode: u32,
    /// Size in bytes.
    pub len: u64,
    /// When it was written, in nanoseconds.
    pub modified: i64,
    /// When anything of it was changed, in nanoseconds; programs cannot set it.
    pub changed: i64,
    /// Its number on the file system.
    pub inode: u64,
}

impl Stamp {
    /// The stamp of a folder: only that it is there.
    pub const FOLDER: Self = Self { kind: Kind::Folder, mode: 0, len: 0, modified: 0, changed: 0, inode: 0 };

    pub fn of(metadata: &Metadata) -> Self {
        if metadata.is_dir() {
            return Self::FOLDER;
        }
        let kind = match metadata.file_type() {
            kind if kind.is_file() => Kind::File,
            kind if kind.is_symlink() => Kind::Link,
            _ => Kind::Special,
        };
        Self {
            kind,
            mode: metadata.mode() & 0o7777,
            len: metadata.len(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    #[allow(clippy::unnecessary_cast, clippy::cast_sign_loss, reason = "the types differ between systems")]
    pub fn of_stat(stat: &Stat) -> Self {
        let mode = stat.st_mode as u32;
        let kind = match FileType::from_raw_mode(mode as _) {
            FileType::Directory => return Self::FOLDER,
            FileType::RegularFile => Kind::File,
            FileType::Symlink => Kind::Link,
            _ => Kind::Special,
        };
        Self {
            kind,
            mode: mode & 0o7777,
            len: stat.st_size as u64,
            modified: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            inode: stat.st_ino as u64,
        }
    }

    /// Whether it was changed so shortly before `looked` that a later change could have left the same stamp.
    pub fn is_fresh(&self, looked: i64) -> bool {
        self.changed.saturating_add(TICK) >= looked
    }
}

/// What the clock of a file system may lag behind: a tick of the kernel, with room to spare.
pub const TICK: i64 = 20_000_000;

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// The time now, in nanoseconds.
pub fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
