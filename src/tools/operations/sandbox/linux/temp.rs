//! The private temporary folder: the one place that confined commands can always write.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// A folder for commands, and beside it what stands in the place of hidden files. Gone when this is dropped.
#[derive(Debug)]
pub struct Temp {
    _outer: TempDir,
    folder: PathBuf,
    blank: PathBuf,
}

impl Temp {
    /// Makes the folder.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new() -> io::Result<Self> {
        let outer = tempfile::Builder::new().prefix("troupe-sandbox-").tempdir()?;
        let root = outer.path().canonicalize()?;
        let (folder, blank) = (root.join("tmp"), root.join("hidden"));
        fs::create_dir(&folder)?;
        fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
        fs::write(&blank, "")?;
        fs::set_permissions(&blank, Permissions::from_mode(0))?;
        Ok(Self { _outer: outer, folder, blank })
    }

    /// What commands find in `TMPDIR`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file that holds nothing and that nobody may open.
    pub fn blank(&self) -> &Path {
        &self.blank
    }
}
