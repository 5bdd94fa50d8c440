//! Connections to the other machine, kept by the system's `ssh` program.
//!
//! The first use logs in, once; whatever follows is a session over that connection (ssh's ControlMaster). Servers
//! allow few sessions a connection, so when all are taken another connection is made. The sockets are in a folder that
//! nobody else may enter. A connection ends with [`Link::close`], and by itself some minutes after its last use, should
//! this process end otherwise.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
};

use tempfile::TempDir;
use tokio::{
    process::Command,
    sync::{Mutex, OwnedSemaphorePermit, Semaphore},
};
use uuid::Uuid;

use super::{
    channel::Channel,
    script::{BOOTSTRAP, Script},
    target::Target,
    trouble::SshError,
};

/// Sessions over one connection: two fewer than sshd allows by default (MaxSessions), so that there is always one to
/// end a command with.
const SESSIONS: usize = 8;
/// Seconds that an unused connection stays, also when this process did not end it.
const PERSIST: u32 = 600;
/// Seconds for a connection to be made.
const CONNECT: u32 = 30;
/// Longer paths of sockets are refused by some systems, and ssh adds to them while it makes one.
const LONGEST_FOLDER: usize = 70;

/// How `ssh` is called.
#[derive(Clone, Debug)]
pub struct SshOptions {
    /// The program.
    pub program: PathBuf,
    /// Arguments before all others, so that they win over ours: `["-F", "file"]`, `["-J", "jump"]`.
    pub arguments: Vec<String>,
    /// Variables that ssh must not see, and so cannot pass on: our keys.
    pub hidden_variables: Vec<String>,
}

impl Default for SshOptions {
    fn default() -> Self {
        Self { program: "ssh".into(), arguments: Vec::new(), hidden_variables: Vec::new() }
    }
}

/// The way to one machine.
pub struct Link {
    target: Target,
    options: SshOptions,
    folder: TempDir,
    mark: String,
    masters: Mutex<Vec<Arc<Master>>>,
}

/// One connection.
struct Master {
    socket: PathBuf,
    log: PathBuf,
    sessions: Arc<Semaphore>,
}

impl Master {
    /// Whether its process still listens: the file alone may be left of a dead one.
    fn is_alive(&self) -> bool {
        UnixStream::connect(&self.socket).is_ok()
    }
}

impl Link {
    /// A way to `target`; nothing is connected yet.
    ///
    /// # Errors
    /// There is no place for the sockets.
    pub fn new(target: Target, options: SshOptions) -> Result<Self, SshError> {
        let usual = std::env::temp_dir();
        let place = if usual.as_os_str().len() > LONGEST_FOLDER { Path::new("/tmp") } else { &usual };
        let folder =
            tempfile::Builder::new().prefix("troupe-ssh-").tempdir_in(place).map_err(SshError::NoSocketFolder)?;
        let mark = format!("@troupe-{}", Uuid::new_v4().simple());
        Ok(Self { target, options, folder, mark, masters: Mutex::default() })
    }

    /// The machine.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// What answers begin with.
    #[must_use]
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// A script that knows the mark.
    #[must_use]
    pub fn script(&self) -> Script {
        Script::default().set("M", &self.mark)
    }

    /// Starts a script. It gets its line as the first of its input; more may follow.
    ///
    /// # Errors
    /// The machine cannot be reached.
    pub async fn start(&self, script: &Script) -> Result<Channel, SshError> {
        let (master, slot) = self.free_session().await?;
        let mut command = self.session(&master.socket);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let child = command.spawn().map_err(|error| SshError::no_program(&self.options.program, error))?;
        let mut channel = Channel::new(child, slot, self.mark.clone(), self.target.clone(), master.log.clone());
        channel.send(&script.line()).await;
        Ok(channel)
    }

