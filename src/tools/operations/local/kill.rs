//! Ending a shell command with all that it started.
//!
//! A command runs in a session and process group of its own, and one signal reaches the group. On Linux the processes
//! that left it are found by the command's [`Mark`] and by their parents. First all are stopped, until a look finds no
//! new one, so that nobody starts another meanwhile or loses the parent by which it is found; then all are killed.
//!
//! Why so, and not otherwise:
//! - A subreaper would show who was started by this process, but not by which of its commands, once the parents in
//!   between are gone; it would have to reap strangers' children, also in a program that only embeds us.
//! - A control group for each command is the exact answer, where one may be made: rarely for a user's session and
//!   rarely in a container. It would be a second way beside this one.
//! - A parent-death signal ends the shell alone, and comes when the *thread* that started it ends, which may be long
//!   before the process does. The [`watcher`] does what it was meant for.
//!
//! A look reads of every process of the machine, so commands that are to end at the same time are looked for together:
//! a thread does it, and takes all that are waiting by then. A family of a hundred agents is stopped with the looks of
//! one.
//!
//! What is asked of a program that runs already (`docker run -d`, `systemd-run`, `at`) is no process of the command.
//! Nor can a process be killed that has another user's rights.

use std::{
    collections::HashMap,
    sync::{
        LazyLock, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use rustix::process::{Pid, Signal};

#[cfg(target_os = "linux")]
use super::processes;
use super::{mark::Mark, watcher};

/// The commands that run now, those included that are being ended.
static RUNNING: LazyLock<Mutex<HashMap<Mark, Root>>> = LazyLock::new(Mutex::default);

/// Where commands go that are to end; none when there is no thread for it.
static DOOMED: LazyLock<Option<Sender<Root>>> = LazyLock::new(|| {
    let (doomed, arriving) = channel();
    let thread = thread::Builder::new().name("kill".to_owned()).spawn(move || end_arriving(&arriving));
    thread.inspect_err(|error| tracing::warn!(%error, "commands are ended one by one")).ok().map(|_| doomed)
});

/// The shell of a command, which leads a group and a session.
#[derive(Clone, Copy, Debug)]
pub struct Root {
    pub group: Pid,
    /// When it began, in the system's clock ticks; 0 where that is not known.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux shows processes by their age"))]
    pub begun: u64,
    /// What the command's processes carry.
    pub mark: Mark,
}

/// Who decides about the end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Whoever holds it.
    Owned,
    /// It is being ended.
    Doomed,
    /// Nobody: it lives on.
    Free,
}

/// The processes of one command. Dropping it kills them, unless they were let go.
#[derive(Debug)]
pub struct Tree {
    root: Root,
    fate: Fate,
}

impl Tree {
    /// The tree that `start` starts, with a root that leads a process group: its number is what `start` gives.
    ///
    /// # Errors
    /// Those of `start`.
    pub fn start<E>(mark: Mark, start: impl FnOnce() -> Result<Pid, E>) -> Result<Self, E> {
        watcher::expect(mark);
        let group = start().inspect_err(|_| watcher::ended(mark))?;
        #[cfg(target_os = "linux")]
        let begun = processes::ProcessFacts::of(group.as_raw_nonzero().get()).map_or(0, |process| process.begun);
        #[cfg(not(target_os = "linux"))]
        let begun = 0;
        let root = Root { group, begun, mark };
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).insert(mark, root);
        watcher::begun(group, mark);
        Ok(Self { root, fate: Fate::Owned })
    }

    /// Kills the tree, once: the group's number may belong to others when all of it is gone. The shell and its group do
    /// nothing any more when this returns, and all of the tree is gone a moment later.
    pub fn kill(&mut self) {
        if self.fate != Fate::Owned {
            return;
        }
        self.fate = Fate::Doomed;
        stop(&self.root);
        if DOOMED.as_ref().is_none_or(|doomed| doomed.send(self.root).is_err()) {
            end(&[self.root]);
        }
    }

    /// Lets the rest of the tree live on.
    pub fn let_go(&mut self) {
        if self.fate == Fate::Owned {
            self.fate = Fate::Free;
        }
    }

    /// The living processes of the tree, without those that got away.
    #[cfg(target_os = "linux")]
    pub fn processes(&self) -> Vec<i32> {
        processes::of_session(self.root.group)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.kill();
        if self.fate == Fate::Free {
            forget(&self.root);
        }
    }
}

/// Kills all shell commands that run now: for a process that is about to end without dropping what it owns.
pub fn kill_all() {
    let running: Vec<_> = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).values().copied().collect();
    running.iter().for_each(stop);
    if !running.is_empty() {
        end(&running);
    }
}

/// The command is over, or lives on by itself.
fn forget(root: &Root) {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(&root.mark);
    watcher::ended(root.mark);
}

fn end_arriving(arriving: &Receiver<Root>) {
    while let Ok(first) = arriving.recv() {
        let together: Vec<Root> = std::iter::once(first).chain(arriving.try_iter()).collect();
        end(&together);
    }
}

/// Each fails when the group is gone already.
fn stop(root: &Root) {
    let _ = rustix::process::kill_process_group(root.group, Signal::STOP);
}

/// Kills commands that were stopped.
fn end(roots: &[Root]) {
    #[cfg(target_os = "linux")]
    kill_members(roots);
    for root in roots {
        let _ = rustix::process::kill_process_group(root.group, Signal::KILL);
        forget(root);
    }
}

/// Stops what belongs to the commands until a look finds nothing new, then kills all of it, and then what began in
/// spite of that.
#[cfg(target_os = "linux")]
fn kill_members(roots: &[Root]) {
    /// So many looks for each of the two: a program that starts others all the time is not followed for ever.
    const LOOKS: usize = 8;
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let send = |pid: i32, signal| {
        if let Some(pid) = Pid::from_raw(pid) {
            // Fails when it is gone, or not ours to end.
            let _ = rustix::process::kill_process(pid, signal);
        }
    };
    let mut known = std::collections::HashSet::new();
    for last in [Signal::STOP, Signal::KILL] {
        if last == Signal::KILL {
            known.iter().for_each(|pid| send(*pid, Signal::KILL));
        }
        for _ in 0..LOOKS {
            let mut found = processes::of_commands(roots);
            found.retain(|pid| *pid != own && known.insert(*pid));
            if found.is_empty() {
                break;
            }
            found.into_iter().for_each(|pid| send(pid, last));
        }
    }
}
