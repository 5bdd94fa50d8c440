//! A copy of the session that is kept elsewhere, and that decides whether this process may still add to it.

use std::{fmt, future::Future, path::Path, pin::Pin};

use tokio_util::sync::CancellationToken;

/// This process is not the owner of its session any longer: nothing that it adds counts, and it may start nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session is not ours any longer: {0}")]
pub struct Lost(
    /// How it is known.
    pub String,
);

/// What a commit comes to.
pub type Committing<'a> = Pin<Box<dyn Future<Output = Result<(), Lost>> + Send + 'a>>;

/// Keeps a copy of sessions elsewhere. The session writer awaits it before others learn of what it wrote.
pub trait Replica: Send + Sync + fmt::Debug {
    /// Returns when what the session file `session` and its journal hold is in the copy. Costs a round trip when they
    /// have changed since the last time.
    fn commit<'a>(&'a self, session: &'a Path) -> Committing<'a>;

    /// Cancelled as soon as it is known that another process owns the session.
    fn lost(&self) -> &CancellationToken;

    /// Whether something may begin now that nobody else could take back. False also when the ownership was not confirmed
    /// for so long that another process may have it: after this one was stopped for a while, say.
    fn is_ours(&self) -> bool {
        !self.lost().is_cancelled()
    }
}
