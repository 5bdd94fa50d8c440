//! Replacing a JSON file at once: readers see the old contents or the new ones, never a part.

use std::{
    fs, io,
    io::Write as _,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

/// Makes a folder, and those above it, that nobody else may look into. One that exists stays as it is.
///
/// # Errors
/// When the system refuses.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Replaces the file by these values, indented by two blanks. A new file is readable by its owner alone, an existing
/// one keeps its permissions, and a symbolic link stays a link.
///
/// # Errors
/// When the system refuses; the file is then as it was.
pub fn with_json(file: &Path, values: &Map<String, Value>) -> io::Result<()> {
    let target = follow_link(file)?;
    let folder = target.parent().ok_or_else(|| io::Error::other("the path has no folder"))?;
    let permissions = fs::metadata(&target).ok().map(|meta| meta.permissions());
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?; // created with mode 0600
    serde_json::to_writer_pretty(&mut temporary, values)?;
    temporary.write_all(b"\n")?;
    temporary.flush()?;
    if let Some(permissions) = permissions {
        temporary.as_file().set_permissions(permissions)?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(&target)?;
    Ok(())
}

/// Where a link points, even when nothing is there yet; the path itself when it is no link.
///
/// # Errors
/// When the system does not say.
pub fn follow_link(file: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(file) {
        Ok(target) => Ok(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(match fs::read_link(file) {
            Ok(link) => file.parent().map_or_else(|| link.clone(), |folder| folder.join(&link)),
            Err(_) => file.to_owned(),
        }),
        Err(error) => Err(error),
    }
}
