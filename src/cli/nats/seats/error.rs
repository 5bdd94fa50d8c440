//! Why the nodes of a server cannot be used for an agent.

use std::io;

use crate::actors::nats::NatsError;

/// See the module.
#[derive(Debug, thiserror::Error)]
pub(super) enum SeatError {
    /// The server, or the way to it.
    #[error(transparent)]
    Nats(#[from] NatsError),
    /// What is known of the agent's run does not fit.
    #[error("the run {run} cannot be an agent of this team: {cause}")]
    Refused {
        /// The run.
        run: String,
        /// Why not.
        cause: String,
    },
    /// The agent's session cannot be brought here.
    #[error("the session of {name} cannot be brought here: {source}")]
    Session {
        /// The agent.
        name: String,
        /// Why not.
        source: io::Error,
    },
}

impl SeatError {
    /// Whether the same may work later: a server that is away, a disk that is full.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Nats(error) => error.may_pass() || matches!(error, NatsError::Disk { .. }),
            Self::Refused { .. } => false,
            Self::Session { .. } => true,
        }
    }
}
