//! What an undo has to do. Pure: from the timeline and a target to wishes, and from a wish and what a path holds now
//! to an action.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    path::PathBuf,
};

use super::{
    object::ObjectId,
    state::{Content, FileFacts, FileState, StoredPath},
    timeline::{Checkpoint, Step, Timeline},
};
use crate::protocol::EntryId;

/// What a path should hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Where.
    pub path: PathBuf,
    /// What our own changes left there: when it holds something else now, somebody else was there. None: not known.
    pub expected: Option<FileState>,
    /// What it should hold.
    pub target: FileState,
}

/// What an undo is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Checkpoints that it undoes.
    pub undone: Vec<String>,
    /// Checkpoints that it brings back.
    pub redone: Vec<String>,
    /// The undo that it takes back.
    pub takes_back: Option<String>,
    /// What people should know of these checkpoints.
    pub notes: Vec<String>,
    /// The files, by path.
    pub wishes: Vec<Wish>,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Nothing was changed, or all is undone.
    #[error("There is nothing to undo: no file was changed in this session, or all changes are undone.")]
    NothingToUndo,
    /// What was changed is not recorded; why.
    #[error("There is nothing that could be undone. {0}")]
    NotRecorded(String),
    /// Nothing was undone.
    #[error("There is nothing to redo: no undo is left that could be taken back.")]
    NothingToRedo,
    /// Files were changed after the last undo.
    #[error("There is nothing to redo: files were changed after the last undo.")]
    ChangedSince,
    /// The files are on another machine.
    #[error("The files were changed on {0}. Open the session there to undo the changes.")]
    Elsewhere(String),
}

/// The last turn that changed files and is not undone; `in_session` tells which entries the session has.
///
/// # Errors
/// When there is none.
pub fn undo_turn(timeline: &Timeline, in_session: impl Fn(&EntryId) -> bool) -> Result<Plan, PlanError> {
    let own = |checkpoint: &&Checkpoint| is_own(checkpoint, &in_session) && in_force(checkpoint);
    let later = timeline.checkpoints().rev().take_while(|checkpoint| !own(checkpoint));
    let gaps = gaps(later.filter(|checkpoint| is_own(checkpoint, &in_session)));
    let last = timeline.checkpoints().rev().find(own).ok_or_else(|| nothing(&gaps))?;
    let of_turn = |checkpoint: &Checkpoint| checkpoint.id == last.id || same_turn(checkpoint, last);
    let undone: Vec<_> = timeline.checkpoints().filter(own).filter(|checkpoint| of_turn(checkpoint)).collect();
    let mut plan = plan(timeline, &undone, &[]);
    plan.notes.extend(gaps.iter().map(|gap| format!("After these changes, in a later turn: {gap}")));
    Ok(plan)
}

/// The entry of the last turn that changed files and is not undone.
#[must_use]
pub fn last_turn(timeline: &Timeline, in_session: impl Fn(&EntryId) -> bool) -> Option<EntryId> {
    let own = |checkpoint: &&Checkpoint| is_own(checkpoint, &in_session) && in_force(checkpoint);
    timeline.checkpoints().rev().find(own)?.entry.clone()
}

/// To where files were when an entry was the last one. `above` are the entries before it on its branch.
///
/// # Errors
/// When all files are as they were then.
pub fn undo_to(
    timeline: &Timeline,
    above: &HashSet<EntryId>,
    in_session: impl Fn(&EntryId) -> bool,
) -> Result<Plan, PlanError> {
    let stays = |checkpoint: &Checkpoint| checkpoint.entry.as_ref().is_none_or(|entry| above.contains(entry));
    let own = |checkpoint: &&Checkpoint| is_own(checkpoint, &in_session);
    let undone: Vec<_> = timeline.checkpoints().filter(own).filter(|c| in_force(c) && !stays(c)).collect();
    let redone: Vec<_> = timeline
        .checkpoints()
        .filter(own)
        .filter(|c| c.undone && c.has_changes() && c.entry.is_some() && stays(c))
        .collect();
    let gaps = gaps(timeline.checkpoints().filter(own).filter(|checkpoint| !stays(checkpoint)));
    if undone.is_empty() && redone.is_empty() {
        return Err(nothing(&gaps));
    }
    let mut plan = plan(timeline, &undone, &redone);
    plan.notes.extend(gaps);
    Ok(plan)
}

