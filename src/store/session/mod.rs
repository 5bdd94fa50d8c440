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
//! | [`claim`] | the right to begin a session of a certain id |

pub mod claim;
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

pub use claim::Claim;
pub use fork::{ForkPoint, Forked};
pub use new::{NewEntry, NewSession, check_session_id, session_id};
pub use open::Opened;

use self::{
    home::{Home, Placed},
    new::Batch,
    ops::Operations,
};
use super::{
    StoreError, Syncer,
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
    unsaved: Option<Unsaved>,
    claim: Option<Claim>,
    /// It has its file only when a model has answered.
    awaits_answer: bool,
    /// There is something in it that is worth a file.
    due: bool,
}

/// Entries that are in memory only because the disk refuses them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsaved {
    /// How many.
    pub entries: usize,
    /// What the disk said last.
    pub reason: String,
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
    /// The file lies where it cannot be locked.
    NotLocked(String),
    /// The disk began to refuse, or refuses for another reason: the session goes on in memory.
    NotSaved(String),
    /// The disk takes the session again: so many entries were in memory only, and are saved now.
    Saved(usize),
}

impl fmt::Display for StoreNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForeignEntries(n) => {
                write!(f, "another program added {n} entries to this session; this one goes on from its own last entry")
            }
            Self::Restored(path) => write!(f, "{} had been removed and was made again", path.display()),
            Self::NotLocked(text) => f.write_str(text),
            Self::NotSaved(reason) => {
                let reason = reason.trim_end_matches('.');
                write!(f, "the session is not being saved and goes on in memory only: {reason}. It is tried again")
            }
            Self::Saved(n) => write!(f, "the session is saved again, with {n} entries that were in memory only"),
        }
    }
}

impl SessionStore {
    fn with(tree: Tree, home: Home) -> Self {
        let ops = Operations::default();
        let (unsaved, claim) = (None, None);
        let inner = Inner { tree, home, ops, keep_going: false, unsaved, claim, awaits_answer: false, due: false };
        Self(Arc::new(Mutex::new(inner)))
    }

    /// Adds entries below the leaf, each below the one before; the last becomes the leaf. They are in the file, or in
    /// memory when the session lives there, before this returns.
    ///
    /// `op` is the number of the operation: repeated, it gives the entries that it gave the first time.
    ///
    /// # Errors
    /// When they cannot be written: then none of them exists.
    pub fn append(&self, op: Option<&str>, entries: Vec<NewEntry>) -> Result<Appended, StoreError> {
        self.lock().append(op, entries)
    }

    /// Makes another entry, or none, the leaf, and adds entries below it, in one step. The leaf is the last entry of the
    /// file for whoever opens it, so a move that is to last needs at least one.
    ///
    /// # Errors
    /// When there is no such entry, or the entries cannot be written: then the leaf stays where it is.
    pub fn branch(&self, leaf: Option<&EntryId>, entries: Vec<NewEntry>) -> Result<Appended, StoreError> {
        let mut inner = self.lock();
        let before = inner.tree.view().leaf().map(|leaf| leaf.id().clone());
        if let (false, Some(id)) = (inner.tree.set_leaf(leaf), leaf) {
            return Err(StoreError::UnknownEntry(id.to_string()));
        }
        let appended = inner.append(None, entries);
        if appended.is_err() {
            inner.tree.set_leaf(before.as_ref());
        }
        appended
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

    /// Makes the file, if there is none yet, only when a model has answered, or with [`Self::write_out`]: somebody else's
    /// file tells of the words that it begins with.
    pub fn await_answer(&self) {
        self.lock().awaits_answer = true;
    }

    /// Makes the file of a session that [awaits an answer](Self::await_answer). What people should be told of that.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_out(&self) -> Result<Vec<StoreNotice>, StoreError> {
        let mut inner = self.lock();
        if !std::mem::take(&mut inner.awaits_answer) || !inner.due {
            return Ok(Vec::new());
        }
        let written = inner.append(None, Vec::new());
        inner.awaits_answer = written.is_err();
        Ok(written?.notices)
    }

    /// Whether a disk that refuses stops the session (as it does at first) or only its saving: entries are then kept
    /// in memory and written as soon as the disk takes them.
    pub fn set_keep_going(&self, keep_going: bool) {
        self.lock().keep_going = keep_going;
    }

    /// What is in memory only because the disk refuses it; none as a rule.
    #[must_use]
    pub fn unsaved(&self) -> Option<Unsaved> {
        self.lock().unsaved.clone()
    }

