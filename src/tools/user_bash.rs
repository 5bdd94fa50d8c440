//! Shell commands that a person runs (`!command`).

use std::{path::Path, time::Duration};

use tokio_util::sync::CancellationToken;

use super::{
    bash::{
        capture::Capture,
        output::{Retention, Utf8Stream},
        run::{self, End, Seen},
        terminal::{Rewriting, TerminalText},
        with_settings,
    },
    context::SessionFacts,
    operations::Operations,
    truncate::MAX_BYTES,
};
use crate::protocol::command::BashResult;

/// Why a person's command has no result.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UserBashError(#[from] std::io::Error);

/// Runs a person's shell command with the session's shell and prefix, in the environment of this process.
///
/// `on_delta` gets the output as it comes: plain text, without carriage returns. The result holds its end, with lines
/// as they were written last.
///
/// # Errors
/// When the command cannot be started or followed.
pub async fn run(
    operations: &dyn Operations,
    command: &str,
    cwd: &Path,
    facts: &SessionFacts,
    cancel: &CancellationToken,
    mut on_delta: impl FnMut(&str),
) -> Result<BashResult, UserBashError> {
    let mut process = operations.spawn(with_settings(facts, command, cwd.to_owned())).await?;
    let mut capture = Capture::new(Retention { head: 0, tail: 2 * MAX_BYTES });
    let mut deltas = Deltas::default();
    let on_seen = |seen: Seen<'_>| {
        if let Seen::Output(bytes) = seen {
            deltas.push(bytes, &mut on_delta);
        }
    };
    let end = run::follow(process.as_mut(), &mut capture, None, cancel, on_seen).await?;
    deltas.finish(&mut on_delta);
    let captured = capture.finish().await;
    let (exit_code, cancelled) = match end {
        End::Exited { code } => (Some(code), false),
        End::Cancelled | End::TimedOut { .. } => (None, true),
    };
    Ok(BashResult {
        output: captured.truncation.content,
        exit_code,
        cancelled,
        truncated: captured.truncation.truncated,
        full_output_path: captured.spilled.path.map(|path| path.display().to_string()),
    })
}

/// The same for a command that nobody watches and that gets so much time. Gives the result, and whether the time was over.
///
/// # Errors
/// When the command cannot be started or followed.
pub async fn run_within(
    time: Duration,
    operations: &dyn Operations,
    command: &str,
    cwd: &Path,
    facts: &SessionFacts,
    cancel: &CancellationToken,
) -> Result<(BashResult, bool), UserBashError> {
    let deadline = cancel.child_token();
    let work = run(operations, command, cwd, facts, &deadline, |_| {});
    tokio::pin!(work);
    tokio::select! {
        biased;
        result = &mut work => Ok((result?, false)),
        () = tokio::time::sleep(time) => {
            deadline.cancel();
            Ok((work.await?, true))
        }
    }
}

/// Makes plain text of each piece as it comes.
#[derive(Debug)]
struct Deltas {
    decoder: Utf8Stream,
    terminal: TerminalText,
    decoded: String,
    plain: String,
}

impl Default for Deltas {
    fn default() -> Self {
        Self {
            decoder: Utf8Stream::default(),
            terminal: TerminalText::new(Rewriting::Ignored),
            decoded: String::new(),
            plain: String::new(),
        }
    }
}

impl Deltas {
    fn push(&mut self, bytes: &[u8], on_delta: &mut impl FnMut(&str)) {
        self.decoder.push(bytes, &mut self.decoded);
        self.terminal.push(&self.decoded, &mut self.plain);
        self.decoded.clear();
        self.give(on_delta);
    }

    fn finish(&mut self, on_delta: &mut impl FnMut(&str)) {
        self.terminal.finish(&mut self.plain);
        self.give(on_delta);
    }

    fn give(&mut self, on_delta: &mut impl FnMut(&str)) {
        if !self.plain.is_empty() {
            on_delta(&self.plain);
            self.plain.clear();
        }
    }
}
