//! Differences of files: of the working tree, as git sees it, and of what the session changed.

use std::path::Path;

use crate::{
    protocol::event::NoticeLevel,
    store::regular_file,
    tools::{checkpoints::changes, git::Git},
    tui::{work::WorkDone, working::WorkContext},
};

/// Bytes of a difference that are shown: what is longer nobody reads in a terminal.
const MAX_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of a new file that are shown.
const MAX_NEW: u64 = 64 * 1024;
/// New files whose content is shown; the others are named.
const MAX_NEW_FILES: usize = 50;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffOf {
    /// The files and the last commit.
    WorkingTree,
    /// The files and what they were before the session changed them.
    Session,
}

/// Compares, and shows what came of it.
pub(super) fn compare(context: &WorkContext, of: DiffOf) {
    let text = match of {
        DiffOf::WorkingTree => working_tree(&context.shared.config.cwd),
        DiffOf::Session => session(context),
    };
    context.send(match text {
        Ok(text) => WorkDone::Diff(of, text.into()),
        Err(error) => WorkDone::Told(NoticeLevel::Error, format!("/diff: {error}")),
    });
}

fn session(context: &WorkContext) -> Result<String, String> {
    let Some(checkpoints) = &context.shared.place.checkpoints else {
        return Err(
            "no checkpoints are taken in this session, so nobody knows what it changed; /diff asks git".to_owned()
        );
    };
    let Some(tree) = context.shared.tree() else { return Ok(String::new()) };
    let mut text = changes::diff(checkpoints, &tree, &context.shared.config.cwd).map_err(|error| error.to_string())?;
    shorten(&mut text);
    Ok(text)
}

fn working_tree(folder: &Path) -> Result<String, String> {
    // A repository without a commit has nothing to be compared with but its index.
    let has_commit = git(folder, &["rev-parse", "--verify", "--quiet", "HEAD"]).is_ok();
    let against: &[&str] = if has_commit { &["HEAD"] } else { &["--cached"] };
    let options = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--relative"];
    let mut text = git(folder, &[&options, against].concat())?;
    if !has_commit {
        text.push_str(&git(folder, &options)?);
    }
    let new = git(folder, &["ls-files", "--others", "--exclude-standard", "-z"])?;
    let names = new.split('\0').filter(|name| !name.is_empty());
    for (at, name) in names.enumerate() {
        if text.len() > MAX_BYTES {
            break;
        }
        match content(&folder.join(name)).filter(|_| at < MAX_NEW_FILES) {
            Some(content) => {
                let lines = content.lines().count();
                text.push_str(&format!(
                    "diff --git a/{name} b/{name}\nnew file\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{lines} @@\n"
                ));
                content.lines().for_each(|line| text.push_str(&format!("+{line}\n")));
            }
            None => text.push_str(&format!("diff --git a/{name} b/{name}\nnew file (not shown)\n")),
        }
    }
    shorten(&mut text);
    Ok(text)
}

/// The text of a new file; none when it is none, or long.
fn content(path: &Path) -> Option<String> {
    let metadata = path.symlink_metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() <= MAX_NEW)?;
    let text = regular_file::read_to_string(path).ok()?;
    (metadata.len() > 0 && !text.contains('\0')).then_some(text)
}

fn shorten(text: &mut String) {
    if text.len() > MAX_BYTES {
        text.truncate(text.floor_char_boundary(MAX_BYTES));
        text.push_str("\n… there is more\n");
    }
}

/// What git prints, as much of it as is shown.
fn git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let bytes = Git::in_folder(folder).bytes_up_to(MAX_BYTES, arguments)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Command};

    use super::*;

    fn repository() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let run = |arguments: &[&str]| {
            let done = Command::new("git").args(arguments).current_dir(dir.path()).output().unwrap();
            assert!(done.status.success(), "{done:?}");
        };
        run(&["init", "-q", "-b", "trunk"]);
        fs::write(dir.path().join("a.txt"), "one\n").unwrap();
        fs::write(dir.path().join(".gitignore"), "ignored\n").unwrap();
        run(&["add", "."]);
        run(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "x"]);
        dir
    }

    #[test]
    fn changes_and_new_files_are_shown_and_ignored_ones_are_not() {
        let dir = repository();
        assert_eq!(working_tree(dir.path()), Ok(String::new()));
        fs::write(dir.path().join("a.txt"), "two\n").unwrap();
        fs::write(dir.path().join("new file.txt"), "fresh\n").unwrap();
        fs::write(dir.path().join("ignored"), "x").unwrap();
        fs::write(dir.path().join("binary"), [0u8, 1, 2]).unwrap();
        let text = working_tree(dir.path()).unwrap();
        for wanted in
            ["-one\n+two\n", "+++ b/new file.txt\n@@ -0,0 +1,1 @@\n+fresh\n", "b/binary\nnew file (not shown)"]
        {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
        assert!(!text.contains("ignored"), "{text}");
    }

    #[test]
    fn a_repository_without_a_commit_and_a_folder_without_one_are_no_riddles() {
        let dir = tempfile::tempdir().unwrap();
        assert!(working_tree(dir.path()).unwrap_err().contains("git"));
        Command::new("git").args(["init", "-q"]).current_dir(dir.path()).output().unwrap();
        fs::write(dir.path().join("a.txt"), "one\n").unwrap();
        assert!(working_tree(dir.path()).unwrap().contains("+one\n"));
    }

    #[test]
    fn what_a_repository_configures_is_not_run() {
        let dir = repository();
        let trap = dir.path().join("trap.sh");
        let mark = dir.path().join("mark");
        fs::write(&trap, format!("#!/bin/sh\ntouch {}\n", mark.display())).unwrap();
        fs::set_permissions(&trap, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        for key in ["core.fsmonitor", "diff.external", "core.pager"] {
            Command::new("git").args(["config", key]).arg(&trap).current_dir(dir.path()).output().unwrap();
        }
        fs::write(dir.path().join("a.txt"), "two\n").unwrap();
        assert!(working_tree(dir.path()).unwrap().contains("+two"));
        assert!(!mark.exists());
    }
}