    /// Tries once more to write what the disk refused. What people should be told of that.
    pub fn save_again(&self) -> Vec<StoreNotice> {
        let mut inner = self.lock();
        if inner.unsaved.is_none() {
            return Vec::new();
        }
        let stored = inner.look().and_then(|(refused, mut notices)| match refused {
            Some(error) => Err(error),
            None => inner.store(&[], true, false, &mut notices).map(|_| notices),
        });
        match stored {
            Ok(mut notices) => {
                notices.extend(inner.saved());
                notices
            }
            Err(error) => inner.refused(0, error.to_string()).into_iter().collect(),
        }
    }

    /// Keeps `claim` until the session has its file.
    #[must_use]
    pub fn with_claim(self, claim: Option<Claim>) -> Self {
        let mut inner = self.lock();
        if !matches!(inner.home, Home::File { .. }) {
            inner.claim = claim;
        }
        drop(inner);
        self
    }

    /// What makes durable all that was written so far; none without a file.
    #[must_use]
    pub fn syncer(&self) -> Option<Syncer> {
        // To be used outside of the lock: a disk may take seconds, and others want to look at the session meanwhile.
        self.lock().home.syncer()
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
    /// See [`SessionStore::append`].
    fn append(&mut self, op: Option<&str>, entries: Vec<NewEntry>) -> Result<Appended, StoreError> {
        self.home.writable()?;
        let (refused, mut notices) = self.look()?;
        if let Some(entries) = op.and_then(|op| self.earlier(op)) {
            return Ok(Appended { entries, view: self.tree.view().clone(), repeated: true, notices });
        }
        let batch = Batch::build(&self.tree, entries, now_ms())?;
        if let Some(op) = op {
            self.ops.assign(op, batch.entries.iter().map(|entry| entry.id.clone()).collect());
        }
        let due = self.due || batch.is_conversation();
        self.awaits_answer &= !batch.is_answered();
        let placed = match refused {
            Some(error) => self.home.keep(&batch.lines, error),
            None => self.store(&batch.lines, due && !self.awaits_answer, self.keep_going, &mut notices)?,
        };
        self.due = due;
        match placed.refused {
            Some(error) => notices.extend(self.refused(batch.entries.len(), error.to_string())),
            None => notices.extend(self.saved()),
        }
        for (entry, range) in batch.entries.iter().zip(&batch.ranges) {
            let text = placed.offset.and_then(|offset| {
                let length = u32::try_from(range.len()).ok()?;
                Some(LineText::Stored(Span { offset: offset + range.start as u64, length }))
            });
            self.tree.push(entry.clone(), text);
        }
        let view = self.tree.view().clone();
        if batch.entries.iter().any(|entry| matches!(entry.body, EntryBody::Compaction { .. })) {
            // What was folded away is not looked at again, as a rule: a long run stays small.
            view.forget_outside_context();
        }
        Ok(Appended { entries: batch.entries, view, repeated: false, notices })
    }

    /// Looks what other programs did to the file. When the session may go on without it, a refusal is no error.
    fn look(&mut self) -> Result<(Option<StoreError>, Vec<StoreNotice>), StoreError> {
        let (foreign, restored) = match self.home.look(&mut self.tree) {
            Err(error) if self.keep_going && error.is_refusal() => return Ok((Some(error), Vec::new())),
            changes => changes?,
        };
        let mut notices = Vec::new();
        if foreign > 0 {
            notices.push(StoreNotice::ForeignEntries(foreign));
        }
        if restored {
            notices.extend(self.home.path().map(|path| StoreNotice::Restored(path.to_owned())));
        }
        Ok((None, notices))
    }

    /// Writes lines. With the file, the claim on its id ends.
    fn store(
        &mut self,
        lines: &[u8],
        conversation: bool,
        keep_going: bool,
        notices: &mut Vec<StoreNotice>,
    ) -> Result<Placed, StoreError> {
        let unborn = matches!(self.home, Home::Unborn { .. });
        // What was refused once was worth a file.
        let conversation = conversation || self.unsaved.is_some();
        let placed = self.home.store(&mut self.tree, lines, conversation, keep_going)?;
        if unborn && let Home::File { file, .. } = &self.home {
            self.claim = None;
            notices.extend(file.lock_notice().map(StoreNotice::NotLocked));
        }
        Ok(placed)
    }

    /// Notes that entries are in memory only. The notice, unless the same was told before.
    fn refused(&mut self, entries: usize, reason: String) -> Option<StoreNotice> {
        let before = self.unsaved.take().unwrap_or(Unsaved { entries: 0, reason: String::new() });
        let notice = (before.reason != reason).then(|| StoreNotice::NotSaved(reason.clone()));
        self.unsaved = Some(Unsaved { entries: before.entries + entries, reason });
        notice
    }

    /// Notes that everything is in the file.
    fn saved(&mut self) -> Option<StoreNotice> {
        self.unsaved.take().map(|unsaved| StoreNotice::Saved(unsaved.entries))
    }

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
