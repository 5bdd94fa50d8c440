//! Shell commands on this machine.

use std::{
    io,
    os::{fd::OwnedFd, unix::process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::Pid;
use tokio::{
    io::AsyncReadExt,
    net::unix::pipe,
    process::{Child, Command},
    runtime::Handle,
    time::sleep,
};

use super::{kill::Tree, mark::Mark};
use crate::tools::{
    BoxFuture,
    operations::{Input, InputWriter, Process, ProcessEvent, ShellCommand},
};

/// As much as a pipe holds.
const READ_SIZE: usize = 64 << 10;
/// Between two reads of what nobody wants: a process that prints all the time must not keep a processor busy with it.
const DRAIN_PAUSE: Duration = Duration::from_millis(100);

/// A running shell command.
#[derive(Debug)]
pub struct LocalProcess {
    child: Child,
    /// None when nobody can write any more.
    output: Option<pipe::Receiver>,
    exited: bool,
    tree: Tree,
    /// The inode number of the input's pipe.
    #[cfg(target_os = "linux")]
    input: Option<u64>,
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
        detach(&mut process, mark);
        let mut started = None;
        let tree = Tree::start(mark, || {
            let child = process.spawn().map_err(|error| {
                let why = match error.kind() {
                    io::ErrorKind::ArgumentListTooLong => format!(
                        "the command of {} bytes is longer than the system takes; write it to a file and run that",
                        command.script.len()
                    ),
                    _ => error.to_string(),
                };
                io::Error::new(error.kind(), format!("Cannot start the shell {}: {why}", shell.display()))
            })?;
            let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
            started = Some(child);
            group.ok_or_else(ended_unseen)
        })?;
        let child = started.ok_or_else(ended_unseen)?;
        #[cfg(target_os = "linux")]
        let input = child.stdin.as_ref().and_then(|pipe| rustix::fs::fstat(pipe).ok()).map(|stat| stat.st_ino);
        Ok(Self {
            child,
            output: Some(output),
            exited: false,
            tree,
            #[cfg(target_os = "linux")]
            input,
        })
    }
}

fn ended_unseen() -> io::Error {
    io::Error::other("The shell ended before it could be watched.")
}

/// Makes the process the leader of a session of its own, and marks it and all that it will start.
fn detach(process: &mut Command, mark: Mark) {
    let between_fork_and_exec = move || {
        rustix::process::setsid()?;
        mark.limit_this_process();
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe functions may be called. These are system calls, and nothing
    // is allocated. There is no other way to run code in the child, and no other way to a session of its own.
    #[allow(unsafe_code, reason = "said above")]
    unsafe {
        process.pre_exec(between_fork_and_exec);
    }
}

impl Process for LocalProcess {
    fn next<'a>(&'a mut self, buffer: &'a mut Vec<u8>) -> BoxFuture<'a, io::Result<ProcessEvent>> {
        Box::pin(async move {
            let Self { child, output, exited, .. } = self;
            tokio::select! {
                read = read(output.as_mut(), buffer) => {
                    if read? > 0 {
                        return Ok(ProcessEvent::Output);
                    }
                    *output = None;
                    Ok(ProcessEvent::Closed)
                }
                status = child.wait(), if !*exited => {
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
        // A server in the background would die of the next line that it prints when nobody held the pipe any more.
        if let Some(output) = self.output.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(drain(output));
        }
    }

    fn take_input(&mut self) -> Option<InputWriter> {
        self.child.stdin.take().map(|input| Box::new(input) as InputWriter)
    }

    #[cfg(target_os = "linux")]
    fn waits_for_input(&self) -> Option<bool> {
        super::waiting::any_waits(&self.tree.processes(), self.input?)
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

/// Reads what nobody wants, until nobody can write any more or this program ends.
async fn drain(mut output: pipe::Receiver) {
    let mut buffer = Vec::with_capacity(READ_SIZE);
    while matches!(output.read_buf(&mut buffer).await, Ok(1..)) {
        buffer.clear();
        sleep(DRAIN_PAUSE).await;
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
