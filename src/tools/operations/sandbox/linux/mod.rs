//! The walls of Linux.
//!
//! - `reach`: files by handle, for the tools that work in this process.
//! - `bubblewrap`, `landlock`: the walls around commands; `seccomp`: the filter of system calls that both need;
//!   `child`: what a child does to itself before it runs the command.
//! - `temp`: the private temporary folder. `leftover`: what still runs at the end. `aside`: what commands made although it is protected. `process`: a confined command, which says when it failed for that reason.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio_util::sync::CancellationToken;

use super::{Access, Policy, SandboxError, error};
use crate::tools::{
    BoxFuture,
    operations::{
        FileReader, FileStat, FindHits, FindQuery, FolderEntry, GrepHits, GrepQuery, Operations, Place, Process,
        SearchError, ShellCommand,
        local::{self, LocalProcess, files},
    },
};

mod aside;
mod bubblewrap;
mod child;
mod landlock;
mod leftover;
mod process;
mod reach;
mod seccomp;
mod temp;

use aside::Aside;
use bubblewrap::Bubblewrap;
use landlock::Landlock;
use process::Noted;
use reach::Reach;
use temp::Temp;

/// Which wall stands around commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WallKind {
    /// A root folder, processes and a network of their own.
    Bubblewrap,
    /// Rules of the kernel for files, and a filter of system calls.
    Landlock,
}

#[derive(Debug)]
enum Wall {
    Bubblewrap(Bubblewrap),
    Landlock(Landlock),
}

impl Wall {
    /// A wall that was not tried out.
    fn build(kind: WallKind, policy: &Policy, temp: &Temp) -> Result<Self, String> {
        match kind {
            WallKind::Bubblewrap => Bubblewrap::build(policy, temp).map(Self::Bubblewrap),
            WallKind::Landlock => Landlock::build(policy).map(Self::Landlock),
        }
    }

    /// The best wall that works here.
    fn best(policy: &Policy, temp: &Temp) -> Result<Self, SandboxError> {
        let bubblewrap = Bubblewrap::build(policy, temp).and_then(Bubblewrap::tried);
        bubblewrap.map(Self::Bubblewrap).or_else(|bubblewrap| match Landlock::build(policy) {
            Ok(wall) => Ok(Self::Landlock(wall.instead_of(&bubblewrap))),
            Err(landlock) => Err(SandboxError::NoWall { bubblewrap, landlock }),
        })
    }

    fn kind(&self) -> WallKind {
        match self {
            Self::Bubblewrap(_) => WallKind::Bubblewrap,
            Self::Landlock(_) => WallKind::Landlock,
        }
    }

    /// A command that runs the shell with the arguments that are added to it.
    fn around(&self, shell: &Path, temp: &Temp) -> io::Result<tokio::process::Command> {
        let mut command = match self {
            Self::Bubblewrap(wall) => wall.around(shell)?,
            Self::Landlock(wall) => wall.around(shell)?,
        };
        for name in ["TMPDIR", "TMP", "TEMP"] {
            command.env(name, temp.folder());
        }
        Ok(command)
    }
}

/// Files and commands of this machine within a policy.
#[derive(Debug)]
pub struct Sandboxed {
    reach: Arc<Reach>,
    wall: Arc<Wall>,
    aside: Arc<Aside>,
}

impl Sandboxed {
    fn within(policy: Policy, temp: Arc<Temp>, wall: Wall) -> Self {
        let aside = Arc::new(Aside::new(&policy));
        Self { reach: Arc::new(Reach { policy, temp }), wall: Arc::new(wall), aside }
    }

    /// Builds the best wall that this system has. May block for some milliseconds.
    ///
    /// # Errors
    /// There is none.
    pub fn new(policy: Policy) -> Result<Self, SandboxError> {
        let (policy, temp) = with_temp(policy)?;
        let wall = Wall::best(&policy, &temp)?;
        Ok(Self::within(policy, temp, wall))
    }

    /// Builds a wall of this kind.
    ///
    /// # Errors
    /// This system does not have it.
    pub fn with(policy: Policy, kind: WallKind) -> Result<Self, SandboxError> {
        let (policy, temp) = with_temp(policy)?;
        let wall = match Wall::build(kind, &policy, &temp) {
            Ok(Wall::Bubblewrap(wall)) => wall.tried().map(Wall::Bubblewrap),
            wall => wall,
        };
        Ok(Self::within(policy, temp, wall.map_err(SandboxError::Setup)?))
    }

    /// The same without the right to write anything but the temporary folder, which both share.
    ///
    /// # Errors
    /// The wall cannot be built.
    pub fn read_only(&self) -> Result<Self, SandboxError> {
        let temp = Arc::clone(&self.reach.temp);
        let policy = self.reach.policy.read_only(temp.folder());
        let wall = Wall::build(self.wall.kind(), &policy, &temp).map_err(SandboxError::Setup)?;
        Ok(Self::within(policy, temp, wall))
    }

