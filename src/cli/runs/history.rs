//! What the sessions of a run tell of it.

use std::path::{Path, PathBuf};

use super::spec::RunSpec;
use crate::{
    actors::front::unattended::{look::Look, task::Message},
    protocol::EntryId,
    store::{SessionStore, StoreError, TreeView},
    tools::{CheckpointConfig, Checkpoints},
};

/// What sessions of a run tell, in the order in which they followed one another.
#[derive(Default)]
pub struct History {
    /// How many there are.
    pub sessions: u32,
    /// Prompts that were delivered in them.
    pub delivered: usize,
    /// What was done in them.
    pub look: Look,
    /// The last one.
    pub last: Option<TreeView>,
}

impl History {
    /// What these sessions tell.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn of(paths: &[PathBuf], spec: &RunSpec) -> Result<Self, StoreError> {
        let mut history = Self::default();
        // A session in which nothing was said has no file.
        for path in paths.iter().filter(|path| path.exists()) {
            let view = SessionStore::open_read_only(path)?.store.view();
            history.add(path, view, spec);
        }
        Ok(history)
    }

    /// The run's first entry in the session that follows these.
    #[must_use]
    pub fn first(&self, spec: &RunSpec) -> EntryId {
        match self.sessions {
            0 => Message::Prompt(0).id(&spec.stem),
            n => Message::Anew(n).id(&spec.stem),
        }
    }

    /// Adds the next session.
    pub fn add(&mut self, path: &Path, view: TreeView, spec: &RunSpec) {
        let config = CheckpointConfig::new(path.to_owned(), view.header());
        let taken = Checkpoints::new(CheckpointConfig { workspace: None, ..config });
        self.look.add(Look::at(&view, &self.first(spec), Some(&taken)));
        let delivered = |place: &usize| view.find(&Message::Prompt(*place).id(&spec.stem)).is_some();
        self.delivered += (self.delivered..spec.prompts.len()).take_while(delivered).count();
        self.sessions += 1;
        self.last = Some(view);
    }
}
