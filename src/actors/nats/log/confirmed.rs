//! When the server last confirmed that a log is ours: for the task that owns it, and for those who ask at any time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

/// See the module. Clones are handles of the same one.
#[derive(Clone, Debug)]
pub(super) struct Confirmed {
    since: Instant,
    /// Milliseconds after that.
    at: Arc<AtomicU64>,
    /// For how long a confirmation counts.
    lease: Duration,
}

impl Confirmed {
    /// Confirmed now.
    pub(super) fn now(lease: Duration) -> Self {
        Self { since: Instant::now(), at: Arc::default(), lease }
    }

    /// It is confirmed now.
    pub(super) fn renew(&self) {
        let millis = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.at.store(millis, Ordering::Relaxed);
    }

    /// Until when it counts.
    pub(super) fn until(&self) -> Instant {
        self.since + Duration::from_millis(self.at.load(Ordering::Relaxed)) + self.lease
    }

    /// Whether it still counts.
    pub(super) fn counts(&self) -> bool {
        Instant::now() <= self.until()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_confirmation_counts_for_the_time_of_a_lease() {
        let confirmed = Confirmed::now(Duration::from_secs(15));
        let asks = confirmed.clone();
        tokio::time::advance(Duration::from_secs(14)).await;
        assert!(asks.counts());
        confirmed.renew();
        tokio::time::advance(Duration::from_secs(15)).await;
        assert!(asks.counts());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(!asks.counts());
    }
}
