//! The two sides of the terminal, its size and its line discipline.

use std::{
    fs::OpenOptions,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, fcntl_dupfd_cloexec, write},
    termios::{OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr},
};

use super::TerminalError;

/// Columns and rows of a terminal that does not know its size.
const DEFAULT_SIZE: (u16, u16) = (80, 24);

/// A terminal: where its keys come from, and where what it shows goes to.
#[derive(Debug)]
pub(super) struct Tty {
    /// The reading side.
    pub input: OwnedFd,
    /// The writing side.
    pub output: OwnedFd,
}

impl Tty {
    /// The terminal of this process. Keys come from the controlling terminal when standard input is something else.
    pub fn of_process() -> Result<Self, TerminalError> {
        let stdout = rustix::stdio::stdout();
        if !isatty(stdout) {
            return Err(TerminalError::NoTerminal("standard output"));
        }
        let copy = |fd: BorrowedFd<'_>| fcntl_dupfd_cloexec(fd, 0).map_err(TerminalError::system("open it again"));
        let stdin = rustix::stdio::stdin();
        let input = if isatty(stdin) {
            copy(stdin)?
        } else {
            let tty = OpenOptions::new().read(true).write(true).open("/dev/tty");
            tty.map_err(|_| TerminalError::NoTerminal("standard input"))?.into()
        };
        Ok(Self { input, output: copy(stdout)? })
    }

    /// The same terminal once more.
    pub fn again(&self) -> Result<Self, TerminalError> {
        let copy = |fd: &OwnedFd| fcntl_dupfd_cloexec(fd, 0).map_err(TerminalError::system("open it again"));
        Ok(Self { input: copy(&self.input)?, output: copy(&self.output)? })
    }

    /// Switches line editing, echo and signals of keys off; gives back how it was.
    pub fn make_raw(&self) -> Result<Termios, TerminalError> {
        let original = tcgetattr(&self.input).map_err(TerminalError::system("read its modes"))?;
        let mut raw = original.clone();
        raw.make_raw();
        self.set(&raw).map_err(TerminalError::system("switch line editing off"))?;
        Ok(original)
    }

    /// Sets the line discipline, at once: a terminal that takes no output must not hold us up.
    pub fn set(&self, termios: &Termios) -> rustix::io::Result<()> {
        tcsetattr(&self.input, OptionalActions::Now, termios)
    }

    /// Writes as much as the terminal takes within `patience`.
    pub fn write_soon(&self, mut bytes: &[u8], patience: Duration) {
        let until = Instant::now() + patience;
        while !bytes.is_empty() && is_ready(&self.output, PollFlags::OUT, until) {
            // Little at a time: what is more than the terminal takes now would block.
            match write(&self.output, &bytes[..bytes.len().min(512)]) {
                Ok(written) => bytes = &bytes[written..],
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => return,
            }
        }
    }
}

/// Columns and rows of a terminal, at least 1 each.
pub(super) fn size(terminal: impl AsFd) -> (u16, u16) {
    match tcgetwinsize(terminal) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col, size.ws_row),
        _ => DEFAULT_SIZE,
    }
}

/// Waits until something can be read or written.
pub(super) fn is_ready(fd: impl AsFd, flags: PollFlags, until: Instant) -> bool {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match poll(&mut [PollFd::new(&fd, flags)], Some(&timespec(left))) {
            Err(Errno::INTR) => {}
            Ok(0) | Err(_) => return false,
            Ok(_) => return true,
        }
    }
}

/// A time span as the system takes it.
pub(super) fn timespec(span: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(span.as_secs()).unwrap_or(i64::MAX), tv_nsec: span.subsec_nanos().into() }
}
