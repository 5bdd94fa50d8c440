//! Ending a shell command with all that it started.
//!
//! A command runs in a session and process group of its own, and one signal ends the group. A process that leaves the
//! group still carries the mark that was put into the command's environment; on Linux it is found by that.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use rustix::process::{Pid, Signal};
use uuid::Uuid;

/// The variable that marks a command's processes. Nested agents add theirs to the ones around them.
const MARK_VARIABLE: &str = "TROUPE_CALL";

/// The commands that run now.
static RUNNING: LazyLock<Mutex<HashMap<Uuid, Pid>>> = LazyLock::new(Mutex::default);

/// The mark of one command.
#[derive(Clone, Copy, Debug)]
pub struct Mark(Uuid);

impl Mark {
    pub fn new() -> Self {
        Self(Uuid::new_v4())
    }

    /// The variable that carries the mark, together with the marks that this process carries itself.
    pub fn variable(self) -> (&'static str, String) {
        match std::env::var(MARK_VARIABLE) {
            Ok(inherited) if !inherited.is_empty() => (MARK_VARIABLE, format!("{inherited},{}", self.0)),
            _ => (MARK_VARIABLE, self.0.to_string()),
        }
    }
}

/// The processes of one command. Dropping it kills them, unless they were let go.
#[derive(Debug)]
pub struct Tree {
    group: Pid,
    mark: Mark,
    owned: bool,
}

impl Tree {
    /// The tree whose root leads the process group `group`.
    pub fn new(group: Pid, mark: Mark) -> Self {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).insert(mark.0, group);
        Self { group, mark, owned: true }
    }

    /// Kills the tree, once: the group's number may belong to others when all of it is gone.
    pub fn kill(&mut self) {
        if std::mem::take(&mut self.owned) {
            kill(self.group, self.mark.0);
        }
    }

    /// Lets the rest of the tree live on.
    pub fn let_go(&mut self) {
        self.owned = false;
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.kill();
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.mark.0);
    }
}

/// Kills all shell commands that run now: for a process that is about to end without dropping what it owns.
pub fn kill_all() {
    let running: Vec<_> =
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|(mark, group)| (*mark, *group)).collect();
    for (mark, group) in running {
        kill(group, mark);
    }
}

fn kill(group: Pid, mark: Uuid) {
    // Fails when the group is gone already.
    let _ = rustix::process::kill_process_group(group, Signal::KILL);
    #[cfg(target_os = "linux")]
    kill_marked(mark);
    #[cfg(not(target_os = "linux"))]
    let _ = mark;
}

/// Kills every process with the mark in its environment, until a look finds none: one may start another meanwhile.
#[cfg(target_os = "linux")]
fn kill_marked(mark: Uuid) {
    const ROUNDS: usize = 8;
    for _ in 0..ROUNDS {
        let marked = marked(mark);
        if marked.is_empty() {
            return;
        }
        for process in marked {
            let _ = rustix::process::kill_process(process, Signal::KILL);
        }
    }
}

/// The living processes that were started with the mark. Zombies have no environment and are not among them.
#[cfg(target_os = "linux")]
fn marked(mark: Uuid) -> Vec<Pid> {
    let mark = mark.to_string();
    let own = rustix::process::getpid();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw))
        .filter(|process| *process != own && carries(*process, &mark))
        .collect()
}

#[cfg(target_os = "linux")]
fn carries(process: Pid, mark: &str) -> bool {
    let Ok(environment) = std::fs::read(format!("/proc/{}/environ", process.as_raw_nonzero())) else { return false };
    environment
        .split(|byte| *byte == 0)
        .filter_map(|variable| variable.strip_prefix(MARK_VARIABLE.as_bytes())?.strip_prefix(b"="))
        .any(|marks| marks.split(|byte| *byte == b',').any(|one| one == mark.as_bytes()))
}
