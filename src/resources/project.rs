//! The project's folder, and whether using it needs the user's trust.

use std::{
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// What in a project's folder changes how the program works.
const NEEDS_TRUST: [&str; 8] =
    ["settings.json", "mcp.json", "extensions", "skills", "prompts", "themes", "SYSTEM.md", "APPEND_SYSTEM.md"];

/// The folder in `cwd` with the project's configuration: `.troupe`, or `.pi` where there is none. Never the user's own
/// folder, which is what `.troupe` is in the home folder.
#[must_use]
pub fn project_dir(cwd: &Path, user_dir: &Path) -> Option<PathBuf> {
    [".troupe", ".pi"].iter().map(|name| cwd.join(name)).find(|dir| dir.is_dir() && !is_same(dir, user_dir))
}

/// What in the project would change how the program works, and is therefore used only with the user's trust: parts of
/// `project_dir`, and `.agents/skills` of `cwd` and the folders above it. Empty: nothing to trust. A project's folder
/// with other things in it needs no trust.
#[must_use]
pub fn needs_trust(cwd: &Path, project_dir: Option<&Path>, home: Option<&Path>) -> Vec<PathBuf> {
    let of_project = project_dir.into_iter().flat_map(|dir| NEEDS_TRUST.iter().map(|name| dir.join(name)));
    let of_agents = cwd.ancestors().filter(|dir| !is_home(dir, home)).map(|dir| dir.join(".agents/skills"));
    of_project.chain(of_agents).filter(|path| path.exists()).collect()
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

    #[test]
    fn fc_100_what_changes_the_program_needs_trust_and_nothing_else_does() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let cwd = home.join("code/project");
        let project = cwd.join(".pi");
        fs::create_dir_all(&project).unwrap();
        fs::create_dir_all(home.join(".agents/skills")).unwrap();
        fs::write(project.join("notes.md"), "x").unwrap();
        fs::write(cwd.join("AGENTS.md"), "x").unwrap();
        let needs = || needs_trust(&cwd, Some(&project), Some(&home));
        assert_eq!(needs(), Vec::<PathBuf>::new());
        for name in NEEDS_TRUST {
            fs::write(project.join(name), "x").unwrap();
            assert_eq!(needs(), [project.join(name)]);
            fs::remove_file(project.join(name)).unwrap();
        }
        fs::create_dir_all(home.join("code/.agents/skills")).unwrap();
        assert_eq!(needs(), [home.join("code/.agents/skills")]);
    }
}
