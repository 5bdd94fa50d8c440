//! A running shell command.

use std::{io, path::PathBuf};

use tokio::io::AsyncWrite;

use crate::tools::BoxFuture;

/// A shell command to start.
#[derive(Clone, Debug, Default)]
pub struct ShellCommand {
    /// The text that the shell runs.
    pub script: String,
    /// Where it runs.
    pub cwd: PathBuf,
    /// The shell; none for the usual one.
    pub shell: Option<String>,
    /// Changes to the inherited environment, in order: a variable's value, or none to remove it.
    pub environment: Vec<(String, Option<String>)>,
    /// What it reads.
    pub input: Input,
}

/// Standard input of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// Nothing: a read ends at once.
    #[default]
    Empty,
    /// What is written to [`Process::take_input`].
    Piped,
}

/// The writing end of a command's standard input. Dropping it ends the input.
pub type InputWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// What happened in a running command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessEvent {
    /// Output was added to the caller's buffer: standard output and standard error in the order of their writing.
    Output,
    /// The shell ended. Processes that it started may go on writing.
    Exited {
        /// Its exit code; 128 + signal when a signal ended it.
        code: i32,
    },
    /// Nobody can write any more.
    Closed,
}

/// A running command. Dropping it kills its processes, unless [`Process::leave`] was called.
pub trait Process: Send {
    /// Waits for the next event. Output is appended to `buffer`. Each of [`ProcessEvent::Exited`] and
    /// [`ProcessEvent::Closed`] comes once; after both this waits for ever. May be dropped without loss.
    fn next<'a>(&'a mut self, buffer: &'a mut Vec<u8>) -> BoxFuture<'a, io::Result<ProcessEvent>>;

    /// Kills the shell and all that it started.
    fn kill(&mut self);

    /// Lets what the shell left in the background live on.
    fn leave(&mut self);

    /// The writing end of an input that is [`Input::Piped`], once; none where commands cannot be given input.
    fn take_input(&mut self) -> Option<InputWriter> {
        None
    }

    /// Whether one of the processes waits now for input that was not written yet; none where that cannot be told.
    /// Takes some milliseconds at most.
    fn waits_for_input(&self) -> Option<bool> {
        None
    }
}
