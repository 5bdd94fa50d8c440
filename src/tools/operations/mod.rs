//! Files, searches and processes, behind one trait: the same tools work on this machine, and on whatever else
//! implements it.
//!
//! - [`local`]: this machine; [`sandbox`]: this machine, as far as a policy goes; [`ssh`]: another one; [`memory`]: none
//!   at all.
//! - [`search`]: what `grep` and `find` ask for and get.
//! - [`process`]: a running shell command.

use std::{io, path::Path, path::PathBuf, time::SystemTime};

use tokio_util::sync::CancellationToken;

use super::BoxFuture;

pub mod local;
pub mod memory;
pub mod process;
pub mod sandbox;
pub mod search;
pub mod ssh;

pub use process::{Input, InputWriter, Process, ProcessEvent, ShellCommand};
pub use search::{FindHits, FindQuery, GrepHits, GrepQuery, SearchError};

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A pipe, a socket or a device: reading one may never end.
    Special,
}

/// Facts about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// What it is.
    pub kind: FileKind,
    /// Its size in bytes.
    pub len: u64,
    /// When its content last changed, where the system tells.
    pub modified: Option<SystemTime>,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name.
    pub name: String,
    /// What it leads to; none when that cannot be found out (a link to nothing).
    pub kind: Option<FileKind>,
}

/// Whose files and processes operations work with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The home folder, which `~` means.
    pub home: Option<PathBuf>,
    /// Files that this process writes by itself can be read there.
    pub is_here: bool,
}

impl Place {
    /// This machine.
    #[must_use]
    pub fn here() -> Self {
        Self { home: std::env::home_dir(), is_here: true }
    }
}

/// An open regular file.
pub trait FileReader: Send {
    /// Facts from when it was opened.
    fn stat(&self) -> FileStat;

    /// The next bytes, in pieces of the reader's choice; empty at the end. No more than the size at opening is given,
    /// so that a file that grows as fast as it is read still ends.
    fn next_chunk(&mut self) -> BoxFuture<'_, io::Result<Vec<u8>>>;
}

/// Files, searches and processes.
///
/// All paths are absolute. Links are followed, except in walks. Nothing here blocks the caller, and a dropped future
/// leaves no process behind; a write that has begun may still end.
pub trait Operations: Send + Sync {
    /// Facts about what `path` leads to.
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<FileStat>>;

    /// Opens a file for reading. Anything but a regular file is refused at once.
    fn open<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<Box<dyn FileReader>>>;

    /// Fails unless the file may be read and written.
    fn check_access<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<()>>;

    /// Makes the file hold `bytes`, in place: links, owner and mode stay. Creates it when it is missing; refuses
    /// anything but a regular file. Gives the facts of the written file.
    fn write<'a>(&'a self, path: &'a Path, bytes: Vec<u8>) -> BoxFuture<'a, io::Result<FileStat>>;

    /// Creates a folder and its parents where they are missing.
    fn create_folder<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<()>>;

    /// The entries of a folder, in no order.
    fn list<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<Vec<FolderEntry>>>;

    /// The path without links: one for all names of a file, also where the file or the target of a link is missing.
    /// Must be quick: it is called from a future's first poll.
    fn real_path(&self, path: &Path) -> PathBuf;

    /// Searches file contents.
    fn grep(&self, query: GrepQuery, cancel: CancellationToken) -> BoxFuture<'_, Result<GrepHits, SearchError>>;

    /// Searches file names.
    fn find(&self, query: FindQuery, cancel: CancellationToken) -> BoxFuture<'_, Result<FindHits, SearchError>>;

    /// Whose files and processes they are.
    fn place(&self) -> Place;

    /// Starts a shell command.
    fn spawn(&self, command: ShellCommand) -> BoxFuture<'_, io::Result<Box<dyn Process>>>;
}

/// The rest of an open file, all at once.
///
/// # Errors
/// What reading gives.
pub async fn read_all(reader: &mut dyn FileReader) -> io::Result<Vec<u8>> {
    let mut bytes = reader.next_chunk().await?;
    if bytes.is_empty() {
        return Ok(bytes);
    }
    // The size is a promise of the file system, not a reason to reserve any amount of memory.
    const RESERVE_AT_MOST: u64 = 64 << 20;
    let expected = usize::try_from(reader.stat().len.min(RESERVE_AT_MOST)).unwrap_or(0);
    bytes.reserve_exact(expected.saturating_sub(bytes.len()));
    loop {
        let chunk = reader.next_chunk().await?;
        if chunk.is_empty() {
            return Ok(bytes);
        }
        bytes.extend_from_slice(&chunk);
    }
}
