//! A worker, as its supervisor has it: a process, a pipe to it, a pipe from it.

use std::{
    io::{self, Write as _},
    os::{fd::BorrowedFd, unix::process::CommandExt as _},
    path::Path,
    process::{ChildStdin, ChildStdout, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{
    ID_VARIABLE, TAG_VARIABLE, args, descendants::process_of, folder::RunFolder, lines::Lines, orders::Order,
    spec::RunSpec, state::ProcessId,
};
use crate::{
    actors::front::unattended::words::{Word, line},
    store::paths::USER_DIR_VARIABLE,
};

/// A running worker.
pub struct Worker {
    /// Its process.
    pub process: ProcessId,
    /// The same.
    pub pid: Pid,
    orders: ChildStdin,
    words: Lines<ChildStdout>,
}

impl Worker {
    /// Starts a worker of the run and gives it its first order.
    ///
    /// # Errors
    /// The system refuses.
    pub fn start(folder: &RunFolder, spec: &RunSpec, order: &Order) -> io::Result<Self> {
        let log = folder.lines("worker.log").map_err(io::Error::other)?;
        let mut command = program()?;
        command
            .args(["run", args::WORKER])
            .arg(&folder.path)
            .current_dir(&spec.cwd)
            .env(TAG_VARIABLE, spec.tag())
            .env(ID_VARIABLE, &spec.id)
            // Signals of a terminal are for the supervisor.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log);
        // A node has its runs elsewhere, and gives the variable as it has to be.
        if let (Some(_), Some(user_dir), None) = (std::env::var_os(USER_DIR_VARIABLE), folder.user_dir(), &spec.node) {
            // It may be relative to another folder than the run's.
            command.env(USER_DIR_VARIABLE, user_dir);
        }
        let mut child = command.spawn()?;
        let (Some(orders), Some(words)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the worker has no pipes"));
        };
        let words = Lines::new(words, Vec::new())?;
        let pid = Pid::from_child(&child);
        let mut worker = Self { process: process_of(child.id()), pid, orders, words };
        worker.order(order);
        Ok(worker)
    }

    /// Tells it something. One that does not listen any more is dying.
    pub fn order(&mut self, order: &Order) {
        if let Err(error) = self.orders.write_all(&line(order)) {
            tracing::debug!(%error, "the worker does not listen");
        }
    }

    /// Where its words come from, while they may.
    pub fn words(&self) -> Option<BorrowedFd<'_>> {
        self.words.pipe()
    }

    /// Takes the words that are there.
    pub fn hear(&mut self, mut take: impl FnMut(Word)) {
        self.words.take(|line| match serde_json::from_slice(line) {
            Ok(word) => take(word),
            Err(error) => tracing::debug!(%error, "no word of a worker"),
        });
    }

    /// Ends it at once.
    pub fn kill(&self) {
        // Fails when it is gone.
        let _ = kill_process(self.pid, Signal::KILL);
    }
}

/// This program, also when its file was replaced meanwhile.
pub fn program() -> io::Result<Command> {
    let own = Path::new("/proc/self/exe");
    let name = std::env::current_exe();
    if own.exists() {
        let mut command = Command::new(own);
        if let Ok(name) = name {
            command.arg0(name);
        }
        return Ok(command);
    }
    name.map(Command::new)
}