/// What is not recorded of checkpoints that look as if nothing had changed: without it, an undo that cannot know of a
/// change would say that there was none.
fn gaps<'a>(checkpoints: impl Iterator<Item = &'a Checkpoint>) -> Vec<String> {
    let silent = checkpoints.filter(|checkpoint| !checkpoint.undone && !checkpoint.has_changes());
    let mut gaps: Vec<String> = silent.flat_map(Checkpoint::all_notes).collect();
    gaps.sort();
    gaps.dedup();
    gaps
}

fn nothing(gaps: &[String]) -> PlanError {
    if gaps.is_empty() { PlanError::NothingToUndo } else { PlanError::NotRecorded(gaps.join(" ")) }
}

/// Takes the last undo back.
///
/// # Errors
/// When there is none, or files were changed since.
pub fn redo(timeline: &Timeline) -> Result<Plan, PlanError> {
    for step in timeline.steps().iter().rev() {
        match step {
            Step::Checkpoint(checkpoint) if in_force(checkpoint) => return Err(PlanError::ChangedSince),
            Step::Undo(undo) if !undo.taken_back && !undo.is_redo => {
                let wish = |file: &super::Restored| Wish {
                    path: file.path.0.clone(),
                    expected: Some(file.now.clone()),
                    target: file.was.clone(),
                };
                return Ok(Plan {
                    undone: undo.redone.clone(),
                    redone: undo.undone.clone(),
                    takes_back: Some(undo.id.clone()),
                    notes: Vec::new(),
                    wishes: undo.files.iter().map(wish).collect(),
                });
            }
            _ => {}
        }
    }
    Err(PlanError::NothingToRedo)
}

fn in_force(checkpoint: &Checkpoint) -> bool {
    !checkpoint.undone && checkpoint.has_changes()
}

fn is_own(checkpoint: &Checkpoint, in_session: impl Fn(&EntryId) -> bool) -> bool {
    checkpoint.entry.as_ref().is_none_or(in_session)
}

fn same_turn(a: &Checkpoint, b: &Checkpoint) -> bool {
    a.entry.is_some() && a.entry == b.entry && a.cause == b.cause
}

/// Files go back to before the first of `undone`, then forward to after the last of `redone`.
fn plan(timeline: &Timeline, undone: &[&Checkpoint], redone: &[&Checkpoint]) -> Plan {
    let is_undone = |checkpoint: &Checkpoint| undone.iter().any(|other| other.id == checkpoint.id);
    let mut wishes: BTreeMap<PathBuf, Wish> = BTreeMap::new();
    for checkpoint in timeline.checkpoints().filter(|checkpoint| in_force(checkpoint)) {
        for (path, change) in checkpoint.changes() {
            if !is_undone(checkpoint) {
                // A later change that stays covers earlier ones that go.
                wishes.remove(path);
                continue;
            }
            let wish = wishes.entry(path.to_owned()).or_insert_with(|| Wish {
                path: path.to_owned(),
                expected: None,
                target: change.before.clone(),
            });
            wish.expected.clone_from(&change.after);
        }
    }
    for (path, change) in redone.iter().flat_map(|checkpoint| checkpoint.changes()) {
        let wish = wishes.entry(path.to_owned()).or_insert_with(|| Wish {
            path: path.to_owned(),
            expected: Some(change.before.clone()),
            target: FileState::Unknown,
        });
        wish.target = change.after.clone().unwrap_or(FileState::Unknown);
    }
    let ids = |checkpoints: &[&Checkpoint]| checkpoints.iter().map(|checkpoint| checkpoint.id.clone()).collect();
    let mut notes: Vec<String> = undone.iter().flat_map(|checkpoint| checkpoint.all_notes()).collect();
    notes.dedup();
    Plan { undone: ids(undone), redone: ids(redone), takes_back: None, notes, wishes: wishes.into_values().collect() }
}

/// Why a file is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Skip {
    /// What it held is not kept.
    NotKept(String),
    /// Somebody else changed it since.
    Changed,
    /// Whether somebody else changed it since is not known.
    Unsure,
    /// Something of another kind is there now.
    OtherKind(&'static str),
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotKept(why) => f.write_str(why),
            Self::Changed => f.write_str("it was changed since by somebody else"),
            Self::Unsure => f.write_str("it is not known whether somebody else changed it since"),
            Self::OtherKind(now) => write!(f, "{now} is there now"),
        }
    }
}

