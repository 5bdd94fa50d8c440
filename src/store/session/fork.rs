//! A session out of another one.

use std::path::Path;

use super::{Home, NewSession, SessionStore, open::read_to_fork};
use crate::{
    protocol::EntryId,
    store::{StoreError, sessions::file_name, tree::TreeView},
};

/// Where a branch is taken from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForkPoint {
    /// Up to the entry before this user message, whose text is to be written anew.
    Before(EntryId),
    /// All of the branch of the leaf.
    Leaf,
}

/// A session that was taken from another.
#[derive(Debug)]
pub struct Forked {
    /// The new session.
    pub store: SessionStore,
    /// The text of the message that it was forked before.
    pub text: Option<String>,
}

impl SessionStore {
    /// A new session in the folder `dir` with all entries of another session's file, on all branches, ids unchanged.
    ///
    /// # Errors
    /// When the file cannot be read, or the new one cannot be made.
    pub fn fork_file(source: &Path, dir: &Path, new: NewSession) -> Result<Self, StoreError> {
        let view = read_to_fork(source)?;
        let header = NewSession { parent_session: Some(source.to_string_lossy().into_owned()), ..new }.header()?;
        let path = dir.join(file_name(&header));
        if view.entries().any(|entry| entry.kind().is_conversation()) {
            return Self::with_file(&path, &header, view.all_lines());
        }
        let lines = view.all_lines().collect::<Result<Vec<_>, _>>().map_err(|reason| unreadable(source, reason))?;
        Self::with_lines(|lines| Home::Unborn { path, lines }, header, &lines)
    }

    /// A new session with a branch of this one: in the folder `dir`, or in memory.
    ///
    /// # Errors
    /// When the entry is no user message, this session has no file to clone, or the new one cannot be made.
    pub fn fork(&self, dir: Option<&Path>, point: &ForkPoint) -> Result<Forked, StoreError> {
        if let Err(newer @ StoreError::Newer { .. }) = self.writable() {
            return Err(newer);
        }
        let view = self.view();
        let (branch, text) = match point {
            ForkPoint::Leaf if dir.is_some() && self.saved_path().is_none() => return Err(StoreError::NotSaved),
            ForkPoint::Leaf => (view, None),
            ForkPoint::Before(id) => {
                let (branch, text) = before(&view, id)?;
                (branch, Some(text))
            }
        };
        let header = NewSession {
            id: None,
            cwd: branch.header().cwd.clone(),
            parent_session: self.saved_path().map(|path| path.to_string_lossy().into_owned()),
            agent: None,
        };
        let header = header.header()?;
        let source = self.path().unwrap_or_default();
        let lines = branch.branch_lines();
        let lines = lines.map_err(|reason| unreadable(&source, reason))?;
        let talks = branch.path().iter().any(|entry| entry.kind().is_conversation());
        let store = match dir.map(|dir| dir.join(file_name(&header))) {
            None => Self::with_lines(|_| Home::Memory, header, &lines)?,
            Some(path) if talks => Self::with_file(&path, &header, lines.into_iter().map(Ok))?,
            Some(path) => Self::with_lines(|lines| Home::Unborn { path, lines }, header, &lines)?,
        };
        Ok(Forked { store, text })
    }
}

/// The branch up to the entry before a user message, and the message's text.
fn before(view: &TreeView, id: &EntryId) -> Result<(TreeView, String), StoreError> {
    let entry = view.find(id).ok_or_else(|| StoreError::UnknownEntry(id.to_string()))?;
    let text = entry.user_text().ok_or_else(|| StoreError::NotAUserMessage(id.to_string()))?;
    let parent = entry.parent().map(|parent| parent.id().clone());
    let branch = view.with_leaf(parent.as_ref()).ok_or_else(|| StoreError::UnknownEntry(id.to_string()))?;
    Ok((branch, text))
}

fn unreadable(path: &Path, reason: String) -> StoreError {
    StoreError::io("read", path)(std::io::Error::other(reason))
}
