//! One script that runs on the other machine.

use std::{io, path::PathBuf, process::ExitStatus};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    sync::OwnedSemaphorePermit,
};

use super::{reply, target::Target, trouble::SshError};

/// As much as a pipe holds.
const READ_SIZE: usize = 64 << 10;
/// The exit code of ssh when ssh itself failed. A command may have it, too, so scripts end with another one.
const SSH_FAILED: i32 = 255;
/// What ssh said, at most.
const WORDS_AT_MOST: u64 = 16 << 10;

/// A running script: the local ssh process that carries it. Dropping it ends the session; the script sees its input
/// end and nobody reads its output any more.
pub struct Channel {
    child: Child,
    pub input: Option<ChildStdin>,
    pub output: Option<ChildStdout>,
    pub control: Option<ChildStderr>,
    /// Output that was read along with an answer.
    ahead: Vec<u8>,
    mark: String,
    target: Target,
    log: PathBuf,
    _slot: OwnedSemaphorePermit,
}

impl Channel {
    pub(super) fn new(
        mut child: Child,
        slot: OwnedSemaphorePermit,
        mark: String,
        target: Target,
        log: PathBuf,
    ) -> Self {
        let (input, output, control) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        Self { child, input, output, control, ahead: Vec::new(), mark, target, log, _slot: slot }
    }

    /// Gives the script input. When it does not want it, its answer says why, so that is no failure here.
    pub async fn send(&mut self, bytes: &[u8]) {
        if let Some(input) = &mut self.input
            && input.write_all(bytes).await.is_err()
        {
            self.input = None;
        }
    }

    /// Ends the script's input.
    pub fn end_input(&mut self) {
        self.input = None;
    }

    /// Waits for the answer and gives its facts.
    ///
    /// # Errors
    /// It says that the script failed, or the connection ended before it.
    pub async fn answer(&mut self) -> io::Result<String> {
        reply::facts(&self.marked_line().await?).map(str::to_owned)
    }

    /// Leaves out what a login shell printed: all up to the line with the mark.
    ///
    /// # Errors
    /// The connection ended before it.
    pub async fn skip_greeting(&mut self) -> io::Result<()> {
        self.marked_line().await.map(drop)
    }

    async fn marked_line(&mut self) -> io::Result<String> {
        let mut bytes = std::mem::take(&mut self.ahead);
        loop {
            if let Some((line, end)) = reply::find(&bytes, &self.mark) {
                self.ahead = bytes.split_off(end);
                return Ok(line);
            }
            if self.read(&mut bytes).await? == 0 {
                return Err(self.end_without_answer().await);
            }
        }
    }

    /// Adds output that was read ahead to `buffer`; false when there is none.
    pub fn take_ahead(&mut self, buffer: &mut Vec<u8>) -> bool {
        let is_some = !self.ahead.is_empty();
        buffer.append(&mut self.ahead);
        is_some
    }

    /// The next output after an answer; empty at the end.
    pub async fn chunk(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = std::mem::take(&mut self.ahead);
        if bytes.is_empty() {
            self.read(&mut bytes).await?;
        }
        Ok(bytes)
    }

    /// All output after an answer, until the script has ended well.
    pub async fn rest(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = std::mem::take(&mut self.ahead);
        while self.read(&mut bytes).await? > 0 {}
        self.finish().await?;
        Ok(bytes)
    }

    /// Waits for the script's end.
    ///
    /// # Errors
    /// It failed, or the connection did.
    pub async fn finish(&mut self) -> io::Result<()> {
        self.end_input();
        let status = self.child.wait().await?;
        if status.success() {
            return Ok(());
        }
        let words = self.words().await;
        if is_lost(status) { Err(self.lost(&words)) } else { Err(reply::error(&words)) }
    }

    /// The connection's end as an error, with what ssh said.
    pub fn lost(&self, words: &str) -> io::Error {
        let log = if words.trim().is_empty() {
            std::fs::read_to_string(&self.log).unwrap_or_default()
        } else {
            words.to_owned()
        };
        SshError::lost(&self.target, &log).into()
    }

    async fn end_without_answer(&mut self) -> io::Error {
        let words = self.words().await;
        match self.child.wait().await {
            Ok(status) if is_lost(status) => self.lost(&words),
            Ok(status) => {
                let words = format!("its shell did not run what it was given ({status}): {}", words.trim());
                SshError::Unusable { target: self.target.to_string(), words }.into()
            }
            Err(error) => error,
        }
    }

    /// What was said on standard error.
    async fn words(&mut self) -> String {
        let mut words = Vec::new();
        if let Some(control) = self.control.take() {
            let _ = control.take(WORDS_AT_MOST).read_to_end(&mut words).await;
        }
        String::from_utf8_lossy(&words).into_owned()
    }

    async fn read(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let Some(output) = &mut self.output else { return Ok(0) };
        bytes.reserve(READ_SIZE);
        output.read_buf(bytes).await
    }
}

fn is_lost(status: ExitStatus) -> bool {
    // Killed by a signal: somebody ended the local process.
    status.code().is_none_or(|code| code == SSH_FAILED)
}
