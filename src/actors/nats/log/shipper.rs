//! The task that owns a log: it ships what those who commit wait for, all that wait at once, and watches for a new
//! owner. A commit that nobody waits for any longer is carried out to its end all the same.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use futures_util::StreamExt as _;
use tokio::{
    sync::{mpsc, oneshot},
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use super::{
    super::{Hub, NatsError},
    fence::Fence,
    frame::pack,
    history::Pointer,
    snapshot,
    stamp::Kind,
    tail::{Difference, ShippedFiles},
};
use crate::store::replica::Lost;

/// What the task is asked.
pub(super) enum Ask {
    /// Ship what has changed of a session file.
    Commit(PathBuf, oneshot::Sender<Result<(), Lost>>),
    /// Store all files in one piece.
    Snapshot(oneshot::Sender<Result<(), NatsError>>),
    /// A snapshot is stored, or is not.
    Stored(Result<Pointer, NatsError>),
}

/// Who waits for a snapshot.
type Waiting = Vec<oneshot::Sender<Result<(), NatsError>>>;

/// A snapshot that is being stored.
pub(super) struct Storing {
    waiting: Waiting,
    /// What the log had grown by when it was begun.
    grown: u64,
}

/// See the module.
pub(super) struct Shipper {
    pub(super) hub: Hub,
    pub(super) run: String,
    pub(super) folder: PathBuf,
    pub(super) fence: Fence,
    pub(super) shipped: ShippedFiles,
    /// The snapshots that the log names.
    pub(super) pointers: Vec<Pointer>,
    pub(super) lost: CancellationToken,
    /// For what workers send back.
    pub(super) me: mpsc::WeakUnboundedSender<Ask>,
    /// Bytes that the log has beyond the last snapshot.
    pub(super) grown: u64,
    /// The snapshot that is being stored.
    pub(super) storing: Option<Storing>,
    /// Why the log is lost.
    pub(super) cause: Option<Lost>,
}

impl Shipper {
    /// Works until nobody has the log any longer.
    pub(super) async fn run(mut self, mut asks: mpsc::UnboundedReceiver<Ask>, mut taken: async_nats::Subscriber) {
        let mut link = self.hub.0.link.now();
        // Twice as often as a confirmation is needed.
        let mut tick = interval(self.hub.lease_time() / 4);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let hub = self.hub.clone();
            tokio::select! {
                ask = asks.recv() => {
                    let Some(first) = ask else { return };
                    let mut all = vec![first];
                    while let Ok(next) = asks.try_recv() {
                        all.push(next);
                    }
                    self.answer(all).await;
                }
                Some(_) = taken.next(), if self.cause.is_none() => {
                    self.check().await;
                }
                () = hub.0.link.renewed(link), if self.cause.is_none() => {
                    let now = hub.0.link.now();
                    if self.check().await {
                        link = now;
                    }
                }
                _ = tick.tick(), if self.cause.is_none() => {
                    self.check().await;
                }
            }
        }
    }

    /// Is the log still ours? False when that is not known.
    async fn check(&mut self) -> bool {
        let checked = self.fence.check().await;
        checked.unwrap_or_else(|lost| {
            self.lose(lost);
            true
        })
    }

    fn lose(&mut self, lost: Lost) {
        tracing::warn!(%lost, run = self.run, "a run goes on elsewhere");
        self.cause.get_or_insert(lost);
        self.lost.cancel();
    }

    async fn answer(&mut self, asks: Vec<Ask>) {
        let (mut sessions, mut commits) = (BTreeSet::new(), Vec::new());
        let mut snapshots = Vec::new();
        for ask in asks {
            match ask {
                Ask::Commit(session, to) => {
                    sessions.insert(session);
                    commits.push(to);
                }
                Ask::Snapshot(to) => snapshots.push(to),
                Ask::Stored(result) => self.stored(result).await,
            }
        }
        if !commits.is_empty() {
            let result = self.commit(&sessions).await;
            // Who waited may be gone.
            commits.into_iter().for_each(|to| drop(to.send(result.clone())));
        }
        if !snapshots.is_empty() || self.grown >= self.hub.0.snapshot_after {
            self.store(snapshots);
        }
    }

    /// Ships what has changed of these session files.
    async fn commit(&mut self, sessions: &BTreeSet<PathBuf>) -> Result<(), Lost> {
        if let Some(lost) = &self.cause {
            return Err(lost.clone());
        }
        let shipped = match self.difference(sessions) {
            Ok(difference) => self.ship(difference).await,
            // Nobody else can know what they have: that is no state to go on from.
            Err(error) => Err(Lost(format!("the files of the session cannot be read: {error}"))),
        };
        shipped.inspect_err(|lost| self.lose(lost.clone()))
    }

    fn difference(&self, sessions: &BTreeSet<PathBuf>) -> io::Result<Difference> {
        let mut difference = Difference::default();
        for session in sessions {
            let name = relative(&self.folder, session)?;
            difference.add(&self.folder, &name, &self.shipped)?;
        }
        Ok(difference)
    }

    async fn ship(&mut self, mut difference: Difference) -> Result<(), Lost> {
        let mut messages = pack(std::mem::take(&mut difference.frames), self.hub.room()).into_iter().peekable();
        while let Some(message) = messages.next() {
            let kind = if messages.peek().is_some() { Kind::Part } else { Kind::Change };
            self.grown += message.len() as u64;
            self.fence.append(kind, message).await?;
        }
        difference.note(&mut self.shipped);
        Ok(())
    }

    /// Begins to store all files in one piece, beside the work.
    fn store(&mut self, waiting: Waiting) {
        if let Some(lost) = &self.cause {
            let refused = |to: oneshot::Sender<_>| drop(to.send(Err(NatsError::Lost(lost.clone()))));
            return waiting.into_iter().for_each(refused);
        }
        if let Some(storing) = &mut self.storing {
            // What has changed since it was begun stays in the log.
            return storing.waiting.extend(waiting);
        }
        self.storing = Some(Storing { waiting, grown: self.grown });
        let (hub, run, folder, shipped) =
            (self.hub.clone(), self.run.clone(), self.folder.clone(), self.shipped.clone());
        let (covers, me) = (self.fence.last, self.me.clone());
        tokio::spawn(async move {
            let stored = snapshot::store(&hub, &run, &folder, shipped).await;
            if let Some(me) = me.upgrade() {
                // The log is gone: the object is left to whoever forgets the run.
                let _ = me.send(Ask::Stored(stored.map(|object| Pointer { object, covers })));
            }
        });
    }

    /// Makes a snapshot the one that counts.
    async fn stored(&mut self, stored: Result<Pointer, NatsError>) {
        let Some(Storing { waiting, grown }) = self.storing.take() else { return };
        let result = match (stored, &self.cause) {
            (Err(error), _) => Err(error),
            (Ok(_), Some(lost)) => Err(NatsError::Lost(lost.clone())),
            (Ok(pointer), None) => self.point(pointer).await,
        };
        // Also after a failure: the next attempt comes when the log has grown as much again.
        self.grown -= grown;
        match result {
            // The server may take its time, and who commits does not wait for it.
            Ok(outdated) => drop(tokio::spawn(async move { told(waiting, &outdated.removed().await) })),
            Err(error) => {
                tracing::warn!(%error, run = self.run, "the files of a run could not be stored in one piece");
                told(waiting, &Err(error));
            }
        }
    }

    /// Has the log name a snapshot; what does not count any longer.
    async fn point(&mut self, pointer: Pointer) -> Result<Outdated, NatsError> {
        // A struct of a string and a number can always be written.
        let payload = serde_json::to_vec(&pointer).unwrap_or_default();
        if let Err(lost) = self.fence.append(Kind::Snapshot, payload.into()).await {
            self.lose(lost.clone());
            return Err(NatsError::Lost(lost));
        }
        let below = pointer.covers + 1;
        Ok(Outdated {
            hub: self.hub.clone(),
            stream: self.fence.stream.clone(),
            subject: self.fence.subject.clone(),
            pointers: std::mem::replace(&mut self.pointers, vec![pointer]),
            below,
        })
    }
}

/// What a new snapshot has made superfluous.
struct Outdated {
    hub: Hub,
    stream: String,
    subject: String,
    /// Older snapshots.
    pointers: Vec<Pointer>,
    /// Messages of the log below this sequence.
    below: u64,
}

impl Outdated {
    async fn removed(self) -> Result<(), NatsError> {
        for pointer in &self.pointers {
            snapshot::remove(&self.hub, &pointer.object).await;
        }
        let purged = self.hub.purge(&self.stream, &self.subject, Some(self.below)).await;
        purged.inspect_err(|error| tracing::warn!(%error, subject = self.subject, "a log keeps what a snapshot has"))
    }
}

/// Tells those who wait for a snapshot.
fn told(waiting: Waiting, result: &Result<(), NatsError>) {
    // Who waited may be gone.
    waiting.into_iter().for_each(|to| drop(to.send(result.clone())));
}

/// The name of a session file in the log.
fn relative(folder: &Path, session: &Path) -> io::Result<String> {
    let outside = || io::Error::other(format!("{} is not in {}", session.display(), folder.display()));
    let name = session.strip_prefix(folder).map_err(|_| outside())?;
    Ok(name.to_str().ok_or_else(outside)?.to_owned())
}