    /// What is not enforced here, a sentence each.
    #[must_use]
    pub fn gaps(&self) -> Vec<String> {
        match &*self.wall {
            Wall::Bubblewrap(_) => Vec::new(),
            Wall::Landlock(wall) => wall.gaps(&self.reach.policy),
        }
    }

    /// What the model is told.
    #[must_use]
    pub fn prompt(&self) -> String {
        error::prompt(&self.reach.policy)
    }

    /// What ends it before everybody has let go of it.
    pub(super) fn closing(&self) -> Arc<dyn Fn() + Send + Sync> {
        let (temp, aside, wall) = (Arc::clone(&self.reach.temp), Arc::clone(&self.aside), Arc::clone(&self.wall));
        Arc::new(move || {
            if wall.kind() == WallKind::Bubblewrap {
                leftover::end(temp.folder());
            }
            aside.sweep_and_log();
            temp.remove();
        })
    }

    /// The private temporary folder.
    #[must_use]
    pub fn temp(&self) -> &Path {
        self.reach.temp.folder()
    }

    /// Runs `work` with the reach where blocking is allowed.
    fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reach) -> io::Result<T> + Send + 'static,
    ) -> BoxFuture<'static, io::Result<T>> {
        let reach = Arc::clone(&self.reach);
        local::off_thread(move || work(&reach))
    }
}

fn with_temp(policy: Policy) -> Result<(Policy, Arc<Temp>), SandboxError> {
    let temp = Temp::new().map_err(SandboxError::NoTemp)?;
    Ok((policy.with_temp(temp.folder()), Arc::new(temp)))
}

impl Operations for Sandboxed {
    fn place(&self) -> Place {
        Place::here()
    }

    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<FileStat>> {
        let path = path.to_owned();
        self.off_thread(move |reach| reach.with(&path, Access::Read, files::stat))
    }

    fn open<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<Box<dyn FileReader>>> {
        let path = path.to_owned();
        self.off_thread(move |reach| {
            let reader = reach.with(&path, Access::Read, files::LocalReader::open)?;
            Ok(Box::new(reader) as Box<dyn FileReader>)
        })
    }

    fn check_access<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<()>> {
        let path = path.to_owned();
        self.off_thread(move |reach| reach.with(&path, Access::Write, files::check_access))
    }

    fn write<'a>(&'a self, path: &'a Path, bytes: Vec<u8>) -> BoxFuture<'a, io::Result<FileStat>> {
        let path = path.to_owned();
        self.off_thread(move |reach| reach.write(&path, |file| files::write(file, &bytes)))
    }

    fn create_folder<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<()>> {
        let path = path.to_owned();
        self.off_thread(move |reach| reach.create_folder(&path))
    }

    fn list<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<Vec<FolderEntry>>> {
        let path = path.to_owned();
        self.off_thread(move |reach| reach.with(&path, Access::Read, files::list))
    }

    fn real_path(&self, path: &Path) -> PathBuf {
        files::real_path(path)
    }

    fn grep(&self, query: GrepQuery, cancel: CancellationToken) -> BoxFuture<'_, Result<GrepHits, SearchError>> {
        let reach = Arc::clone(&self.reach);
        local::search(cancel, move |cancel| {
            let root = reach.search_root(&query.root)?;
            local::grep::run(&GrepQuery { root, ..query }, &(reach as local::walk::Sight), cancel)
        })
    }

    fn find(&self, query: FindQuery, cancel: CancellationToken) -> BoxFuture<'_, Result<FindHits, SearchError>> {
        let reach = Arc::clone(&self.reach);
        local::search(cancel, move |cancel| {
            let root = reach.search_root(&query.root)?;
            local::find::run(&FindQuery { root, ..query }, &(reach as local::walk::Sight), cancel)
        })
    }

    fn spawn(&self, command: ShellCommand) -> BoxFuture<'_, io::Result<Box<dyn Process>>> {
        let (reach, wall, aside) = (Arc::clone(&self.reach), Arc::clone(&self.wall), Arc::clone(&self.aside));
        // A wall may have to look through folders first.
        local::off_thread(move || {
            // What a process made that an earlier command left in the background.
            aside.sweep_and_log();
            let process = LocalProcess::spawn(&command, |shell| wall.around(shell, &reach.temp))?;
            let note = error::note(&reach.policy, reach.temp.folder());
            Ok(Box::new(Noted::new(Box::new(process), note, reach.policy.network(), aside)) as Box<dyn Process>)
        })
    }
}
