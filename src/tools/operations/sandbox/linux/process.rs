//! A confined command. When it fails in a way that looks like the sandbox, its output ends with a line that says so.

use std::{io, sync::Arc, time::Duration};

use tokio::time::{Instant, timeout_at};

use super::aside::Aside;
use crate::tools::{
    BoxFuture,
    operations::{InputWriter, Process, ProcessEvent},
};

/// As much of the end of an output as is looked at.
const TAIL: usize = 4096;
/// After the shell has ended, this long is waited for the rest of its output before the note is added.
const REST: Duration = Duration::from_millis(50);

/// What programs say when they are refused something.
const OF_FILES: [&str; 7] = [
    "Read-only file system",
    "ermission denied",
    "peration not permitted",
    "resource busy",
    "EROFS",
    "EACCES",
    "EPERM",
];

/// The same of the network.
const OF_NETWORK: [&str; 11] = [
    "Network is unreachable",
    "ould not resolve",
    "ame resolution",
    "ame or service not known",
    "onnection refused",
    "ailed to connect",
    "ouldn't connect",
    "Address family not supported",
    "EAI_AGAIN",
    "ENETUNREACH",
    "ECONNREFUSED",
];

/// A command with a note at the end.
pub struct Noted {
    process: Box<dyn Process>,
    note: String,
    /// Whether the command has it.
    network: bool,
    aside: Arc<Aside>,
    /// What was put aside.
    moved: Vec<String>,
    /// The end of its output.
    tail: Vec<u8>,
    /// Ends that were seen and not told yet.
    exited: Option<i32>,
    closed: bool,
    /// When the note can no longer wait for more output.
    deadline: Option<Instant>,
    /// Nothing is held back any more: the note was given, or none is needed.
    open: bool,
}

impl Noted {
    /// `network`: whether the command has it.
    pub fn new(process: Box<dyn Process>, note: String, network: bool, aside: Arc<Aside>) -> Self {
        let (moved, tail) = (Vec::new(), Vec::new());
        let (exited, closed, deadline, open) = (None, false, None, false);
        Self { process, note, network, aside, moved, tail, exited, closed, deadline, open }
    }

    fn look(&mut self, output: &[u8]) {
        self.tail.extend_from_slice(&output[output.len().saturating_sub(TAIL)..]);
        let excess = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..excess);
    }

    fn is_suspicious(&self) -> bool {
        let has = |text: &&str| memchr::memmem::find(&self.tail, text.as_bytes()).is_some();
        OF_FILES.iter().any(has) || (!self.network && OF_NETWORK.iter().any(has))
    }

    /// Adds what is to be said, if anything, and whether it was.
    fn conclude(&mut self, buffer: &mut Vec<u8>) -> bool {
        self.open = true;
        let mut lines = std::mem::take(&mut self.moved);
        if self.exited != Some(0) && self.is_suspicious() {
            lines.push(std::mem::take(&mut self.note));
        }
        if lines.is_empty() {
            return false;
        }
        if self.tail.last().is_some_and(|last| *last != b'\n') {
            buffer.push(b'\n');
        }
        buffer.extend_from_slice(lines.join("\n").as_bytes());
        buffer.push(b'\n');
        true
    }

    async fn step(&mut self, buffer: &mut Vec<u8>) -> io::Result<ProcessEvent> {
        loop {
            if self.open {
                if let Some(code) = self.exited.take() {
                    return Ok(ProcessEvent::Exited { code });
                }
                if std::mem::take(&mut self.closed) {
                    return Ok(ProcessEvent::Closed);
                }
                return self.process.next(buffer).await;
            }
            let before = buffer.len();
            let event = match self.deadline {
                Some(_) if self.closed => None,
                Some(deadline) => timeout_at(deadline, self.process.next(buffer)).await.ok(),
                None => Some(self.process.next(buffer).await),
            };
            match event.transpose()? {
                Some(ProcessEvent::Output) => {
                    self.look(&buffer[before..]);
                    return Ok(ProcessEvent::Output);
                }
                Some(ProcessEvent::Closed) => self.closed = true,
                Some(ProcessEvent::Exited { code }) => {
                    self.exited = Some(code);
                    self.moved = self.aside.sweep();
                    self.open = code == 0 && self.moved.is_empty();
                    self.deadline = Some(Instant::now() + REST);
                }
                None if self.conclude(buffer) => return Ok(ProcessEvent::Output),
                None => {}
            }
        }
    }
}

