//! A session that is being written: what the session writer owns.
//!
//! | module | what |
//! |---|---|
//! | [`new`] | headers, ids, entries on their way in |
//! | [`home`] | memory, a file that is not made yet, a file |
//! | [`ops`] | repeated requests |
//! | [`open`] | opening, creating |
//! | [`fork`] | a session out of another |
//! | [`close`] | giving the file up |

mod close;
pub mod fork;
mod home;
mod new;
pub mod open;
mod ops;

#[cfg(test)]
mod tests;

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

pub use fork::{ForkPoint, Forked};
pub use new::{NewEntry, NewSession, check_session_id, session_id};
pub use open::Opened;

use self::{home::Home, new::Batch, ops::Operations};
use super::{
    StoreError,
    jsonl::{LineText, Span},
    tree::{Tree, TreeView, ids::fresh_id},
};
use crate::protocol::{Entry, EntryBody, EntryId, time::now_ms};

/// A session that is being written.
///
/// Clones are handles of the same session. It is one writer's at a time; a handle that somebody else keeps lets the
/// next writer go on where one that died stopped, with everything that is in memory only.
#[derive(Clone)]
pub struct SessionStore(Arc<Mutex<Inner>>);

struct Inner {
    tree: Tree,
    home: Home,
    ops: Operations,
    keep_going: bool,
}

/// Entries that were stored.
#[derive(Clone, Debug)]
pub struct Appended {
    /// The entries, in order.
    pub entries: Vec<Arc<Entry>>,
    /// The session with them.
    pub view: TreeView,
    /// The operation had been carried out before; nothing was written now.
    pub repeated: bool,
    /// What people should be told.
    pub notices: Vec<StoreNotice>,
}

/// Something that people should be told about a session's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreNotice {
    /// Another program appended so many entries.
    ForeignEntries(usize),
    /// The file had been removed and was made again.
    Restored(PathBuf),
    /// The disk refuses: the session goes on in memory.
    NotSaved(String),
}

impl fmt::Display for StoreNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForeignEntries(n) => {
                write!(f, "another program added {n} entries to this session; this one goes on from its own last entry")
            }
            Self::Restored(path) => write!(f, "{} had been removed and was made again", path.display()),
            Self::NotSaved(reason) => write!(f, "the session is not being saved: {reason}"),
        }
    }
}

impl SessionStore {
    fn with(tree: Tree, home: Home) -> Self {
        Self(Arc::new(Mutex::new(Inner { tree, home, ops: Operations::default(), keep_going: false })))
    }

    /// Adds entries below the leaf, each below the one before; the last becomes the leaf. They are in the file, or in
    /// memory when the session lives there, before this returns.
    ///
    /// `op` is the number of the operation: repeated, it gives the entries that it gave the first time.
    ///
    /// # Errors
    /// When they cannot be written: then none of them exists.
    pub fn append(&self, op: Option<&str>, entries: Vec<NewEntry>) -> Result<Appended, StoreError> {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let mut notices = Vec::new();
        let (foreign, restored) = match inner.home.look(&mut inner.tree) {
            Err(error) if inner.keep_going => {
                notices.push(StoreNotice::NotSaved(error.to_string()));
                (0, false)
            }
            changes => changes?,
        };
        if foreign > 0 {
            notices.push(StoreNotice::ForeignEntries(foreign));
        }
        if restored {
            notices.extend(inner.home.path().map(|path| StoreNotice::Restored(path.to_owned())));
        }
        if let Some(entries) = op.and_then(|op| inner.earlier(op)) {
            return Ok(Appended { entries, view: inner.tree.view().clone(), repeated: true, notices });
        }
        let batch = Batch::build(&inner.tree, entries, now_ms())?;
        if let Some(op) = op {
            inner.ops.assign(op, batch.entries.iter().map(|entry| entry.id.clone()).collect());
        }
        let placed = inner.home.store(&mut inner.tree, &batch.lines, batch.is_conversation(), inner.keep_going)?;
        notices.extend(placed.refused.map(|error| StoreNotice::NotSaved(error.to_string())));
        for (entry, range) in batch.entries.iter().zip(&batch.ranges) {
            let text = placed.offset.and_then(|offset| {
                let length = u32::try_from(range.len()).ok()?;
                Some(LineText::Stored(Span { offset: offset + range.start as u64, length }))
            });
            inner.tree.push(entry.clone(), text);
        }
        let view = inner.tree.view().clone();
        if batch.entries.iter().any(|entry| matches!(entry.body, EntryBody::Compaction { .. })) {
            // What was folded away is not looked at again, as a rule: a long run stays small.
            view.forget_outside_context();
        }
        Ok(Appended { entries: batch.entries, view, repeated: false, notices })
    }

    /// Makes another entry, or none, the one that the next will hang on. Writes nothing.
    ///
    /// # Errors
    /// When there is no such entry.
    pub fn move_leaf(&self, leaf: Option<&EntryId>) -> Result<TreeView, StoreError> {
        let mut inner = self.lock();
        match (inner.tree.set_leaf(leaf), leaf) {
            (false, Some(id)) => Err(StoreError::UnknownEntry(id.to_string())),
            _ => Ok(inner.tree.view().clone()),
        }
    }

    /// The session as it is now.
    #[must_use]
    pub fn view(&self) -> TreeView {
        self.lock().tree.view().clone()
    }

    /// The file, existing or planned; none when the session lives in memory.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        self.lock().home.path().map(PathBuf::from)
    }

    /// The file, when there is one.
    #[must_use]
    pub fn saved_path(&self) -> Option<PathBuf> {
        let inner = self.lock();
        match &inner.home {
            Home::Memory | Home::Unborn { .. } => None,
            home => home.path().map(PathBuf::from),
        }
    }

    /// Fails, with the reason, when nothing can be added to this session.
    ///
    /// # Errors
    /// When the file is of a newer version, or was opened for reading.
    pub fn writable(&self) -> Result<(), StoreError> {
        self.lock().home.writable()
    }

    /// Whether a disk that refuses stops the session (as it does at first) or only its saving: entries are then kept
    /// in memory and written as soon as the disk takes them.
    pub fn set_keep_going(&self, keep_going: bool) {
        self.lock().keep_going = keep_going;
    }

    /// Returns when what was written is on the disk.
    ///
    /// # Errors
    /// When the system cannot promise that.
    pub fn sync(&self) -> Result<(), StoreError> {
        match &self.lock().home {
            Home::File { file, .. } => file.sync(),
            _ => Ok(()),
        }
    }

    /// Whether both are handles of the same session.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// An id that no entry has, to be given to an entry later.
    #[must_use]
    pub fn reserve_id(&self) -> EntryId {
        let inner = self.lock();
        fresh_id(|id| inner.tree.contains(id))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A writer that panicked left whole entries only: see `append`, which looks at the file first.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// The entries of an operation that was carried out before.
    fn earlier(&self, op: &str) -> Option<Vec<Arc<Entry>>> {
        self.ops.get(op)?.iter().map(|id| self.tree.view().get(id)).collect()
    }
}

impl fmt::Debug for SessionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.lock();
        f.debug_struct("SessionStore").field("path", &inner.home.path()).field("tree", inner.tree.view()).finish()
    }
}
