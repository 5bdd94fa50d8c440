//! Files, folders and links in memory, and a shell that plays a script: for tests, and for programs whose agents work on
//! something that is no disk.
//!
//! ```
//! use std::{path::Path, sync::Arc};
//! use troupe::tools::operations::{Operations, ProcessEvent, ShellCommand, memory::{Memory, Scripted}};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let memory = Memory::new()
//!     .with_file("/project/src/main.rs", "fn main() {}\n")
//!     .with_shell(|command, _| match command.script.as_str() {
//!         "cargo check" => Scripted::exits(101).prints("error: it does not compile\n"),
//!         other => Scripted::exits(127).prints(format!("{other}: not found\n")),
//!     });
//! // Where an agent gets its operations, this goes in place of `Local`.
//! let operations: Arc<dyn Operations> = Arc::new(memory.clone());
//! operations.write(Path::new("/project/notes"), b"seen".to_vec()).await?;
//! assert_eq!(memory.read("/project/notes").as_deref(), Some(&b"seen"[..]));
//!
//! let mut process = operations.spawn(ShellCommand { script: "cargo check".into(), ..Default::default() }).await?;
//! let mut output = Vec::new();
//! assert_eq!(process.next(&mut output).await?, ProcessEvent::Output);
//! assert_eq!(process.next(&mut output).await?, ProcessEvent::Exited { code: 101 });
//! assert_eq!(output, b"error: it does not compile\n");
//! # Ok(())
//! # }
//! ```
//!
//! - `tree`: what there is; `ignores` and `search`: searches; `shell`: scripted commands.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use tokio_util::sync::CancellationToken;

use super::{
    FileReader, FileStat, FindHits, FindQuery, FolderEntry, GrepHits, GrepQuery, Operations, Place, Process,
    SearchError, ShellCommand,
};
use crate::tools::{BoxFuture, paths::normalize};

mod ignores;
pub(super) mod search;
mod shell;
pub(super) mod tree;

pub use shell::Scripted;
use shell::ScriptedProcess;
pub use tree::{Node, Tree};

/// As much as a reader gives at once.
const CHUNK: usize = 64 << 10;

type Shell = dyn Fn(&ShellCommand, &Memory) -> Scripted + Send + Sync;