impl Process for Noted {
    fn next<'a>(&'a mut self, buffer: &'a mut Vec<u8>) -> BoxFuture<'a, io::Result<ProcessEvent>> {
        Box::pin(self.step(buffer))
    }

    fn kill(&mut self) {
        // Whoever kills it knows why it ended.
        self.open = true;
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

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Plays events; then it waits for ever.
    struct Played(VecDeque<Result<&'static str, ProcessEvent>>);

    impl Process for Played {
        fn next<'a>(&'a mut self, buffer: &'a mut Vec<u8>) -> BoxFuture<'a, io::Result<ProcessEvent>> {
            Box::pin(async move {
                match self.0.pop_front() {
                    Some(Ok(text)) => {
                        buffer.extend_from_slice(text.as_bytes());
                        Ok(ProcessEvent::Output)
                    }
                    Some(Err(event)) => Ok(event),
                    None => std::future::pending().await,
                }
            })
        }

        fn kill(&mut self) {}

        fn leave(&mut self) {}
    }

    async fn output(network: bool, events: Vec<Result<&'static str, ProcessEvent>>) -> String {
        let ends = events.iter().filter(|event| event.is_err()).count();
        let mut process =
            Noted::new(Box::new(Played(events.into())), "[NOTE]".into(), network, Arc::new(Aside::default()));
        let (mut buffer, mut seen) = (Vec::new(), 0);
        while seen < ends {
            match process.next(&mut buffer).await.unwrap() {
                ProcessEvent::Output => {}
                ProcessEvent::Exited { .. } | ProcessEvent::Closed => seen += 1,
            }
        }
        String::from_utf8(buffer).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_that_looks_like_the_sandbox_gets_a_note_whatever_order_its_ends_come_in() {
        let (exit, fine, closed) =
            (Err(ProcessEvent::Exited { code: 1 }), Err(ProcessEvent::Exited { code: 0 }), Err(ProcessEvent::Closed));
        let refused = Ok("x: Read-only file system\n");
        let table = [
            (false, vec![refused, exit, closed], "x: Read-only file system\n[NOTE]\n"),
            (false, vec![refused, closed, exit], "x: Read-only file system\n[NOTE]\n"),
            // What comes after the shell's end counts, and a pipe that stays open does not hold the note up.
            (false, vec![exit, refused, closed], "x: Read-only file system\n[NOTE]\n"),
            (false, vec![refused, exit], "x: Read-only file system\n[NOTE]\n"),
            (false, vec![Ok("Permission denied"), exit, closed], "Permission denied\n[NOTE]\n"),
            (false, vec![refused, fine, closed], "x: Read-only file system\n"),
            (false, vec![Ok("assertion failed\n"), exit, closed], "assertion failed\n"),
            (false, vec![Ok("Connection refused\n"), exit, closed], "Connection refused\n[NOTE]\n"),
            (true, vec![Ok("Connection refused\n"), exit, closed], "Connection refused\n"),
        ];
        for (network, events, wanted) in table {
            assert_eq!(output(network, events.clone()).await, wanted, "{events:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_long_output_is_what_counts() {
        let long: &'static str = "x".repeat(3 * TAIL).leak();
        let closed = Err(ProcessEvent::Closed);
        let exit = Err(ProcessEvent::Exited { code: 2 });
        let text = output(false, vec![Ok("EROFS"), Ok(long), exit, closed]).await;
        assert!(!text.contains("[NOTE]"));
        let text = output(false, vec![Ok(long), Ok("ERO"), Ok("FS"), exit, closed]).await;
        assert!(text.ends_with("EROFS\n[NOTE]\n"));
    }
}
