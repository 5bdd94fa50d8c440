//! When a dead actor is started again: one pure policy for the whole runtime.

use std::time::Duration;

/// How an actor ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It was done, or was told to stop.
    Normal,
    /// It was killed.
    Killed,
    /// It panicked or returned an error.
    Failed(String),
}

impl Exit {
    /// The cause in words.
    #[must_use]
    pub fn cause(&self) -> &str {
        match self {
            Self::Normal => "it ended",
            Self::Killed => "it was killed",
            Self::Failed(cause) => cause,
        }
    }
}

/// Which ends are followed by a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartKind {
    /// Every end.
    Permanent,
    /// Every end but a normal one.
    Transient,
    /// None.
    Temporary,
}

/// What to do about a dead actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartDecision {
    /// Start it again after a wait.
    Restart(Duration),
    /// Nothing: its end was expected.
    Leave,
    /// It fails too often: give up on it.
    GiveUp,
}

/// Restarts at most so many times in so long, with growing waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestartPolicy {
    /// Which ends count.
    pub kind: RestartKind,
    /// Restarts at most within `period`.
    pub intensity: u32,
    /// The window in which restarts are counted.
    pub period: Duration,
    /// The wait before the second restart within the window; it doubles with each further one. The first restart
    /// comes at once: most faults do not repeat.
    pub backoff: Duration,
}

impl RestartPolicy {
    /// The policy for actors: three in a minute, waits of 0, 50 and 100 ms.
    #[must_use]
    pub const fn actors(kind: RestartKind) -> Self {
        Self { kind, intensity: 3, period: Duration::from_secs(60), backoff: Duration::from_millis(50) }
    }

    /// Decides about an actor that ended by `exit` at `now`, given the times of its earlier restarts (any clock,
    /// the same for all). A restart is noted in `history`; times that are too old to matter are dropped from it.
    pub fn decide(&self, history: &mut Vec<Duration>, now: Duration, exit: &Exit) -> RestartDecision {
        let expected = match self.kind {
            RestartKind::Permanent => false,
            RestartKind::Transient => *exit == Exit::Normal,
            RestartKind::Temporary => true,
        };
        if expected {
            return RestartDecision::Leave;
        }
        history.retain(|then| now.saturating_sub(*then) < self.period);
        if history.len() >= self.intensity as usize {
            return RestartDecision::GiveUp;
        }
        let wait = match history.len() {
            0 => Duration::ZERO,
            n => self.backoff.saturating_mul(1 << (n - 1).min(16)),
        };
        history.push(now);
        RestartDecision::Restart(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_kind_says_which_ends_are_followed_by_a_restart() {
        use RestartKind::{Permanent, Temporary, Transient};
        let now = RestartDecision::Restart(Duration::ZERO);
        let table = [
            (Permanent, Exit::Normal, now),
            (Permanent, Exit::Killed, now),
            (Transient, Exit::Normal, RestartDecision::Leave),
            (Transient, Exit::Failed("x".into()), now),
            (Temporary, Exit::Killed, RestartDecision::Leave),
        ];
        for (kind, exit, wanted) in table {
            assert_eq!(RestartPolicy::actors(kind).decide(&mut Vec::new(), s(1), &exit), wanted, "{kind:?} {exit:?}");
        }
    }

    #[test]
    fn the_fourth_fault_in_a_minute_is_one_too_many_and_old_faults_are_forgotten() {
        let policy = RestartPolicy::actors(RestartKind::Permanent);
        let mut history = Vec::new();
        let mut at = |second| policy.decide(&mut history, s(second), &Exit::Killed);
        assert_eq!(at(0), RestartDecision::Restart(Duration::ZERO));
        assert_eq!(at(10), RestartDecision::Restart(Duration::from_millis(50)));
        assert_eq!(at(20), RestartDecision::Restart(Duration::from_millis(100)));
        assert_eq!(at(59), RestartDecision::GiveUp);
        assert_eq!(at(61), RestartDecision::Restart(Duration::from_millis(100)));
        assert_eq!(at(300), RestartDecision::Restart(Duration::ZERO));
    }
}
