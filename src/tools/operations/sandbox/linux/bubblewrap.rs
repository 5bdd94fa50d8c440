//! The wall of bubblewrap: a command sees the whole system, but only to read, with folders of the policy laid over it;
//! it has processes of its own and, unless it is allowed, a network of its own that leads nowhere.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    io::{self, Seek as _, Write as _},
    os::fd::{AsRawFd as _, OwnedFd},
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::process::Command;

use super::{
    super::{Access, Policy},
    child,
    seccomp::{self, Sockets},
    temp::Temp,
};

/// Names of [`child::KEPT`].
const KEPT: [&str; 4] = ["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID"];

/// Parts of /proc through which root sets up the whole machine, not just its own processes: some of them have the kernel
/// run programs. The kernel checks the owner there, and no powers, so dropping powers does not help.
const OF_THE_MACHINE: [&str; 8] = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "driver"];

/// The program and all its arguments but the filter, which is a file for each command.
#[derive(Debug)]
pub struct Bubblewrap {
    program: PathBuf,
    namespaces: Vec<OsString>,
    mounts: Vec<Mount>,
    blank: PathBuf,
    filter: Vec<u8>,
}

/// Something laid over the system.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mount {
    path: PathBuf,
    kind: MountKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MountKind {
    /// The same folder or file, to be written.
    Writable,
    /// The same, to be read.
    ReadOnly,
    /// An empty folder that cannot be opened; passed through when something in it is shown.
    EmptyFolder { passable: bool },
    /// An empty file that cannot be opened.
    EmptyFile,
}

impl Bubblewrap {
    /// The wall, which may not work here: see [`Self::tried`].
    ///
    /// # Errors
    /// Why it cannot be built here.
    pub fn build(policy: &Policy, temp: &Temp) -> Result<Self, String> {
        let program = find(policy)?;
        // Without the network these sockets lead nowhere but back into the command's own.
        let sockets = Sockets { internet: true, unix: policy.unix_sockets() };
        let filter = seccomp::program(sockets).ok_or("this processor is not supported")?;
        Ok(Self {
            program,
            namespaces: namespaces(policy),
            mounts: mounts(policy),
            blank: temp.blank().to_owned(),
            filter: seccomp::bytes(&filter),
        })
    }

    /// A command inside of the wall.
    ///
    /// # Errors
    /// The filter cannot be handed over.
    pub fn around(&self, program: &Path) -> io::Result<Command> {
        let filter = self.filter_file()?;
        let mut command = Command::new(&self.program);
        command.args(self.arguments(&filter)).arg("--").arg(program);
        child::pass_on(&mut command, filter);
        Ok(command)
    }

    fn filter_file(&self) -> io::Result<OwnedFd> {
        let file = rustix::fs::memfd_create("troupe-filter", rustix::fs::MemfdFlags::CLOEXEC)?;
        let mut file = fs::File::from(file);
        file.write_all(&self.filter)?;
        file.rewind()?;
        Ok(file.into())
    }

    fn arguments(&self, filter: &OwnedFd) -> Vec<OsString> {
        let mut arguments = self.namespaces.clone();
        arguments.extend(["--seccomp".into(), filter.as_raw_fd().to_string().into()]);
        arguments.extend(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"].map(OsString::from));
        for part in OF_THE_MACHINE {
            let path = Path::new("/proc").join(part);
            arguments.extend(["--ro-bind-try".into(), path.clone().into(), path.into()]);
        }
        let mut sealed = Vec::new();
        for Mount { path, kind } in &self.mounts {
            // What is gone needs no rule; a link in the place of a folder is followed by nobody.
            let Ok(there) = fs::symlink_metadata(path) else { continue };
            if there.is_symlink() {
                continue;
            }
            let to = path.as_os_str();
            match kind {
                MountKind::Writable => arguments.extend(["--bind".into(), to.into(), to.into()]),
                MountKind::ReadOnly => arguments.extend(["--ro-bind".into(), to.into(), to.into()]),
                MountKind::EmptyFolder { passable } => {
                    let mode = if *passable { "0111" } else { "0000" };
                    arguments.extend(["--perms".into(), mode.into(), "--tmpfs".into(), to.into()]);
                    sealed.push(path);
                }
                MountKind::EmptyFile => arguments.extend(["--ro-bind".into(), self.blank.clone().into(), to.into()]),
            }
        }
        for path in sealed {
            arguments.extend(["--remount-ro".into(), path.into()]);
        }
        arguments
    }

    /// Has the program run itself behind the wall: whether that works depends on the kernel and its settings.
    ///
    /// # Errors
    /// What it says when it does not.
    pub fn tried(self) -> Result<Self, String> {
        let failed = |error: io::Error| format!("bubblewrap cannot be tried out: {error}");
        let mut command = self.around(&self.program).map_err(failed)?;
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let output = command.into_std().output().map_err(failed)?;
        if output.status.success() {
            return Ok(self);
        }
        let reason = String::from_utf8_lossy(&output.stderr);
        let reason = reason.lines().last().unwrap_or_default();
        Err(format!("bubblewrap is installed but cannot start ({})", reason.strip_prefix("bwrap: ").unwrap_or(reason)))
    }
}

/// The program, where no confined agent could have put it.
fn find(policy: &Policy) -> Result<PathBuf, &'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let programs: Vec<PathBuf> = std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .filter_map(|folder| folder.join("bwrap").canonicalize().ok())
        .filter(|program| program.is_file())
        .collect();
    let is_safe = |program: &&PathBuf| policy.access(program) == Access::Read;
    match programs.iter().find(is_safe) {
        Some(program) => Ok(program.clone()),
        None if programs.is_empty() => Err("bubblewrap (bwrap) is not installed"),
        None => Err("bubblewrap (bwrap) lies where commands may write"),
    }
}

