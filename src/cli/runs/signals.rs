//! The signals of a supervisor, without a runtime: they wake it, and it asks which ones came.

use std::{
    io::{self, Read as _},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::process::Signal;
use signal_hook::{flag, low_level::pipe};

use crate::cli::exit::Exit;

/// Signals that are caught from now on.
pub struct Signals {
    wake: UnixStream,
    ends: Vec<(Exit, Arc<AtomicBool>)>,
}

impl Signals {
    /// Begins to catch SIGTERM, SIGHUP, SIGINT, SIGQUIT and SIGCHLD.
    ///
    /// # Errors
    /// The system refuses.
    pub fn begin() -> io::Result<Self> {
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let mut ends = Vec::new();
        for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT, Signal::CHILD] {
            let number = signal.as_raw();
            if let Some(exit) = Exit::from_signal(number) {
                let came = Arc::new(AtomicBool::new(false));
                flag::register(number, came.clone())?;
                ends.push((exit, came));
            }
            // Behind the flag: whoever is woken finds it set.
            pipe::register(number, woken.try_clone()?)?;
        }
        Ok(Self { wake, ends })
    }

    /// Takes what woke the supervisor; the signal that wants its end, if one came since the last look.
    pub fn take(&mut self) -> Option<Exit> {
        let mut bytes = [0; 64];
        while matches!(self.wake.read(&mut bytes), Ok(count) if count > 0) {}
        self.ends.iter().find(|(_, came)| came.swap(false, Ordering::SeqCst)).map(|(exit, _)| *exit)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}
