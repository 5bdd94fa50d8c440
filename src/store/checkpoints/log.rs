//! The log of a session's checkpoints: one record a line, only ever added to.
//!
//! `checkpoints/NAME.log` belongs to the session file `NAME.jsonl`. A torn line is stepped over.

use std::{
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Read, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::state::{FileState, StoredPath};
use crate::{
    protocol::{EntryId, checkpoint::CheckpointCause, time::Millis},
    store::{StoreError, paths::create_private_dir, regular_file},
};

/// A path and what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathState {
    /// Where.
    pub path: StoredPath,
    /// What.
    pub state: FileState,
}

/// A file that an undo changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// Where.
    pub path: StoredPath,
    /// What it held before the undo.
    pub was: FileState,
    /// What it holds since.
    pub now: FileState,
}

/// Something that happened to files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Record {
    /// A checkpoint begins: files may change from here on.
    Begin {
        /// Its id; unique in the session.
        id: String,
        /// The entry that the changes follow.
        entry: Option<EntryId>,
        /// When.
        time: Millis,
        /// Who changes files.
        cause: CheckpointCause,
        /// The machine that the files are on, when it is not this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<String>,
    },
    /// What files held before their first change in the checkpoint.
    Before {
        /// The checkpoint.
        id: String,
        /// The files.
        files: Vec<PathState>,
    },
    /// What they hold after a change.
    After {
        /// The checkpoint.
        id: String,
        /// The files.
        files: Vec<PathState>,
    },
    /// A command begins, of which nobody knows what it will change.
    Command {
        /// The checkpoint.
        id: String,
    },
    /// All that a command changed has been recorded.
    Looked {
        /// The checkpoint.
        id: String,
    },
    /// Something that people should know about the checkpoint.
    Note {
        /// The checkpoint.
        id: String,
        /// What.
        text: String,
    },
    /// Files were restored.
    Undo {
        /// Its id.
        id: String,
        /// When.
        time: Millis,
        /// Checkpoints whose changes are undone by it.
        undone: Vec<String>,
        /// Checkpoints that had been undone and are in force again.
        redone: Vec<String>,
        /// The undo that it takes back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        takes_back: Option<String>,
        /// The files.
        files: Vec<Restored>,
    },
    /// Written by a later version; it says nothing to this one.
    #[serde(other)]
    Unknown,
}

/// The folder of the checkpoints of the session in `session`.
#[must_use]
pub fn folder_of(session: &Path) -> PathBuf {
    session.parent().unwrap_or(Path::new("")).join("checkpoints")
}

/// Where the log of the session in `session` lies.
#[must_use]
pub fn path_of(session: &Path) -> PathBuf {
    let name = session.file_stem().unwrap_or_default();
    folder_of(session).join(name).with_extension("log")
}

