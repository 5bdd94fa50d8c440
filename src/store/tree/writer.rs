//! Adding to the log.

use std::sync::Arc;

use super::{TreeView, log::Log, record::Record};
use crate::{
    protocol::{AgentMessage, Entry, EntryId, entry::SessionHeader},
    store::jsonl::{Gap, Line, LineText, file::LineSource, kind::tells_of_work},
};

/// The log and the leaf, held by the one writer of a session.
pub struct Tree(TreeView);

impl Tree {
    /// A session without entries.
    #[must_use]
    pub fn new(header: SessionHeader) -> Self {
        Self::load(header, Vec::new(), &[], None)
    }

    /// A session with the entries of a file; the leaf is the last one.
    #[must_use]
    pub fn load(header: SessionHeader, lines: Vec<Line>, gaps: &[Gap], source: Option<Arc<dyn LineSource>>) -> Self {
        let log = Arc::new(Log::load(header, lines, gaps, source));
        let length = log.records.len();
        let leaf = length.checked_sub(1).and_then(|last| u32::try_from(last).ok());
        Self(TreeView { log, length, leaf })
    }

    /// The tree as it is now.
    #[must_use]
    pub fn view(&self) -> &TreeView {
        &self.0
    }

    /// Adds a new entry below the leaf; it becomes the leaf. `text` says where a file holds it.
    pub fn push(&mut self, entry: Arc<Entry>, text: Option<LineText>) {
        let of_jobs = matches!(
            entry.body.as_message(),
            Some(AgentMessage::ToolResult(result)) if tells_of_work(&result.tool_name)
        );
        let record = Record::new(entry, self.0.leaf, text);
        self.0.leaf = Some(self.0.log.push(record, of_jobs));
        self.0.length = self.0.log.records.len();
    }

    /// Adds entries that another program wrote; those that are known already are left out. The leaf stays. Returns
    /// how many were new.
    pub fn merge(&mut self, lines: Vec<Line>) -> usize {
        let before = self.0.length;
        for line in lines.into_iter().filter(|line| self.0.log.find(&line.id).is_none()) {
            let parent = line.parent.as_ref().and_then(|parent| self.0.log.find(parent));
            self.0.log.push(Record::read(line.id, parent, line.kind, line.text), line.of_jobs);
        }
        self.0.length = self.0.log.records.len();
        self.0.length - before
    }

    /// Moves the leaf; false when there is no such entry.
    pub fn set_leaf(&mut self, leaf: Option<&EntryId>) -> bool {
        match self.0.with_leaf(leaf) {
            Some(view) => self.0 = view,
            None => return false,
        }
        true
    }

    /// Says where stored lines are read from now on.
    pub fn set_source(&mut self, source: Arc<dyn LineSource>) {
        self.0.log.set_source(source);
    }

    /// True when an entry has this id.
    #[must_use]
    pub fn contains(&self, id: &EntryId) -> bool {
        self.0.log.find(id).is_some()
    }
}
