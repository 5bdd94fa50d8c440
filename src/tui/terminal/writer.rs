//! The thread that writes to the terminal.
//!
//! It asks its source for bytes whenever the last ones are written. So a slow terminal (`ctrl+S`, a bad line) never holds
//! up whoever draws, and what is drawn meanwhile takes the place of what was not written yet.

use std::{
    io,
    os::fd::OwnedFd,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::{
    event::PollFlags,
    io::{Errno, write},
};

use super::tty::is_ready;

/// How long a terminal that is set to not wait is waited for at a time.
const PATIENCE: Duration = Duration::from_secs(3600);

/// What has bytes for the terminal.
pub(super) trait Source: Send + 'static {
    /// The next bytes; none when there is nothing to write.
    fn next(&mut self) -> Option<Vec<u8>>;
}

/// What the thread says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Everything is written.
    Written,
    /// The terminal is gone. Nothing is said after it.
    Closed,
}

#[derive(Debug)]
struct State<S> {
    source: S,
    /// There may be something to write.
    is_fed: bool,
    /// Bytes are being written.
    writes: bool,
    ends: bool,
}

#[derive(Debug)]
struct Shared<S> {
    state: Mutex<State<S>>,
    changed: Condvar,
}

impl<S> Shared<S> {
    fn state(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread.
#[derive(Debug)]
pub(super) struct Writer<S> {
    shared: Arc<Shared<S>>,
    thread: Option<JoinHandle<()>>,
}

impl<S: Source> Writer<S> {
    /// Begins to write what `source` has. `say` is called on the writer's thread.
    pub fn start(output: OwnedFd, source: S, say: impl FnMut(Said) + Send + 'static) -> io::Result<Self> {
        let state = State { source, is_fed: true, writes: false, ends: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let its = shared.clone();
        let name = "terminal writer".to_owned();
        let thread = thread::Builder::new().name(name).spawn(move || run(&its, &output, say))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Does something with the source, which may have bytes then.
    pub fn with<R>(&self, act: impl FnOnce(&mut S) -> R) -> R {
        let mut state = self.shared.state();
        let result = act(&mut state.source);
        state.is_fed = true;
        drop(state);
        self.shared.changed.notify_all();
        result
    }

    /// Whether something is not written yet.
    pub fn is_busy(&self) -> bool {
        let state = self.shared.state();
        state.is_fed || state.writes
    }

    /// Waits until everything is written, for that long at most; whether it is.
    pub fn flush(&self, patience: Duration) -> bool {
        let state = self.shared.state();
        let waited = self.shared.changed.wait_timeout_while(state, patience, |state| state.is_fed || state.writes);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

impl<S> Drop for Writer<S> {
    fn drop(&mut self) {
        let writes = {
            let mut state = self.shared.state();
            state.ends = true;
            state.writes
        };
        self.shared.changed.notify_all();
        // A write that hangs is left to the end of the process.
        if let Some(thread) = self.thread.take().filter(|_| !writes)
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

fn run<S: Source>(shared: &Shared<S>, output: &OwnedFd, mut say: impl FnMut(Said)) {
    loop {
        let bytes = {
            let state = shared.state();
            let wait = shared.changed.wait_while(state, |state| !state.is_fed && !state.ends);
            let mut state = wait.unwrap_or_else(PoisonError::into_inner);
            if state.ends {
                return;
            }
            let bytes = state.source.next();
            state.is_fed = bytes.is_some();
            state.writes = bytes.is_some();
            bytes
        };
        let Some(bytes) = bytes else {
            shared.changed.notify_all();
            say(Said::Written);
            continue;
        };
        let written = write_all(output, &bytes);
        shared.state().writes = false;
        if written.is_err() {
            shared.state().ends = true;
            shared.changed.notify_all();
            say(Said::Closed);
            return;
        }
    }
}

fn write_all(output: &OwnedFd, mut bytes: &[u8]) -> rustix::io::Result<()> {
    while !bytes.is_empty() {
        match write(output, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            // Somebody who shares the terminal has set it so.
            Err(Errno::AGAIN) => {
                is_ready(output, PollFlags::OUT, Instant::now() + PATIENCE);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