fn namespaces(policy: &Policy) -> Vec<OsString> {
    let mut arguments =
        vec!["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"];
    if rustix::process::geteuid().is_root() {
        arguments.extend(KEPT.iter().flat_map(|name| ["--cap-add", name]));
    }
    if !policy.network() {
        arguments.push("--unshare-net");
    }
    arguments.into_iter().map(OsString::from).collect()
}

/// What is laid over the system, in order.
///
/// A folder that leads to something protected could be renamed with all that is in it, and another be put in its place;
/// a mount cannot. So every folder on the way is mounted onto itself.
fn mounts(policy: &Policy) -> Vec<Mount> {
    let mut kinds = BTreeMap::new();
    for (path, access) in policy.rules() {
        let Ok(there) = fs::symlink_metadata(path) else { continue };
        let around = path.parent().map_or(Access::Read, |parent| policy.access(parent));
        let kind = match access {
            _ if there.is_symlink() => continue,
            Access::Write => MountKind::Writable,
            Access::Read if around == Access::Read => continue,
            Access::Read => MountKind::ReadOnly,
            Access::Hidden if around == Access::Hidden => continue,
            Access::Hidden if there.is_dir() => MountKind::EmptyFolder { passable: policy.has_rules_below(path) },
            Access::Hidden => MountKind::EmptyFile,
        };
        for above in path.ancestors().skip(1).take_while(|above| policy.access(above) == Access::Write) {
            kinds.entry(above.to_owned()).or_insert(MountKind::Writable);
        }
        kinds.insert(path.to_owned(), kind);
    }
    kinds.into_iter().map(|(path, kind)| Mount { path, kind }).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::{Grants, Home, SandboxMode},
        *,
    };

    #[test]
    fn every_folder_on_the_way_to_something_protected_is_a_mount_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (work, home) = (root.join("work"), root.join("home"));
        for folder in ["work/.git/hooks", "work/a/b/keys", "home/.ssh", "home/.troupe/skills"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(work.join(".git/config"), "").unwrap();
        fs::write(home.join(".netrc"), "").unwrap();
        let grants = Grants { denied: vec![work.join("a/b/keys")], ..Grants::default() };
        let user_dir = home.join(".troupe");
        let home = Home { folder: Some(&home), user_dir: &user_dir };
        let policy = Policy::new(SandboxMode::Workspace, &work, &home, &grants).unwrap();
        use MountKind::{EmptyFile, EmptyFolder, ReadOnly, Writable};
        let wanted = [
            ("home/.netrc", EmptyFile),
            ("home/.ssh", EmptyFolder { passable: false }),
            ("home/.troupe", EmptyFolder { passable: true }),
            ("home/.troupe/skills", ReadOnly),
            ("work", Writable),
            ("work/.git", Writable),
            ("work/.git/config", ReadOnly),
            ("work/.git/hooks", ReadOnly),
            ("work/a", Writable),
            ("work/a/b", Writable),
            ("work/a/b/keys", EmptyFolder { passable: false }),
        ];
        let got: Vec<_> = mounts(&policy).into_iter().filter(|mount| mount.path.starts_with(&root)).collect();
        let wanted: Vec<_> = wanted.map(|(path, kind)| Mount { path: root.join(path), kind }).into();
        assert_eq!(got, wanted);
    }
}
