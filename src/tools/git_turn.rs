//! One command of git at a time in a repository, while several agents work in the same folder.
//!
//! Git does not wait for itself: of two that change the index at once, one fails at `index.lock`. So a shell command
//! that names git waits for the one before it. Whoever works alone waits for nobody.

use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

use super::{
    Failure, ToolContext,
    mutation_queue::{self, Turn},
};

/// Waits for the right to run a command; none when it needs no such right.
///
/// # Errors
/// The call was cancelled.
pub(super) async fn wait(context: &ToolContext, command: &str) -> Result<Option<Turn>, Failure> {
    if !context.session.shares_folder || !context.operations.place().is_here || !names_git(command) {
        return Ok(None);
    }
    let cwd = context.cwd.clone();
    let Ok(Some(repository)) = spawn_blocking(move || repository(&cwd)).await else { return Ok(None) };
    tokio::select! {
        biased;
        () = context.cancel.cancelled() => Err(Failure::aborted()),
        turn = mutation_queue::turn(repository) => Ok(Some(turn)),
    }
}

/// Whether a word of the command is git. One too many only waits.
fn names_git(command: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    command.split(|c: char| !is_part(c)).any(|word| word == "git" || word.ends_with("/git"))
}

/// What stands for the repository around a folder; none outside of one.
fn repository(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().map(|above| above.join(".git")).find(|git| git.exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_git_are_known_by_their_words() {
        let table = [
            ("git add x", true),
            ("cd a && git commit -m 'x'", true),
            ("(/usr/bin/git status)", true),
            ("x=$(git rev-parse HEAD)", true),
            ("cat .gitignore", false),
            ("legit; git-lfs ls; cat digit", false),
            ("ls", false),
        ];
        for (command, wanted) in table {
            assert_eq!(names_git(command), wanted, "{command}");
        }
    }

    #[test]
    fn a_folder_belongs_to_the_repository_around_it() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        std::fs::create_dir(top.join(".git")).unwrap();
        assert_eq!(repository(&top.join("a/b")), Some(top.join(".git")));
    }
}
