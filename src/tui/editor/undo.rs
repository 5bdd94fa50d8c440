//! What was changed, to be taken back.

use std::ops::Range;

use super::Fragment;

/// Changes that can be taken back.
const MAX_CHANGES: usize = 1000;

/// How to take a change back.
#[derive(Clone, Debug)]
pub struct Change {
    /// Where it was.
    pub at: usize,
    /// Bytes that are there since.
    pub len: usize,
    /// What was there before.
    pub was: Fragment,
    /// Where the caret was before.
    pub caret: usize,
}

/// The changes of a text.
#[derive(Clone, Debug, Default)]
pub struct UndoLog {
    done: Vec<Change>,
    undone: Vec<Change>,
}

impl UndoLog {
    /// Remembers a change.
    pub fn push(&mut self, change: Change) {
        self.undone.clear();
        if self.done.len() == MAX_CHANGES {
            self.done.remove(0);
        }
        self.done.push(change);
    }

    /// Makes text that was typed behind the latest change a part of it. Whether there was such a change.
    pub fn extend(&mut self, at: usize, len: usize) -> bool {
        match self.done.last_mut() {
            Some(last) if last.at + last.len == at => {
                last.len += len;
                self.undone.clear();
                true
            }
            _ => false,
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The change that is to be taken back next.
    pub fn undo(&mut self) -> Option<Change> {
        self.done.pop()
    }

    /// The change that is to be done again next.
    pub fn redo(&mut self) -> Option<Change> {
        self.undone.pop()
    }

    /// Remembers how to do again what was taken back.
    pub fn undid(&mut self, change: Change) {
        self.undone.push(change);
    }

    /// Remembers how to take back what was done again.
    pub fn redid(&mut self, change: Change) {
        self.done.push(change);
    }
}

impl Change {
    /// The range of the text that goes again.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.at..self.at + self.len
    }
}
