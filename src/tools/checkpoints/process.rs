//! A command whose changes are recorded when it is over.

use std::io;

use super::workspace::Window;
use crate::tools::{
    BoxFuture,
    operations::{InputWriter, Process, ProcessEvent},
};

/// A command, and the time in which it may change files: both end when this is dropped. What a command leaves in the
/// background changes files without a record.
pub struct Watched {
    // Dropped first: it kills what still runs.
    process: Box<dyn Process>,
    _window: Window,
}

impl Watched {
    /// A command that has just been started.
    pub fn new(process: Box<dyn Process>, window: Window) -> Self {
        Self { process, _window: window }
    }
}

impl Process for Watched {
    fn next<'a>(&'a mut self, buffer: &'a mut Vec<u8>) -> BoxFuture<'a, io::Result<ProcessEvent>> {
        self.process.next(buffer)
    }

    fn kill(&mut self) {
        self.process.kill();
    }

    fn leave(&mut self) {
        self.process.leave();
    }

    fn take_input(&mut self) -> Option<InputWriter> {
        self.process.take_input()
    }

    fn waits_for_input(&self) -> Option<bool> {
        self.process.waits_for_input()
    }
}
