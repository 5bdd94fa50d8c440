//! The session as a tree: an append-only log of entries, each with the entry before it on its branch.
//!
//! Nothing here writes. A [`Tree`] is what the one writer of a session holds; a [`TreeView`] is what everybody else
//! gets: an immutable snapshot of the log and a leaf, as cheap to make and to clone as a few counters. The content of
//! an entry is parsed when somebody asks for it.
//!
//! | module | what |
//! |---|---|
//! | [`append_vec`], [`log`], [`record`] | the log that views share |
//! | [`link`] | parents, without cycles, over damaged lines |
//! | [`writer`], [`ids`] | adding to the log |
//! | [`context`], [`projection`] | what a model gets to see at a leaf |
//! | [`selection`] | which model was selected there |
//! | [`check`] | whether an entry makes sense there |
//! | [`left`] | what is left behind when the conversation goes on at another entry |
//! | [`branch_state`] | what a branch says about the session, without its messages |
//! | [`stream`] | long lists for clients, element by element |
//! | [`labels`] | names of entries and of the session |
//! | [`nodes`] | the whole tree, as clients get it |
//! | [`totals`] | tokens and cost of all branches |
//! | [`branch`] | a branch as a session of its own |

mod append_vec;
pub mod branch;
pub mod branch_state;
pub mod check;
pub mod context;
pub mod ids;
pub mod labels;
pub mod left;
mod link;
mod log;
pub mod nodes;
mod projection;
mod record;
pub mod selection;
mod stream;
pub mod totals;
pub mod writer;

#[cfg(test)]
mod tests;

use std::{borrow::Cow, fmt, sync::Arc};

pub use branch_state::BranchState;
pub use check::EntryFault;
pub use context::{ContextEntry, SessionContext};
pub use labels::Label;
pub use left::{LeftEntry, with_messages};
pub use nodes::TreeNode;
pub use selection::BranchSelection;
pub use totals::Totals;
pub use writer::Tree;

use self::{log::Log, record::Record};
use super::jsonl::{EntryKind, Role};
use crate::protocol::{AgentMessage, Entry, EntryBody, EntryId, entry::SessionHeader};

/// A session at one moment. Clones share everything.
#[derive(Clone)]
pub struct TreeView {
    log: Arc<Log>,
    length: usize,
    leaf: Option<u32>,
}

/// An entry of a view.
#[derive(Clone, Copy)]
pub struct EntryRef<'v> {
    view: &'v TreeView,
    at: u32,
    record: &'v Record,
}

impl TreeView {
    /// The session's header.
    #[must_use]
    pub fn header(&self) -> &SessionHeader {
        &self.log.header
    }

