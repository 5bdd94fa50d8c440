//! A run's folder: `runs/<id>` in the user's folder, for its owner alone.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use serde::{Serialize, de::DeserializeOwned};

use super::{result::RunResult, spec::RunSpec, state::RunState};
use crate::store::{paths::create_private_dir, regular_file, replace, session::check_session_id};

/// Characters of the longest id of a run: it names folders, subjects on a server and processes.
const LONGEST_ID: usize = 128;

/// A run that cannot be found or read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The id cannot name a folder.
    #[error(
        "{0:?} is no id for a run: it has letters, digits, '-', '_' and single '.', a letter or digit at both ends, and \
         {LONGEST_ID} characters at most"
    )]
    BadId(String),
    /// There is none.
    #[error("There is no run {0}. `troupe runs list` shows all.")]
    Unknown(String),
    /// There are several.
    #[error("{id} is the beginning of several runs: {}. Write more of it.", .found.join(", "))]
    Ambiguous {
        /// What was typed.
        id: String,
        /// Whose beginning it is.
        found: Vec<String>,
    },
    /// The system refused, or what is there makes no sense.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FolderError {
    let path = path.to_owned();
    move |source| FolderError::Io { action, path, source }
}

/// The one of these ids that is meant by `id`: it, or the only one that begins with it.
///
/// # Errors
/// There is none, or there are several.
pub fn pick(all: &[String], id: &str) -> Result<String, FolderError> {
    let fitting: Vec<String> = all.iter().filter(|run| run.starts_with(id)).cloned().collect();
    match fitting.as_slice() {
        _ if all.iter().any(|run| run == id) => Ok(id.to_owned()),
        [] => Err(FolderError::Unknown(id.to_owned())),
        [one] => Ok(one.clone()),
        _ => Err(FolderError::Ambiguous { id: id.to_owned(), found: fitting }),
    }
}

/// A run's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    /// Where it is.
    pub path: PathBuf,
}

impl RunFolder {
    /// The folder of the run `id`, existing or not.
    ///
    /// # Errors
    /// The id cannot name a folder.
    pub fn of(user_dir: &Path, id: &str) -> Result<Self, FolderError> {
        Self::check_id(id)?;
        Ok(Self { path: user_dir.join("runs").join(id) })
    }

    /// Checks the id of a run.
    ///
    /// # Errors
    /// It cannot name a folder, or a run on a server.
    pub fn check_id(id: &str) -> Result<(), FolderError> {
        match check_session_id(id) {
            Ok(()) if id.len() <= LONGEST_ID && !id.contains("..") => Ok(()),
            _ => Err(FolderError::BadId(id.to_owned())),
        }
    }

    /// The run whose id is `id`, or begins with it and is alone in that.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub fn find(user_dir: &Path, id: &str) -> Result<Self, FolderError> {
        let exact = Self::of(user_dir, id)?;
        if exact.is_run() {
            return Ok(exact);
        }
        let all: Vec<String> = Self::all(user_dir).iter().map(Self::id).collect();
        Self::of(user_dir, &pick(&all, id)?)
    }

    /// All runs, in the order of their ids.
    #[must_use]
    pub fn all(user_dir: &Path) -> Vec<Self> {
        let entries = fs::read_dir(user_dir.join("runs")).into_iter().flatten().flatten();
        let mut runs: Vec<Self> = entries.map(|entry| Self { path: entry.path() }).filter(Self::is_run).collect();
        runs.sort_by(|a, b| a.path.cmp(&b.path));
        runs
    }

    /// The run's id.
    #[must_use]
    pub fn id(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Whether there is such a run.
    #[must_use]
    pub fn is_run(&self) -> bool {
        self.file("run.json").is_file()
    }

    /// The user's folder that it is in.
    #[must_use]
    pub fn user_dir(&self) -> Option<&Path> {
        self.path.parent()?.parent()
    }

    /// A file in it.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Where a node keeps the sessions of the run.
    #[must_use]
    pub fn sessions(&self) -> PathBuf {
        self.file("sessions")
    }

    /// Makes it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn make(&self) -> Result<(), FolderError> {
        let refused = |error: crate::store::StoreError| failed("make", &self.path)(io::Error::other(error));
        create_private_dir(&self.path).map_err(refused)
    }

    /// `run.json`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn spec(&self) -> Result<RunSpec, FolderError> {
        self.read("run.json")?.ok_or_else(|| FolderError::Unknown(self.id()))
    }

    /// Writes `run.json`.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write_spec(&self, spec: &RunSpec) -> Result<(), FolderError> {
        self.write("run.json", spec)
    }

    /// `state.json`; the state of a run that was never started when there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn state(&self) -> Result<RunState, FolderError> {
        Ok(self.read("state.json")?.unwrap_or_default())
    }

    /// Writes `state.json`.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write_state(&self, state: &RunState) -> Result<(), FolderError> {
        self.write("state.json", state)
    }

    /// `result.json`; none while there is no result.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn result(&self) -> Result<Option<RunResult>, FolderError> {
        self.read("result.json")
    }

    /// Writes `result.json`.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write_result(&self, result: &RunResult) -> Result<(), FolderError> {
        self.write("result.json", result)
    }

    /// Takes the result away: the run goes on.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn remove_result(&self) -> Result<(), FolderError> {
        let path = self.file("result.json");
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", &path)(error)),
            _ => Ok(()),
        }
    }

    /// Removes it with everything in it. For the owner alone.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn remove(&self) -> Result<(), FolderError> {
        // Without this file it is no run: what is broken off here leaves nothing that looks like one.
        let spec = self.file("run.json");
        fs::remove_file(&spec).map_err(failed("remove", &spec))?;
        fs::remove_dir_all(&self.path).map_err(failed("remove", &self.path))
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, FolderError> {
        let path = self.file(name);
        let bytes = match regular_file::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("read", &path)(error)),
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| failed("read", &path)(error.into()))
    }

    fn write(&self, name: &str, value: &impl Serialize) -> Result<(), FolderError> {
        let path = self.file(name);
        replace::with(&path, |out| {
            serde_json::to_writer_pretty(&mut *out, value)?;
            out.write_all(b"\n")
        })
        .map_err(failed("write", &path))
    }

    /// Removes what a killed owner left half written. For the owner alone.
    pub fn remove_leftovers(&self) {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        // What replaces a file is written under such a name first.
        for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(".tmp")) {
            if let Err(error) = fs::remove_file(entry.path()) {
                tracing::debug!(%error, "a file that was half written was not removed");
            }
        }
    }

    /// A file of lines, open at its end, made if need be.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn lines(&self, name: &str) -> Result<File, FolderError> {
        let path = self.file(name);
        let mut options = OpenOptions::new();
        regular_file::open(&path, options.append(true).create(true).mode(0o600)).map_err(failed("open", &path))
    }

    /// Takes the piece of a line away that a killed process left at the end of a file of lines. Nobody may write it
    /// meanwhile.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn end_torn_line(&self, name: &str) -> Result<(), FolderError> {
        let path = self.file(name);
        cut_torn_line(&path).map_err(failed("mend", &path))
    }
}

