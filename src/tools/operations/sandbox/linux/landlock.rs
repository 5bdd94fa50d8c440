//! The wall of Landlock: rules of the kernel for files, which need no other program and no privilege, and a filter of
//! system calls for the network.
//!
//! Rules only ever add rights to what is below a folder. So what is hidden in a folder that may be read is left out by
//! naming everything beside it, anew for each command; and what is protected in a folder that may be written cannot be
//! expressed at all, which [`Landlock::gaps`] says.

use std::{
    fs, io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, Scope,
};
use libc::sock_filter;
use rustix::fs::{Mode, OFlags};
use tokio::process::Command;

use super::{
    super::{Access, Policy},
    child,
    seccomp::{self, Sockets},
};

/// Before this version a file could be emptied without the right to write it. Linux 6.2.
const NEEDED: i32 = 3;
/// Before this version commands may send signals to any process of the user. Linux 6.12.
const WITH_SIGNALS: i32 = 6;
/// From this version on rules for sockets with names are known to this program's library.
const LATEST: i32 = 10;
/// Devices that every program expects to use.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// The rules of a policy.
#[derive(Debug)]
pub struct Landlock {
    version: i32,
    policy: Policy,
    filter: Vec<sock_filter>,
    /// Why there is no better wall.
    instead: Option<String>,
}

impl Landlock {
    /// The wall.
    ///
    /// # Errors
    /// Why it cannot be built here.
    pub fn build(policy: &Policy) -> Result<Self, String> {
        let version = version();
        if version <= 0 {
            return Err("the kernel has no Landlock, or it is turned off".to_owned());
        }
        if version < NEEDED {
            return Err(format!("the kernel's Landlock is too old (version {version}, needed {NEEDED}: Linux 6.2)"));
        }
        let sockets = Sockets { internet: policy.network(), unix: policy.unix_sockets() };
        let filter = seccomp::program(sockets).ok_or("this processor is not supported")?;
        let wall = Self { version: version.min(LATEST), policy: policy.clone(), filter, instead: None };
        wall.rules().map_err(|error| format!("Landlock cannot be used: {error}"))?;
        Ok(wall)
    }

    /// The same wall, which stands here since the better one cannot.
    pub fn instead_of(self, reason: &str) -> Self {
        Self { instead: Some(reason.to_owned()), ..self }
    }

    /// A command inside of the wall.
    ///
    /// # Errors
    /// The rules cannot be made.
    pub fn around(&self, program: &Path) -> io::Result<Command> {
        let mut command = Command::new(program);
        child::enclose(&mut command, self.rules()?, self.filter.clone())?;
        Ok(command)
    }

    /// What is not enforced, a sentence each.
    pub fn gaps(&self, policy: &Policy) -> Vec<String> {
        let mut gaps = Vec::new();
        if let Some(reason) = &self.instead {
            gaps.push(format!("{reason}, so commands are confined by Landlock, which can do less"));
        }
        gaps.push("commands can change the mode, owner and times of files outside, where the user may".to_owned());
        if !policy.roots().is_empty() {
            gaps.push("commands can change git's hooks and configuration, .troupe and .pi in the workspace".to_owned());
        }
        gaps.extend(inexpressible(policy).map(|path| format!("commands can read {}", path.display())));
        if self.version < WITH_SIGNALS {
            gaps.push("commands can send signals to other processes of the user".to_owned());
        }
        gaps
    }

    /// The rules as they are now: folders on the way to something hidden are looked through.
    fn rules(&self) -> io::Result<OwnedFd> {
        let abi = ABI::from(self.version);
        let mut handled = AccessFs::from_all(abi);
        if self.policy.unix_sockets() {
            handled.remove(AccessFs::ResolveUnix);
        }
        let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        ruleset = ruleset.handle_access(handled).map_err(io::Error::other)?;
        if !self.policy.network() && self.version >= 4 {
            ruleset = ruleset.handle_access(AccessNet::from_all(abi)).map_err(io::Error::other)?;
        }
        if self.version >= WITH_SIGNALS {
            ruleset = ruleset.scope(Scope::Signal).map_err(io::Error::other)?;
            if !self.policy.unix_sockets() {
                ruleset = ruleset.scope(Scope::AbstractUnixSocket).map_err(io::Error::other)?;
            }
        }
        let mut rules = Rules { ruleset: ruleset.create().map_err(io::Error::other)?, abi };
        self.fill(&mut rules)?;
        Option::<OwnedFd>::from(rules.ruleset).ok_or_else(|| io::Error::other("the kernel made no rules"))
    }

    fn fill(&self, rules: &mut Rules) -> io::Result<()> {
        let read = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
        let devices = AccessFs::ReadFile | AccessFs::WriteFile;
        // Files and folders, not devices.
        let write = AccessFs::from_all(rules.abi)
            & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev | AccessFs::ResolveUnix);
        // Names are no secret.
        rules.add(Path::new("/"), AccessFs::ReadDir.into())?;
        self.fill_readable(rules, Path::new("/"), read)?;
        for device in DEVICES {
            rules.add(Path::new(device), devices)?;
        }
        for (path, access) in self.policy.rules() {
            match access {
                Access::Hidden => {}
                Access::Read => self.fill_readable(rules, path, read)?,
                Access::Write => rules.add(path, write)?,
            }
        }
        Ok(())
    }

    /// The right to read `path`, apart from what is hidden in it.
    fn fill_readable(&self, rules: &mut Rules, path: &Path, read: BitFlags<AccessFs>) -> io::Result<()> {
        if self.policy.access(path) == Access::Hidden && path != Path::new("/") {
            return Ok(());
        }
        let hides = self.policy.rules().any(|(rule, access)| access == Access::Hidden && rule.starts_with(path));
        if !hides {
            return rules.add(path, read);
        }
        let Ok(entries) = fs::read_dir(path) else { return Ok(()) };
        for entry in entries.flatten() {
            // A link has no rights of its own; what it leads to is met by its own name.
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                self.fill_readable(rules, &entry.path(), read)?;
            }
        }
        Ok(())
    }
}

/// Hidden places in folders that may be written, which the rules cannot leave out.
fn inexpressible(policy: &Policy) -> impl Iterator<Item = PathBuf> {
    let inside = |path: &Path| path.parent().is_some_and(|folder| policy.access(folder) == Access::Write);
    let hidden = policy.rules().filter(move |(path, access)| *access == Access::Hidden && inside(path));
    hidden.map(|(path, _)| path.to_owned())
}

/// Rules while they are made.
struct Rules {
    ruleset: RulesetCreated,
    abi: ABI,
}

impl Rules {
    /// Adds rights to `path` and all below it. What is missing, or may not be looked at, gets none.
    fn add(&mut self, path: &Path, access: BitFlags<AccessFs>) -> io::Result<()> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(fd) = rustix::fs::open(path, flags, Mode::empty()) else { return Ok(()) };
        let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode);
        let access = match kind.is_dir() {
            true => access,
            false => access & AccessFs::from_file(self.abi),
        };
        if access.is_empty() || kind.is_symlink() {
            return Ok(());
        }
        (&mut self.ruleset).add_rule(PathBeneath::new(fd, access)).map_err(io::Error::other)?;
        Ok(())
    }
}

/// The version of Landlock that the kernel has; zero or less without it.
fn version() -> i32 {
    const ASK_FOR_VERSION: u32 = 1;
    // SAFETY: with this flag the kernel takes no attributes and only gives a number back.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, ASK_FOR_VERSION) };
    i32::try_from(version).unwrap_or(0)
}
