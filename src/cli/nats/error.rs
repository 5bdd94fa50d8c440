//! Why something on a server did not work, for the user.

use crate::{
    actors::nats::NatsError,
    cli::{exit::Exit, runs::folder::FolderError},
};

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum OnError {
    /// The words make no sense.
    #[error("{0}")]
    Usage(String),
    /// There is no such run, or there are several.
    #[error(transparent)]
    Run(#[from] FolderError),
    /// The server, or the way to it.
    #[error(transparent)]
    Nats(#[from] NatsError),
    /// This machine.
    #[error("{0}")]
    System(String),
}

impl OnError {
    /// The exit code that goes with it.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage(_)
            | Self::Run(FolderError::Unknown(_) | FolderError::Ambiguous { .. } | FolderError::BadId(_)) => Exit::Usage,
            Self::Nats(_) | Self::Run(FolderError::Io { .. }) | Self::System(_) => Exit::Failed,
        }
    }
}
