//! Replacing a file at once: readers see the old contents or the new ones, never a part.

use std::{
    ffi::OsStr,
    fs,
    io::{self, Write},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::regular_file;

/// How the names of files begin that are being written.
const UNFINISHED: &str = ".tmp";

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
    with(file, |writer| {
        serde_json::to_writer_pretty(&mut *writer, values)?;
        writer.write_all(b"\n")
    })
}

/// Replaces the file by what `write` writes, under the same rules as [`with_json`].
///
/// # Errors
/// When the system refuses, or `write` does, or something else than a regular file is there; it is then as it was.
pub fn with(file: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let target = follow_link(file)?;
    let metadata = fs::metadata(&target).ok();
    if let Some(metadata) = &metadata {
        // A device that became a file would be missed by the whole system.
        regular_file::check(metadata.file_type())?;
    }
    let permissions = metadata.map(|metadata| metadata.permissions());
    let temporary = written_beside(&target, write)?;
    if let Some(permissions) = permissions {
        temporary.as_file().set_permissions(permissions)?;
    }
    temporary.persist(&target)?;
    Ok(())
}

/// Makes the file with what `write` writes, readable by its owner alone; one that exists is left alone.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] when something has the name; otherwise like [`with`].
pub fn create(file: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    if fs::symlink_metadata(file).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    written_beside(file, write)?.persist_noclobber(file)?;
    Ok(())
}

/// Whether a file is one that was being written when its process was killed, by its name.
#[must_use]
pub fn is_unfinished(file: &Path) -> bool {
    let name = file.file_name().and_then(OsStr::to_str);
    let random = name.and_then(|name| name.strip_prefix(UNFINISHED));
    random.is_some_and(|random| random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// A temporary file in the folder of `target` with what `write` writes, on the disk.
fn written_beside(
    target: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<tempfile::NamedTempFile> {
    let folder = target.parent().ok_or_else(|| io::Error::other("the path has no folder"))?;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let temporary = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?; // created with mode 0600
    let mut writer = io::BufWriter::new(temporary);
    write(&mut writer)?;
    let temporary = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    temporary.as_file().sync_all()?;
    Ok(temporary)
}

/// Whether both are names of the same file; a name that leads nowhere is compared as it is.
#[must_use]
pub fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
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
