//! The checkpoints that a log tells of, in the order of their beginning. Pure.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{
    log::{PathState, Record, Restored},
    state::FileState,
};
use crate::protocol::{
    EntryId,
    checkpoint::{CheckpointCause, CheckpointFile, CheckpointInfo, FileChange},
    time::Millis,
};

/// What became of a file in a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What it held before its first change.
    pub before: FileState,
    /// What it held after the last; none when nobody recorded that.
    pub after: Option<FileState>,
}

impl Change {
    /// Whether the file is another one since, as far as is known.
    #[must_use]
    pub fn is_effective(&self) -> bool {
        self.after.as_ref().is_none_or(|after| !after.is_same(&self.before))
    }
}

/// What changed in one turn, or by one command of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its id.
    pub id: String,
    /// The entry that the changes follow.
    pub entry: Option<EntryId>,
    /// When it began.
    pub time: Millis,
    /// Who changed files.
    pub cause: CheckpointCause,
    /// The machine that the files are on, when it is not this one.
    pub place: Option<String>,
    /// The files.
    pub files: BTreeMap<PathBuf, Change>,
    /// What people should know.
    pub notes: Vec<String>,
    /// Commands whose changes nobody recorded.
    pub open_commands: usize,
    /// It is undone.
    pub undone: bool,
}

impl Checkpoint {
    /// The files that are others since.
    pub fn changes(&self) -> impl Iterator<Item = (&Path, &Change)> {
        self.files.iter().filter(|(_, change)| change.is_effective()).map(|(path, change)| (path.as_path(), change))
    }

    /// Whether a file is another one since.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.changes().next().is_some()
    }

    /// What people should know, and what follows from an end that nobody recorded.
    #[must_use]
    pub fn all_notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        if self.open_commands > 0 {
            notes.push("A command runs, or was cut off: what it changed is not recorded.".to_owned());
        }
        notes
    }

    /// The checkpoint as front ends show it.
    #[must_use]
    pub fn info(&self) -> CheckpointInfo {
        let file = |(path, change): (&Path, &Change)| CheckpointFile {
            path: path.display().to_string(),
            change: match (&change.before, &change.after) {
                (FileState::Missing, _) => FileChange::Created,
                (_, Some(FileState::Missing)) => FileChange::Deleted,
                _ => FileChange::Changed,
            },
            not_restorable: change.before.not_restorable(),
        };
        CheckpointInfo {
            id: self.id.clone(),
            entry_id: self.entry.clone(),
            time: self.time,
            cause: self.cause,
            undone: self.undone,
            files: self.changes().map(file).collect(),
            notes: self.all_notes(),
        }
    }
}

/// An undo, or a redo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoStep {
    /// Its id.
    pub id: String,
    /// When.
    pub time: Millis,
    /// Checkpoints that it undid.
    pub undone: Vec<String>,
    /// Checkpoints that it brought back.
    pub redone: Vec<String>,
    /// It takes another undo back.
    pub is_redo: bool,
    /// It was taken back.
    pub taken_back: bool,
    /// The files.
    pub files: Vec<Restored>,
}

/// Something that happened to files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// They were changed.
    Checkpoint(Checkpoint),
    /// They were restored.
    Undo(UndoStep),
}

/// All that happened to files in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    steps: Vec<Step>,
}

impl Timeline {
    /// What the records tell.
    #[must_use]
    pub fn of(records: impl IntoIterator<Item = Record>) -> Self {
        let mut timeline = Self::default();
        records.into_iter().for_each(|record| timeline.apply(record));
        timeline
    }

    /// What happened, in order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The checkpoints, in order.
    pub fn checkpoints(&self) -> impl DoubleEndedIterator<Item = &Checkpoint> {
        self.steps.iter().filter_map(|step| match step {
            Step::Checkpoint(checkpoint) => Some(checkpoint),
            Step::Undo(_) => None,
        })
    }

    /// What front ends show: checkpoints in which something happened, the last one first.
    #[must_use]
    pub fn infos(&self) -> Vec<CheckpointInfo> {
        let notable = |checkpoint: &&Checkpoint| checkpoint.has_changes() || !checkpoint.all_notes().is_empty();
        self.checkpoints().rev().filter(notable).map(Checkpoint::info).collect()
    }

    fn find(&mut self, id: &str) -> Option<&mut Checkpoint> {
        self.steps.iter_mut().rev().find_map(|step| match step {
            Step::Checkpoint(checkpoint) if checkpoint.id == id => Some(checkpoint),
            _ => None,
        })
    }

    fn mark(&mut self, ids: &[String], undone: bool) {
        for id in ids {
            if let Some(checkpoint) = self.find(id) {
                checkpoint.undone = undone;
            }
        }
    }

    fn apply(&mut self, record: Record) {
        match record {
            Record::Begin { id, entry, time, cause, place } => self.steps.push(Step::Checkpoint(Checkpoint {
                id,
                entry,
                time,
                cause,
                place,
                files: BTreeMap::new(),
                notes: Vec::new(),
                open_commands: 0,
                undone: false,
            })),
            Record::Before { id, files } => {
                let Some(checkpoint) = self.find(&id) else { return };
                for PathState { path, state } in files {
                    checkpoint.files.entry(path.0).or_insert(Change { before: state, after: None });
                }
            }
            Record::After { id, files } => {
                let Some(checkpoint) = self.find(&id) else { return };
                for PathState { path, state } in files {
                    if let Some(change) = checkpoint.files.get_mut(&path.0) {
                        change.after = Some(state);
                    }
                }
            }
            Record::Command { id } => {
                if let Some(checkpoint) = self.find(&id) {
                    checkpoint.open_commands += 1;
                }
            }
            Record::Looked { id } => {
                if let Some(checkpoint) = self.find(&id) {
                    checkpoint.open_commands = checkpoint.open_commands.saturating_sub(1);
                }
            }
            Record::Note { id, text } => {
                if let Some(checkpoint) = self.find(&id)
                    && !checkpoint.notes.contains(&text)
                {
                    checkpoint.notes.push(text);
                }
            }
            Record::Undo { id, time, undone, redone, takes_back, files } => {
                self.mark(&undone, true);
                self.mark(&redone, false);
                let is_redo = takes_back.is_some();
                for step in &mut self.steps {
                    if let Step::Undo(undo) = step
                        && takes_back.as_ref() == Some(&undo.id)
                    {
                        undo.taken_back = true;
                    }
                }
                self.steps.push(Step::Undo(UndoStep { id, time, undone, redone, is_redo, taken_back: false, files }));
            }
            Record::Unknown => {}
        }
    }
}
