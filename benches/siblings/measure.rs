//! What this process has used, and how it is told.

use std::{
    fs,
    time::{Duration, Instant},
};

/// Resident memory of this process in KiB.
pub fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("the status of this process");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("the resident memory");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

/// Processor time that this process has used.
fn processor() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").expect("the times of this process");
    let fields: Vec<_> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<u64>().expect("ticks");
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

/// How many wanted to run in the last minute, of the whole machine.
fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").expect("the load");
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

/// Time and processor time from a moment on.
pub struct Watch {
    begun: Instant,
    used: Duration,
}

impl Watch {
    pub fn start() -> Self {
        Self { begun: Instant::now(), used: processor() }
    }

    pub fn wall(&self) -> Duration {
        self.begun.elapsed()
    }

    pub fn used(&self) -> Duration {
        processor() - self.used
    }

    /// Percent of one core.
    pub fn share(&self) -> f64 {
        100.0 * self.used().as_secs_f64() / self.wall().as_secs_f64()
    }

    /// Wall and processor time of each of so many.
    pub fn each(&self, count: usize) -> String {
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / count as f64;
        format!("{:.0} µs each, {:.0} µs of processor time", micros(self.wall()), micros(self.used()))
    }
}

/// Prints one figure with the load beside it.
pub fn tell(what: &str, figure: &str) {
    println!("{what:<52} {figure} (load {})", load());
}

/// The median, and what ninety-nine of a hundred stay below.
pub fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1e6;
    format!("{:.0} µs median, {:.0} µs p99", at(50), at(99))
}
