//! The journal of a running trace, beside the session: what was accepted and is not in the session yet.
//!
//! The session file holds pi's entries and nothing else. What a crash must not lose beyond them stands here: prompts
//! and queued messages that were accepted, whether a trace runs, and which calls of a batch have begun. The journal of
//! `NAME.jsonl` is `NAME.state`, a line for each [`Record`]; it is gone when the trace has settled and no message
//! waits.
//!
//! | module | what |
//! |---|---|
//! | [`record`] | a line of the journal |
//! | [`replay`] | the state that a journal describes |

pub mod record;
pub mod replay;

use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

pub use record::{HeldEntry, InputKind, PendingInput, Record};
pub use replay::RunState;

use super::{StoreError, Syncer, paths::create_private_dir, regular_file, session::SessionStore};
use crate::protocol::EntryId;

/// The journal of a session. Clones are handles of the same one.
#[derive(Clone)]
pub struct Sidecar(Arc<Mutex<Journal>>);

struct Journal {
    state: RunState,
    /// None for a session in memory.
    path: Option<PathBuf>,
    /// The open file, once something was written.
    file: Option<Arc<File>>,
    /// A fragment stands at the file's end.
    torn: bool,
    /// A disk that refuses does not stop the run.
    keep_going: bool,
    /// Lines that it refused, or that are kept back.
    unsaved: Vec<u8>,
    /// The prompt that another file tells of: as long as there is nothing else to remember, nothing is written.
    kept_back_for: Option<EntryId>,
}

/// Where the journal of the session in `session` lies.
#[must_use]
pub fn path_of(session: &Path) -> PathBuf {
    session.with_extension("state")
}