/// What to do with a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing: it holds what it should.
    Keep,
    /// Make the file hold this, in place or as a new one.
    Write {
        /// The content.
        object: ObjectId,
        /// The permissions, when they are known and others now.
        mode: Option<u32>,
        /// There is no file yet.
        new: bool,
    },
    /// Change the permissions alone.
    SetMode(u32),
    /// Remove the file or the link.
    Remove,
    /// Remove the folder, if it is empty.
    RemoveFolder,
    /// Make the folder.
    MakeFolder,
    /// Make the link, in place of one that leads elsewhere if there is one.
    Link(StoredPath),
    /// Remove what our own changes left there, something of another kind, and then do this.
    Replace(Box<Action>),
    /// Leave it alone.
    Skip(Skip),
}

/// What to do so that a path that holds `present` comes to hold what is wished. `force` overrules the doubt whether
/// somebody else changed it, nothing else.
#[must_use]
pub fn decide(wish: &Wish, present: &FileState, force: bool) -> Action {
    let target = &wish.target;
    if present.is_same(target) {
        return Action::Keep;
    }
    if let (FileState::File(now), FileState::File(then)) = (present, target)
        && now.has_same_content(then)
        && is_ours(wish, present, force).is_ok()
        && let Some(mode) = then.mode
    {
        return Action::SetMode(mode);
    }
    if let Some(why) = target.not_restorable() {
        return Action::Skip(Skip::NotKept(why));
    }
    if let Some(kind) = other_kind(target, present) {
        // A command may put a link in a folder's place: that is undone like any other change.
        let is_own = wish.expected.as_ref().is_some_and(|expected| expected.is_same(present));
        let removable = matches!(present, FileState::File(_) | FileState::Link { .. } | FileState::Folder);
        let emptied = Wish { expected: Some(FileState::Missing), ..wish.clone() };
        return match decide(&emptied, &FileState::Missing, false) {
            Action::Skip(why) => Action::Skip(why),
            then if is_own && removable => Action::Replace(Box::new(then)),
            _ => Action::Skip(Skip::OtherKind(kind)),
        };
    }
    if let Err(skip) = is_ours(wish, present, force) {
        return Action::Skip(skip);
    }
    match (target, present) {
        (FileState::Missing, FileState::Folder) => Action::RemoveFolder,
        (FileState::Missing, _) => Action::Remove,
        (FileState::Folder, _) => Action::MakeFolder,
        (FileState::Link { target }, _) => Action::Link(target.clone()),
        (FileState::File(FileFacts { content: Content::Object(object), mode, .. }), _) => {
            let new = *present == FileState::Missing;
            let mode = match present {
                FileState::File(now) if now.mode == *mode => None,
                _ => *mode,
            };
            Action::Write { object: *object, mode, new }
        }
        (FileState::File(_), _) => Action::Skip(Skip::NotKept("git does not have its content any more".to_owned())),
        (FileState::Special | FileState::Unknown, _) => Action::Skip(Skip::NotKept("it is not known".to_owned())),
    }
}

/// Whether the path still holds what our own changes left there.
fn is_ours(wish: &Wish, present: &FileState, force: bool) -> Result<(), Skip> {
    match &wish.expected {
        _ if force => Ok(()),
        Some(expected) if expected.is_same(present) => Ok(()),
        // A file that is gone holds nothing that could be lost, but somebody wanted it gone.
        Some(_) => Err(Skip::Changed),
        None => Err(Skip::Unsure),
    }
}

/// What is there now, when it is nothing that may be put in the target's place or removed for it.
fn other_kind(target: &FileState, present: &FileState) -> Option<&'static str> {
    match (target, present) {
        (_, FileState::Special) => Some("a pipe, a socket or a device"),
        (_, FileState::Unknown) => Some("something that cannot be looked at"),
        (_, FileState::Missing) => None,
        (FileState::Missing, FileState::File(_) | FileState::Link { .. } | FileState::Folder) => None,
        (FileState::File(_), FileState::File(_)) | (FileState::Link { .. }, FileState::Link { .. }) => None,
        (_, FileState::File(_)) => Some("a file"),
        (_, FileState::Link { .. }) => Some("a link"),
        (_, FileState::Folder) => Some("a folder"),
    }
}

#[cfg(test)]
mod tests;
