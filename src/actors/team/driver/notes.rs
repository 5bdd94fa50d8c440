//! What is done about a note that cannot be stored: the disk is full, say.

use std::time::Duration;

use tokio::time::Instant;

/// How long a note that was not stored is tried again before the team ends.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Since when no note could be stored; none while they can.
#[derive(Debug, Default)]
pub(super) struct Failing(Option<Instant>);

/// What follows from a failure.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The note is tried again, and the user is told.
    Tell,
    /// It is tried again.
    TryAgain,
    /// The team ends.
    GiveUp,
}

impl Failing {
    /// A note could not be stored.
    pub fn failed(&mut self) -> Next {
        match self.0 {
            None => {
                self.0 = Some(Instant::now());
                Next::Tell
            }
            Some(since) if since.elapsed() < PATIENCE => Next::TryAgain,
            Some(_) => Next::GiveUp,
        }
    }

    /// A note was stored; whether there were some before that could not be.
    pub fn stored(&mut self) -> bool {
        self.0.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_note_that_cannot_be_stored_is_told_once_and_ends_the_team_after_a_while() {
        let mut failing = Failing::default();
        let mut then = async |seconds| {
            tokio::time::advance(Duration::from_secs(seconds)).await;
            failing.failed()
        };
        assert_eq!([then(100).await, then(1).await, then(58).await], [Next::Tell, Next::TryAgain, Next::TryAgain]);
        assert_eq!(then(1).await, Next::GiveUp);
        assert!(failing.stored() && !failing.stored());
        assert_eq!(failing.failed(), Next::Tell, "it counts from the first failure on");
    }
}
