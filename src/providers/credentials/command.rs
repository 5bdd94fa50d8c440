//! Keys that a command prints.

use std::{
    collections::HashMap,
    io,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::AsyncReadExt as _,
    process::{Child, Command},
    sync::OnceCell,
    time::timeout,
};

use crate::providers::{Secret, environment::Environment};

/// How long a key command may take.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// How much a key command may print, in bytes: the longest tokens have a few thousand.
const MAX_OUTPUT: u64 = 64 * 1024;

/// Why a command gave no key. Its output is never shown: it may be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// It could not be started.
    #[error("cannot be started: {0}")]
    Start(String),
    /// It failed.
    #[error("failed with {0}")]
    Status(String),
    /// It printed nothing.
    #[error("printed nothing")]
    Empty,
    /// It printed more than any key has.
    #[error("printed more than {} KiB, which is no key", MAX_OUTPUT / 1024)]
    TooMuch,
    /// It took too long.
    #[error("took longer than {} s", TIMEOUT.as_secs())]
    Timeout,
}

/// What a command gave.
pub type Outcome = Result<Secret, CommandError>;

/// Results of commands for the life of the process, failures too. Askers at the same time share one run.
#[derive(Clone, Default)]
pub struct CommandCache(Arc<Mutex<HashMap<String, Arc<OnceCell<Outcome>>>>>);

impl CommandCache {
    /// The command's key, from the cache when it ran before.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub async fn run(&self, command: &str, environment: &Environment) -> Outcome {
        let cell = {
            let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(cells.entry(command.to_owned()).or_default())
        };
        cell.get_or_init(|| run(command, environment)).await.clone()
    }
}

/// Runs a command in a shell; its trimmed standard output is the key.
///
/// # Errors
/// See [`CommandError`].
pub async fn run(command: &str, environment: &Environment) -> Outcome {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command).env_clear().envs(environment.iter());
    // A group of its own, so that what the command started ends with it. A password prompt has no terminal to ask on.
    shell.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = shell.spawn().map_err(|error| CommandError::Start(error.to_string()))?;
    let group = child.id().map(Group);
    match timeout(TIMEOUT, output_of(&mut child)).await {
        Ok(Ok(Some((status, output)))) => {
            // The group's id is free for others now.
            std::mem::forget(group);
            key_of(status, &output)
        }
        Ok(Ok(None)) => Err(CommandError::TooMuch),
        Ok(Err(error)) => Err(CommandError::Start(error.to_string())),
        Err(_) => Err(CommandError::Timeout),
    }
}

/// How the command ended and what it printed; none as soon as it printed too much.
async fn output_of(child: &mut Child) -> io::Result<Option<(ExitStatus, Vec<u8>)>> {
    let mut output = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(MAX_OUTPUT + 1).read_to_end(&mut output).await?;
    }
    if output.len() as u64 > MAX_OUTPUT {
        return Ok(None);
    }
    Ok(Some((child.wait().await?, output)))
}

fn key_of(status: ExitStatus, output: &[u8]) -> Outcome {
    if !status.success() {
        return Err(CommandError::Status(status.to_string()));
    }
    let key = String::from_utf8_lossy(output);
    if key.trim().is_empty() { Err(CommandError::Empty) } else { Ok(Secret::new(&key)) }
}

/// Kills a process group when it goes out of scope: at a time-out and when the asker is cancelled.
struct Group(u32);

impl Drop for Group {
    fn drop(&mut self) {
        let id = i32::try_from(self.0).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(id) = id {
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> Environment {
        [("PATH", "/usr/bin:/bin"), ("WHO", "me")].into_iter().collect()
    }

    #[tokio::test]
    async fn the_trimmed_output_is_the_key_and_everything_else_is_none() {
        let status = CommandError::Status("exit status: 3".into());
        let table = [
            ("printf ' key \\n\\n'", Ok("key")),
            ("echo $WHO", Ok("me")),
            ("echo partial; exit 3", Err(status)),
            ("true", Err(CommandError::Empty)),
            ("yes", Err(CommandError::TooMuch)),
        ];
        for (command, expected) in table {
            let outcome = run(command, &path()).await;
            assert_eq!(outcome, expected.map(Secret::new), "{command}");
        }
    }

    #[tokio::test]
    async fn a_cached_command_runs_once_even_when_it_fails_or_is_asked_twice_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let cache = CommandCache::default();
        let command = format!("echo run >> '{}'; exit 1", log.display());
        let environment = path();
        let (first, second) = tokio::join!(cache.run(&command, &environment), cache.run(&command, &environment));
        assert!(first.is_err() && second.is_err() && cache.run(&command, &environment).await.is_err());
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "run\n");
    }

    #[tokio::test(start_paused = true)]
    async fn a_hanging_command_times_out() {
        assert_eq!(run("sleep 60 & sleep 60", &path()).await, Err(CommandError::Timeout));
    }
}