/// All records of a session, in order; lines that cannot be read are stepped over.
///
/// # Errors
/// When there is a log and it cannot be read.
pub fn read(session: &Path) -> Result<Vec<Record>, StoreError> {
    let path = path_of(session);
    match regular_file::read(&path) {
        Ok(bytes) => {
            Ok(bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(StoreError::io("read", &path)(error)),
    }
}

/// The log of a session that is being written. Nothing is created before the first record.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    /// The log of the session that this one was taken from: a new log begins with what it says.
    origin: Option<PathBuf>,
    file: Option<File>,
    /// A part of a line stands at the end.
    torn: bool,
}

impl Log {
    /// The log of the session in `session`; `parent` is the session that it was taken from. Objects are shared in one
    /// folder, so a parent of another folder brings nothing.
    #[must_use]
    pub fn of(session: &Path, parent: Option<&Path>) -> Self {
        let path = path_of(session);
        let origin = parent.map(path_of).filter(|origin| origin.parent() == path.parent() && *origin != path);
        Self { path, origin, file: None, torn: false }
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds records. They are in the file before this returns.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn append(&mut self, records: &[Record]) -> Result<(), StoreError> {
        let mut lines = Vec::new();
        for record in records {
            serde_json::to_writer(&mut lines, record)?;
            lines.push(b'\n');
        }
        if self.file.is_none() {
            let (file, torn) = open(&self.path, self.origin.as_deref())?;
            self.file = Some(file);
            self.torn = torn;
        }
        if let Some(file) = &mut self.file {
            if self.torn {
                lines.insert(0, b'\n');
            }
            let written = file.write_all(&lines);
            self.torn = written.is_err();
            written.map_err(StoreError::io("write", &self.path))?;
        }
        Ok(())
    }

    /// Makes a log that is not there yet begin with what the session's parent recorded.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn inherit(&mut self) -> Result<(), StoreError> {
        let inherits = self.file.is_none() && self.origin.as_deref().is_some_and(Path::exists) && !self.path.exists();
        if inherits { self.append(&[]) } else { Ok(()) }
    }
}

/// Opens the file for adding; true when it ends in a part of a line.
fn open(path: &Path, origin: Option<&Path>) -> Result<(File, bool), StoreError> {
    if let Some(folder) = path.parent() {
        create_private_dir(folder)?;
    }
    if let Some(origin) = origin.filter(|origin| origin.exists() && !path.exists()) {
        copy(origin, path).map_err(StoreError::io("copy", origin))?;
    }
    let mut options = OpenOptions::new();
    let opened = regular_file::open(path, options.read(true).append(true).create(true).mode(0o600));
    let mut file = opened.map_err(StoreError::io("open", path))?;
    let torn = ends_in_part(&mut file).map_err(StoreError::io("read", path))?;
    Ok((file, torn))
}

fn ends_in_part(file: &mut File) -> std::io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

fn copy(origin: &Path, path: &Path) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?; // created with mode 0600
    temporary.write_all(&fs::read(origin)?)?;
    match temporary.persist_noclobber(path) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => Err(error.error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(text: &str) -> Record {
        Record::Note { id: "c".into(), text: text.into() }
    }

    #[test]
    fn fc_001_a_torn_log_keeps_its_whole_lines_and_goes_on_behind_them() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("s.jsonl");
        Log::of(&session, None).append(&[note("one"), note("two")]).unwrap();
        let path = path_of(&session);
        let whole = fs::read(&path).unwrap();
        let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
        for cut in 0..=whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            Log::of(&session, None).append(&[note("three")]).unwrap();
            let expected = match cut {
                _ if cut < first => vec![note("three")],
                _ if cut < whole.len() - 1 => vec![note("one"), note("three")],
                _ => vec![note("one"), note("two"), note("three")],
            };
            assert_eq!(read(&session).unwrap(), expected, "cut at {cut}");
        }
    }

    #[test]
    fn records_of_later_versions_say_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("s.jsonl");
        Log::of(&session, None).append(&[note("x")]).unwrap();
        let mut text = fs::read_to_string(path_of(&session)).unwrap();
        text.push_str("{\"type\":\"hologram\",\"x\":1}\n");
        fs::write(path_of(&session), text).unwrap();
        assert_eq!(read(&session).unwrap(), [note("x"), Record::Unknown]);
        assert_eq!(read(&dir.path().join("none.jsonl")).unwrap(), []);
    }

    #[test]
    fn a_fork_begins_with_what_its_parent_recorded() {
        let dir = tempfile::tempdir().unwrap();
        let (parent, fork) = (dir.path().join("a.jsonl"), dir.path().join("b.jsonl"));
        Log::of(&parent, None).append(&[note("old")]).unwrap();
        let mut log = Log::of(&fork, Some(&parent));
        log.inherit().unwrap();
        assert_eq!(read(&fork).unwrap(), [note("old")]);
        log.append(&[note("new")]).unwrap();
        Log::of(&parent, None).append(&[note("later")]).unwrap();
        Log::of(&fork, Some(&parent)).append(&[note("more")]).unwrap();
        assert_eq!(read(&fork).unwrap(), [note("old"), note("new"), note("more")]);
        let elsewhere = dir.path().join("sub/c.jsonl");
        Log::of(&elsewhere, Some(&parent)).append(&[note("own")]).unwrap();
        assert_eq!(read(&elsewhere).unwrap(), [note("own")]);
    }
}
