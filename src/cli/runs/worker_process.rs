//! A worker, as its supervisor has it: a process, a pipe to it, a pipe from it.

use std::{
    io::{self, ErrorKind, Read as _, Write as _},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::process::CommandExt as _,
    },
    path::Path,
    process::{ChildStdin, ChildStdout, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{
    ID_VARIABLE, TAG_VARIABLE, args, descendants::process_of, folder::RunFolder, orders::Order, spec::RunSpec,
    state::ProcessId,
};
use crate::{
    actors::front::unattended::words::{Word, line},
    store::paths::USER_DIR_VARIABLE,
};

/// A line that is longer is no word of a worker.
const LONGEST_WORD: usize = 64 << 20;

/// A running worker.
pub struct Worker {
    /// Its process.
    pub process: ProcessId,
    /// The same.
    pub pid: Pid,
    orders: ChildStdin,
    words: Option<ChildStdout>,
    begun: Vec<u8>,
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
        if let (Some(_), Some(user_dir)) = (std::env::var_os(USER_DIR_VARIABLE), folder.user_dir()) {
            // It may be relative to another folder than the run's.
            command.env(USER_DIR_VARIABLE, user_dir);
        }
        let mut child = command.spawn()?;
        let (Some(orders), Some(words)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the worker has no pipes"));
        };
        rustix::io::ioctl_fionbio(&words, true)?;
        let pid = Pid::from_child(&child);
        let mut worker = Self { process: process_of(child.id()), pid, orders, words: Some(words), begun: Vec::new() };
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
        self.words.as_ref().map(AsFd::as_fd)
    }

    /// Takes the words that are there.
    pub fn hear(&mut self, mut take: impl FnMut(Word)) {
        let mut bytes = [0; 16 << 10];
        while let Some(words) = &mut self.words {
            match words.read(&mut bytes) {
                Ok(0) => self.words = None,
                Ok(count) => self.begun.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => self.words = None,
            }
            if self.begun.len() > LONGEST_WORD {
                self.begun.clear();
            }
        }
        while let Some(end) = memchr::memchr(b'\n', &self.begun) {
            let word: Vec<u8> = self.begun.drain(..=end).collect();
            match serde_json::from_slice(&word) {
                Ok(word) => take(word),
                Err(error) => tracing::debug!(%error, "no word of a worker"),
            }
        }
    }

    /// Ends it at once.
    pub fn kill(&self) {
        // Fails when it is gone.
        let _ = kill_process(self.pid, Signal::KILL);
    }
}

/// This program, also when its file was replaced meanwhile.
fn program() -> io::Result<Command> {
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
