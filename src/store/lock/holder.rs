//! Who holds a lock, as far as the system tells: on Linux, for processes of this machine.

use std::{fmt, fs::File};

use crate::protocol::time::{Millis, iso};

/// The process that holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// When it was started.
    pub since: Option<Millis>,
}

impl Holder {
    /// The process that holds the lock on `file`.
    #[must_use]
    #[cfg(target_os = "linux")]
    pub fn of(file: &File) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let inode = file.metadata().ok()?.ino();
        let pid = holder_in(&std::fs::read_to_string("/proc/locks").ok()?, inode)?;
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let since = read(&format!("/proc/{pid}/stat")).and_then(|stat| started(&stat, &read("/proc/stat")?));
        Some(Self { pid, since })
    }

    /// The process that holds the lock on `file`: nobody says so here.
    #[must_use]
    #[cfg(not(target_os = "linux"))]
    pub fn of(_: &File) -> Option<Self> {
        None
    }
}

impl Holder {
    /// Whether it runs. A lock may outlast its holder in a process that was forked from it.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).is_ok_and(|stat| !is_over(&stat))
    }
}

/// Whether a process has ended and only waits for its parent to take note, from its line in `/proc/PID/stat`.
fn is_over(stat: &str) -> bool {
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X']))
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pid {}", self.pid)?;
        match self.since {
            // Seconds are enough for people.
            Some(since) => write!(f, ", running since {}Z", iso(since).split('.').next().unwrap_or_default()),
            None => Ok(()),
        }
    }
}

/// A line of `/proc/locks` is `1: FLOCK  ADVISORY  WRITE 4711 fd:00:262150 0 EOF`. A process outside of this one's
/// namespace has the number 0 or less there: that tells nobody anything.
#[cfg(target_os = "linux")]
fn holder_in(locks: &str, inode: u64) -> Option<u32> {
    let of_file = |place: &str| place.rsplit(':').next().and_then(|number| number.parse().ok()) == Some(inode);
    locks
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .find(|words| words.get(1) == Some(&"FLOCK") && words.get(5).is_some_and(|place| of_file(place)))
        .and_then(|words| words[4].parse().ok())
        .filter(|pid| *pid > 0)
}

/// When a process began, from its line in `/proc/PID/stat` and the time at which the machine was started.
#[cfg(target_os = "linux")]
fn started(stat: &str, machine: &str) -> Option<Millis> {
    /// The unit of times in `/proc`, in milliseconds: a hundredth of a second, whatever the kernel counts in.
    const TICK: u64 = 10;
    // The name of the program may hold blanks and parentheses; the numbers begin behind the last one.
    let ticks: u64 = stat.rsplit(')').next()?.split_whitespace().nth(19)?.parse().ok()?;
    let boot: u64 = machine.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Millis::try_from(boot.checked_mul(1000)?.checked_add(ticks.checked_mul(TICK)?)?).ok()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_found_by_the_files_inode() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 fd:00:262150 0 EOF\n2: FLOCK  ADVISORY  WRITE 22 fd:00:262150 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 0 fd:00:7 0 EOF\n4: FLOCK  ADVISORY  WRITE -1 fd:00:8 0 EOF\n";
        for (inode, pid) in [(262_150, Some(22)), (1, None), (7, None), (8, None)] {
            assert_eq!(holder_in(locks, inode), pid, "{inode}");
        }
    }

    #[test]
    fn a_process_says_since_when_it_runs() {
        let stat =
            "4711 (a (b) c) S 1 4711 4711 0 -1 4194560 1 0 0 0 1 2 3 4 20 0 1 0 250 1000 10 18446744073709551615";
        let machine = "cpu 1 2 3\nbtime 1795900000\nprocesses 9\n";
        assert_eq!(started(stat, machine), Some(1_795_900_002_500));
        let holder = Holder { pid: 4711, since: started(stat, machine) };
        let told = holder.to_string();
        assert!(told.starts_with("pid 4711, running since 2026-11-2") && told.ends_with('Z'), "{told}");
        assert_eq!(started("4711 (x) S", machine), None);
        assert!(!is_over(stat) && is_over("4711 (a) S) Z 1 2 3"));
    }
}
