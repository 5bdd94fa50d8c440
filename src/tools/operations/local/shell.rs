//! Shell commands on this machine.

use std::{
    io,
    os::{fd::OwnedFd, unix::process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
};

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::process::Pid;
use tokio::{io::AsyncReadExt, net::unix::pipe, process::Command};

use super::kill::{Mark, Tree};
use crate::tools::{
    BoxFuture,
    operations::{Input, InputWriter, Process, ProcessEvent, ShellCommand},
};

/// As much as a pipe holds.
const READ_SIZE: usize = 64 << 10;

/// A running shell command.
#[derive(Debug)]
pub struct LocalProcess {
    child: Box<dyn ChildWrapper>,
    /// None when nobody can write any more.
    output: Option<pipe::Receiver>,
    exited: bool,
    tree: Tree,
}

impl LocalProcess {
    /// Starts the command in a session of its own: it has no terminal, and its process group can be killed as one.
    /// Standard output and standard error are one pipe, so that their order is the order of writing.
    ///
    /// `launch` gives the program that runs the shell with the arguments added to it: the shell itself, or walls around
    /// it.
    pub fn spawn(command: &ShellCommand, launch: impl FnOnce(&Path) -> io::Result<Command>) -> io::Result<Self> {
        let shell = shell(command.shell.as_deref())?;
        if !command.cwd.is_dir() {
            return Err(io::Error::other(format!(
                "The working folder {} does not exist, so no command can run in it.",
                command.cwd.display()
            )));
        }
        let (output, input) = io::pipe()?;
        let output = pipe::Receiver::from_owned_fd(OwnedFd::from(output))?;
        let mark = Mark::new();
        let (variable, marks) = mark.variable();
        let mut process = launch(&shell)?;
        process.arg("-c").arg(&command.script).current_dir(&command.cwd);
        process.stdin(match command.input {
            Input::Empty => Stdio::null(),
            Input::Piped => Stdio::piped(),
        });
        process.stdout(input.try_clone()?).stderr(input);
        for (name, value) in &command.environment {
            match value {
                Some(value) => process.env(name, value),
                None => process.env_remove(name),
            };
        }
        process.env(variable, marks);
        let child = CommandWrap::from(process).wrap(ProcessSession).spawn().map_err(|error| {
            io::Error::new(error.kind(), format!("Cannot start the shell {}: {error}", shell.display()))
        })?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let group = group.ok_or_else(|| io::Error::other("The shell ended before it could be watched."))?;
        Ok(Self { child, output: Some(output), exited: false, tree: Tree::new(group, mark) })
    }
}

impl Process for LocalProcess {
    fn next<'a>(&'a mut self, buffer: &'a mut Vec<u8>) -> BoxFuture<'a, io::Result<ProcessEvent>> {
        Box::pin(async move {
            let Self { child, output, exited, .. } = self;
            // The wrapper's own `wait` also waits for reparented children, which must not hold up the result.
            let shell = child.inner_mut();
            tokio::select! {
                read = read(output.as_mut(), buffer) => {
                    if read? > 0 {
                        return Ok(ProcessEvent::Output);
                    }
                    *output = None;
                    Ok(ProcessEvent::Closed)
                }
                status = shell.wait(), if !*exited => {
                    *exited = true;
                    Ok(ProcessEvent::Exited { code: exit_code(status?) })
                }
            }
        })
    }

    fn kill(&mut self) {
        self.tree.kill();
    }

    fn leave(&mut self) {
        self.tree.let_go();
    }

    fn take_input(&mut self) -> Option<InputWriter> {
        let input = self.child.stdin().take()?;
        Some(Box::new(input))
    }
}

/// Reads what is there; waits for ever when the pipe is closed already.
async fn read(output: Option<&mut pipe::Receiver>, buffer: &mut Vec<u8>) -> io::Result<usize> {
    match output {
        Some(output) => {
            buffer.reserve(READ_SIZE);
            output.read_buf(buffer).await
        }
        None => std::future::pending().await,
    }
}

fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// The shell that was asked for, which must exist, or else the first of `/bin/bash`, `bash` and `sh`.
fn shell(wanted: Option<&str>) -> io::Result<PathBuf> {
    if let Some(wanted) = wanted {
        return if Path::new(wanted).exists() {
            Ok(wanted.into())
        } else {
            Err(io::Error::other(format!(
                "The shell {wanted} does not exist. Correct or remove the setting shellPath."
            )))
        };
    }
    let bash = Path::new("/bin/bash");
    if bash.exists() {
        return Ok(bash.into());
    }
    let on_path = std::env::var_os("PATH")
        .and_then(|path| std::env::split_paths(&path).map(|folder| folder.join("bash")).find(|bash| bash.is_file()));
    Ok(on_path.unwrap_or_else(|| "sh".into()))
}
