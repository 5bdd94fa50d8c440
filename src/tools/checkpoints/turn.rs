//! The checkpoint of one turn while it is taken.

use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use tokio::task::spawn_blocking;

use super::{
    look::{KEPT_AT_MOST, look, look_through},
    recorder::{Inner, lock},
};
use crate::{
    protocol::{EntryId, checkpoint::CheckpointCause, time::now_ms},
    store::{
        StoreError,
        checkpoints::{Content, FileFacts, FileState, ObjectId, PathState, Record},
    },
    tools::operations::{FileStat, Operations},
};

/// The checkpoint of one turn. It begins with the first change.
pub struct Turn {
    pub(super) checkpoints: Arc<Inner>,
    entry: Option<EntryId>,
    cause: CheckpointCause,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// None before it begins.
    id: Option<String>,
    /// Files whose first change is recorded.
    recorded: HashSet<PathBuf>,
}

impl Turn {
    pub(super) fn new(checkpoints: Arc<Inner>, entry: Option<EntryId>, cause: CheckpointCause) -> Self {
        Self { checkpoints, entry, cause, state: Mutex::default() }
    }

    /// Whether the file has not been changed in this turn.
    pub(super) fn is_first(&self, path: &Path) -> bool {
        !lock(&self.state).recorded.contains(path)
    }

    /// Adds records of this checkpoint, its beginning before them; blocks.
    pub(super) fn record(&self, records: impl FnOnce(String) -> Vec<Record>) -> Result<(), StoreError> {
        let mut state = lock(&self.state);
        let mut all = Vec::new();
        let id = state.id.clone().unwrap_or_else(fresh_id);
        if state.id.is_none() {
            all.push(Record::Begin {
                id: id.clone(),
                entry: self.entry.clone(),
                time: now_ms(),
                cause: self.cause,
                place: self.checkpoints.config.place.clone(),
            });
        }
        all.extend(records(id.clone()));
        self.checkpoints.append(&all)?;
        state.id = Some(id);
        Ok(())
    }

    /// Records what files held before their first change in this turn; blocks.
    pub(super) fn record_before(&self, files: Vec<(PathBuf, FileState)>) -> Result<(), StoreError> {
        let first: Vec<_> = files.into_iter().filter(|(path, _)| self.is_first(path)).collect();
        if first.is_empty() {
            return Ok(());
        }
        let paths: Vec<PathBuf> = first.iter().map(|(path, _)| path.clone()).collect();
        self.record(|id| vec![Record::Before { id, files: states(first) }])?;
        lock(&self.state).recorded.extend(paths);
        Ok(())
    }

    /// Records what files hold after a change; blocks.
    pub(super) fn record_after(&self, files: Vec<(PathBuf, FileState)>) -> Result<(), StoreError> {
        match files.is_empty() {
            true => Ok(()),
            false => self.record(|id| vec![Record::After { id, files: states(files) }]),
        }
    }

    /// Takes the checkpoint of a file that is about to hold `bytes`; gives them back.
    ///
    /// # Errors
    /// When it fails and the settings want it.
    pub(super) async fn before_write(
        self: &Arc<Self>,
        operations: &dyn Operations,
        path: &Path,
        bytes: Vec<u8>,
    ) -> io::Result<(Vec<u8>, ObjectId)> {
        let remote = match self.checkpoints.config.place.is_some() && self.is_first(path) {
            true => {
                let store = self.checkpoints.store();
                Some(look_through(operations, path, store.as_deref().ok()).await)
            }
            false => None,
        };
        let (turn, path) = (self.clone(), path.to_owned());
        let work = spawn_blocking(move || {
            let kept = turn.keep_before(&path, remote);
            // What is written is kept, too: it is what the next command may change, and what a redo brings back.
            let object = turn.checkpoints.store().and_then(|store| {
                store.put(&bytes).map_err(|source| StoreError::Io { action: "keep", path: path.clone(), source })
            });
            let object = object.unwrap_or_else(|_| ObjectId::of(&bytes));
            (kept, path, bytes, object)
        });
        let (kept, path, bytes, object) = work.await.map_err(io::Error::other)?;
        self.judge(kept, &path)?;
        Ok((bytes, object))
    }

