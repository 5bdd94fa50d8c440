//! When the server last confirmed that a log is ours: for the task that owns it, and for those who ask at any time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::super::clock::Moment;

/// See the module. Clones are handles of the same one.
#[derive(Clone, Debug)]
pub(super) struct Confirmed {
    since: Moment,
    /// Milliseconds after that.
    at: Arc<AtomicU64>,
    lease: Duration,
}

impl Confirmed {
    /// Confirmed by the answer to a question that was asked at `asked`.
    pub(super) fn new(asked: Moment, lease: Duration) -> Self {
        Self { since: asked, at: Arc::default(), lease }
    }

    /// It is confirmed by the answer to a question that was asked at `asked`: when the answer is read says nothing, as a
    /// process that stood still reads old ones.
    pub(super) fn renew(&self, asked: Moment) {
        let millis = asked.0.saturating_sub(self.since.0).as_millis();
        self.at.fetch_max(u64::try_from(millis).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn at(&self) -> Moment {
        self.since + Duration::from_millis(self.at.load(Ordering::Relaxed))
    }

    /// Until when the log is held to be ours while the server does not answer.
    pub(super) fn until(&self) -> Moment {
        self.at() + self.lease
    }

    /// Whether nobody else can have the log now.
    pub(super) fn counts(&self) -> bool {
        self.counts_at(Moment::now())
    }

    /// The node beats every third of the lease: who takes over may do so when two thirds of it have passed since we asked.
    /// What is left is for the way of a beat.
    fn counts_at(&self, now: Moment) -> bool {
        now < self.at() + self.lease / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confirmation_counts_from_the_question_for_half_of_a_lease() {
        let at = |seconds: u64| Moment(Duration::from_secs(1000 + seconds));
        let confirmed = Confirmed::new(at(0), Duration::from_secs(16));
        let asks = confirmed.clone();
        assert!(asks.counts_at(at(7)) && !asks.counts_at(at(8)));
        confirmed.renew(at(6));
        assert!(asks.counts_at(at(13)) && !asks.counts_at(at(14)));
        assert_eq!(asks.until(), at(22));
        // Answers may be read in another order than questions were asked.
        confirmed.renew(at(3));
        assert_eq!(asks.until(), at(22));
    }
}
