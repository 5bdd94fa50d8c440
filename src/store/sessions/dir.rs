//! Folders and names of session files.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use super::files::{Found, FoundFile};
use crate::{
    protocol::entry::SessionHeader,
    store::{
        jsonl::header,
        paths::{Environment, absolute},
        regular_file,
    },
};

/// Bytes at the beginning of a file that are looked through for its header.
const HEADER_LIMIT: usize = 1 << 20;
/// Bytes that are read at once while looking for it.
const HEADER_BLOCK: usize = 4 << 10;

/// Where the sessions of a folder lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionDir {
    /// The folder of the files.
    pub path: PathBuf,
    /// The folder that the sessions run in.
    pub cwd: PathBuf,
    /// The user chose the folder: sessions of all projects lie in it side by side.
    pub custom: bool,
}

impl SessionDir {
    /// The default one below the user's folder, one for each project.
    #[must_use]
    pub fn of_project(user_dir: &Path, cwd: &Path) -> Self {
        Self { path: user_dir.join("sessions").join(folder_name(cwd)), cwd: cwd.to_owned(), custom: false }
    }

    /// The folder in force for sessions that run in `cwd`: given by a flag, by the environment, by the setting
    /// `sessionDir`, or the default one.
    #[must_use]
    pub fn choose(env: &Environment, cwd: &Path, flag: Option<&Path>, setting: Option<&Path>) -> Self {
        match flag.or(env.session_dir.as_deref().map(Path::new)).or(setting) {
            Some(chosen) => Self::custom(absolute(&env.expand(chosen), cwd), cwd),
            None => Self::of_project(&env.user_dir(), cwd),
        }
    }

    /// One that the user chose.
    #[must_use]
    pub fn custom(path: PathBuf, cwd: &Path) -> Self {
        Self { path, cwd: cwd.to_owned(), custom: true }
    }

    /// The files that belong to the project, each with its header; newest first, by the time of the last change.
    /// Files without a readable header are left out.
    pub fn sessions(&self) -> impl Iterator<Item = SessionFileHead> + '_ {
        self.found(Scope::Project)
            .files
            .into_iter()
            .filter_map(SessionFileHead::read)
            .filter(|head| self.holds(&head.header))
    }

    /// True for a session of this project.
    #[must_use]
    pub fn holds(&self, header: &SessionHeader) -> bool {
        // The names of default folders are not unique, but a folder's files are its project's all the same.
        !self.custom || Path::new(&header.cwd) == self.cwd
    }

    /// The files of all projects, each with its header, newest first.
    pub fn sessions_of_all(&self) -> impl Iterator<Item = SessionFileHead> + use<> {
        self.found(Scope::All).files.into_iter().filter_map(SessionFileHead::read)
    }

    /// The files that are called like sessions, newest first: those in this folder and, for all projects, those in its
    /// neighbours, unless the user chose the folder. In a folder of the user's choice, files of other projects are
    /// among them in any case: see [`Self::holds`].
    #[must_use]
    pub fn found(&self, scope: Scope) -> Found {
        match scope {
            Scope::All if !self.custom => Found::beside(&self.path),
            _ => Found::in_folder(&self.path),
        }
    }

    /// True for a session that belongs to `scope`.
    #[must_use]
    pub fn holds_in(&self, scope: Scope, header: &SessionHeader) -> bool {
        scope == Scope::All || self.holds(header)
    }
}

/// Whose sessions are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// This project's.
    #[default]
    Project,
    /// Those of all projects.
    All,
}

/// A session file of which only the first line was read.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionFileHead {
    /// The file.
    pub path: PathBuf,
    /// Its header.
    pub header: SessionHeader,
}

impl SessionFileHead {
    pub(super) fn read(file: FoundFile) -> Option<Self> {
        let header = read_header(&file.path)?;
        Some(Self { path: file.path, header })
    }
}

/// The header of a session file, from a bounded part of it.
#[must_use]
pub fn read_header(path: &Path) -> Option<SessionHeader> {
    let mut file = regular_file::open_to_read(path).ok()?;
    let mut head = Vec::new();
    let mut searched = 0;
    while head.len() < HEADER_LIMIT {
        let read = (&mut file).take(HEADER_BLOCK as u64).read_to_end(&mut head).ok()?;
        while let Some(newline) = head[searched..].iter().position(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(&head[searched..searched + newline]);
            searched += newline + 1;
            // The first readable line is the header, or there is none.
            if serde_json::from_str::<serde::de::IgnoredAny>(&line).is_ok() {
                return header::parse(&line);
            }
        }
        if read == 0 {
            return header::parse(&String::from_utf8_lossy(&head[searched..]));
        }
    }
    None
}

/// The name of the folder for sessions that run in `cwd`. Different folders can give the same name.
#[must_use]
pub fn folder_name(cwd: &Path) -> String {
    let cwd = cwd.to_string_lossy();
    let cwd = cwd.strip_prefix(['/', '\\']).unwrap_or(&cwd);
    format!("--{}--", cwd.replace(['/', '\\', ':'], "-"))
}

/// The name of a session's file.
#[must_use]
pub fn file_name(header: &SessionHeader) -> String {
    format!("{}_{}.jsonl", header.timestamp.replace([':', '.'], "-"), header.id)
}
