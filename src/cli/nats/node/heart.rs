//! Keeps the lease of a run and its job alive, whatever else the keeper waits for.

use std::sync::Arc;

use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::actors::nats::{Delivery, Lease};

/// A lease that is kept up, as long as this lives.
pub struct Heart {
    /// Cancelled when the run is not ours any more.
    pub lost: CancellationToken,
    stop: CancellationToken,
    task: JoinHandle<Option<Lease>>,
}

impl Heart {
    /// Begins to keep these two alive.
    #[must_use]
    pub fn begin(lease: Lease, delivery: Arc<Delivery>) -> Self {
        let (lost, stop) = (CancellationToken::new(), CancellationToken::new());
        let task = tokio::spawn(beat(lease, delivery, lost.clone(), stop.clone()));
        Self { lost, stop, task }
    }

    /// The lease, after a last beat that says that it is ours; none when it is not.
    pub async fn end(mut self) -> Option<Lease> {
        self.stop.cancel();
        let lease = (&mut self.task).await.ok().flatten();
        let mut lease = lease?;
        lease.beat().await.is_ok().then_some(lease)
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn beat(
    mut lease: Lease,
    delivery: Arc<Delivery>,
    lost: CancellationToken,
    stop: CancellationToken,
) -> Option<Lease> {
    loop {
        tokio::select! {
            () = stop.cancelled() => return Some(lease),
            () = sleep(lease.pace()) => {}
        }
        let pace = lease.pace();
        // A job that is delivered twice finds the lease taken: only the lease counts.
        let (beat, _) = tokio::join!(lease.beat(), timeout(pace, delivery.progress()));
        if let Err(error) = beat {
            tracing::warn!(%error, "a lease is lost");
            lost.cancel();
            return None;
        }
    }
}