impl Sidecar {
    /// The journal of a session that lives in memory.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::with(RunState::default(), None, false)
    }

    /// The journal beside the session file `session`; its state is what a crash left. Lines that cannot be read are
    /// stepped over.
    ///
    /// # Errors
    /// When there is one and it cannot be read.
    pub fn open(session: &Path) -> Result<Self, StoreError> {
        let path = path_of(session);
        let bytes = match regular_file::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(StoreError::io("read", &path)(error)),
        };
        let torn = !bytes.is_empty() && !bytes.ends_with(b"\n");
        let records = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
        let state = RunState::replay(records);
        Ok(Self::with(state, Some(path), torn))
    }

    fn with(state: RunState, path: Option<PathBuf>, torn: bool) -> Self {
        let (unsaved, kept_back_for) = (Vec::new(), None);
        let journal = Journal { state, path, file: None, torn, keep_going: false, unsaved, kept_back_for };
        Self(Arc::new(Mutex::new(journal)))
    }

    /// Whether a disk that refuses stops the run (as it does at first) or only the saving: records are then kept in
    /// memory and written with the next ones.
    pub fn set_keep_going(&self, keep_going: bool) {
        self.lock().keep_going = keep_going;
    }

    /// Writes nothing as long as all that there is to remember is the prompt that becomes the entry `prompt`: somebody
    /// else's file tells of it, and whoever goes on after a crash begins with it again. That ends with the first other
    /// record, with [`Self::write_out`], and when the trace settles.
    pub fn keep_back(&self, prompt: EntryId) {
        let mut journal = self.lock();
        if journal.state == RunState::default() {
            journal.kept_back_for = Some(prompt);
        }
    }

    /// Whether records are [kept back](Self::keep_back).
    #[must_use]
    pub fn is_kept_back(&self) -> bool {
        self.lock().kept_back_for.is_some()
    }

    /// Writes what was kept back, and keeps back nothing any longer.
    ///
    /// # Errors
    /// See [`Self::append`].
    pub fn write_out(&self) -> Result<(), StoreError> {
        let was_kept_back = self.lock().kept_back_for.take().is_some();
        if was_kept_back { self.append(&[]) } else { Ok(()) }
    }

    /// The journal of a session: that beside its file, for whoever writes the session; one in memory for whoever only
    /// reads it, and for a session in memory.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub fn of(session: &SessionStore) -> Result<Self, StoreError> {
        match session.path() {
            Some(path) if session.writable().is_ok() => Self::open(&path),
            _ => Ok(Self::in_memory()),
        }
    }

    /// Writes records. They are in the file before this returns; when nothing is left to remember, the file is gone.
    ///
    /// # Errors
    /// When they cannot be written, and the run does not go on without; then the state is what it was.
    pub fn append(&self, records: &[Record]) -> Result<(), StoreError> {
        let mut journal = self.lock();
        let mut state = journal.state.clone();
        records.iter().cloned().for_each(|record| state.apply(record));
        let keeps_back = journal.kept_back_for.as_ref().is_some_and(|prompt| state.tells_only_of(prompt));
        if !keeps_back {
            journal.kept_back_for = None;
        }
        let mut lines = std::mem::take(&mut journal.unsaved);
        let earlier = lines.len();
        // What was delivered to a session that is kept back, too, is not in a file yet.
        let written = records.iter().filter(|record| !(keeps_back && matches!(record, Record::Delivered { .. })));
        for record in written {
            serde_json::to_writer(&mut lines, record)?;
            lines.push(b'\n');
        }
        if keeps_back {
            journal.unsaved = lines;
            journal.state = state;
            return Ok(());
        }
        let written = if state.is_settled() { journal.remove() } else { journal.write(&lines) };
        match written {
            Err(error) if journal.keep_going => {
                tracing::warn!(%error, "the journal is kept in memory");
                journal.unsaved = lines;
            }
            Err(error) => {
                lines.truncate(earlier);
                journal.unsaved = lines;
                return Err(error);
            }
            Ok(()) => {}
        }
        journal.state = state;
        Ok(())
    }

    /// What makes durable all that was written so far; none when nothing was.
    #[must_use]
    pub fn syncer(&self) -> Option<Syncer> {
        let journal = self.lock();
        Some(Syncer::new(journal.file.clone()?, journal.path.as_deref()?))
    }

    /// What the journal says.
    #[must_use]
    pub fn state(&self) -> RunState {
        self.lock().state.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Journal> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal {
    fn write(&mut self, lines: &[u8]) -> Result<(), StoreError> {
        let Some(path) = &self.path else { return Ok(()) };
        let separated;
        let lines = if self.torn {
            separated = [b"\n", lines].concat();
            &separated
        } else {
            lines
        };
        if self.file.is_none() {
            if let Some(folder) = path.parent() {
                create_private_dir(folder)?;
            }
            let mut options = OpenOptions::new();
            let file = regular_file::open(path, options.append(true).create(true).mode(0o600));
            self.file = Some(Arc::new(file.map_err(StoreError::io("open", path))?));
        }
        if let Some(file) = &self.file {
            let written = (&**file).write_all(lines);
            // A part of a line is stepped over by the next reader, when it has an end.
            self.torn = written.is_err();
            written.map_err(StoreError::io("write", path))?;
        }
        Ok(())
    }

    fn remove(&mut self) -> Result<(), StoreError> {
        let Some(path) = &self.path else { return Ok(()) };
        self.file = None;
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::io("remove", path)(error)),
            _ => {
                self.torn = false;
                Ok(())
            }
        }
    }
}

