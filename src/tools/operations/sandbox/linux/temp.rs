//! The private temporary folder: the one place that confined commands can always write.

use std::{
    ffi::OsStr,
    fs::{self, Permissions},
    io,
    os::{
        fd::{AsFd, AsRawFd as _, BorrowedFd},
        unix::fs::PermissionsExt as _,
    },
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, Mode, OFlags};

/// A folder for commands, and beside it what stands in the place of hidden files. Gone when this is dropped.
#[derive(Debug)]
pub struct Temp {
    outer: PathBuf,
    folder: PathBuf,
    blank: PathBuf,
}

impl Temp {
    /// Makes the folder.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new() -> io::Result<Self> {
        let outer = tempfile::Builder::new().prefix("troupe-sandbox-").tempdir()?;
        let root = outer.path().canonicalize()?;
        let (folder, blank) = (root.join("tmp"), root.join("hidden"));
        fs::create_dir(&folder)?;
        fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
        fs::write(&blank, "")?;
        fs::set_permissions(&blank, Permissions::from_mode(0o000))?;
        let _ = outer.keep();
        Ok(Self { outer: root, folder, blank })
    }

    /// What commands find in `TMPDIR`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file that holds nothing and that nobody may open.
    pub fn blank(&self) -> &Path {
        &self.blank
    }

    /// Removes the folder now: at the end of a program nobody may wait for the last owner to let go.
    pub fn remove(&self) {
        if fs::remove_dir_all(&self.outer).is_err() {
            // Commands may have made folders that cannot be looked into.
            open_up(CWD, self.outer.as_os_str());
            let _ = fs::remove_dir_all(&self.outer);
        }
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Lets the owner into a folder and all folders below it, but never through a link.
fn open_up(above: BorrowedFd<'_>, name: &OsStr) {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(folder) = rustix::fs::openat(above, name, flags, Mode::empty()) else { return };
    let handle = format!("/proc/self/fd/{}", folder.as_raw_fd());
    let _ = fs::set_permissions(&handle, Permissions::from_mode(0o700));
    for entry in fs::read_dir(&handle).into_iter().flatten().flatten() {
        open_up(folder.as_fd(), &entry.file_name());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_cannot_be_entered_are_removed_too() {
        let temp = Temp::new().unwrap();
        let other = tempfile::tempdir().unwrap();
        fs::set_permissions(other.path(), Permissions::from_mode(0o755)).unwrap();
        let deep = temp.folder().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("f"), "x").unwrap();
        std::os::unix::fs::symlink(other.path(), temp.folder().join("link")).unwrap();
        for folder in ["a/b", "a"] {
            fs::set_permissions(temp.folder().join(folder), Permissions::from_mode(0o000)).unwrap();
        }
        open_up(CWD, temp.folder().as_os_str());
        assert_eq!(other.path().metadata().unwrap().permissions().mode() & 0o777, 0o755, "not through the link");
        let root = temp.folder().parent().unwrap().to_owned();
        drop(temp);
        assert!(!root.exists());
        assert!(other.path().exists());
    }
}
