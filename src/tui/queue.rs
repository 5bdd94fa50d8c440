//! Messages that wait on the screen's side: those that were written while the session is being replaced or compacted,
//! which no agent takes.

use crate::protocol::command::QueueKind;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalQueue {
    waiting: Vec<(QueueKind, String)>,
}

impl LocalQueue {
    /// Adds a text.
    pub fn push(&mut self, kind: QueueKind, text: String) {
        self.waiting.push((kind, text));
    }

    /// The texts, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.waiting.iter().map(|(_, text)| text.as_str())
    }

    /// Takes all of them, in order.
    pub fn take(&mut self) -> Vec<(QueueKind, String)> {
        std::mem::take(&mut self.waiting)
    }
}
