//! Undoing changes of files: what is asked, and what became of it.

use serde::{Deserialize, Serialize};

use super::{entry::EntryId, time::Millis};

/// How far files go back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum UndoTarget {
    /// To before the last turn (one answer of the model and its calls) that changed files.
    #[default]
    Turn,
    /// To before the last prompt that led to changes.
    Prompt,
    /// To where they were when this entry was the last one. On another branch, changes of that branch come back.
    Entry(EntryId),
    /// The last undo is taken back.
    Redo,
}

/// A request to undo changes of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undo {
    /// How far.
    pub target: UndoTarget,
    /// The conversation goes back, too: the next message hangs on the target.
    pub conversation: bool,
    /// Files that somebody else changed since are restored all the same; what they hold is kept for a redo.
    pub force: bool,
    /// Only say what would be done.
    pub dry_run: bool,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FileOutcome {
    /// It holds what it held before.
    Restored,
    /// It was gone and is there again.
    Recreated,
    /// It had been created, and is gone again.
    Removed,
    /// It is as it should be already.
    Unchanged,
    /// Somebody else changed it since: it was left alone.
    Conflict,
    /// It cannot be restored; it was left alone.
    Skipped,
}

/// A file of an undo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoneFile {
    /// Where it is.
    pub path: String,
    /// What became of it, or would.
    pub outcome: FileOutcome,
    /// Why it was left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// From what a file in conflict holds to what it would hold, where both are text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// What an undo did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoReport {
    /// The files, by path.
    pub files: Vec<UndoneFile>,
    /// What else is to be known, for people.
    pub notes: Vec<String>,
    /// Nothing was done.
    pub dry_run: bool,
    /// The last entry of the conversation now, when it went back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf_id: Option<EntryId>,
}

impl UndoReport {
    /// Whether a file was changed, or would be.
    #[must_use]
    pub fn changes(&self) -> bool {
        use FileOutcome::{Recreated, Removed, Restored};
        self.files.iter().any(|file| matches!(file.outcome, Restored | Recreated | Removed))
    }

    /// What was done, or would be, for people: a line for each file.
    #[must_use]
    pub fn told(&self) -> String {
        let mut text = String::new();
        for file in &self.files {
            let what = match (file.outcome, self.dry_run) {
                (FileOutcome::Restored, false) => "restored",
                (FileOutcome::Restored, true) => "would be restored",
                (FileOutcome::Recreated, false) => "recreated",
                (FileOutcome::Recreated, true) => "would be recreated",
                (FileOutcome::Removed, false) => "removed",
                (FileOutcome::Removed, true) => "would be removed",
                (FileOutcome::Unchanged, _) => "as it was",
                (FileOutcome::Conflict | FileOutcome::Skipped, _) => "left alone",
            };
            let why = file.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            text.push_str(&format!("{what}  {}{why}\n", file.path));
            for line in file.diff.iter().flat_map(|diff| diff.lines()) {
                text.push_str(&format!("    {line}\n"));
            }
        }
        self.notes.iter().for_each(|note| text.push_str(&format!("note: {note}\n")));
        if text.is_empty() { "Nothing had to be done.\n".to_owned() } else { text }
    }

    /// Whether every file is as it was to be, as far as can be known: a note tells of changes that are not recorded.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.notes.is_empty()
            && !self.files.iter().any(|file| matches!(file.outcome, FileOutcome::Conflict | FileOutcome::Skipped))
    }
}

/// Why files changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckpointCause {
    /// Calls of the model.
    Tools,
    /// A command of the user.
    User,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FileChange {
    /// It was not there before.
    Created,
    /// It holds something else, or may be used by others than before.
    Changed,
    /// It is gone.
    Deleted,
}

/// A file of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointFile {
    /// Where it is.
    pub path: String,
    /// What happened to it.
    pub change: FileChange,
    /// Why it cannot be restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_restorable: Option<String>,
}

/// A checkpoint: what changed in one turn, or by one command of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointInfo {
    /// Its id.
    pub id: String,
    /// The entry that the changes follow: the answer whose calls made them, or the last entry before the command.
    pub entry_id: Option<EntryId>,
    /// When it began.
    pub time: Millis,
    /// Who changed the files.
    pub cause: CheckpointCause,
    /// It was undone.
    pub undone: bool,
    /// The files.
    pub files: Vec<CheckpointFile>,
    /// What else is to be known, for people.
    pub notes: Vec<String>,
}
