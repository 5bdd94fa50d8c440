//! Shell commands on the other machine.

use std::{io, sync::Arc};

use tokio::io::AsyncReadExt;
use uuid::Uuid;

use super::{
    Ssh,
    channel::Channel,
    connection::Link,
    files::{bytes, check},
    reply,
    script::{Script, is_variable},
    scripts,
};
use crate::tools::{
    BoxFuture,
    operations::{Input, InputWriter, Process, ProcessEvent, ShellCommand},
};

/// As much as a pipe holds.
const READ_SIZE: usize = 64 << 10;

impl Ssh {
    /// Starts a command in a session of its own there.
    pub(super) async fn spawn_there(&self, command: &ShellCommand) -> io::Result<SshProcess> {
        check(&command.cwd)?;
        if command.script.contains('\0') {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a command cannot hold a NUL character"));
        }
        let mark = Uuid::new_v4().to_string();
        let mut channel = self.link.start(&self.script_of(command, &mark)).await?;
        let mut control = Vec::new();
        let answer = loop {
            if let Some((answer, end)) = reply::find(&control, self.link.mark()) {
                control.drain(..end);
                break answer;
            }
            if read(channel.control.as_mut(), &mut control).await? == 0 {
                return Err(channel.lost(&String::from_utf8_lossy(&control)));
            }
        };
        let group = reply::facts(&answer)?.to_owned();
        channel.skip_greeting().await?;
        let tree = Tree { link: self.link.clone(), group, mark, on_leash: command.input == Input::Empty, owned: true };
        Ok(SshProcess { channel, control, exited: false, closed: false, piped: command.input == Input::Piped, tree })
    }

    fn script_of(&self, command: &ShellCommand, mark: &str) -> Script {
        let mut script = self.link.script();
        for (name, value) in command.environment.iter().filter(|(name, _)| is_variable(name)) {
            script = match value {
                Some(value) => script.set(name, value.replace('\0', "")).run(&format!("export {name}")),
                None => script.run(&format!("unset {name}")),
            };
        }
        script
            .set("m", mark)
            .set("p", bytes(&command.cwd))
            .set("shell", command.shell.as_deref().unwrap_or_default())
            .set("script", &command.script)
            .run(scripts::FAIL_OF_COMMAND)
            .run(self.facts.group)
            .run(scripts::KILL)
            .run(scripts::BEGIN)
            .run(match command.input {
                Input::Empty => scripts::RUN,
                Input::Piped => scripts::RUN_WITH_INPUT,
            })
    }
}

/// A running command.
pub(super) struct SshProcess {
    channel: Channel,
    /// What was said of the command and is no whole line yet; beside that, what ssh says.
    control: Vec<u8>,
    exited: bool,
    closed: bool,
    /// Its input is not the leash.
    piped: bool,
    tree: Tree,
}

impl Process for SshProcess {
    fn next<'a>(&'a mut self, buffer: &'a mut Vec<u8>) -> BoxFuture<'a, io::Result<ProcessEvent>> {
        Box::pin(async move {
            loop {
                if let Some((answer, end)) = reply::find(&self.control, self.tree.link.mark()) {
                    self.control.drain(..end);
                    self.exited = true;
                    self.tree.on_leash = false;
                    let code = answer.strip_prefix("exit ").and_then(|code| code.parse().ok());
                    return Ok(ProcessEvent::Exited { code: code.unwrap_or(1) });
                }
                if self.channel.take_ahead(buffer) {
                    return Ok(ProcessEvent::Output);
                }
                let Channel { output, control, .. } = &mut self.channel;
                if output.is_none() && control.is_none() && !self.closed {
                    self.closed = true;
                    self.tree.let_go();
                    return if self.exited { Ok(ProcessEvent::Closed) } else { Err(self.lost()) };
                }
                tokio::select! {
                    read = read(output.as_mut(), buffer) => match read? {
                        0 => *output = None,
                        _ => return Ok(ProcessEvent::Output),
                    },
                    read = read(control.as_mut(), &mut self.control) => {
                        if read? == 0 {
                            *control = None;
                        }
                    }
                }
            }
        })
    }

    fn kill(&mut self) {
        self.channel.end_input();
        self.tree.kill();
    }

    fn leave(&mut self) {
        self.tree.let_go();
    }

    fn take_input(&mut self) -> Option<InputWriter> {
        let input = if self.piped { self.channel.input.take() } else { None };
        input.map(|input| Box::new(input) as InputWriter)
    }
}

impl SshProcess {
    fn lost(&self) -> io::Error {
        let lost = self.channel.lost(&String::from_utf8_lossy(&self.control));
        let text =
            format!("{lost}. How the command ended is unknown; it may have had effects: check before repeating it.");
        io::Error::new(lost.kind(), text)
    }
}

/// Reads what is there; waits for ever where nothing can come any more.
async fn read<R: tokio::io::AsyncRead + Unpin>(from: Option<&mut R>, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let Some(from) = from else { return std::future::pending().await };
    buffer.reserve(READ_SIZE);
    from.read_buf(buffer).await
}

/// The processes of one command there. Dropping it kills them, unless they were let go.
struct Tree {
    link: Arc<Link>,
    group: String,
    mark: String,
    /// The end of our input kills them: nobody has to be sent.
    on_leash: bool,
    owned: bool,
}

impl Tree {
    fn kill(&mut self) {
        if std::mem::take(&mut self.owned) && !self.on_leash {
            let script = Script::default().set("g", &self.group).set("m", &self.mark).run(scripts::KILL);
            self.link.start_detached(&script.run(r#"kill_all "$g" "$m""#));
        }
    }

    fn let_go(&mut self) {
        self.owned = false;
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.kill();
    }
}
