//! Parts of a git repository that are not where the workspace is, or that run code.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::Access;
use crate::{
    store::regular_file,
    tools::{Local, operations::Operations as _},
};

/// Submodules of submodules are looked for this deep.
const DEPTH: usize = 4;

/// The rules for the repository of a work tree, whose `.git` is a file that names it.
///
/// The file could name any folder, so it is believed only when the folder names the work tree in turn, as git has it.
pub fn worktree_rules(git_file: &Path) -> Vec<(PathBuf, Access)> {
    let Some((own, common)) = worktree(git_file) else { return Vec::new() };
    let mut rules = vec![(own.clone(), Access::Write), (common.clone(), Access::Write)];
    let protected = [
        common.join("hooks"),
        common.join("config"),
        common.join("commondir"),
        own.join("commondir"),
        own.join("gitdir"),
        own.join("config.worktree"),
    ];
    rules.extend(protected.map(|path| (path, Access::Read)));
    rules
}

/// The work tree's own folder in the repository, and the repository.
fn worktree(git_file: &Path) -> Option<(PathBuf, PathBuf)> {
    let folder = git_file.parent()?;
    let text = regular_file::read_to_string(git_file).ok()?;
    let own = folder.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let back = regular_file::read_to_string(&own.join("gitdir")).ok()?;
    if Local.real_path(&own.join(back.trim())) != Local.real_path(git_file) {
        return None;
    }
    let common = regular_file::read_to_string(&own.join("commondir")).ok()?;
    let common = own.join(common.trim()).canonicalize().ok()?;
    // Both are in the repository's own folder.
    own.starts_with(&common).then_some((own, common))
}

/// The repositories of submodules.
pub fn modules(git: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&git.join("modules"), DEPTH, &mut found);
    found
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let path = entry.path();
        if path.join("HEAD").is_file() {
            collect(&path.join("modules"), depth, found);
            found.push(path);
        } else if depth > 0 {
            // A submodule's name may have slashes.
            collect(&path, depth - 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fc_054_a_pipe_in_the_place_of_a_worktrees_files_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let (git_file, own) = (dir.path().join(".git"), dir.path().join("own"));
        fs::create_dir(&own).unwrap();
        fs::write(&git_file, "gitdir: own\n").unwrap();
        crate::store::testing::pipe_in(&own, "gitdir");
        assert_eq!(worktree(&git_file), None);
        fs::remove_file(own.join("gitdir")).unwrap();
        fs::write(own.join("gitdir"), git_file.as_os_str().as_encoded_bytes()).unwrap();
        crate::store::testing::pipe_in(&own, "commondir");
        assert_eq!(worktree(&git_file), None);
    }
}
