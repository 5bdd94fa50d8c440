//! Operations that take a checkpoint before files change. Tools need not know of it.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio_util::sync::CancellationToken;

use super::{process::Watched, turn::Turn};
use crate::tools::{
    BoxFuture,
    operations::{
        FileReader, FileStat, FindHits, FindQuery, FolderEntry, GrepHits, GrepQuery, Operations, Place, Process,
        SearchError, ShellCommand,
    },
    permissions::{read_only, shell},
};

/// What tools of one turn work with: the operations below, and a checkpoint of what they change.
pub struct Checkpointing {
    inner: Arc<dyn Operations>,
    turn: Arc<Turn>,
}

impl Checkpointing {
    /// The operations `inner`, with their changes in the checkpoint `turn`.
    #[must_use]
    pub fn new(inner: Arc<dyn Operations>, turn: Arc<Turn>) -> Self {
        Self { inner, turn }
    }

    /// The folders of `path` that are missing, from the top.
    async fn missing(&self, path: &Path) -> Vec<PathBuf> {
        let mut missing = Vec::new();
        for folder in path.ancestors() {
            match self.inner.stat(folder).await {
                Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(folder.to_owned()),
                _ => break,
            }
        }
        missing.reverse();
        missing
    }
}

/// Whether a command is known to change nothing: then nobody waits for a look at the workspace.
fn only_looks(command: &ShellCommand) -> bool {
    shell::speaks(command.shell.as_deref()) && read_only::check(&command.script).is_ok()
}

impl Operations for Checkpointing {
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<FileStat>> {
        self.inner.stat(path)
    }

    fn open<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<Box<dyn FileReader>>> {
        if let Some(workspace) = &self.turn.checkpoints.workspace {
            workspace.seen(path);
        }
        self.inner.open(path)
    }

    fn check_access<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<()>> {
        self.inner.check_access(path)
    }

    fn write<'a>(&'a self, path: &'a Path, bytes: Vec<u8>) -> BoxFuture<'a, io::Result<FileStat>> {
        Box::pin(async move {
            if let Some(workspace) = &self.turn.checkpoints.workspace {
                workspace.settled().await;
            }
            // The records name what is written to, whatever name it was given.
            let path = self.inner.real_path(path);
            // What may not be written is not looked at either: it may be a secret, and a copy of it would stay behind.
            // Another machine would be asked once more for it, and its files are read through it anyway.
            if self.turn.checkpoints.config.place.is_none()
                && let Err(error) = self.inner.check_access(&path).await
                // A refusal of ours: the system's own are none of our business here, a file may be there to write only.
                && error.kind() == io::ErrorKind::PermissionDenied
                && error.raw_os_error().is_none()
            {
                return Err(error);
            }
            let (bytes, object) = self.turn.before_write(&*self.inner, &path, bytes).await?;
            let written = self.inner.write(&path, bytes).await;
            let facts = written.as_ref().map(|stat| (*stat, object)).map_err(|_| ());
            self.turn.after_write(&*self.inner, &path, facts).await;
            written
        })
    }

    fn create_folder<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(async move {
            let path = self.inner.real_path(path);
            let missing = self.missing(&path).await;
            if missing.is_empty() {
                return self.inner.create_folder(&path).await;
            }
            self.turn.before_folders(missing.clone()).await?;
            let made = self.inner.create_folder(&path).await;
            if made.is_ok() {
                self.turn.after_folders(missing).await;
            }
            made
        })
    }

    fn list<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<Vec<FolderEntry>>> {
        self.inner.list(path)
    }

    fn real_path(&self, path: &Path) -> PathBuf {
        self.inner.real_path(path)
    }

    fn grep(&self, query: GrepQuery, cancel: CancellationToken) -> BoxFuture<'_, Result<GrepHits, SearchError>> {
        self.inner.grep(query, cancel)
    }

    fn find(&self, query: FindQuery, cancel: CancellationToken) -> BoxFuture<'_, Result<FindHits, SearchError>> {
        self.inner.find(query, cancel)
    }

    fn place(&self) -> Place {
        self.inner.place()
    }

    fn spawn(&self, command: ShellCommand) -> BoxFuture<'_, io::Result<Box<dyn Process>>> {
        Box::pin(async move {
            if only_looks(&command) {
                return self.inner.spawn(command).await;
            }
            let Some(workspace) = &self.turn.checkpoints.workspace else {
                self.turn.tell_unwatched();
                return self.inner.spawn(command).await;
            };
            let window = workspace.before_command(self.turn.clone()).await;
            let process = self.inner.spawn(command).await?;
            Ok(Box::new(Watched::new(process, window)) as Box<dyn Process>)
        })
    }
}
