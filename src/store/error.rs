//! What can go wrong with stored things.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{jsonl::VERSION, lock::Holder, replica::Lost};

/// A failure of the store. Each names the thing and the next step.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file without a session's header.
    #[error("Session file is not a valid pi session: {}", .0.display())]
    NotASession(PathBuf),
    /// A file of a later program.
    #[error(
        "{} has session format {found}, and this version of Troupe writes format {VERSION}: it can be read \
         (--read-only) but neither continued nor forked. Use a newer Troupe.",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
    /// Somebody else writes the file.
    #[error(
        "{} is open in another Troupe process{}. Wait until that one ends, go on in a copy (--fork with its path or id), \
         or look at it with --read-only.",
        path.display(),
        told(holder.as_deref())
    )]
    Locked {
        /// The file.
        path: PathBuf,
        /// The process, where the system tells.
        holder: Option<Box<Holder>>,
    },
    /// The system has locks and did not give one.
    #[error(
        "cannot lock {}: {source}. Without a lock two processes could write it: try again, go on in a copy (--fork with its \
         path or id), or look at it with --read-only.",
        path.display()
    )]
    NoLock {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another process made the file of this session first.
    #[error(
        "{} was made by another process in the meantime; nothing of this session was written there. Open that one with \
         --session, or begin another.",
        .0.display()
    )]
    MadeByAnother(PathBuf),
    /// Another process is about to begin a session of this id.
    #[error(
        "A session with the id {id:?} is being begun by another Troupe process{}. Choose another id, or wait until that \
         one ends.",
        told(holder.as_deref())
    )]
    Claimed {
        /// The id.
        id: String,
        /// The process, where the system tells.
        holder: Option<Box<Holder>>,
    },
    /// The file lost or changed bytes that were read or written before.
    #[error(
        "{} was changed by another program and no longer holds what this process knows; nothing was written. \
         Fork the session to keep what is in memory.",
        .0.display()
    )]
    Rewritten(PathBuf),
    /// The session was opened to be read.
    #[error("{} is open for reading only. Use --fork with its path or id to go on in a copy.", .0.display())]
    ReadOnly(PathBuf),
    /// No such entry.
    #[error("Entry {0} not found")]
    UnknownEntry(String),
    /// The entry is of a kind that this cannot be done with.
    #[error("Entry {0} is not a user message; choose one of the session's user messages")]
    NotAUserMessage(String),
    /// An entry's id that exists already was asked for.
    #[error("entry id {0} is taken")]
    IdTaken(String),
    /// A session id that could be mistaken for something else in a path or on a command line.
    #[error("Invalid session id {0:?}: use letters, digits, '.', '_' and '-', with a letter or digit at both ends")]
    BadSessionId(String),
    /// A new session would take an id that exists.
    #[error("Session id {0:?} exists already; choose another or open it with --session")]
    SessionIdTaken(String),
    /// A file is in the way.
    #[error("{} exists already; choose another name, or --force to replace it", .0.display())]
    Exists(PathBuf),
    /// Several sessions are meant by this.
    #[error("'{text}' means several sessions: {}; give more of the id, or the file", .sessions.join(", "))]
    Ambiguous {
        /// What was given.
        text: String,
        /// Ids, or files where ids are the same.
        sessions: Vec<String>,
    },
    /// No session is meant by this.
    #[error("No session found matching '{0}'")]
    SessionNotFound(String),
    /// The session's folder is not there.
    #[error(
        "The folder of session {} does not exist: {cwd}. Restore it, or use --fork to go on in the current folder.",
        path.display()
    )]
    FolderGone {
        /// The session.
        path: PathBuf,
        /// Its folder.
        cwd: String,
    },
    /// There is nothing to clone yet.
    #[error("The session is not saved yet; send a message first")]
    NotSaved,
    /// A JSON file of ours that cannot be understood.
    #[error("{} is not valid: {reason}. Mend it or move it away; it was left as it is.", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        reason: String,
    },
    /// Another process owns the session.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// A value that cannot be written as JSON.
    #[error("an entry cannot be written as JSON: {0}")]
    Encode(#[from] serde_json::Error),
}

/// A holder in brackets, behind what it holds; nothing when nobody knows.
pub(super) fn told(holder: Option<&Holder>) -> String {
    holder.map_or(String::new(), |holder| format!(" ({holder})"))
}

impl StoreError {
    /// True when what refuses is the disk or what stands for it: a full one, a read-only one, a quota, a limit for files,
    /// a fault, a folder that is gone, a file that somebody changed. The same may work later, and what was to be written
    /// is good.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::NoLock { .. } | Self::Rewritten(_))
    }

    /// True when it may pass by itself.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        self.is_refusal() && !matches!(self, Self::Rewritten(_))
    }

    /// Wraps a refusal of the operating system.
    pub(crate) fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Io { action, path, source }
    }
}
