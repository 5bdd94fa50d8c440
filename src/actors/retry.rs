//! Whether a failed model call is tried again by itself, and when. Pure.

use crate::protocol::{Failure, FailureClass};

/// The settings `retry.*`, with pi's defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetrySettings {
    /// Retry at all.
    pub enabled: bool,
    /// Attempts at most.
    pub max_retries: u32,
    /// The wait before the first retry in milliseconds; it doubles with each further one.
    pub base_delay_ms: u64,
    /// The wait at most, where the server did not say when to come back.
    pub max_delay_ms: u64,
    /// The longest wait that a server may ask for; a call that should wait longer fails at once. 0 = no limit.
    pub max_asked_ms: u64,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self { enabled: true, max_retries: 3, base_delay_ms: 2_000, max_delay_ms: 60_000, max_asked_ms: 60_000 }
    }
}

impl RetrySettings {
    /// The wait before retry number `attempt` (from 1) of a call that failed so; none when it is not retried.
    ///
    /// A server that says when to come back is believed, within the limit. With a `fallback`, another model answers the
    /// retry: then nothing is waited for, and what would not pass by itself is tried again too.
    #[must_use]
    pub fn delay(&self, attempt: u32, failure: &Failure, fallback: bool) -> Option<u64> {
        let attempts = if failure.class == FailureClass::ToolUseFailed { 1 } else { self.max_retries };
        if !self.enabled || !(failure.retryable || fallback) || attempt > attempts.min(self.max_retries) {
            return None;
        }
        if fallback {
            return Some(0);
        }
        let doubled = self.base_delay_ms.saturating_mul(1 << (attempt - 1).min(32));
        match failure.retry_after_ms {
            Some(wait) if self.max_asked_ms > 0 && wait > self.max_asked_ms => None,
            Some(wait) if wait > 0 => Some(wait),
            _ => Some(doubled.min(self.max_delay_ms)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_cap_and_the_server_is_believed() {
        let settings = RetrySettings { base_delay_ms: 40, max_delay_ms: 100, ..RetrySettings::default() };
        let busy = Failure::new(FailureClass::Overloaded, "busy");
        let told = |ms| Failure { retry_after_ms: Some(ms), ..busy.clone() };
        let table = [
            (1, busy.clone(), Some(40)),
            (2, busy.clone(), Some(80)),
            (3, busy.clone(), Some(100)),
            (4, busy.clone(), None),
            (1, told(1500), Some(1500)),
            (1, told(60_000), Some(60_000)),
            (1, told(60_001), None),
            (1, told(0), Some(40)),
            (1, Failure::new(FailureClass::QuotaExhausted, "no money"), None),
            (1, Failure::new(FailureClass::ToolUseFailed, "odd"), Some(40)),
            (2, Failure::new(FailureClass::ToolUseFailed, "odd"), None),
        ];
        for (attempt, failure, delay) in table {
            assert_eq!(settings.delay(attempt, &failure, false), delay, "{attempt} {failure:?}");
        }
        assert_eq!(RetrySettings { enabled: false, ..settings }.delay(1, &busy, false), None);
        assert_eq!(RetrySettings { max_asked_ms: 0, ..settings }.delay(1, &told(60_001), false), Some(60_001));
    }

    #[test]
    fn another_model_that_is_free_is_asked_at_once_as_often_as_retries_are_allowed() {
        let settings = RetrySettings::default();
        let quota = Failure::new(FailureClass::QuotaExhausted, "no money");
        let later = Failure { retry_after_ms: Some(3_600_000), ..Failure::new(FailureClass::RateLimited, "later") };
        for failure in [&quota, &later] {
            assert_eq!(settings.delay(1, failure, false), None);
            assert_eq!(settings.delay(3, failure, true), Some(0));
            assert_eq!(settings.delay(4, failure, true), None);
            assert_eq!(RetrySettings { enabled: false, ..settings }.delay(1, failure, true), None);
        }
    }
}
