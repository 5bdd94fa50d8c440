//! Why a server cannot be used.

/// See the module. Its texts have no secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NatsError {
    /// Nobody answers there.
    #[error("{servers} cannot be reached: {cause}. Is nats-server running there, and is the address right?")]
    Unreachable {
        /// Which servers, without secrets.
        servers: String,
        /// Why not.
        cause: String,
    },
    /// The server does not let us in.
    #[error(
        "{servers} refuses us: {cause}. Give a credentials file, an nkey, or user and password in the URL that the \
         server knows."
    )]
    Refused {
        /// Which servers, without secrets.
        servers: String,
        /// What it says.
        cause: String,
    },
    /// A secure connection cannot be made.
    #[error(
        "no secure connection to {servers}: {cause}. Check the certificate of the authority, and our own and its key."
    )]
    Tls {
        /// Which servers, without secrets.
        servers: String,
        /// What is wrong.
        cause: String,
    },
    /// A file of the address cannot be used.
    #[error("cannot use {file}: {cause}")]
    File {
        /// Which.
        file: String,
        /// Why not.
        cause: String,
    },
    /// The server has no JetStream.
    #[error("{servers} has no JetStream: start it with `nats-server -js`, or enable JetStream for the account")]
    NoJetStream {
        /// Which servers, without secrets.
        servers: String,
    },
    /// The server forbids something.
    #[error("the server does not permit to {action}: {cause}. docs/workers.md lists what each side needs.")]
    Forbidden {
        /// What was tried, as a verb.
        action: String,
        /// What it says.
        cause: String,
    },
    /// A name that cannot be a part of a subject.
    #[error("\"{0}\" cannot be used as a name: letters, digits, '-' and '_'; '.' only within an id of a run")]
    BadName(String),
    /// Something is larger than the server takes.
    #[error("{what} has {size} bytes, and the server takes {limit} at most: raise its max_payload")]
    TooLarge {
        /// What.
        what: String,
        /// How large it is.
        size: usize,
        /// How large it may be.
        limit: usize,
    },
    /// What is stored makes no sense.
    #[error("{what} cannot be read: {cause}")]
    Unreadable {
        /// What.
        what: String,
        /// Why not.
        cause: String,
    },
    /// A file of this machine could not be read or written.
    #[error("cannot {action}: {cause}")]
    Disk {
        /// What was tried, as a verb with the file.
        action: String,
        /// Why not.
        cause: String,
    },
    /// Nobody answers on the other side of a question.
    #[error("the run works nowhere right now")]
    NoOne,
    /// Another owner has come.
    #[error(transparent)]
    Lost(#[from] crate::store::replica::Lost),
    /// Anything else that the server, or the way to it, refuses.
    #[error("cannot {action}: {cause}")]
    Failed {
        /// What was tried, as a verb.
        action: String,
        /// Why not.
        cause: String,
    },
}

impl NatsError {
    /// Whether the same may work later: a server that is away comes back.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Failed { .. })
    }

    /// Whether the trouble is in what is stored, or on this machine, and not with the server: the same fails again here.
    #[must_use]
    pub fn lasts(&self) -> bool {
        matches!(self, Self::Unreadable { .. } | Self::Disk { .. } | Self::TooLarge { .. })
    }
}
