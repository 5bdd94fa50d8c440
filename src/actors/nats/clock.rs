//! The clock by which leases are measured: it goes on while the machine is suspended, as that of the server does.

use std::{ops::Add, time::Duration};

use rustix::time::{ClockId, Timespec, clock_gettime};
use tokio::time::Instant;

/// The clock of [`Instant`] stands still on Linux while the machine is suspended; this one does not.
#[cfg(target_os = "linux")]
const CLOCK: ClockId = ClockId::Boottime;
/// Elsewhere this one goes on.
#[cfg(not(target_os = "linux"))]
const CLOCK: ClockId = ClockId::Monotonic;

/// A moment, as the time since the machine was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(pub(super) Duration);

impl Moment {
    /// Now.
    pub(super) fn now() -> Self {
        let Timespec { tv_sec, tv_nsec } = clock_gettime(CLOCK);
        Self(Duration::new(u64::try_from(tv_sec).unwrap_or_default(), u32::try_from(tv_nsec).unwrap_or_default()))
    }

    /// When a timer has to ring for it. Timers stand still with the machine: what they wait for is to be looked at again.
    pub(super) fn timer(self) -> Instant {
        Instant::now() + self.0.saturating_sub(Self::now().0)
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Self(self.0 + time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_come_one_after_another() {
        let before = Moment::now();
        assert!(before <= Moment::now() && before < before + Duration::from_millis(1));
        assert!(before.timer() <= Instant::now(), "what is over rings at once");
        #[cfg(target_os = "linux")]
        {
            let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
            let seconds: f64 = uptime.split(' ').next().unwrap().parse().unwrap();
            // A container may have a time of its own.
            let apart = (seconds - Moment::now().0.as_secs_f64()).abs();
            assert!(apart < 60.0, "the time of a suspended machine is left out: {apart} s");
        }
    }
}
