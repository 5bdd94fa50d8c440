//! An agent's session begins, ends or is replaced by another: why, and what extensions are asked about it.

use serde::{Deserialize, Serialize};

use super::entry::EntryId;

/// Which session takes the place of an agent's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChange {
    /// A new one in the same folder.
    New {
        /// The session that it comes from, as its header says.
        parent_session: Option<String>,
    },
    /// The one in this file; a new one when there is no such file.
    Open(String),
    /// A new one with the branch up to the entry before this user message.
    Fork(EntryId),
    /// A new one with the whole branch.
    Clone,
    /// The same again, with settings, resources and extensions as they are now.
    Reload,
}

impl SessionChange {
    /// Why the session begins that takes the place.
    #[must_use]
    pub fn start_reason(&self) -> SessionStartReason {
        match self {
            Self::New { .. } => SessionStartReason::New,
            Self::Open(_) => SessionStartReason::Resume,
            Self::Fork(_) | Self::Clone => SessionStartReason::Fork,
            Self::Reload => SessionStartReason::Reload,
        }
    }
}

/// Why a session begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionStartReason {
    /// The program started.
    #[default]
    Startup,
    /// Settings, resources and extensions were read again.
    Reload,
    /// A new session was asked for.
    New,
    /// Another session was opened.
    Resume,
    /// It was taken from another session.
    Fork,
}

/// Why a session ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionEndReason {
    /// The program ends, or nobody wants the agent any more.
    #[default]
    Quit,
    /// Settings, resources and extensions are read again.
    Reload,
    /// A new session was asked for.
    New,
    /// Another session is opened.
    Resume,
    /// Another session was taken from it.
    Fork,
}

impl From<SessionStartReason> for SessionEndReason {
    /// Why the session before one ended that begins for this reason.
    fn from(reason: SessionStartReason) -> Self {
        match reason {
            SessionStartReason::Startup => Self::Quit,
            SessionStartReason::Reload => Self::Reload,
            SessionStartReason::New => Self::New,
            SessionStartReason::Resume => Self::Resume,
            SessionStartReason::Fork => Self::Fork,
        }
    }
}

/// Which part of a branch a fork takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForkPosition {
    /// Up to the entry before the one that is named.
    #[default]
    Before,
    /// Up to the one that is named.
    At,
}

/// Another session is about to take the place of this one.
#[derive(Clone, Debug, PartialEq)]
pub struct BeforeSwitchAsk {
    /// Whether it is a new one.
    pub is_new: bool,
    /// The file of the other session; none for a new one.
    pub target_session_file: Option<String>,
}

/// A session is about to be taken from this one, and to take its place.
#[derive(Clone, Debug, PartialEq)]
pub struct BeforeForkAsk {
    /// The entry that is meant; none for a clone of a session without entries.
    pub entry_id: Option<EntryId>,
    /// How much of the branch is taken.
    pub position: ForkPosition,
}

/// Whether the session may be replaced. Without an answer it may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplaceVerdict {
    /// It may not: everything stays as it is.
    pub cancel: bool,
}

/// The session is about to end. What is not kept by then is lost.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionShutdownAsk {
    /// Why.
    pub reason: SessionEndReason,
    /// The file of the session that takes its place.
    pub target_session_file: Option<String>,
}
