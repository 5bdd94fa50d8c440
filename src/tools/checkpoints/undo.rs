//! Undoing changes of files: from what is asked to what was done and what the model is told of it.

use std::{collections::HashSet, sync::Arc};

use super::{recorder::Checkpoints, restore::restore};
use crate::{
    protocol::{
        AgentMessage, EntryBody, EntryId,
        checkpoint::{CheckpointInfo, FileOutcome, Undo, UndoReport, UndoTarget},
    },
    store::{
        StoreError,
        checkpoints::{Plan, PlanError, Timeline, log, plan},
        tree::{EntryRef, TreeView},
    },
    tools::operations::Operations,
};

/// The kind of the message that tells the model of an undo.
pub const UNDO_MESSAGE: &str = "undo";

/// Why nothing was undone.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// There is nothing to do.
    #[error("{0}")]
    Plan(#[from] PlanError),
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// No such entry.
    #[error("Entry {0} not found")]
    UnknownEntry(EntryId),
}

/// What an undo did, and what goes with it.
#[derive(Clone, Debug)]
pub struct Undone {
    /// What became of the files.
    pub report: UndoReport,
    /// What the model is to be told; none when no file changed.
    pub message: Option<EntryBody>,
    /// Where the conversation goes on, when it was asked to go back: an entry, or the beginning.
    pub leaf: Option<Option<EntryId>>,
}

/// The checkpoints of a session, the last one first; those that its conversation knows.
///
/// # Errors
/// When the log cannot be read.
pub fn list(checkpoints: &Checkpoints, tree: &TreeView) -> Result<Vec<CheckpointInfo>, StoreError> {
    let mut infos = timeline(checkpoints)?.infos();
    infos.retain(|info| info.entry_id.as_ref().is_none_or(|id| tree.find(id).is_some()));
    Ok(infos)
}

/// Undoes changes of files, or says what would be done.
///
/// # Errors
/// When there is nothing to undo, or the store fails.
pub async fn undo(
    checkpoints: &Checkpoints,
    operations: &Arc<dyn Operations>,
    tree: &TreeView,
    ask: &Undo,
) -> Result<Undone, UndoError> {
    checkpoints.settled().await;
    let timeline = timeline(checkpoints)?;
    let (plan, target) = plan_of(&timeline, tree, &ask.target)?;
    check_place(checkpoints, &timeline, &plan)?;
    let report = restore(&checkpoints.0, operations, plan, ask.force, ask.dry_run).await?;
    let message = (report.changes() && !ask.dry_run).then(|| message(&report, ask.target == UndoTarget::Redo));
    let leaf = target.filter(|_| ask.conversation).map(|target| leaf_for(tree, &target));
    Ok(Undone { report, message, leaf })
}

pub(super) fn timeline(checkpoints: &Checkpoints) -> Result<Timeline, StoreError> {
    checkpoints.0.inherit()?;
    Ok(Timeline::of(log::read(checkpoints.0.session())?))
}

/// The plan, and the entry that the conversation would go back to.
fn plan_of(timeline: &Timeline, tree: &TreeView, target: &UndoTarget) -> Result<(Plan, Option<EntryId>), UndoError> {
    let in_session = |id: &EntryId| tree.find(id).is_some();
    Ok(match target {
        UndoTarget::Redo => (plan::redo(timeline)?, None),
        UndoTarget::Turn => (plan::undo_turn(timeline, in_session)?, plan::last_turn(timeline, in_session)),
        UndoTarget::Prompt => {
            let turn = plan::last_turn(timeline, in_session);
            let Some(prompt) = turn.and_then(|turn| prompt_of(tree, &turn)) else {
                return Ok((plan::undo_turn(timeline, in_session)?, None));
            };
            // What was done on other branches has nothing to do with this prompt.
            let below = |id: &EntryId| path_to(tree, id).contains(&prompt);
            (plan::undo_to(timeline, &above(tree, &prompt), below)?, Some(prompt))
        }
        UndoTarget::Entry(id) => {
            if !in_session(id) {
                return Err(UndoError::UnknownEntry(id.clone()));
            }
            (plan::undo_to(timeline, &above(tree, id), in_session)?, Some(id.clone()))
        }
    })
}

