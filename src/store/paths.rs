//! Where things lie: the user's folder, the project's folder, and how folders are made.

use std::{
    ffi::OsString,
    fs::DirBuilder,
    os::unix::fs::DirBuilderExt,
    path::{Component, Path, PathBuf},
};

use super::StoreError;

/// The variable that names the user's folder.
pub const USER_DIR_VARIABLE: &str = "TROUPE_DIR";
/// The variable that names the folder for sessions.
pub const SESSION_DIR_VARIABLE: &str = "TROUPE_SESSION_DIR";

/// What the environment says about places. A value, so that nothing below asks the process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// `TROUPE_DIR`, not expanded.
    pub user_dir: Option<OsString>,
    /// `TROUPE_SESSION_DIR`, not expanded.
    pub session_dir: Option<OsString>,
}

impl Environment {
    /// What this process was started with.
    #[must_use]
    pub fn of_process() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Self { home: std::env::home_dir(), user_dir: set(USER_DIR_VARIABLE), session_dir: set(SESSION_DIR_VARIABLE) }
    }

    /// The user's folder: `TROUPE_DIR`, or `~/.troupe`.
    #[must_use]
    pub fn user_dir(&self) -> PathBuf {
        match &self.user_dir {
            Some(dir) => self.expand(Path::new(dir)),
            None => self.home.clone().unwrap_or_default().join(".troupe"),
        }
    }

    /// `path` with a leading `~` replaced by the home.
    #[must_use]
    pub fn expand(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) if rest.as_os_str().is_empty() => home.clone(),
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.to_owned(),
        }
    }
}

/// `path` as an absolute path without `.` and `..`; links are not followed, and it need not exist.
#[must_use]
pub fn absolute(path: &Path, cwd: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in cwd.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// Makes a folder, and those above it, that nobody else may look into. One that exists stays as it is.
///
/// # Errors
/// When it cannot be made.
pub fn create_private_dir(path: &Path) -> Result<(), StoreError> {
    let exists = path.as_os_str().is_empty() || path.is_dir();
    if exists {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(StoreError::io("create", path))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_users_folder_is_the_variable_or_lies_in_the_home() {
        let env = |home: Option<&str>, user_dir: Option<&str>| Environment {
            home: home.map(PathBuf::from),
            user_dir: user_dir.map(OsString::from),
            session_dir: None,
        };
        for (env, dir) in [
            (env(Some("/h"), None), "/h/.troupe"),
            (env(Some("/h"), Some("~/.pi/agent")), "/h/.pi/agent"),
            (env(Some("/h"), Some("/x")), "/x"),
            (env(None, None), ".troupe"),
        ] {
            assert_eq!(env.user_dir(), Path::new(dir));
        }
        assert_eq!(env(Some("/h"), None).expand(Path::new("~")), Path::new("/h"));
        assert_eq!(env(Some("/h"), None).expand(Path::new("~x/a")), Path::new("~x/a"));
    }

    #[test]
    fn paths_lose_their_dots() {
        for (path, expected) in
            [("a/../b/./c", "/w/b/c"), ("../x", "/x"), ("../../../x", "/x"), ("/a/b/..", "/a"), ("", "/w")]
        {
            assert_eq!(absolute(Path::new(path), Path::new("/w")), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn fc_011_new_folders_are_private() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b");
        create_private_dir(&deep).unwrap();
        create_private_dir(&deep).unwrap();
        for made in [&deep, &dir.path().join("a")] {
            assert_eq!(std::fs::metadata(made).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }
}
