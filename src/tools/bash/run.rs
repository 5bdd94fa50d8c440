//! Following a command to its end.

use std::{
    io,
    time::{Duration, Instant},
};

use tokio::time;
use tokio_util::sync::CancellationToken;

use super::capture::Capture;
use crate::tools::operations::{Process, ProcessEvent};

/// After the shell has ended, its output counts as complete when nothing came for this long: a process that it left in
/// the background may hold the pipe for ever.
const IDLE: Duration = Duration::from_millis(100);
/// After a kill, what the pipe still holds is read for this long at most.
const REST: Duration = Duration::from_millis(80);

/// A command that prints nothing for this long is told of; the next time after twice as long, and so on.
const SILENCE: Duration = Duration::from_secs(10);

/// What is seen of a running command.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'a> {
    /// It wrote this.
    Output(&'a [u8]),
    /// It has written nothing for so long.
    Silence(Duration),
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself.
    Exited {
        /// 128 + signal when a signal ended the shell.
        code: i32,
    },
    /// It was killed when its time was over.
    TimedOut {
        /// Exit code of the shell and time after its start, when only what it left behind had gone on.
        shell: Option<(i32, Duration)>,
    },
    /// It was killed since nobody wants it any more.
    Cancelled,
}

/// Reads a command's output until it ends, its time is over, or it is cancelled. `on_seen` hears of each piece, and
/// of silence.
///
/// # Errors
/// When its output or its end cannot be read; its processes are killed then.
pub async fn follow(
    process: &mut dyn Process,
    capture: &mut Capture,
    timeout: Option<Duration>,
    cancel: &CancellationToken,
    mut on_seen: impl FnMut(Seen<'_>),
) -> io::Result<End> {
    let start = Instant::now();
    // A time that is too long to be told apart from none counts as none.
    let deadline = timeout.and_then(|timeout| time::Instant::now().checked_add(timeout));
    let mut buffer = Vec::new();
    let mut shell = None;
    let mut open = true;
    let (mut last_output, mut silence) = (time::Instant::now(), SILENCE);
    while open || shell.is_none() {
        let event = tokio::select! {
            // Endless output must not keep an end from being seen.
            biased;
            () = cancel.cancelled() => {
                kill(process, &mut buffer, capture, open).await;
                return Ok(End::Cancelled);
            }
            () = at(deadline) => {
                kill(process, &mut buffer, capture, open).await;
                return Ok(End::TimedOut { shell });
            }
            event = process.next(&mut buffer) => Some(event?),
            () = time::sleep_until(last_output + silence), if shell.is_none() => {
                on_seen(Seen::Silence(silence));
                silence *= 2;
                continue;
            }
            () = time::sleep(IDLE), if shell.is_some() => None,
        };
        match event {
            Some(ProcessEvent::Output) => {
                capture.push(&buffer).await;
                on_seen(Seen::Output(&buffer));
                buffer.clear();
                (last_output, silence) = (time::Instant::now(), SILENCE);
            }
            Some(ProcessEvent::Exited { code }) => shell = Some((code, start.elapsed())),
            Some(ProcessEvent::Closed) => open = false,
            None => break,
        }
    }
    process.leave();
    Ok(End::Exited { code: shell.map_or(1, |(code, _)| code) })
}

async fn at(deadline: Option<time::Instant>) {
    match deadline {
        Some(deadline) => time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Kills the command and takes the rest of its output.
async fn kill(process: &mut dyn Process, buffer: &mut Vec<u8>, capture: &mut Capture, mut open: bool) {
    process.kill();
    let rest = async {
        while open {
            match process.next(buffer).await {
                Ok(ProcessEvent::Output) => {
                    capture.push(buffer).await;
                    buffer.clear();
                }
                Ok(ProcessEvent::Exited { .. }) => {}
                Ok(ProcessEvent::Closed) | Err(_) => open = false,
            }
        }
    };
    let _ = time::timeout(REST, rest).await;
}