fn cut_torn_line(path: &Path) -> io::Result<()> {
    /// Bytes of one look.
    const LOOK: u64 = 64 << 10;
    let mut options = OpenOptions::new();
    let mut file = match regular_file::open(path, options.read(true).write(true)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let mut end = file.metadata()?.len();
    let whole = loop {
        let from = end.saturating_sub(LOOK);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        (&mut file).take(end - from).read_to_end(&mut bytes)?;
        if let Some(at) = memchr::memrchr(b'\n', &bytes) {
            break from + at as u64 + 1;
        }
        if from == 0 {
            break 0;
        }
        end = from;
    };
    if whole < file.metadata()?.len() { file.set_len(whole) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn run(user_dir: &Path, id: &str) -> RunFolder {
        let folder = RunFolder::of(user_dir, id).unwrap();
        folder.make().unwrap();
        folder.write("run.json", &serde_json::json!({})).unwrap();
        folder
    }

    #[test]
    fn a_run_is_found_by_its_id_or_a_beginning_that_is_its_own() {
        let dir = tempfile::tempdir().unwrap();
        for id in ["ab", "abc", "abd", "x1"] {
            run(dir.path(), id);
        }
        let found = |id: &str| RunFolder::find(dir.path(), id).map(|run| run.id()).map_err(|error| error.to_string());
        assert_eq!(found("ab"), Ok("ab".to_owned()));
        assert_eq!(found("x"), Ok("x1".to_owned()));
        assert!(found("a").unwrap_err().contains("ab, abc, abd"));
        assert!(found("y").unwrap_err().contains("runs list"));
        assert!(found("../x").unwrap_err().contains("no id"));
    }

    #[test]
    fn fc_011_all_of_it_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let folder = run(dir.path(), "a");
        folder.write_state(&RunState::default()).unwrap();
        drop(folder.lines("events.jsonl").unwrap());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder.path), mode(&dir.path().join("runs"))), (0o700, 0o700));
        for name in ["run.json", "state.json", "events.jsonl"] {
            assert_eq!(mode(&folder.file(name)), 0o600, "{name}");
        }
        assert_eq!(folder.state().unwrap(), RunState::default());
    }

    #[test]
    fn fc_001_a_torn_line_is_taken_away() {
        let dir = tempfile::tempdir().unwrap();
        let folder = run(dir.path(), "a");
        folder.end_torn_line("events.jsonl").unwrap();
        let long = "x".repeat(200_000);
        for (before, after) in [
            ("a\nb\n".to_owned(), "a\nb\n".to_owned()),
            ("a\nb".to_owned(), "a\n".to_owned()),
            ("a".to_owned(), String::new()),
            (String::new(), String::new()),
            (format!("{long}\n{long}"), format!("{long}\n")),
            (long.clone(), String::new()),
        ] {
            fs::write(folder.file("events.jsonl"), &before).unwrap();
            folder.end_torn_line("events.jsonl").unwrap();
            assert!(fs::read_to_string(folder.file("events.jsonl")).unwrap() == after, "{} bytes", before.len());
        }
    }
}
