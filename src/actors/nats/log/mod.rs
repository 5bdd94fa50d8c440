//! The sessions of a run, with the fence that only its owner passes.

use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::{Hub, NatsError};
use crate::store::replica::{Committing, Replica};

/// The log of a run, owned by this process. Clones are handles of the same one.
#[derive(Clone, Debug)]
pub struct SessionLog(());

impl SessionLog {
    /// Takes the log of a run over: whoever had it before cannot add to it from now on. Then makes the files below
    /// `folder` what the log says, up to the last change that was acknowledged; where there is no log yet, the files
    /// stay as they are.
    ///
    /// `epoch` is that of the lease; a process that takes the log again under the same epoch takes it from the process
    /// before.
    ///
    /// # Errors
    /// [`NatsError::Lost`] when an owner of a later epoch has it; anything that the server or the disk refuses.
    pub async fn take(hub: &Hub, run: &str, epoch: u64, folder: &Path) -> Result<Self, NatsError> {
        let _ = (hub, run, epoch, folder);
        todo!()
    }

    /// Makes the files below `folder` what the log says right now, without taking it over. True when there is a log.
    ///
    /// # Errors
    /// The server does not answer, or the disk refuses.
    pub async fn restore(hub: &Hub, run: &str, folder: &Path) -> Result<bool, NatsError> {
        let _ = (hub, run, folder);
        todo!()
    }

    /// Stores all files of the run as they were with the last commit in one piece, and removes what the log has of
    /// them. It does so by itself whenever the log has grown large; the end of a run is a good moment, too.
    ///
    /// # Errors
    /// The server does not answer, or the log is another's.
    pub async fn snapshot(&self) -> Result<(), NatsError> {
        todo!()
    }
}

impl Replica for SessionLog {
    fn commit<'a>(&'a self, session: &'a Path) -> Committing<'a> {
        let _ = session;
        todo!()
    }

    fn lost(&self) -> &CancellationToken {
        todo!()
    }
}
