//! Deleting sessions.

use std::{
    fs::{File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use super::dir::read_header;
use crate::{
    protocol::time::Millis,
    store::{
        StoreError, checkpoints,
        error::told,
        lock::{self, Holder},
        regular_file, sidecar,
        trash::{Trash, TrashError},
    },
};

/// A session that is going to be deleted: nobody writes it, and as long as this exists nobody begins to.
#[derive(Debug)]
pub struct Doomed {
    /// The session's file, and what lies beside it.
    files: Vec<PathBuf>,
    /// Holds the lock.
    _locked: File,
}

/// A session that cannot be deleted.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// Somebody has it open.
    #[error("{} is open in another Troupe process{}; close it there first", path.display(), told(holder.as_deref()))]
    InUse {
        /// The session.
        path: PathBuf,
        /// The process, where the system tells.
        holder: Option<Box<Holder>>,
    },
    /// It is no session: it is left alone, whatever it is.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no trash for it.
    #[error(transparent)]
    NoTrash(#[from] TrashError),
}

impl Doomed {
    /// Prepares the deletion of the session in `path`.
    ///
    /// # Errors
    /// When it is no session, or somebody writes it.
    pub fn of(path: &Path) -> Result<Self, RemoveError> {
        // With writing, because some network file systems lock nothing else.
        let mut options = OpenOptions::new();
        let file = regular_file::open(path, options.read(true).append(true));
        let file = match file {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => regular_file::open_to_read(path),
            file => file,
        };
        let file = file.map_err(StoreError::io("open", path))?;
        if read_header(path).is_none() {
            return Err(StoreError::NotASession(path.to_owned()).into());
        }
        match lock::lock(&file, path) {
            Err(StoreError::Locked { path, holder }) => return Err(RemoveError::InUse { path, holder }),
            // Where there are no locks, nobody can be seen to write it.
            locked => drop(locked?),
        }
        Ok(Self { files: files_of(path), _locked: file })
    }

    /// Its files.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Puts it into the trash, with all that belongs to it. Whoever moves the files back has it again.
    ///
    /// # Errors
    /// When there is no trash for it; then it is as it was, or in part in the trash.
    pub fn to_trash(&self, trash: &Trash, now: Millis) -> Result<(), RemoveError> {
        Ok(trash.take(&self.files, now)?)
    }

    /// Deletes it for good.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn for_good(&self) -> Result<(), RemoveError> {
        for file in &self.files {
            match std::fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::io("delete", file)(error).into());
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// What belongs to a session, the session last: when only a part can be moved, the session is still there. Contents of
/// checkpoints belong to all sessions of a folder; what no session needs is removed in time.
fn files_of(session: &Path) -> Vec<PathBuf> {
    let older =
        (1..crate::store::jsonl::VERSION).map(|version| PathBuf::from(format!("{}.v{version}", session.display())));
    let beside = [sidecar::path_of(session), checkpoints::log::path_of(session)];
    let mut files: Vec<_> = beside.into_iter().chain(older).filter(|path| path.is_file()).collect();
    files.push(session.to_owned());
    files
}
