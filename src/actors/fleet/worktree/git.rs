//! The program git.

use std::{
    fmt::Display,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Calls of git in a folder.
#[derive(Clone)]
pub(super) struct Git {
    folder: PathBuf,
    index: Option<PathBuf>,
}

impl Git {
    /// In this folder.
    pub fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), index: None }
    }

    /// With another index than the folder's.
    pub fn with_index(&self, index: &Path) -> Self {
        Self { index: Some(index.to_owned()), ..self.clone() }
    }

    /// Runs git; what it printed.
    pub fn bytes(&self, arguments: &[&str]) -> Result<Vec<u8>, String> {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.folder).args(arguments).stdin(Stdio::null());
        // What the user's shell has set is about another tree.
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        let output = command.output().map_err(|error| format!("git cannot be run: {error}"))?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => {
                let text = String::from_utf8_lossy(&output.stderr);
                let what = arguments.first().copied().unwrap_or_default();
                Err(format!("git {what} failed: {}", text.trim()))
            }
        }
    }

    /// Runs git.
    pub fn run(&self, arguments: &[&str]) -> Result<(), String> {
        self.bytes(arguments).map(drop)
    }

    /// The first line of what it printed.
    pub fn line(&self, arguments: &[&str]) -> Result<String, String> {
        let bytes = self.bytes(arguments)?;
        Ok(String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().to_owned())
    }
}

/// An error of a file.
pub(super) fn failed(what: &str, path: &Path, error: &impl Display) -> String {
    format!("could not {what} {}: {error}", path.display())
}