/// Files of another machine are restored where they are, or not at all.
fn check_place(checkpoints: &Checkpoints, timeline: &Timeline, plan: &Plan) -> Result<(), PlanError> {
    let here = &checkpoints.0.config.place;
    let concerns = |id: &String| plan.undone.contains(id) || plan.redone.contains(id);
    let other = timeline.checkpoints().find(|checkpoint| concerns(&checkpoint.id) && checkpoint.place != *here);
    match other {
        Some(other) => Err(PlanError::Elsewhere(other.place.clone().unwrap_or_else(|| "this machine".to_owned()))),
        None => Ok(()),
    }
}

/// The entries from the root to `id`, with it.
fn path_to(tree: &TreeView, id: &EntryId) -> HashSet<EntryId> {
    let entries = std::iter::successors(tree.find(id), EntryRef::parent);
    entries.map(|entry| entry.id().clone()).collect()
}

/// The entries before `id` on its branch.
fn above(tree: &TreeView, id: &EntryId) -> HashSet<EntryId> {
    let mut path = path_to(tree, id);
    path.remove(id);
    path
}

/// The user's message that led to `id`.
fn prompt_of(tree: &TreeView, id: &EntryId) -> Option<EntryId> {
    let mut entries = std::iter::successors(tree.find(id), EntryRef::parent);
    entries.find(|entry| entry.user_text().is_some()).map(|entry| entry.id().clone())
}

/// Where the conversation goes on when it goes back to an entry: before a user's message, whose words are to be written
/// anew, and before an answer whose calls would have no results; else at the entry.
fn leaf_for(tree: &TreeView, id: &EntryId) -> Option<EntryId> {
    let entry = tree.find(id)?;
    let is_before = match &entry.entry().body {
        EntryBody::Message { message: AgentMessage::User(_) } => true,
        EntryBody::Message { message: AgentMessage::Assistant(answer) } => answer.tool_calls().next().is_some(),
        _ => false,
    };
    match is_before {
        true => entry.parent().map(|parent| parent.id().clone()),
        false => Some(entry.id().clone()),
    }
}

/// Files that the model is told of by name.
const NAMED_AT_MOST: usize = 50;

/// What the model is told.
fn message(report: &UndoReport, is_redo: bool) -> EntryBody {
    let mut text = match is_redo {
        false => "Changes of files were undone by the user. What was said about these files before no longer holds:",
        true => "An undo of changes of files was taken back by the user. These files changed again:",
    }
    .to_owned();
    let told: Vec<_> = report.files.iter().filter(|file| file.outcome != FileOutcome::Unchanged).collect();
    for file in told.iter().take(NAMED_AT_MOST) {
        let what = match file.outcome {
            FileOutcome::Restored if is_redo => "holds what it held before the undo".to_owned(),
            FileOutcome::Restored => "holds what it held before".to_owned(),
            FileOutcome::Recreated => "is there again".to_owned(),
            FileOutcome::Removed => "is gone again".to_owned(),
            FileOutcome::Unchanged => continue,
            FileOutcome::Conflict | FileOutcome::Skipped => {
                format!("was left as it is: {}", file.reason.as_deref().unwrap_or("it cannot be restored"))
            }
        };
        text.push_str(&format!("\n- {} {what}", file.path));
    }
    if told.len() > NAMED_AT_MOST {
        text.push_str(&format!("\n- and {} more files", told.len() - NAMED_AT_MOST));
    }
    text.push_str("\nRead a file again before you rely on what it holds.");
    EntryBody::CustomMessage {
        custom_type: UNDO_MESSAGE.to_owned(),
        content: text.as_str().into(),
        display: true,
        details: None,
    }
}
