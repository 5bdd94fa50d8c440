//! Ending all that a dead worker left behind.
//!
//! The supervisor is a child subreaper: whatever a worker started, however often it forked and whatever session it made
//! for itself, is below the supervisor when its parents are gone. When a supervisor was killed, its processes are below
//! nobody that knows them: then the run's tag in their environment tells.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process};

use super::state::ProcessId;

/// How long processes may take to die: one that waits for a disk cannot at once.
const PATIENCE: Duration = Duration::from_secs(2);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(2);

/// Makes this process the one that orphans below it are given to. Without it (no Linux) the tag is all that there is.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        tracing::warn!(%error, "orphans are not given to the supervisor");
    }
}

/// Takes the ends of all children that have one; tells `ended` of each.
pub fn reap(mut ended: impl FnMut(Pid, rustix::process::WaitStatus)) {
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        ended(pid, status);
    }
}

/// Ends every process below this one, and takes its end. To be called while no child is wanted.
pub fn end_all() {
    #[cfg(target_os = "linux")]
    end(|| linux::below(own_pid()));
    reap(|_, _| {});
}

/// Ends every process that carries the tag of a run, with all below it.
pub fn end_tagged(tag: &str) {
    #[cfg(target_os = "linux")]
    end(|| linux::tagged(tag, own_pid()));
    #[cfg(not(target_os = "linux"))]
    let _ = tag;
}

/// Ends one process, and waits until it is gone.
pub fn end_process(process: ProcessId) {
    let begun = Instant::now();
    while is_alive(process) && begun.elapsed() < PATIENCE {
        send(i32::try_from(process.pid).unwrap_or(0), Signal::KILL);
        std::thread::sleep(LOOK);
    }
}

/// Stops what `find` finds, then kills it, until it finds nothing more: nobody starts another one meanwhile.
#[cfg(target_os = "linux")]
fn end(find: impl Fn() -> Vec<i32>) {
    let begun = Instant::now();
    loop {
        let found = find();
        if found.is_empty() {
            return;
        }
        if begun.elapsed() > PATIENCE {
            tracing::warn!(?found, "processes do not end");
            return;
        }
        found.iter().for_each(|pid| send(*pid, Signal::STOP));
        find().into_iter().for_each(|pid| send(pid, Signal::KILL));
        reap(|_, _| {});
        std::thread::sleep(LOOK);
    }
}

fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // Fails when it is gone, or not ours to end.
        let _ = kill_process(pid, signal);
    }
}

#[cfg(target_os = "linux")]
fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// Whether a process lives, and is the one that is meant. One whose end nobody has taken yet is dead.
#[must_use]
pub fn is_alive(process: ProcessId) -> bool {
    #[cfg(target_os = "linux")]
    return linux::is_alive(process);
    #[cfg(not(target_os = "linux"))]
    i32::try_from(process.pid)
        .ok()
        .and_then(Pid::from_raw)
        .is_some_and(|pid| !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH)))
}

/// A process with the time at which it began.
#[must_use]
pub fn process_of(pid: u32) -> ProcessId {
    #[cfg(target_os = "linux")]
    let begun = linux::begun(pid);
    #[cfg(not(target_os = "linux"))]
    let begun = 0;
    ProcessId { pid, begun }
}

#[cfg(target_os = "linux")]
mod linux {
    use crate::{
        cli::runs::{TAG_VARIABLE, state::ProcessId},
        tools::operations::local::processes::{ProcessFacts, all, with_descendants},
    };

    pub fn begun(pid: u32) -> u64 {
        i32::try_from(pid).ok().and_then(ProcessFacts::of).map_or(0, |process| process.begun)
    }

    pub fn is_alive(process: ProcessId) -> bool {
        let facts = i32::try_from(process.pid).ok().and_then(ProcessFacts::of);
        facts.is_some_and(|facts| !facts.zombie && (process.begun == 0 || facts.begun == process.begun))
    }

    /// The living processes below one.
    pub fn below(own: i32) -> Vec<i32> {
        let all: Vec<_> = all().into_iter().filter(|process| !process.zombie && process.pid != own).collect();
        with_descendants(&all, |process| process.parent == own)
    }

    /// The living processes that carry a tag and those below them, without this one.
    pub fn tagged(tag: &str, own: i32) -> Vec<i32> {
        let all: Vec<_> = all().into_iter().filter(|process| !process.zombie && process.pid != own).collect();
        with_descendants(&all, |process| carries(process.pid, tag))
    }

    /// Whether the environment of a process, which only its user may read, has exactly this tag.
    fn carries(pid: i32, tag: &str) -> bool {
        let wanted = format!("{TAG_VARIABLE}={tag}");
        std::fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes()))
    }
}