impl fmt::Debug for Sidecar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let journal = self.lock();
        f.debug_struct("Sidecar").field("path", &journal.path).field("state", &journal.state).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::protocol::{command::InputSource, message::Content};

    fn input(op: &str, kind: InputKind) -> Record {
        Record::Input(PendingInput {
            op: op.into(),
            kind,
            entry_id: Some(op.into()),
            content: Content::from("words"),
            source: InputSource::Rpc,
        })
    }

    #[test]
    fn what_was_accepted_is_there_after_a_crash_and_the_file_goes_when_nothing_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("sub/2026_x.jsonl");
        let journal = Sidecar::open(&session).unwrap();
        journal.append(&[Record::Settled]).unwrap();
        assert!(!dir.path().join("sub").exists(), "nothing to remember, nothing written");

        journal.append(&[input("a", InputKind::Prompt), Record::Started]).unwrap();
        journal.append(&[input("b", InputKind::Steer)]).unwrap();
        let path = dir.path().join("sub/2026_x.state");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let again = Sidecar::open(&session).unwrap();
        assert_eq!(again.state(), journal.state());
        assert!(again.state().active);

        again.append(&[Record::Delivered { ops: vec!["a".into(), "b".into()] }, Record::Settled]).unwrap();
        assert!(!path.exists());
        assert!(Sidecar::open(&session).unwrap().state().is_settled());
    }

    #[test]
    fn fc_001_a_torn_journal_keeps_its_whole_lines_and_goes_on_behind_them() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("s.jsonl");
        Sidecar::open(&session).unwrap().append(&[input("a", InputKind::FollowUp), Record::Started]).unwrap();
        let path = path_of(&session);
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let journal = Sidecar::open(&session).unwrap();
            journal.append(&[input("z", InputKind::FollowUp)]).unwrap();
            let state = Sidecar::open(&session).unwrap().state();
            let ops: Vec<_> = state.follow_ups.iter().map(|input| input.op.as_str()).collect();
            let first_line = whole.iter().position(|byte| *byte == b'\n').unwrap();
            // The last byte of a line is its newline: without it the line is whole all the same.
            assert_eq!(ops, if cut < first_line { vec!["z"] } else { vec!["a", "z"] }, "cut at {cut}");
        }
    }

    #[test]
    fn what_another_file_tells_is_kept_back_until_there_is_more() {
        let prompt = || input("p", InputKind::Prompt);
        let delivered = || Record::Delivered { ops: vec!["p".into()] };
        // What is recorded, and which lines are in the file then.
        let check = |records: &[Record], lines: &[&str]| {
            let dir = tempfile::tempdir().unwrap();
            let session = dir.path().join("s.jsonl");
            let journal = Sidecar::open(&session).unwrap();
            journal.keep_back("p".into());
            records.iter().for_each(|record| journal.append(std::slice::from_ref(record)).unwrap());
            assert_eq!(journal.state(), RunState::replay(records.iter().cloned()));
            let file = std::fs::read_to_string(path_of(&session)).unwrap_or_default();
            let kinds: Vec<_> = file.lines().map(|line| line.split('"').nth(3).unwrap()).collect();
            assert_eq!(kinds, lines, "{records:?}");
        };
        let batch = || Record::Batch { entry_id: "a".into(), places: vec![0] };
        check(&[prompt(), Record::Started, delivered()], &[]);
        check(&[prompt(), Record::Started, delivered(), Record::Settled], &[]);
        check(&[input("q", InputKind::Prompt)], &["input"]);
        check(&[prompt(), Record::Started, delivered(), batch()], &["input", "started", "batch"]);
        let steer = input("s", InputKind::Steer);
        check(&[prompt(), Record::Started, steer, delivered()], &["input", "started", "input", "delivered"]);
        let settled = [prompt(), Record::Started, delivered(), Record::Settled];
        check(&[&settled[..], &[prompt(), Record::Started]].concat(), &["input", "started"]);
    }

    #[test]
    fn what_is_kept_back_can_be_written_out() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("s.jsonl");
        let journal = Sidecar::open(&session).unwrap();
        journal.keep_back("p".into());
        journal.append(&[input("p", InputKind::Prompt), Record::Started]).unwrap();
        journal.append(&[Record::Delivered { ops: vec!["p".into()] }]).unwrap();
        assert!(journal.is_kept_back());
        journal.write_out().unwrap();
        assert!(!journal.is_kept_back());
        // The session, which is written out behind it, tells whether the prompt is there.
        let left = Sidecar::open(&session).unwrap().state();
        assert_eq!((left.active, left.prompts.len()), (true, 1));

        let other = Sidecar::open(&session).unwrap();
        other.keep_back("p".into());
        assert!(!other.is_kept_back(), "a crash left something: it is remembered");
    }

    #[test]
    fn a_journal_in_memory_outlives_its_writer() {
        let journal = Sidecar::in_memory();
        let next_writer = journal.clone();
        journal.append(&[input("a", InputKind::Prompt)]).unwrap();
        drop(journal);
        assert_eq!(next_writer.state().prompts.len(), 1);
    }
}
