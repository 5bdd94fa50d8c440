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
/// A process in the background that prints on without such a pause is followed for this long: a call without a time-out
/// must not wait for ever for a server that never falls silent.
const NOISE: Duration = Duration::from_secs(5);
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
    let mut noise_ends = None;
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
            () = at(noise_ends) => None,
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
            Some(ProcessEvent::Exited { code }) => {
                shell = Some((code, start.elapsed()));
                noise_ends = Some(time::Instant::now() + NOISE);
            }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::{BoxFuture, OutputSource, bash::output::Retention};

    /// A command that prints what it is given, piece by piece with a pause before each, and never ends.
    struct Slow(Vec<(u64, &'static [u8])>);

    impl Process for Slow {
        fn next<'a>(&'a mut self, buffer: &'a mut Vec<u8>) -> BoxFuture<'a, io::Result<ProcessEvent>> {
            Box::pin(async move {
                let Some((seconds, piece)) = self.0.first().copied() else { return std::future::pending().await };
                time::sleep(Duration::from_secs(seconds)).await;
                self.0.remove(0);
                buffer.extend(piece);
                Ok(ProcessEvent::Output)
            })
        }

        fn kill(&mut self) {}

        fn leave(&mut self) {}
    }

    /// A command whose shell ends at once, and whose background never falls silent.
    struct Noisy(bool);

    impl Process for Noisy {
        fn next<'a>(&'a mut self, buffer: &'a mut Vec<u8>) -> BoxFuture<'a, io::Result<ProcessEvent>> {
            Box::pin(async move {
                if !std::mem::replace(&mut self.0, true) {
                    return Ok(ProcessEvent::Exited { code: 3 });
                }
                time::sleep(IDLE / 2).await;
                buffer.extend(b"tick\n");
                Ok(ProcessEvent::Output)
            })
        }

        fn kill(&mut self) {}

        fn leave(&mut self) {}
    }

    #[tokio::test(start_paused = true)]
    async fn a_background_that_never_falls_silent_does_not_hold_the_call_fc_041() {
        let mut capture = Capture::new(Retention { head: 0, tail: 100 });
        let begun = time::Instant::now();
        let end = follow(&mut Noisy(false), &mut capture, None, &CancellationToken::new(), |_| {}).await;
        assert_eq!((end.unwrap(), begun.elapsed()), (End::Exited { code: 3 }, NOISE));
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_told_of_less_and_less_often_until_there_is_output() {
        let mut capture = Capture::new(Retention { head: 0, tail: 100 });
        let output = capture.shared();
        let mut seen = Vec::new();
        let on_seen = |event: Seen<'_>| {
            let silence = match event {
                Seen::Output(_) => None,
                Seen::Silence(since) => Some(since),
            };
            output.is_silent_for(silence);
            seen.push((silence.map(|time| time.as_secs()), output.snapshot().details));
        };
        let cancel = CancellationToken::new();
        let limit = Some(Duration::from_secs(140));
        // One pause for each piece: what is dropped in the middle of one begins it anew.
        let end = follow(&mut Slow(vec![(9, b"x"), (9, b"y")]), &mut capture, limit, &cancel, on_seen).await;
        assert_eq!(end.unwrap(), End::TimedOut { shell: None });
        let silent = |seconds: u64| (Some(seconds), Some(json!({"silentSeconds": seconds})));
        assert_eq!(
            seen,
            [(None, Some(json!({}))), (None, Some(json!({}))), silent(10), silent(20), silent(40), silent(80)]
        );
    }
}
