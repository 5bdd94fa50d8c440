//! What stands in the conversation.

use std::sync::Arc;

use crate::protocol::event::NoticeLevel;

/// An item. Small: there may be hundreds of thousands.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// The start page.
    Header,
    /// An entry of the session, by its position in the file.
    Entry(usize),
    /// Something that people should know, and no session keeps.
    Notice(Arc<Notice>),
}

impl Item {
    /// The position of its entry.
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        match self {
            Self::Entry(position) => Some(*position),
            _ => None,
        }
    }
}

/// Something that people should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How bad it is.
    pub level: NoticeLevel,
    /// What, and what to do.
    pub text: String,
}
