//! Another machine, by the system's `ssh` program.
//!
//! Nothing has to be installed there: a POSIX shell and the usual small programs do the work, and ripgrep and fd make
//! searches faster where they are.
//!
//! - `target`: which machine; `connection`: the way there; `trouble`: what goes wrong with it.
//! - `script`: how scripts get there unharmed; `scripts`: what they say; `channel`: one that runs; `reply`: what it
//!   answers; `facts`: what the machine has.
//! - `files`, `shell`, `search`: the operations; `ripgrep`, `candidates`: searching with what is there.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio_util::sync::CancellationToken;

use super::{
    FileReader, FileStat, FindHits, FindQuery, FolderEntry, GrepHits, GrepQuery, Operations, Place, Process,
    SearchError, ShellCommand,
};
use crate::tools::{BoxFuture, paths::normalize};

mod candidates;
mod channel;
mod connection;
mod facts;
mod files;
mod reply;
mod ripgrep;
mod script;
mod scripts;
mod search;
mod shell;
mod target;
mod trouble;

pub use connection::SshOptions;
pub use facts::Facts;
pub use target::{Target, TargetError};
pub use trouble::SshError;

/// Files and processes of another machine, with the rights of the user that ssh logs in as.
#[derive(Clone)]
pub struct Ssh {
    link: Arc<connection::Link>,
    facts: Arc<Facts>,
}

impl Ssh {
    /// Logs in and looks around. Nothing is asked: a key, an agent or whatever else ssh is configured to use must do.
    ///
    /// # Errors
    /// The machine cannot be reached or used, in ssh's words and with the next step.
    pub async fn connect(target: Target, options: SshOptions) -> Result<Self, SshError> {
        let link = Arc::new(connection::Link::new(target, options)?);
        match Facts::ask(&link).await {
            Ok(facts) => Ok(Self { link, facts: Arc::new(facts) }),
            Err(error) => {
                link.close().await;
                Err(error)
            }
        }
    }

    /// The machine.
    #[must_use]
    pub fn target(&self) -> &Target {
        self.link.target()
    }

    /// What the machine is and has.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Ends the connections, and with them all that runs over them. A later use connects again.
    pub async fn close(&self) {
        self.link.close().await;
    }
}

impl Operations for Ssh {
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<FileStat>> {
        Box::pin(self.stat_of(path))
    }

    fn open<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<Box<dyn FileReader>>> {
        Box::pin(async move { Ok(Box::new(self.reader_of(path).await?) as Box<dyn FileReader>) })
    }

    fn check_access<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(self.check_access_to(path))
    }

    fn write<'a>(&'a self, path: &'a Path, bytes: Vec<u8>) -> BoxFuture<'a, io::Result<FileStat>> {
        Box::pin(async move { self.write_to(path, &bytes).await })
    }

    fn create_folder<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(self.create_folder_at(path))
    }

    fn list<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<Vec<FolderEntry>>> {
        Box::pin(self.entries_of(path))
    }

    /// By names alone: links of the other machine cannot be looked at within a first poll, and what was seen of them
    /// earlier may be true no more. So two names of one file there count as two files.
    fn real_path(&self, path: &Path) -> PathBuf {
        normalize(path)
    }

    fn grep(&self, query: GrepQuery, cancel: CancellationToken) -> BoxFuture<'_, Result<GrepHits, SearchError>> {
        Box::pin(async move {
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err(SearchError::Cancelled),
                hits = self.grep_there(&query) => hits,
            }
        })
    }

    fn find(&self, query: FindQuery, cancel: CancellationToken) -> BoxFuture<'_, Result<FindHits, SearchError>> {
        Box::pin(async move {
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err(SearchError::Cancelled),
                hits = self.find_there(&query) => hits,
            }
        })
    }

    fn place(&self) -> Place {
        Place { home: Some(self.facts.home.clone()), is_here: false }
    }

    fn spawn(&self, command: ShellCommand) -> BoxFuture<'_, io::Result<Box<dyn Process>>> {
        Box::pin(async move { Ok(Box::new(self.spawn_there(&command).await?) as Box<dyn Process>) })
    }
}
