//! Which session is meant.

use std::path::{Path, PathBuf};

use super::dir::{SessionDir, SessionFileHead, read_header};
use crate::{
    protocol::entry::SessionHeader,
    store::{StoreError, paths::absolute, regular_file, session::check_session_id},
};

/// The session that somebody means.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved {
    /// The file at this path, existing or not.
    Path(PathBuf),
    /// A session of the project.
    Here(PathBuf),
    /// A session of another project, with its folder.
    Elsewhere(PathBuf, String),
}

impl Resolved {
    /// The session's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Path(path) | Self::Here(path) | Self::Elsewhere(path, _) => path,
        }
    }
}

/// The session that `text` means: a path when it looks like one, else an id or the beginning of one, of this project
/// before others. Of several, the one that was changed last.
///
/// # Errors
/// When there is none.
pub fn resolve(text: &str, dir: &SessionDir) -> Result<Resolved, StoreError> {
    if looks_like_path(text) {
        return Ok(Resolved::Path(absolute(Path::new(text), &dir.cwd)));
    }
    let nothing = || StoreError::SessionNotFound(text.to_owned());
    if text.is_empty() {
        return Err(nothing());
    }
    if let Some(head) = by_id(text, dir.sessions().collect()) {
        return Ok(Resolved::Here(head.path));
    }
    let head = by_id(text, dir.sessions_of_all().collect()).ok_or_else(nothing)?;
    Ok(Resolved::Elsewhere(head.path, head.header.cwd))
}

/// The session with this id, else the first whose id begins so.
fn by_id(id: &str, mut heads: Vec<SessionFileHead>) -> Option<SessionFileHead> {
    let exact = heads.iter().position(|head| head.header.id == id);
    let place = exact.or_else(|| heads.iter().position(|head| head.header.id.starts_with(id)))?;
    Some(heads.swap_remove(place))
}

/// The one session that `text` means, found like in [`resolve`]: for what must not hit another than the one that is
/// meant.
///
/// # Errors
/// When there is none, or more than one.
pub fn only(text: &str, dir: &SessionDir) -> Result<SessionFileHead, StoreError> {
    if looks_like_path(text) {
        let path = absolute(Path::new(text), &dir.cwd);
        let header = match path.try_exists() {
            Ok(false) => return Err(StoreError::SessionNotFound(text.to_owned())),
            _ => {
                // What may not be read may well be a session.
                regular_file::open_to_read(&path).map_err(StoreError::io("open", &path))?;
                read_header(&path).ok_or_else(|| StoreError::NotASession(path.clone()))?
            }
        };
        return Ok(SessionFileHead { path, header });
    }
    let mut meant = all_by_id(text, dir.sessions());
    if meant.is_empty() {
        meant = all_by_id(text, dir.sessions_of_all());
    }
    match meant.len() {
        0 => Err(StoreError::SessionNotFound(text.to_owned())),
        1 => Ok(meant.swap_remove(0)),
        _ => {
            let same = meant.iter().all(|head| head.header.id == meant[0].header.id);
            let told =
                |head: &SessionFileHead| if same { head.path.display().to_string() } else { head.header.id.clone() };
            let more = (meant.len() > TOLD).then(|| "…".to_owned());
            let sessions = meant.iter().take(TOLD).map(told).chain(more).collect();
            Err(StoreError::Ambiguous { text: text.to_owned(), sessions })
        }
    }
}

/// Sessions that are named when several are meant.
const TOLD: usize = 5;

/// The sessions with exactly this id, else those whose id begins so.
fn all_by_id(id: &str, heads: impl Iterator<Item = SessionFileHead>) -> Vec<SessionFileHead> {
    let mut begin: Vec<_> = heads.filter(|head| !id.is_empty() && head.header.id.starts_with(id)).collect();
    if begin.iter().any(|head| head.header.id == id) {
        begin.retain(|head| head.header.id == id);
    }
    begin
}

fn looks_like_path(text: &str) -> bool {
    text.contains(['/', '\\']) || text.ends_with(".jsonl")
}

/// The project's session with exactly this id.
///
/// # Errors
/// When no session can have such an id.
pub fn with_id(id: &str, dir: &SessionDir) -> Result<Option<PathBuf>, StoreError> {
    check_session_id(id)?;
    Ok(dir.sessions().find(|head| head.header.id == id).map(|head| head.path))
}

/// The project's session that was changed last.
#[must_use]
pub fn most_recent(dir: &SessionDir) -> Option<PathBuf> {
    dir.sessions().next().map(|head| head.path)
}

/// Checks that a session's folder is there.
///
/// # Errors
/// When it is not.
pub fn check_folder(header: &SessionHeader, path: &Path) -> Result<(), StoreError> {
    if Path::new(&header.cwd).is_dir() {
        Ok(())
    } else {
        Err(StoreError::FolderGone { path: path.to_owned(), cwd: header.cwd.clone() })
    }
}