    fn keep_before(&self, path: &Path, remote: Option<FileState>) -> Result<(), String> {
        if !self.is_first(path) {
            return Ok(());
        }
        let store = self.checkpoints.store().map_err(|error| error.to_string())?;
        let state = remote.unwrap_or_else(|| look(path, Some(&store), KEPT_AT_MOST));
        let failure = match &state {
            FileState::File(FileFacts { content: Content::Unkept(why), .. }) => Some(why.to_string()),
            _ => None,
        };
        self.record_before(vec![(path.to_owned(), state)]).map_err(|error| error.to_string())?;
        failure.map_or(Ok(()), Err)
    }

    /// A checkpoint that fails is told; the change goes on unless the settings want it.
    fn judge(&self, kept: Result<(), String>, path: &Path) -> io::Result<()> {
        let Err(cause) = kept else { return Ok(()) };
        if self.checkpoints.config.required {
            let text = format!(
                "No checkpoint of {} could be taken, and the setting checkpoints.required is on, so it was not \
                 changed: {cause}",
                path.display()
            );
            return Err(io::Error::other(text));
        }
        self.checkpoints.tell_once(format!("The change of {} cannot be undone: {cause}.", path.display()));
        Ok(())
    }

    /// Records what a write left. A record that fails costs the certainty that nobody else changed the file.
    pub(super) async fn after_write(
        self: &Arc<Self>,
        operations: &dyn Operations,
        path: &Path,
        written: Result<(FileStat, ObjectId), ()>,
    ) {
        let state = match (self.checkpoints.config.place.is_some(), written) {
            (true, Ok((stat, object))) => Some(remote_state(stat, object)),
            (true, Err(())) => Some(look_through(operations, path, None).await),
            (false, _) => None,
        };
        let (turn, path) = (self.clone(), path.to_owned());
        let work = spawn_blocking(move || {
            let state = state.unwrap_or_else(|| turn.local_after(&path, written.map(|(_, object)| object).ok()));
            if let Err(error) = turn.record_after(vec![(path, state)]) {
                tracing::warn!(%error, "a change was not recorded");
            }
        });
        if let Err(error) = work.await {
            tracing::warn!(%error, "a change was not recorded");
        }
    }

    fn local_after(&self, path: &Path, object: Option<ObjectId>) -> FileState {
        let state = match (std::fs::symlink_metadata(path), object) {
            (Ok(metadata), Some(object)) if metadata.is_file() => {
                FileState::File(super::look::facts(&metadata, Content::Object(object)))
            }
            // Half a file, after a write that failed.
            _ => look(path, None, KEPT_AT_MOST),
        };
        if let Some(workspace) = &self.checkpoints.workspace {
            workspace.own_change(path, object);
        }
        state
    }

    /// Says that changes by commands are not looked for.
    pub(super) fn tell_unwatched(&self) {
        if let Some(place) = &self.checkpoints.config.place {
            self.checkpoints.tell_once(format!(
                "What commands change on {place} cannot be undone. Changes by the tools write and edit can."
            ));
        }
    }

    /// Records that folders are about to be made, for a file below them.
    pub(super) async fn before_folders(self: &Arc<Self>, missing: Vec<PathBuf>) -> io::Result<()> {
        let turn = self.clone();
        let first = missing.first().cloned().unwrap_or_default();
        let states = missing.into_iter().map(|path| (path, FileState::Missing)).collect();
        let kept = spawn_blocking(move || turn.record_before(states)).await.map_err(io::Error::other)?;
        self.judge(kept.map_err(|error| error.to_string()), &first)
    }

    /// Records that folders were made.
    pub(super) async fn after_folders(self: &Arc<Self>, made: Vec<PathBuf>) {
        let turn = self.clone();
        let work = spawn_blocking(move || {
            if let Some(workspace) = &turn.checkpoints.workspace {
                made.iter().for_each(|path| workspace.own_change(path, None));
            }
            turn.record_after(made.into_iter().map(|path| (path, FileState::Folder)).collect())
        });
        if let Ok(Err(error)) = work.await {
            tracing::warn!(%error, "a change was not recorded");
        }
    }
}

fn remote_state(stat: FileStat, object: ObjectId) -> FileState {
    let modified = stat.modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let modified = modified.and_then(|time| i64::try_from(time.as_nanos()).ok());
    FileState::File(FileFacts { content: Content::Object(object), len: stat.len, mode: None, modified })
}

fn states(files: Vec<(PathBuf, FileState)>) -> Vec<PathState> {
    files.into_iter().map(|(path, state)| PathState { path: path.as_path().into(), state }).collect()
}

/// An id that no other checkpoint has.
pub(super) fn fresh_id() -> String {
    let mut id = uuid::Uuid::new_v4().simple().to_string();
    id.truncate(12);
    id
}
