//! The git branch of a folder, read from git's own files: no process is started for it, and what is read is small.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// Bytes that are read of `HEAD` and of a `.git` file. Both hold one line: a path or a name.
const MAX_BYTES: u64 = 8 * 1024;

/// Hex digits of a commit that are shown when no branch is checked out.
const SHORT: usize = 8;

/// The branch that is checked out in the repository around `folder`; the beginning of the commit's hash when none is.
/// None outside of a repository, or when git's files say nothing that makes sense.
///
/// The name is as git has it: it must be made safe before it is drawn.
#[must_use]
pub fn branch(folder: &Path) -> Option<String> {
    let head = folder.ancestors().find_map(|above| head_of(&above.join(".git")))?;
    parse(&head)
}

/// The text of `HEAD` for a `.git`: a folder, or in worktrees and submodules a file that names one.
fn head_of(git: &Path) -> Option<String> {
    let metadata = git.metadata().ok()?;
    let dir = if metadata.is_dir() { git.to_owned() } else { named_by(git)? };
    read(&dir.join("HEAD")).ok()
}

fn named_by(file: &Path) -> Option<PathBuf> {
    let text = read(file).ok()?;
    let dir = text.strip_prefix("gitdir:")?.trim();
    // Joined: the path may be relative to the folder that the file is in.
    (!dir.is_empty()).then(|| file.parent().unwrap_or(Path::new("")).join(dir))
}

/// The beginning of a regular file. A pipe in its place would block for ever.
fn read(path: &Path) -> io::Result<String> {
    if !path.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut text = Vec::new();
    File::open(path)?.take(MAX_BYTES).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn parse(head: &str) -> Option<String> {
    let line = head.lines().next()?.trim_end();
    if let Some(reference) = line.strip_prefix("ref:") {
        let reference = reference.trim();
        let name = reference.strip_prefix("refs/heads/").unwrap_or(reference);
        return (!name.is_empty()).then(|| name.to_owned());
    }
    let is_hash = line.len() >= SHORT && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| line[..SHORT].to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn head_is_a_branch_a_commit_or_nothing() {
        for (head, expected) in [
            ("ref: refs/heads/main\n", Some("main")),
            ("ref: refs/heads/fix/a-b\n", Some("fix/a-b")),
            ("ref: refs/remotes/x\n", Some("refs/remotes/x")),
            ("8ee08970123456789abcdef0123456789abcdef0\n", Some("8ee08970")),
            ("ref: \n", None),
            ("abc", None),
            ("no hash at all here", None),
            ("", None),
        ] {
            assert_eq!(parse(head).as_deref(), expected, "{head:?}");
        }
    }

    #[test]
    fn the_repository_is_found_from_below_and_through_the_files_of_worktrees() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let below = root.join("repo/a/b");
        fs::create_dir_all(&below).unwrap();
        fs::create_dir_all(root.join("repo/.git/worktrees/w")).unwrap();
        fs::write(root.join("repo/.git/HEAD"), "ref: refs/heads/trunk\n").unwrap();
        fs::write(root.join("repo/.git/worktrees/w/HEAD"), "ref: refs/heads/side\n").unwrap();
        fs::create_dir(root.join("w")).unwrap();
        for gitdir in ["../repo/.git/worktrees/w".to_owned(), root.join("repo/.git/worktrees/w").display().to_string()]
        {
            fs::write(root.join("w/.git"), format!("gitdir: {gitdir}\n")).unwrap();
            assert_eq!(branch(&root.join("w")).as_deref(), Some("side"));
        }
        assert_eq!(branch(&below).as_deref(), Some("trunk"));
        assert_eq!(branch(root), None);
    }

    #[test]
    fn what_is_no_file_of_git_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let repo = dir.path().join("repo");
        fs::create_dir_all(repo.join(".git/HEAD")).unwrap();
        assert_eq!(branch(&repo), None);
        fs::remove_dir(repo.join(".git/HEAD")).unwrap();
        fs::write(repo.join(".git/HEAD"), format!("ref: refs/heads/{}", "x".repeat(1 << 20))).unwrap();
        assert!(branch(&repo).unwrap().len() < 9_000);
    }
}