    /// Starts a script whose answer nobody waits for; for where nothing can be awaited. The connection must be there.
    pub fn start_detached(&self, script: &Script) {
        let Some(master) = self.masters.try_lock().ok().and_then(|masters| masters.first().cloned()) else { return };
        // A pipe holds more than such a script is long.
        let Ok((reader, mut writer)) = io::pipe() else { return };
        let mut command = self.session(&master.socket);
        command.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null());
        if io::Write::write_all(&mut writer, &script.line()).is_ok()
            && let Err(error) = command.spawn()
        {
            tracing::warn!(%error, "a script for the other machine did not start");
        }
    }

    /// Ends all connections. Sessions that still run end with them.
    pub async fn close(&self) {
        for master in self.masters.lock().await.drain(..) {
            let mut command = self.ssh();
            command.arg("-S").arg(&master.socket).args(["-O", "exit", "--", &self.target.destination]);
            let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().await;
        }
    }

    /// A connection and the right to one of its sessions.
    async fn free_session(&self) -> Result<(Arc<Master>, OwnedSemaphorePermit), SshError> {
        // Held while a connection is made, so that calls at the same time wait for it and make no others.
        let mut masters = self.masters.lock().await;
        for place in 0.. {
            let number = masters.len();
            if place == number {
                let folder = self.folder.path();
                masters.push(Arc::new(Master {
                    socket: folder.join(format!("s{number}")),
                    log: folder.join(format!("log{number}")),
                    sessions: Arc::new(Semaphore::new(SESSIONS)),
                }));
            }
            let master = masters[place].clone();
            let Ok(slot) = master.sessions.clone().try_acquire_owned() else { continue };
            if !master.is_alive() {
                self.connect(&master).await?;
            }
            return Ok((master, slot));
        }
        Err(SshError::lost(&self.target, "no session is free"))
    }

    /// Logs in. ssh goes into the background when it has.
    async fn connect(&self, master: &Master) -> Result<(), SshError> {
        let _ = fs::remove_file(&master.socket);
        let mut command = self.ssh();
        command.arg("-S").arg(&master.socket).arg("-E").arg(&master.log);
        let persist = format!("ControlPersist={PERSIST}");
        let timeout = format!("ConnectTimeout={CONNECT}");
        for option in ["ControlMaster=yes", &persist, &timeout, "ServerAliveInterval=15", "ServerAliveCountMax=3"] {
            command.args(["-o", option]);
        }
        command.args(["-N", "-f"]);
        self.destination(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let status = command.status().await.map_err(|error| SshError::no_program(&self.options.program, error))?;
        if status.success() && master.is_alive() {
            return Ok(());
        }
        Err(SshError::not_connected(&self.target, &fs::read_to_string(&master.log).unwrap_or_default()))
    }

    /// A session over the connection with this socket, and never one without it.
    fn session(&self, socket: &Path) -> Command {
        let mut command = self.ssh();
        command.arg("-S").arg(socket);
        for option in ["ControlMaster=no", "ProxyJump=none", "ProxyCommand=exit 255"] {
            command.args(["-o", option]);
        }
        self.destination(&mut command);
        command.arg(BOOTSTRAP);
        command
    }

    fn destination(&self, command: &mut Command) {
        if let Some(port) = self.target.port {
            command.args(["-p", &port.to_string()]);
        }
        command.args(["--", &self.target.destination]);
    }

    /// What all calls have in common: nothing asks, nothing is forwarded, nothing but our scripts runs. Host keys are
    /// checked as ssh is configured to.
    fn ssh(&self) -> Command {
        let mut command = Command::new(&self.options.program);
        command.args(self.options.arguments.iter().map(OsString::from));
        command.arg("-T");
        for option in [
            "BatchMode=yes",
            "ClearAllForwardings=yes",
            "ForwardAgent=no",
            "ForwardX11=no",
            "RemoteCommand=none",
            "PermitLocalCommand=no",
            "EscapeChar=none",
        ] {
            command.args(["-o", option]);
        }
        for name in &self.options.hidden_variables {
            command.env_remove(name);
        }
        command
    }
}
