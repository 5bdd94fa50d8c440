//! Lines from a pipe that is read without waiting.

use std::{
    io::{ErrorKind, Read},
    os::fd::{AsFd, BorrowedFd},
};

/// A line that is longer is none of ours.
const LONGEST: usize = 64 << 20;

/// The lines of a pipe.
pub struct Lines<P> {
    pipe: Option<P>,
    begun: Vec<u8>,
}

impl<P: Read + AsFd> Lines<P> {
    /// The lines of `pipe`, which is never waited for from now on; `begun` was read before.
    ///
    /// # Errors
    /// The system refuses.
    pub fn new(pipe: P, begun: Vec<u8>) -> std::io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Self { pipe: Some(pipe), begun })
    }

    /// The pipe, while more may come.
    pub fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Takes the lines that are there, with their ends.
    pub fn take(&mut self, mut take: impl FnMut(&[u8])) {
        let mut bytes = [0; 16 << 10];
        while let Some(pipe) = &mut self.pipe {
            match pipe.read(&mut bytes) {
                Ok(0) => self.pipe = None,
                Ok(count) => self.begun.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => self.pipe = None,
            }
            if self.begun.len() > LONGEST {
                self.begun.clear();
            }
        }
        while let Some(end) = memchr::memchr(b'\n', &self.begun) {
            let line: Vec<u8> = self.begun.drain(..=end).collect();
            take(&line);
        }
    }
}
