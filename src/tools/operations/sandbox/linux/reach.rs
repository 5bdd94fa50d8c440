//! Files by handle.
//!
//! A path is opened first, without reading or changing anything; where the handle really is gets compared with the
//! policy; and whatever is done then is done to that handle. A link that is exchanged meanwhile changes nothing.

use std::{
    fs::File,
    io,
    os::fd::{AsRawFd as _, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags},
    io::Errno,
};

use super::{
    super::{Access, Policy, error},
    temp::Temp,
};
use crate::tools::operations::{
    SearchError,
    local::{files, walk::See},
};

/// What the tools of this process may reach.
#[derive(Debug)]
pub struct Reach {
    /// The rules.
    pub policy: Policy,
    /// The private temporary folder.
    pub temp: Arc<Temp>,
}

/// Something that exists, pinned.
pub struct Handle {
    /// It.
    pub fd: OwnedFd,
    /// Where it was when it was pinned, without links.
    pub real: PathBuf,
}

impl Handle {
    /// Opens what `path` leads to, be it what it may. Links of processes (`/proc/self/root`) are not followed: they
    /// lead past the names that the policy knows.
    ///
    /// # Errors
    /// Nothing is there, or it cannot be reached.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS) {
            // Kernels before 5.6, and filters that don't know the call. The real path is still checked.
            Err(Errno::NOSYS | Errno::PERM) => rustix::fs::open(path, flags, Mode::empty())?,
            Err(Errno::LOOP) if rustix::fs::open(path, flags, Mode::empty()).is_ok() => {
                let text = "the sandbox does not follow the links of processes in /proc; use the file's own path";
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
            }
            opened => opened?,
        };
        if rustix::fs::statat(&fd, "", AtFlags::EMPTY_PATH)?.st_nlink == 0 {
            return Err(Errno::NOENT.into());
        }
        let real = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()))?;
        Ok(Self { fd, real })
    }

    /// A name for the handle, good for as long as it lives.
    fn name(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.fd.as_raw_fd()).into()
    }
}

impl Reach {
    /// Does `work` with what `path` leads to, if the policy has it. The path that `work` gets is a name of the handle.
    ///
    /// # Errors
    /// Nothing is there, it may not be reached, or what `work` gives.
    pub fn with<T>(&self, path: &Path, wanted: Access, work: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
        let handle = Handle::open(path)?;
        self.check(&handle.real, wanted)?;
        work(&handle.name())
    }

    fn check(&self, real: &Path, wanted: Access) -> io::Result<()> {
        match (self.policy.access(real), wanted) {
            (Access::Write, _) | (Access::Read, Access::Read) => Ok(()),
            _ => Err(error::denied(&self.policy, self.temp.folder(), wanted, real)),
        }
    }

    /// Does `work` with the file that is to be written, which is created when it is missing: in its folder's handle,
    /// and never through a link.
    ///
    /// # Errors
    /// It may not be written, or what `work` gives.
    pub fn write<T>(&self, path: &Path, work: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
        match Handle::open(path) {
            Ok(handle) => {
                self.check(&handle.real, Access::Write)?;
                work(&handle.name())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (folder, name) = self.folder_of(path)?;
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let fd = rustix::fs::openat(&folder.fd, name, flags, Mode::from_raw_mode(0o666));
                let fd = fd.map_err(|error| not_through_links(error, path))?;
                work(&Handle { fd, real: path.to_owned() }.name())
            }
            Err(error) => Err(error),
        }
    }

    /// The handle of the folder in which `path` is to be created, if it may, and the name in it.
    fn folder_of<'a>(&self, path: &'a Path) -> io::Result<(Handle, &'a std::ffi::OsStr)> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::ISDIR.into()) };
        let folder = Handle::open(folder)?;
        self.check(&folder.real.join(name), Access::Write)?;
        Ok((folder, name))
    }

    /// Creates a folder and those above it that are missing.
    ///
    /// # Errors
    /// One of them may not be created, or is something else.
    pub fn create_folder(&self, path: &Path) -> io::Result<()> {
        match Handle::open(path) {
            Ok(handle) if rustix::fs::statat(&handle.fd, "", AtFlags::EMPTY_PATH).is_ok_and(is_folder) => Ok(()),
            Ok(_) => Err(Errno::EXIST.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let Some(above) = path.parent() {
                    self.create_folder(above)?;
                }
                let (folder, name) = self.folder_of(path)?;
                match rustix::fs::mkdirat(&folder.fd, name, Mode::from_raw_mode(0o777)) {
                    // Somebody else made it.
                    Err(Errno::EXIST) if Handle::open(path).is_ok() => Ok(()),
                    made => made.map_err(|error| not_through_links(error, path)),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Where a search begins: a folder by its real path, so that the rules fit what is found below it.
    ///
    /// # Errors
    /// It may not be read.
    pub fn search_root(&self, root: &Path) -> Result<PathBuf, SearchError> {
        let handle = Handle::open(root).and_then(|handle| self.check(&handle.real, Access::Read).map(|()| handle));
        match handle {
            Ok(Handle { fd, real }) => {
                let folder = rustix::fs::statat(&fd, "", AtFlags::EMPTY_PATH).is_ok_and(is_folder);
                Ok(if folder { real } else { root.to_owned() })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(SearchError::NotFound(root.to_owned())),
            Err(error) => Err(SearchError::Unreadable { path: root.to_owned(), error }),
        }
    }
}

fn is_folder(stat: rustix::fs::Stat) -> bool {
    rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir()
}

/// What is there but leads nowhere is a link.
fn not_through_links(error: Errno, path: &Path) -> io::Error {
    match error {
        Errno::EXIST => error::dangling(path),
        error => error.into(),
    }
}

impl See for Reach {
    fn sees(&self, path: &Path) -> bool {
        self.policy.access(path) != Access::Hidden || self.policy.has_rules_below(path)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        self.with(path, Access::Read, files::open)
    }
}
