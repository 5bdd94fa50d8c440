//! Taking a session file from elsewhere into the folder of sessions.

use std::path::{Path, PathBuf};

use super::{copy, resolve::check_folder};
use crate::{
    protocol::entry::SessionHeader,
    store::{SessionStore, StoreError, jsonl::VERSION},
};

/// Why a session was not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read or copied.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nobody knows what session it is.
    #[error(
        "{0} is damaged: its first line, which says what session it is, cannot be read. `troupe --fork {0}` makes a new \
         session of what is left of it."
    )]
    Headless(String),
    /// Its folder may be one of another machine: it could not go on there.
    #[error(
        "The session runs in {cwd}, which does not exist here. `troupe --fork {path}` goes on with a copy of it in this \
         folder."
    )]
    Homeless {
        /// Its folder.
        cwd: String,
        /// Its file.
        path: String,
    },
}

/// A session that was imported.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The copy.
    pub path: PathBuf,
    /// What session it is.
    pub header: SessionHeader,
    /// What people should know.
    pub warnings: Vec<String>,
    /// This version can go on with it.
    pub can_go_on: bool,
}

/// Copies the session file `source` into the folder `dir`.
///
/// # Errors
/// See [`ImportError`]; nothing was copied then.
pub fn import(source: &Path, dir: &Path) -> Result<Imported, ImportError> {
    let opened = SessionStore::open_read_only(source)?;
    let header = opened.store.view().header().clone();
    if opened.damage.header_recovered {
        return Err(ImportError::Headless(source.display().to_string()));
    }
    check_folder(&header, source)
        .map_err(|_| ImportError::Homeless { cwd: header.cwd.clone(), path: source.display().to_string() })?;
    let newer = opened.version.filter(|version| *version > VERSION);
    let newer_text = newer.map(|version| {
        format!("The session has format {version}: this version of Troupe can read it but not go on with it.")
    });
    let warnings = opened.damage_notice().into_iter().chain(newer_text).collect();
    Ok(Imported { path: copy::import(source, dir)?, header, warnings, can_go_on: newer.is_none() })
}
