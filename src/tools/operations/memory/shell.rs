//! A scripted shell: what commands print and how they end, without any process.

use std::{collections::VecDeque, io, time::Duration};

use tokio::time::{Instant, sleep_until};

use crate::tools::{
    BoxFuture,
    operations::{Process, ProcessEvent},
};

/// What a command does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scripted {
    steps: VecDeque<Step>,
    code: i32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Print(Vec<u8>),
    Wait(Duration),
    Hang,
}

impl Scripted {
    /// Ends with this code.
    #[must_use]
    pub fn exits(code: i32) -> Self {
        Self { steps: VecDeque::new(), code }
    }

    /// Prints.
    #[must_use]
    pub fn prints(mut self, output: impl Into<Vec<u8>>) -> Self {
        self.steps.push_back(Step::Print(output.into()));
        self
    }

    /// Does nothing for a while.
    #[must_use]
    pub fn waits(mut self, time: Duration) -> Self {
        self.steps.push_back(Step::Wait(time));
        self
    }

    /// Never ends by itself.
    #[must_use]
    pub fn hangs(mut self) -> Self {
        self.steps.push_back(Step::Hang);
        self
    }
}

/// The exit code of a shell whose command was killed.
const KILLED: i32 = 128 + 9;

/// A command that plays its script.
#[derive(Debug)]
pub(super) struct ScriptedProcess {
    script: Scripted,
    until: Option<Instant>,
    exited: bool,
    closed: bool,
}

impl ScriptedProcess {
    pub(super) fn new(script: Scripted) -> Self {
        Self { script, until: None, exited: false, closed: false }
    }
}

impl Process for ScriptedProcess {
    fn next<'a>(&'a mut self, buffer: &'a mut Vec<u8>) -> BoxFuture<'a, io::Result<ProcessEvent>> {
        Box::pin(async move {
            loop {
                match self.script.steps.front() {
                    Some(Step::Print(output)) => {
                        buffer.extend_from_slice(output);
                        self.script.steps.pop_front();
                        return Ok(ProcessEvent::Output);
                    }
                    Some(Step::Wait(time)) => {
                        // Kept, since this future may be dropped and made again.
                        let until = *self.until.get_or_insert_with(|| Instant::now() + *time);
                        sleep_until(until).await;
                        self.until = None;
                        self.script.steps.pop_front();
                    }
                    Some(Step::Hang) => std::future::pending().await,
                    None if !self.exited => {
                        self.exited = true;
                        return Ok(ProcessEvent::Exited { code: self.script.code });
                    }
                    None if !self.closed => {
                        self.closed = true;
                        return Ok(ProcessEvent::Closed);
                    }
                    None => std::future::pending().await,
                }
            }
        })
    }

    fn kill(&mut self) {
        if !self.exited {
            self.script = Scripted::exits(KILLED);
            self.until = None;
        }
    }

    fn leave(&mut self) {}
}