    /// The number of entries, on all branches.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// True when there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The entry that the next one will hang on; none before the first, and after a reset.
    #[must_use]
    pub fn leaf(&self) -> Option<EntryRef<'_>> {
        self.leaf.and_then(|leaf| self.at(leaf))
    }

    /// The same entries with another leaf; `None` when there is no such entry.
    #[must_use]
    pub fn with_leaf(&self, leaf: Option<&EntryId>) -> Option<Self> {
        let leaf = match leaf {
            None => None,
            Some(id) => Some(self.find(id)?.at),
        };
        Some(Self { leaf, ..self.clone() })
    }

    /// The entry of that id.
    #[must_use]
    pub fn find(&self, id: &EntryId) -> Option<EntryRef<'_>> {
        self.log.find(id).and_then(|at| self.at(at))
    }

    /// The content of the entry of that id.
    #[must_use]
    pub fn get(&self, id: &EntryId) -> Option<Arc<Entry>> {
        self.find(id).map(|entry| entry.entry())
    }

    /// The entry at a place in the file: see [`EntryRef::position`].
    #[must_use]
    pub fn entry_at(&self, position: usize) -> Option<EntryRef<'_>> {
        self.at(u32::try_from(position).ok()?)
    }

    /// All entries in the order of the file.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = EntryRef<'_>> {
        self.entries_from(0)
    }

    /// The entries behind `id` in the order of the file; `None` when there is no such entry.
    pub fn entries_since(&self, id: &EntryId) -> Option<impl DoubleEndedIterator<Item = EntryRef<'_>>> {
        self.find(id).map(|entry| self.entries_from(entry.at as usize + 1))
    }

    fn entries_from(&self, first: usize) -> impl DoubleEndedIterator<Item = EntryRef<'_>> {
        (first..self.length).filter_map(|at| self.at(u32::try_from(at).ok()?))
    }

    /// The entries from the leaf up to the root: whoever needs the end of a branch only stops early.
    pub fn ancestors(&self) -> impl Iterator<Item = EntryRef<'_>> {
        std::iter::successors(self.leaf(), EntryRef::parent)
    }

    /// The entries from the root to the leaf. Costs time in the length of the branch.
    #[must_use]
    pub fn path(&self) -> Vec<EntryRef<'_>> {
        let mut path: Vec<_> = self.ancestors().collect();
        path.reverse();
        path
    }

    /// The entries that hang on `parent`, or the roots, in the order of the file.
    #[must_use]
    pub fn children(&self, parent: Option<&EntryId>) -> Vec<EntryRef<'_>> {
        let above = match parent {
            None => None,
            Some(id) => match self.find(id) {
                Some(parent) => Some(parent.at),
                None => return Vec::new(),
            },
        };
        self.entries().filter(|entry| entry.record.parent == above).collect()
    }

    /// The last entry that is on the path of the leaf and on that of `other`.
    #[must_use]
    pub fn common_ancestor(&self, other: &EntryId) -> Option<EntryRef<'_>> {
        let mine: std::collections::HashSet<u32> = self.ancestors().map(|entry| entry.at).collect();
        std::iter::successors(self.find(other), EntryRef::parent).find(|entry| mine.contains(&entry.at))
    }

    /// The messages that a user wrote, on all branches, with their texts: where the session can be forked.
    #[must_use]
    pub fn fork_messages(&self) -> Vec<(EntryId, String)> {
        self.entries()
            .filter(|entry| entry.kind() == EntryKind::Message(Role::User))
            .filter_map(|entry| Some((entry.id().clone(), entry.user_text()?)))
            .filter(|(_, text)| !text.is_empty())
            .collect()
    }

    /// Forgets the content of entries that the context of the leaf does not show and the file can give again.
    pub fn forget_outside_context(&self) {
        let shown: std::collections::HashSet<u32> = self.context_window().into_iter().map(|entry| entry.at).collect();
        self.entries().filter(|entry| !shown.contains(&entry.at)).for_each(|entry| entry.record.forget());
    }

    /// Forgets the content of all entries that the file can give again: nobody is going to look at them soon.
    pub fn forget(&self) {
        self.entries().for_each(|entry| entry.record.forget());
    }

    fn at(&self, at: u32) -> Option<EntryRef<'_>> {
        let record = self.log.record(at).filter(|_| (at as usize) < self.length)?;
        Some(EntryRef { view: self, at, record })
    }
}

impl fmt::Debug for TreeView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leaf = self.leaf().map(|leaf| leaf.id().clone());
        f.debug_struct("TreeView")
            .field("session", &self.header().id)
            .field("len", &self.length)
            .field("leaf", &leaf)
            .finish()
    }
}

impl<'v> EntryRef<'v> {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &'v EntryId {
        &self.record.id
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> EntryKind {
        self.record.kind
    }

    /// The number of entries before it in the file.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at as usize
    }

    /// The entry before it on its branch. Over a damaged line it is the one before that line.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.record.parent.and_then(|parent| self.view.at(parent))
    }

    /// Its content. What cannot be read any more is an entry of the unknown kind `unreadable`.
    #[must_use]
    pub fn entry(&self) -> Arc<Entry> {
        self.record.entry(|| self.view.log.source())
    }

    /// The same, for somebody who walks over a whole session: what was parsed for it is not kept in memory.
    #[must_use]
    pub fn entry_once(&self) -> Arc<Entry> {
        self.record.entry_once(|| self.view.log.source())
    }

    /// Forgets its content, when the file can give it again.
    pub fn forget(&self) {
        self.record.forget();
    }

    /// Whether its content is held in memory.
    #[cfg(test)]
    pub fn is_parsed(&self) -> bool {
        self.record.is_parsed()
    }

    /// Its line, fields included that this version does not know.
    ///
    /// # Errors
    /// When the session file does not give it any more: the reason.
    pub fn text(&self) -> Result<Cow<'v, str>, String> {
        self.record.text(|| self.view.log.source())
    }

    /// The text of a user message, its blocks joined without a separator; `None` for other entries.
    #[must_use]
    pub fn user_text(&self) -> Option<String> {
        match &self.entry_once().body {
            EntryBody::Message { message: AgentMessage::User(user) } => Some(user.content.text("")),
            _ => None,
        }
    }
}
