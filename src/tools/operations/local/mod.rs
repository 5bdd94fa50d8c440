//! This machine.
//!
//! - `files`: reading and writing.
//! - `walk`: which files a search sees.
//! - `grep` and `find`: searches.
//! - `shell`: shell commands; `kill`: ending them with all that they started, which `mark` and `processes` find;
//!   `watcher`: ending them when we die; `waiting`: whether they wait for input.

use std::{io, path::Path, path::PathBuf};

use tokio::{
    process::Command,
    task::{JoinError, spawn_blocking},
};
use tokio_util::sync::CancellationToken;

use super::{
    FileReader, FileStat, FindHits, FindQuery, FolderEntry, GrepHits, GrepQuery, Operations, Place, Process,
    SearchError, ShellCommand,
};
use crate::tools::BoxFuture;

pub(super) mod files;
pub(super) mod find;
pub(super) mod grep;
mod kill;
mod mark;
#[cfg(target_os = "linux")]
pub(crate) mod processes;
mod shell;
#[cfg(target_os = "linux")]
mod waiting;
pub(crate) mod walk;
mod watcher;

pub use kill::kill_all as kill_all_commands;
pub(super) use shell::LocalProcess;

/// Files and processes of this machine, with the rights of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local;

impl Operations for Local {
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<FileStat>> {
        let path = path.to_owned();
        off_thread(move || files::stat(&path))
    }

    fn open<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<Box<dyn FileReader>>> {
        let path = path.to_owned();
        off_thread(move || Ok(Box::new(files::LocalReader::open(&path)?) as Box<dyn FileReader>))
    }

    fn check_access<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<()>> {
        let path = path.to_owned();
        off_thread(move || files::check_access(&path))
    }

    fn write<'a>(&'a self, path: &'a Path, bytes: Vec<u8>) -> BoxFuture<'a, io::Result<FileStat>> {
        let path = path.to_owned();
        off_thread(move || files::write(&path, &bytes))
    }

    fn create_folder<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<()>> {
        let path = path.to_owned();
        off_thread(move || std::fs::create_dir_all(path))
    }

    fn list<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<Vec<FolderEntry>>> {
        let path = path.to_owned();
        off_thread(move || files::list(&path))
    }

    fn real_path(&self, path: &Path) -> PathBuf {
        files::real_path(path)
    }

    fn grep(&self, query: GrepQuery, cancel: CancellationToken) -> BoxFuture<'_, Result<GrepHits, SearchError>> {
        search(cancel, move |cancel| grep::run(&query, &walk::everything(), cancel))
    }

    fn find(&self, query: FindQuery, cancel: CancellationToken) -> BoxFuture<'_, Result<FindHits, SearchError>> {
        search(cancel, move |cancel| find::run(&query, &walk::everything(), cancel))
    }

    fn place(&self) -> Place {
        Place::here()
    }

    fn spawn(&self, command: ShellCommand) -> BoxFuture<'_, io::Result<Box<dyn Process>>> {
        Box::pin(async move {
            let unconfined = |shell: &Path| Ok(Command::new(shell));
            Ok(Box::new(LocalProcess::spawn(&command, unconfined)?) as Box<dyn Process>)
        })
    }
}

/// Runs `work` where blocking is allowed.
pub(super) fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> BoxFuture<'static, io::Result<T>> {
    Box::pin(async move { spawn_blocking(work).await.map_err(|error| io::Error::other(panicked(error)))? })
}

/// Runs a search where blocking is allowed. Dropping the future ends the search soon, too.
pub(super) fn search<T: Send + 'static>(
    cancel: CancellationToken,
    work: impl FnOnce(&CancellationToken) -> Result<T, SearchError> + Send + 'static,
) -> BoxFuture<'static, Result<T, SearchError>> {
    Box::pin(async move {
        let own = cancel.child_token();
        let _ends_with_us = own.clone().drop_guard();
        let worker = spawn_blocking(move || work(&own));
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(SearchError::Cancelled),
            result = worker => result.map_err(|error| SearchError::Failed(panicked(error)))?,
        }
    })
}

fn panicked(error: JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => {
            let text = panic.downcast_ref::<&str>().map(ToString::to_string).or_else(|| panic.downcast_ref().cloned());
            format!("internal error: {}", text.unwrap_or_default())
        }
        Err(error) => error.to_string(),
    }
}
