//! The sessions of a run, with the fence that only its owner passes.
//!
//! One message for each committed change, in one order for all sessions of a run. A new owner first adds a message that
//! says so; whoever had the log before believes another message to be the last one, and the server refuses all that it
//! adds. docs/workers.md tells what follows from that.
//!
//! | file | what |
//! |---|---|
//! | [`frame`], [`stamp`] | what a message has inside, and what it says beside that |
//! | [`fence`], [`confirmed`] | how one is added, and who cannot |
//! | [`tail`] | what files have that was not shipped yet |
//! | [`shipper`] | the task that owns a log |
//! | [`history`], [`files`] | from messages to files |
//! | [`snapshot`] | all files in one piece |

mod confirmed;
mod fence;
mod files;
mod frame;
mod history;
mod shipper;
mod snapshot;
mod stamp;
mod tail;
#[cfg(test)]
mod tests;

use std::{
    io,
    path::{Path, PathBuf},
};

use tokio::{
    sync::{mpsc, oneshot},
    task::spawn_blocking,
};
use tokio_util::sync::CancellationToken;

use self::{
    confirmed::Confirmed,
    fence::Fence,
    files::Files,
    shipper::{Ask, Shipper},
    stamp::Stamp,
    tail::ShippedFiles,
};
use super::{Hub, NatsError, names::run_id, wire::PATIENCE};
use crate::store::{
    paths::create_private_dir,
    replica::{Committing, Lost, Replica},
};

/// The log of a run, owned by this process. Clones are handles of the same one.
#[derive(Clone, Debug)]
pub struct SessionLog {
    asks: mpsc::UnboundedSender<Ask>,
    lost: CancellationToken,
    confirmed: Confirmed,
}

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
        // Before we have it, so that nothing is missed.
        let subject = hub.0.names.subject("taken", run_id(run)?);
        let taken = hub.0.client.subscribe(subject).await.map_err(|error| NatsError::Failed {
            action: format!("watch the owner of run {run}"),
            cause: error.to_string(),
        })?;
        let fence = Fence::take(hub, run, epoch).await?;
        let found = history::files(hub, run, fence.last).await?;
        let (files, pointers) = found.unwrap_or_default();
        let shipped = write(folder, files).await?;
        let confirmed = fence.confirmed.clone();
        let (asks, receiver) = mpsc::unbounded_channel();
        let lost = CancellationToken::new();
        let shipper = Shipper {
            hub: hub.clone(),
            run: run.to_owned(),
            folder: folder.to_owned(),
            fence,
            shipped,
            pointers,
            lost: lost.clone(),
            me: asks.downgrade(),
            grown: 0,
            storing: None,
            cause: None,
        };
        // A task that dies loses the log for everybody.
        let guard = lost.clone().drop_guard();
        tokio::spawn(async move {
            shipper.run(receiver, taken).await;
            guard.disarm();
        });
        Ok(Self { asks, lost, confirmed })
    }

    /// Makes the files below `folder` what the log says right now, without taking it over. True when there is a log.
    ///
    /// # Errors
    /// The server does not answer, or the disk refuses.
    pub async fn restore(hub: &Hub, run: &str, folder: &Path) -> Result<bool, NatsError> {
        let subject = hub.0.names.subject("log", run_id(run)?);
        let Some(last) = hub.last(&hub.0.names.log(), &subject, PATIENCE).await? else { return Ok(false) };
        match history::files(hub, run, last.sequence).await? {
            None => Ok(false),
            Some((files, _)) => write(folder, files).await.map(|_| true),
        }
    }

    /// The epoch of the last owner of the log of a run; none where there is no log.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn last_epoch(hub: &Hub, run: &str) -> Result<Option<u64>, NatsError> {
        let subject = hub.0.names.subject("log", run_id(run)?);
        let last = hub.last(&hub.0.names.log(), &subject, PATIENCE).await?;
        Ok(last.and_then(|last| Stamp::of(&last.headers)).map(|stamp| stamp.epoch))
    }

    /// Stores all files of the run as they were with the last commit in one piece, and removes what the log has of
    /// them. It does so by itself whenever the log has grown large; the end of a run is a good moment, too.
    ///
    /// # Errors
    /// The server does not answer, or the log is another's.
    pub async fn snapshot(&self) -> Result<(), NatsError> {
        let (to, answer) = oneshot::channel();
        // A task that is gone answers by dropping the sender.
        let _ = self.asks.send(Ask::Snapshot(to));
        answer.await.unwrap_or_else(|_| Err(NatsError::Lost(gone())))
    }

    async fn ship(&self, session: PathBuf) -> Result<(), Lost> {
        if self.lost.is_cancelled() {
            return Err(Lost("another worker has taken the run over".to_owned()));
        }
        let (to, answer) = oneshot::channel();
        let _ = self.asks.send(Ask::Commit(session, to));
        answer.await.unwrap_or_else(|_| Err(gone()))
    }
}

impl Replica for SessionLog {
    fn commit<'a>(&'a self, session: &'a Path) -> Committing<'a> {
        Box::pin(self.ship(session.to_owned()))
    }

    fn lost(&self) -> &CancellationToken {
        &self.lost
    }

    fn is_ours(&self) -> bool {
        !self.lost.is_cancelled() && self.confirmed.counts()
    }
}

fn gone() -> Lost {
    Lost("whatever kept the log of the run has failed".to_owned())
}

/// Makes the files below `folder` these; what of them was shipped.
async fn write(folder: &Path, files: Files) -> Result<ShippedFiles, NatsError> {
    let path = folder.to_owned();
    let written = spawn_blocking(move || {
        create_private_dir(&path).map_err(io::Error::other)?;
        files.write(&path)?;
        tail::of_files(&path, &files)
    });
    let disk = |cause: String| NatsError::Disk { action: format!("restore files in {}", folder.display()), cause };
    written.await.map_err(|error| disk(error.to_string()))?.map_err(|error| disk(error.to_string()))
}
