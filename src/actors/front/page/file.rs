//! Where a page is written, and how.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::store::{self, tree::TreeView};

/// Numbers that are tried for a default name.
const NAMES: usize = 1_000;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// Something else than a file is there.
    #[error("{} is no regular file, so no page can be put in its place. Name another one", .0.display())]
    NoFile(PathBuf),
    /// The page would take the session's place.
    #[error("{} is the session itself: a page in its place would be the end of it. Name another file", .0.display())]
    Session(PathBuf),
    /// The folder is not there.
    #[error("the folder {} does not exist. Make it, or name another one", .0.display())]
    NoFolder(PathBuf),
    /// It cannot be written.
    #[error("the page {} cannot be written: {error}", .path.display())]
    Write {
        /// The page.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// Writes the page of a session and returns its path. `output` is what the user named: a file, which is replaced, or a
/// folder. Without a name of its own, a page in `folder` is named after the session, and no other file is replaced.
///
/// The page appears at once and whole. Like the session, it can be read by its owner alone until they share it.
///
/// # Errors
/// When it cannot be written; a file that was there is as it was then.
pub fn export(
    view: &TreeView,
    session: Option<&Path>,
    output: Option<&Path>,
    folder: &Path,
) -> Result<PathBuf, PageError> {
    match output {
        Some(file) if session.is_some_and(|session| store::replace::is_same(session, file)) => {
            Err(PageError::Session(file.to_owned()))
        }
        Some(file) if !file.is_dir() => replace(view, file),
        Some(folder) => create(view, session, folder),
        None => create(view, session, folder),
    }
}

fn replace(view: &TreeView, file: &Path) -> Result<PathBuf, PageError> {
    if file.exists() && !file.is_file() {
        return Err(PageError::NoFile(file.to_owned()));
    }
    store::replace::with(file, |writer| super::write(view, writer)).map_err(|error| failure(file, error))?;
    Ok(file.to_owned())
}

fn create(view: &TreeView, session: Option<&Path>, folder: &Path) -> Result<PathBuf, PageError> {
    let stem = stem(view, session);
    let names = std::iter::once(format!("{stem}.html")).chain((2..=NAMES).map(|n| format!("{stem}-{n}.html")));
    for file in names.map(|name| folder.join(name)) {
        match store::replace::create(&file, |writer| super::write(view, writer)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failure(&file, error)),
            Ok(()) => return Ok(file),
        }
    }
    Err(failure(&folder.join(format!("{stem}.html")), io::ErrorKind::AlreadyExists.into()))
}

/// The name of a page: that of the session's file, or the session's id.
fn stem(view: &TreeView, session: Option<&Path>) -> String {
    let of_file = session.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    format!("troupe-session-{}", of_file.unwrap_or_else(|| view.header().id.replace(['/', '\\'], "-")))
}

fn failure(path: &Path, error: io::Error) -> PageError {
    match path.parent() {
        Some(folder)
            if error.kind() == io::ErrorKind::NotFound && !folder.as_os_str().is_empty() && !folder.exists() =>
        {
            PageError::NoFolder(folder.to_owned())
        }
        _ => PageError::Write { path: path.to_owned(), error },
    }
}
