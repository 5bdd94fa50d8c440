//! The messages that a loop run added. A long run adds more than memory should hold: they are read again from the session
//! when somebody wants them.

use std::{fmt, sync::Arc};

use serde::{Serialize, Serializer};

use super::{AgentMessage, EntryId};

/// Where stored messages are read again.
pub trait StoredMessages: Send + Sync {
    /// The message that an entry holds; none when it holds none, or is not there.
    fn message(&self, entry: &EntryId) -> Option<AgentMessage>;
}

/// See the module. On the wire it is the list of the messages themselves.
#[derive(Clone, Default)]
pub struct RunMessages {
    entries: Vec<EntryId>,
    stored: Option<Arc<dyn StoredMessages>>,
}

impl RunMessages {
    /// The messages of these entries, in order, which cannot be read yet.
    #[must_use]
    pub fn of(entries: Vec<EntryId>) -> Self {
        Self { entries, stored: None }
    }

    /// Says where they are read.
    #[must_use]
    pub fn read_from(self, stored: Arc<dyn StoredMessages>) -> Self {
        Self { stored: Some(stored), ..self }
    }

    /// Their entries, in order.
    #[must_use]
    pub fn entries(&self) -> &[EntryId] {
        &self.entries
    }

    /// The messages, each read when it is its turn. What cannot be read any more is left out.
    pub fn iter(&self) -> impl Iterator<Item = AgentMessage> {
        let stored = self.stored.iter();
        stored.flat_map(|stored| self.entries.iter().filter_map(|entry| stored.message(entry)))
    }
}

impl PartialEq for RunMessages {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl fmt::Debug for RunMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RunMessages").field(&self.entries).finish()
    }
}

impl Serialize for RunMessages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
