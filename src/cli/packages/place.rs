//! Putting a package where it belongs, and taking it away, with the user's own npm and git.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::resources::packages::PackageSource;

/// Why a package was not installed or removed.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// The program is not there.
    #[error("{program} is needed for this and could not be started: {source}")]
    Program {
        /// npm or git.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// The program failed; it said why itself.
    #[error("{0} failed; nothing was changed in the settings")]
    Failed(String),
    /// A folder cannot be made or changed.
    #[error("cannot change {}: {source}", .path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Installs packages below a folder.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The user's folder, or the project's own.
    pub base: &'a Path,
    /// The program that installs npm's packages, with its first arguments (setting `npmCommand`).
    pub npm: &'a [String],
}

impl Place<'_> {
    /// Installs a package of npm or git. One that is there is brought to the wanted version.
    ///
    /// # Errors
    /// See [`PlaceError`].
    pub fn install(self, source: &PackageSource) -> Result<(), PlaceError> {
        match source {
            PackageSource::Npm { name, version } => {
                let spec = version.as_ref().map_or_else(|| name.clone(), |version| format!("{name}@{version}"));
                // Nothing of a package runs while it is installed: it brings texts.
                self.npm(
                    "install",
                    &spec,
                    &["--ignore-scripts", "--omit=dev", "--omit=peer", "--no-audit", "--no-fund"],
                )
            }
            PackageSource::Git { url, reference, .. } => {
                self.clone(&source.folder(self.base, None), url, reference.as_deref())
            }
            PackageSource::Local(_) => Ok(()),
        }
    }

    /// Deletes what [`Self::install`] installed. A local package is left alone.
    ///
    /// # Errors
    /// See [`PlaceError`].
    pub fn remove(self, source: &PackageSource) -> Result<(), PlaceError> {
        let folder = source.folder(self.base, None);
        match source {
            PackageSource::Npm { name, .. } if folder.exists() => self.npm("uninstall", name, &["--ignore-scripts"]),
            PackageSource::Git { .. } if folder.exists() => {
                fs::remove_dir_all(&folder).map_err(|source| PlaceError::Io { path: folder.clone(), source })?;
                // Folders of the owner and the host go with their last package.
                let above = folder.ancestors().skip(1).take_while(|dir| *dir != self.base.join("git"));
                above.map(fs::remove_dir).take_while(Result::is_ok).for_each(drop);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn npm(self, verb: &str, spec: &str, flags: &[&str]) -> Result<(), PlaceError> {
        let root = self.base.join("npm");
        make(&root)?;
        let (program, first) = self.npm.split_first().map_or(("npm", &[][..]), |(program, rest)| (program, rest));
        let mut command = Command::new(program);
        command.args(first).arg(verb).arg("--prefix").arg(&root).args(flags).arg("--").arg(spec);
        run(program, command)
    }

    fn clone(self, folder: &Path, url: &str, reference: Option<&str>) -> Result<(), PlaceError> {
        let io_error = |source| PlaceError::Io { path: folder.to_owned(), source };
        if folder.exists() {
            git(folder, ["fetch", "--quiet", "--tags", "origin"])?;
            return git(folder, ["checkout", "--quiet", "--detach", reference.unwrap_or("origin/HEAD"), "--"]);
        }
        let above = folder.parent().unwrap_or(self.base);
        make(above)?;
        // Beside its place first: what is half there is no package.
        let new = tempfile::Builder::new().prefix(".new-").tempdir_in(above).map_err(io_error)?;
        let inner = new.path().join("package");
        git(above, [OsStr::new("clone"), "--quiet".as_ref(), "--".as_ref(), url.as_ref(), inner.as_os_str()])?;
        if let Some(reference) = reference {
            git(&inner, ["checkout", "--quiet", "--detach", reference, "--"])?;
        }
        fs::rename(&inner, folder).map_err(io_error)
    }
}

fn make(folder: &Path) -> Result<(), PlaceError> {
    fs::create_dir_all(folder).map_err(|source| PlaceError::Io { path: folder.to_owned(), source })
}

fn git<A: AsRef<OsStr>>(folder: &Path, args: impl IntoIterator<Item = A>) -> Result<(), PlaceError> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(args);
    run("git", command)
}

/// Runs a program to its end. It may ask the user for a password; what it prints goes to standard error.
fn run(program: &str, mut command: Command) -> Result<(), PlaceError> {
    let status = command.stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(PlaceError::Failed(format!("{program} ({status})"))),
        Err(source) => Err(PlaceError::Program { program: program.to_owned(), source }),
    }
}
