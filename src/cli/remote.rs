//! A session whose tools work on another machine (`--ssh`).
//!
//! The program itself, its settings, sessions, skills and keys stay here. Of the other machine come the files that tools
//! read, and the instructions for agents beside them, which are plain text; its settings are never loaded.

use std::{path::Path, sync::Arc};

use futures_util::future::join_all;

use super::{env::Environment, start::StartError};
use crate::{
    resources::{
        context_files::{self, ContextFile, NAMES},
        text_file::{self, MAX_BYTES},
        warning::{Loaded, Warning},
    },
    store::settings::Settings,
    tools::operations::{
        FileKind, Operations,
        ssh::{Facts, Ssh, SshOptions, Target},
    },
};

/// The other machine.
pub struct Remote {
    ssh: Ssh,
    context_files: Loaded<Vec<ContextFile>>,
}

impl Remote {
    /// Connects, and reads the instructions that lie there.
    ///
    /// # Errors
    /// The machine cannot be reached or used.
    pub async fn connect(
        target: &Target,
        settings: &Settings,
        secrets: Vec<String>,
        environment: &Environment,
        with_context: bool,
    ) -> Result<Self, StartError> {
        let options =
            SshOptions { arguments: settings.ssh_options(), hidden_variables: secrets, ..SshOptions::default() };
        let ssh = Ssh::connect(target.clone(), options).await.map_err(StartError::of)?;
        let mut context_files = Loaded::default();
        if with_context {
            context_files = context_files::of_user(&environment.user_dir);
            let there = context_files_of(&ssh, &ssh.facts().cwd).await;
            context_files.value.extend(there.value);
            context_files.warnings.extend(there.warnings);
        }
        Ok(Self { ssh, context_files })
    }

    /// Its files and processes.
    #[must_use]
    pub fn operations(&self) -> Arc<dyn Operations> {
        Arc::new(self.ssh.clone())
    }

    /// The folder of the session there.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.ssh.facts().cwd
    }

    /// The user's instructions and those of the folder there and the folders around it.
    #[must_use]
    pub fn context_files(&self) -> Loaded<Vec<ContextFile>> {
        self.context_files.clone()
    }

    /// What the model must know.
    #[must_use]
    pub fn description(&self) -> String {
        describe(self.ssh.target(), self.ssh.facts())
    }

    /// Ends the connection.
    pub async fn close(&self) {
        self.ssh.close().await;
    }
}

fn describe(target: &Target, facts: &Facts) -> String {
    let mut text = format!(
        "All tools work on another machine, {target} ({}), which is reached by ssh: the folder above, all files, searches \
         and commands are there. A call that says that the connection was lost may have had effects.",
        facts.system
    );
    if facts.rg.is_none() {
        text.push_str(" It has no ripgrep, so searches in large folders take long: name a folder or a glob.");
    }
    text
}

/// The instructions of a folder of `operations` and the folders around it, outermost first.
async fn context_files_of(operations: &dyn Operations, cwd: &Path) -> Loaded<Vec<ContextFile>> {
    let mut folders: Vec<&Path> = cwd.ancestors().collect();
    folders.reverse();
    let mut loaded = Loaded::<Vec<_>>::default();
    for found in join_all(folders.into_iter().map(|folder| first_of(operations, folder))).await {
        loaded.value.extend(found.value);
        loaded.warnings.extend(found.warnings);
    }
    loaded
}

/// The file of `folder` that counts.
async fn first_of(operations: &dyn Operations, folder: &Path) -> Loaded<Option<ContextFile>> {
    let mut warnings = Vec::new();
    let entries = operations.list(folder).await.unwrap_or_default();
    let is_there = |name: &str| entries.iter().any(|entry| entry.name == name && entry.kind == Some(FileKind::File));
    for path in NAMES.into_iter().filter(|name| is_there(name)).map(|name| folder.join(name)) {
        match beginning(operations, &path).await.and_then(|bytes| text_file::to_text(&path, bytes)) {
            Ok(text) => {
                warnings.extend(text.warnings);
                return Loaded { value: Some(ContextFile { path, content: text.value }), warnings };
            }
            Err(error) => warnings.push(Warning::new(path, format!("cannot be read: {error}"))),
        }
    }
    Loaded { value: None, warnings }
}

/// As much of a file as counts, and a byte more where there is one.
async fn beginning(operations: &dyn Operations, path: &Path) -> std::io::Result<Vec<u8>> {
    let mut reader = operations.open(path).await?;
    let mut bytes = Vec::new();
    while bytes.len() <= MAX_BYTES {
        let chunk = reader.next_chunk().await?;
        if chunk.is_empty() {
            break;
        }
        bytes.extend_from_slice(&chunk);
    }
    bytes.truncate(MAX_BYTES + 1);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::operations::memory::Memory;

    #[tokio::test]
    async fn instructions_come_from_the_folder_there_and_those_around_it() {
        let memory = Memory::new()
            .with_file("/AGENTS.md/x", "a folder")
            .with_file("/CLAUDE.md", "OUTER")
            .with_file("/srv/app/AGENTS.md", "\u{feff}HERE")
            .with_file("/srv/app/CLAUDE.md", "NOT THIS")
            .with_file("/srv/app/below/AGENTS.md", "NOT THIS")
            .with_file("/srv/AGENTS.md", "x".repeat(MAX_BYTES + 7));
        let loaded = context_files_of(&memory, Path::new("/srv/app")).await;
        let texts: Vec<_> = loaded.value.iter().map(|file| &file.content[..4]).collect();
        assert_eq!(texts, ["OUTE", "xxxx", "HERE"]);
        assert_eq!(loaded.warnings.len(), 1, "one is cut");
        assert!(loaded.value[1].content.len() < MAX_BYTES + 200);
    }
}
