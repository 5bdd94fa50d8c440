//! What a command made although it is protected.
//!
//! What exists is protected by a mount. What is missing cannot be: a mount needs something to lie on. So it is looked for
//! at the start and at the end of every command and at the end of all, and put aside under another name.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use rustix::fs::RenameFlags;

use super::{
    super::{Access, Policy},
    reach::Handle,
};

/// What is added to a name.
const SUFFIX: &str = ".from-sandbox";
/// Names that are tried.
const NAMES_AT_MOST: usize = 1000;

/// Protected paths that are missing.
#[derive(Debug, Default)]
pub struct Aside {
    missing: Vec<PathBuf>,
}

impl Aside {
    /// Those that are missing now. In a folder that is itself missing nothing is protected: a repository that a command
    /// makes is its own.
    pub fn new(policy: &Policy) -> Self {
        let is_missing = |path: &Path| {
            let inside = path.parent().filter(|folder| policy.access(folder) == Access::Write);
            inside.is_some_and(Path::is_dir) && fs::symlink_metadata(path).is_err()
        };
        let protected = policy.rules().filter(|(_, access)| *access == Access::Read).map(|(path, _)| path);
        Self { missing: protected.filter(|path| is_missing(path)).map(Path::to_owned).collect() }
    }

    /// Puts aside what is there by now, and says what and where, a line each.
    pub fn sweep(&self) -> Vec<String> {
        let found = self.missing.iter().filter(|path| fs::symlink_metadata(path).is_ok());
        found
            .filter_map(|path| {
                let to = put_aside(path)?;
                Some(format!(
                    "[The sandbox protects {}, since it is run or obeyed outside of the sandbox: it was moved to {}.]",
                    path.display(),
                    to.display()
                ))
            })
            .collect()
    }

    /// The same where no command is there to hear of it.
    pub fn sweep_and_log(&self) {
        for line in self.sweep() {
            tracing::warn!("{line}");
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        self.sweep_and_log();
    }
}

fn put_aside(path: &Path) -> Option<PathBuf> {
    let (folder, name) = (path.parent()?, path.file_name()?);
    let handle = Handle::open(folder).ok()?;
    // A folder that has become a link leads to what is none of our business.
    if handle.real != folder {
        return None;
    }
    (1..=NAMES_AT_MOST).find_map(|number| {
        let mut to = OsString::from(name);
        to.push(SUFFIX);
        if number > 1 {
            to.push(format!("-{number}"));
        }
        let moved = rustix::fs::renameat_with(&handle.fd, name, &handle.fd, &to, RenameFlags::NOREPLACE);
        moved.is_ok().then(|| folder.join(to))
    })
}
