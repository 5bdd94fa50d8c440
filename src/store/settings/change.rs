//! Writing a change to its file without losing anything that somebody else wrote there.

use std::{io, path::PathBuf, sync::Mutex};

use serde_json::Value;

use super::{
    layer::{Layer, read_object},
    merge,
};
use crate::store::{
    document::DocumentError,
    lock_folder::{LockFolder, Patience},
    replace,
};

/// Why a change was not saved. It holds for this run all the same.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file is broken; writing would lose what is in it.
    #[error("{0}. The setting holds for this run and is not saved: mend the file first")]
    Broken(DocumentError),
    /// The file cannot be written or locked.
    #[error("{}: cannot save the setting: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A change that is to be written to a settings file.
#[must_use = "a change is saved by `write`"]
#[derive(Clone, Debug)]
pub struct Change {
    file: Option<PathBuf>,
    problem: Option<DocumentError>,
    path: Vec<String>,
    value: Option<Value>,
}

impl Change {
    pub(super) fn new(layer: &Layer, path: &[&str], value: Option<Value>) -> Self {
        let path = path.iter().map(|key| (*key).to_owned()).collect();
        Self { file: layer.file.clone(), problem: layer.problem.clone(), path, value }
    }

    /// Saves the change: reads the file again under its lock, sets the one value and replaces the file at once. All
    /// other keys and their order stay. Blocks (up to a fifth of a second when the lock is held).
    ///
    /// # Errors
    /// See [`SettingsError`].
    pub fn write(self) -> Result<(), SettingsError> {
        let Some(file) = &self.file else { return Ok(()) };
        if let Some(problem) = &self.problem {
            return Err(SettingsError::Broken(problem.clone()));
        }
        // The lock folder alone would do, but agents of one process would wait for each other by polling.
        static WRITING: Mutex<()> = Mutex::new(());
        let _in_process = WRITING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let failed = |source| SettingsError::Io { file: file.clone(), source };
        if let Some(folder) = file.parent() {
            replace::create_private_folder(folder).map_err(failed)?;
        }
        let _lock = LockFolder::acquire(file, Patience::SHORT).map_err(failed)?;
        let mut values = read_object(file).map_err(SettingsError::Broken)?;
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        merge::set(&mut values, &path, self.value.clone());
        replace::with_json(file, &values).map_err(failed)
    }
}
