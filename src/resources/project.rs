//! The project's folder.

use std::{
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// The folder in `cwd` with the project's configuration: `.troupe`, or `.pi` where there is none. Never the user's own
/// folder, which is what `.troupe` is in the home folder.
#[must_use]
pub fn project_dir(cwd: &Path, user_dir: &Path) -> Option<PathBuf> {
    [".troupe", ".pi"].iter().map(|name| cwd.join(name)).find(|dir| dir.is_dir() && !is_same(dir, user_dir))
}

/// Whether `dir` is the home folder, whose `.agents` folder is the user's own.
pub(super) fn is_home(dir: &Path, home: Option<&Path>) -> bool {
    home.is_some_and(|home| is_same(dir, home))
}

/// Whether two paths lead to the same folder, over links too.
fn is_same(a: &Path, b: &Path) -> bool {
    let identity = |path: &Path| path.metadata().map(|data| (data.dev(), data.ino()));
    a == b || matches!((identity(a), identity(b)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_projects_folder_is_troupe_then_pi_and_never_the_users_own() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path();
        let user_dir = cwd.join("elsewhere");
        assert_eq!(project_dir(cwd, &user_dir), None);
        fs::create_dir(cwd.join(".pi")).unwrap();
        assert_eq!(project_dir(cwd, &user_dir), Some(cwd.join(".pi")));
        fs::create_dir(cwd.join(".troupe")).unwrap();
        assert_eq!(project_dir(cwd, &user_dir), Some(cwd.join(".troupe")));
        // In the home folder `.troupe` is the user's.
        assert_eq!(project_dir(cwd, &cwd.join(".pi/../.troupe")), Some(cwd.join(".pi")));
    }
}
