//! A server for ssh on the loopback interface, with keys of its own.

// Each test target uses its own part of this.
#![allow(dead_code, clippy::unwrap_used)]

use std::{
    fs,
    net::{TcpListener, TcpStream},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

const SSHD: &str = "/usr/sbin/sshd";

/// What a session on the server finds on its PATH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    /// What this machine has.
    All,
    /// The usual small programs, but neither ripgrep nor fd.
    Plain,
    /// Busybox alone.
    Busybox,
}

/// The program in one of the usual folders.
pub fn installed(program: &str) -> Option<PathBuf> {
    ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin"]
        .iter()
        .map(|dir| Path::new(dir).join(program))
        .find(|p| p.exists())
}

/// A running server. It ends with this value.
pub struct Sshd {
    child: Child,
    folder: TempDir,
}

impl Sshd {
    /// Starts one; none, and a word about it, where it is not installed.
    pub fn start(tools: Tools) -> Option<Self> {
        let missing = match tools {
            _ if !Path::new(SSHD).exists() || installed("ssh").is_none() => "sshd or ssh (openssh-server)",
            Tools::Busybox if installed("busybox").is_none() => "busybox",
            _ => {
                // Where sshd runs as root it wants this folder, which a service makes otherwise.
                let _ = fs::create_dir_all("/run/sshd");
                let started = (0..5).find_map(|_| Self::try_start(tools));
                assert!(started.is_some(), "sshd does not start");
                return started;
            }
        };
        eprintln!("SKIPPED: {missing} is not installed here");
        None
    }

    fn try_start(tools: Tools) -> Option<Self> {
        let folder = tempfile::Builder::new().prefix("sshd").tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["host", "id"] {
            let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(at(name)).status();
            assert!(made.unwrap().success());
        }
        fs::create_dir(at("home")).unwrap();
        fs::write(at("home/.bashrc"), "echo a greeting that scripts must not take for an answer\n").unwrap();
        let path = match tools {
            Tools::All => "/usr/local/bin:/usr/bin:/bin".to_owned(),
            Tools::Plain | Tools::Busybox => {
                link_tools(&at("bin"), tools);
                at("bin").display().to_string()
            }
        };
        // Nobody else takes the port in between, or sshd says so and another one is tried.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let here = folder.path().display();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {here}/host\nAuthorizedKeysFile {here}/id.pub\n\
             StrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\nPrintMotd no\n\
             SetEnv HOME={here}/home PATH={path} REMOTE_ONLY=1\n"
        );
        fs::write(at("sshd_config"), config).unwrap();
        let user = Command::new("id").arg("-un").output().unwrap().stdout;
        let user = String::from_utf8(user).unwrap();
        let client = format!(
            "Host box\n HostName 127.0.0.1\n Port {port}\n User {}\n IdentityFile {here}/id\n IdentitiesOnly yes\n \
             UserKnownHostsFile {here}/known\n GlobalKnownHostsFile none\n StrictHostKeyChecking yes\n IdentityAgent none\n",
            user.trim()
        );
        fs::write(at("ssh_config"), client).unwrap();
        let key = fs::read_to_string(at("host.pub")).unwrap();
        fs::write(at("known"), format!("[127.0.0.1]:{port} {key}")).unwrap();
        let log = fs::File::create(at("log")).unwrap();
        let mut command = Command::new(SSHD);
        command.args(["-D", "-e", "-f"]).arg(at("sshd_config"));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let mut server = Self { child, folder };
        let deadline = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if server.child.try_wait().unwrap().is_some() || Instant::now() > deadline {
                return None;
            }
            thread::sleep(Duration::from_millis(5));
        }
        Some(server)
    }

    /// The arguments with which ssh knows the server as `box`.
    pub fn arguments(&self) -> Vec<String> {
        vec!["-F".into(), self.path("ssh_config").display().to_string()]
    }

    /// A path in the server's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The home folder of its sessions.
    pub fn home(&self) -> PathBuf {
        self.path("home").canonicalize().unwrap()
    }

    /// Forgets the server's key on the client's side.
    pub fn forget_host_key(&self) {
        fs::write(self.path("known"), "").unwrap();
    }

    /// Ends the server with all its connections, as a machine that goes down.
    pub fn kill(&mut self) {
        let connections = children(self.child.id());
        let _ = self.child.kill();
        let _ = self.child.wait();
        if !connections.is_empty() {
            let _ = Command::new("kill").arg("-KILL").args(connections.iter().map(ToString::to_string)).status();
        }
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The processes that `parent` started.
fn children(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id| {
        // The fields after the name, which is in parentheses and may hold anything: state, parent.
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        after_name.split_whitespace().nth(1) == Some(&parent.to_string())
    })
    .collect()
}

fn link_tools(bin: &Path, tools: Tools) {
    fs::create_dir(bin).unwrap();
    const NAMES: &str = "sh cat find grep ls tr stat dd mktemp wc mkdir rm setsid kill sleep uname printf env head seq id \
                         echo chmod touch test true false";
    let busybox = installed("busybox");
    for name in NAMES.split_whitespace() {
        let target = match tools {
            Tools::Busybox => busybox.clone(),
            _ => installed(name),
        };
        if let Some(target) = target {
            symlink(target, bin.join(name)).unwrap();
        }
    }
}