/// Files in memory. Clones share them.
#[derive(Clone)]
pub struct Memory {
    tree: Arc<RwLock<Tree>>,
    shell: Arc<Shell>,
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("tree", &self.tree).finish_non_exhaustive()
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Memory {
    /// An empty root folder, and a shell that knows no command.
    #[must_use]
    pub fn new() -> Self {
        let shell = |command: &ShellCommand, _: &Self| {
            Scripted::exits(127).prints(format!("{}: there are no commands here\n", command.script))
        };
        Self { tree: Arc::default(), shell: Arc::new(shell) }
    }

    /// The same with a file and the folders that lead to it.
    #[must_use]
    pub fn with_file(self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Self {
        self.lock().put_file(path.as_ref(), content.as_ref().to_vec());
        self
    }

    /// The same with a symbolic link, whose target may be missing.
    #[must_use]
    pub fn with_link(self, path: impl AsRef<Path>, target: impl Into<PathBuf>) -> Self {
        self.lock().put(path.as_ref(), Node::Link(target.into()));
        self
    }

    /// The same with something else.
    #[must_use]
    pub fn with_node(self, path: impl AsRef<Path>, node: Node) -> Self {
        self.lock().put(path.as_ref(), node);
        self
    }

    /// The same with a shell: it says what each command does, and may change files.
    #[must_use]
    pub fn with_shell(mut self, shell: impl Fn(&ShellCommand, &Self) -> Scripted + Send + Sync + 'static) -> Self {
        self.shell = Arc::new(shell);
        self
    }

    /// The content of the file that `path` leads to.
    #[must_use]
    pub fn read(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        self.look().read(path.as_ref()).ok().map(|bytes| bytes.to_vec())
    }

    /// Whether `path` itself is a link.
    #[must_use]
    pub fn is_link(&self, path: impl AsRef<Path>) -> bool {
        matches!(self.look().node(path.as_ref()), Some(Node::Link(_)))
    }

    /// The permission bits of the file at `path`.
    #[must_use]
    pub fn mode(&self, path: impl AsRef<Path>) -> Option<u32> {
        match self.look().node(path.as_ref()) {
            Some(Node::File { mode, .. }) => Some(*mode),
            _ => None,
        }
    }

    /// Changes the permission bits of the file at `path`, if there is one. Those of its owner count.
    pub fn set_mode(&self, path: impl AsRef<Path>, bits: u32) {
        if let Some(Node::File { mode, .. }) = self.lock().node_mut(path.as_ref()) {
            *mode = bits;
        }
    }

    /// Takes away what is at `path`, with all that is below.
    pub fn remove(&self, path: impl AsRef<Path>) {
        self.lock().remove(path.as_ref());
    }

    fn look(&self) -> RwLockReadGuard<'_, Tree> {
        self.tree.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> RwLockWriteGuard<'_, Tree> {
        self.tree.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file that is being read, as it was when it was opened.
struct MemoryReader {
    stat: FileStat,
    bytes: Arc<Vec<u8>>,
    at: usize,
}

impl FileReader for MemoryReader {
    fn stat(&self) -> FileStat {
        self.stat
    }

    fn next_chunk(&mut self) -> BoxFuture<'_, io::Result<Vec<u8>>> {
        let end = self.bytes.len().min(self.at + CHUNK);
        let chunk = self.bytes[self.at..end].to_vec();
        self.at = end;
        Box::pin(std::future::ready(Ok(chunk)))
    }
}

/// A future of what is known already.
fn now<'a, T: Send + 'a>(result: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(result))
}

impl Operations for Memory {
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<FileStat>> {
        now(self.look().stat(path))
    }

    fn open<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<Box<dyn FileReader>>> {
        let tree = self.look();
        let opened = tree.read(path).and_then(|bytes| Ok(MemoryReader { stat: tree.stat(path)?, bytes, at: 0 }));
        now(opened.map(|reader| Box::new(reader) as Box<dyn FileReader>))
    }

    fn check_access<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<()>> {
        now(self.look().check_access(path))
    }

    fn write<'a>(&'a self, path: &'a Path, bytes: Vec<u8>) -> BoxFuture<'a, io::Result<FileStat>> {
        now(self.lock().write(path, bytes))
    }

    fn create_folder<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<()>> {
        now(self.lock().create_folder(path))
    }

    fn list<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<Vec<FolderEntry>>> {
        now(self.look().list(path))
    }

    fn real_path(&self, path: &Path) -> PathBuf {
        let tree = self.look();
        let path = normalize(path);
        // The longest part that is there, without links, and the rest as it is written.
        let known = path.ancestors().find_map(|part| Some((part, tree.follow(part).ok()?)));
        let rest = |part| path.strip_prefix(part).unwrap_or(Path::new(""));
        known.map_or_else(|| path.clone(), |(part, real)| normalize(&real.join(rest(part))))
    }

    fn grep(&self, query: GrepQuery, cancel: CancellationToken) -> BoxFuture<'_, Result<GrepHits, SearchError>> {
        now(if cancel.is_cancelled() { Err(SearchError::Cancelled) } else { search::grep(&self.look(), &query) })
    }

    fn find(&self, query: FindQuery, cancel: CancellationToken) -> BoxFuture<'_, Result<FindHits, SearchError>> {
        now(if cancel.is_cancelled() { Err(SearchError::Cancelled) } else { search::find(&self.look(), &query) })
    }

    fn place(&self) -> Place {
        Place { home: None, is_here: false }
    }

    fn spawn(&self, command: ShellCommand) -> BoxFuture<'_, io::Result<Box<dyn Process>>> {
        let script = (self.shell)(&command, self);
        now(Ok(Box::new(ScriptedProcess::new(script)) as Box<dyn Process>))
    }
}
