//! The program git, as this program calls it for itself: about one folder, whatever the user's shell says about another
//! one, without questions, without a pager, in English.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// What the user's shell may have set about another repository.
const ELSEWHERE: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
];

/// Calls of git in a folder.
#[derive(Clone, Debug)]
pub struct Git {
    folder: PathBuf,
    index: Option<PathBuf>,
}

impl Git {
    /// In this folder.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), index: None }
    }

    /// With another index than the folder's.
    #[must_use]
    pub fn with_index(&self, index: &Path) -> Self {
        Self { index: Some(index.to_owned()), ..self.clone() }
    }

    /// A call with these arguments, with nothing on its standard input. A monitor of files that the repository configures
    /// is not started: it may not be the user's own.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(["-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "--no-pager", "-C"]);
        command.arg(&self.folder).args(arguments).stdin(Stdio::null());
        for name in ELSEWHERE {
            command.env_remove(name);
        }
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        command
    }

    /// Runs git; what it printed.
    ///
    /// # Errors
    /// There is no git, or it failed: what it said.
    pub fn bytes(&self, arguments: &[&str]) -> Result<Vec<u8>, String> {
        self.bytes_up_to(usize::MAX, arguments)
    }

    /// The same, ended when it has printed more than so many bytes: what it printed so far, one byte more than that at
    /// least.
    ///
    /// # Errors
    /// There is no git, or it failed: what it said.
    pub fn bytes_up_to(&self, most: usize, arguments: &[&str]) -> Result<Vec<u8>, String> {
        let child = self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| format!("git cannot be run: {error}"))?;
        let mut bytes = Vec::new();
        if most < usize::MAX
            && let Some(output) = &mut child.stdout
        {
            let read = output.take(most as u64 + 1).read_to_end(&mut bytes);
            read.map_err(|error| format!("git cannot be read: {error}"))?;
            if bytes.len() > most {
                // It would write on for ever into a pipe that nobody reads.
                let _ = child.kill();
                let _ = child.wait();
                return Ok(bytes);
            }
        }
        let output = child.wait_with_output().map_err(|error| format!("git cannot be read: {error}"))?;
        if output.status.success() {
            bytes.extend(output.stdout);
            return Ok(bytes);
        }
        let (what, text) = (arguments.first().copied().unwrap_or_default(), String::from_utf8_lossy(&output.stderr));
        match text.trim() {
            "" => Err(format!("git {what} ended with {}", output.status)),
            text => Err(format!("git {what} failed: {text}")),
        }
    }

    /// Runs git.
    ///
    /// # Errors
    /// There is no git, or it failed: what it said.
    pub fn run(&self, arguments: &[&str]) -> Result<(), String> {
        self.bytes(arguments).map(drop)
    }

    /// The first line of what it printed.
    ///
    /// # Errors
    /// There is no git, or it failed: what it said.
    pub fn line(&self, arguments: &[&str]) -> Result<String, String> {
        let bytes = self.bytes(arguments)?;
        Ok(String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_tells_what_git_said_and_ends_when_there_is_enough() {
        let folder = tempfile::tempdir().unwrap();
        let git = Git::in_folder(folder.path());
        assert!(git.line(&["rev-parse", "HEAD"]).unwrap_err().starts_with("git rev-parse failed: fatal: "));
        git.run(&["init", "--quiet"]).unwrap();
        let all = git.bytes(&["config", "--list", "--show-origin"]).unwrap();
        assert!(all.len() > 20);
        assert_eq!(git.bytes_up_to(4, &["config", "--list", "--show-origin"]).unwrap(), all[..5]);
        assert_eq!(git.bytes_up_to(all.len(), &["config", "--list", "--show-origin"]).unwrap(), all);
    }

    #[test]
    fn another_repository_that_the_shell_names_is_not_asked() {
        let command = Git::in_folder(Path::new("/w")).with_index(Path::new("/i")).command(&["status"]);
        let set: Vec<_> = command.get_envs().map(|(name, value)| (name.to_str().unwrap(), value)).collect();
        assert!(set.contains(&("GIT_DIR", None)) && set.contains(&("GIT_INDEX_FILE", Some("/i".as_ref()))), "{set:?}");
    }
}
