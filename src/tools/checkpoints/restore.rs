//! Carrying out a plan: file by file, each looked at first, and only what is still as we left it is changed.

use std::{
    fs, io,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::Arc,
};

use similar::TextDiff;
use tokio::task::spawn_blocking;

use super::{
    git_blobs,
    look::{KEPT_AT_MOST, look, look_through},
    recorder::Inner,
    turn::fresh_id,
};
use crate::{
    protocol::{
        checkpoint::{FileOutcome, UndoReport, UndoneFile},
        time::now_ms,
    },
    store::{
        StoreError,
        checkpoints::{
            Action, Content, FileFacts, FileState, ObjectStore, Plan, Record, Restored, Skip, Wish, plan::decide,
        },
    },
    tools::{mutation_queue, operations::Operations},
};

/// A difference that is shown has at most so many bytes.
const DIFF_AT_MOST: usize = 16 << 10;
/// Larger files are not compared line by line.
const COMPARED_AT_MOST: u64 = 1 << 20;

/// Brings about what a plan wishes, or says what would be done.
pub async fn restore(
    checkpoints: &Arc<Inner>,
    operations: &Arc<dyn Operations>,
    mut plan: Plan,
    force: bool,
    dry_run: bool,
) -> Result<UndoReport, StoreError> {
    let store = checkpoints.store()?;
    let work = {
        let store = store.clone();
        spawn_blocking(move || {
            git_blobs::fetch(&mut plan.wishes, &store);
            plan
        })
    };
    let mut plan = work.await.map_err(|error| failed(checkpoints, error))?;
    // What goes, goes first and from below, so that folders are empty by then; then the rest from above.
    plan.wishes.sort_by(|a, b| match (&a.target, &b.target) {
        (FileState::Missing, FileState::Missing) => b.path.cmp(&a.path),
        (FileState::Missing, _) => std::cmp::Ordering::Less,
        (_, FileState::Missing) => std::cmp::Ordering::Greater,
        _ => a.path.cmp(&b.path),
    });
    let one = One { checkpoints, operations, store, force, dry_run };
    let mut report = UndoReport { notes: plan.notes, dry_run, ..UndoReport::default() };
    let mut restored = Vec::new();
    for wish in plan.wishes {
        let (file, change) = one.carry_out(wish).await;
        report.files.push(file);
        restored.extend(change);
    }
    report.files.sort_by(|a, b| a.path.cmp(&b.path));
    let has_conflicts = report.files.iter().any(|file| file.outcome == FileOutcome::Conflict);
    if dry_run || (has_conflicts && restored.is_empty()) {
        return Ok(report);
    }
    // With a conflict the changes stay in force, so that the same undo can be asked for again.
    let (undone, redone) = if has_conflicts { (Vec::new(), Vec::new()) } else { (plan.undone, plan.redone) };
    let takes_back = plan.takes_back.filter(|_| !has_conflicts);
    let record = Record::Undo { id: fresh_id(), time: now_ms(), undone, redone, takes_back, files: restored };
    let log = checkpoints.clone();
    let written = spawn_blocking(move || log.append(&[record])).await;
    if let Err(error) = written.map_err(|error| failed(checkpoints, error)).and_then(|written| written) {
        report.notes.push(format!("The undo was not recorded, so it cannot be taken back: {error}"));
    }
    Ok(report)
}

fn failed(checkpoints: &Inner, error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Io {
        action: "restore files of",
        path: checkpoints.session().to_owned(),
        source: io::Error::other(error),
    }
}

struct One<'a> {
    checkpoints: &'a Arc<Inner>,
    operations: &'a Arc<dyn Operations>,
    store: Arc<ObjectStore>,
    force: bool,
    dry_run: bool,
}

impl One<'_> {
    /// Does what is wished of one path, unless something speaks against it.
    async fn carry_out(&self, wish: Wish) -> (UndoneFile, Option<Restored>) {
        let _turn = mutation_queue::turn(wish.path.clone()).await;
        let is_remote = self.checkpoints.config.place.is_some();
        let was = self.present(&wish.path, is_remote).await;
        let mut action = decide(&wish, &was, self.force);
        if !is_remote && action != Action::Keep && leads_elsewhere(&wish.path) {
            action = Action::Skip(Skip::OtherKind("a link in the path to it"));
        }
        if is_remote && !matches!(action, Action::Keep | Action::Skip(_) | Action::Write { .. }) {
            action = Action::Skip(Skip::NotKept("only contents of files can be restored on another machine".into()));
        }
        let outcome = outcome(&action);
        let mut file = UndoneFile { path: wish.path.display().to_string(), outcome, reason: None, diff: None };
        match action {
            Action::Keep => return (file, None),
            Action::Skip(why) => {
                file.diff = match why {
                    Skip::Changed | Skip::Unsure => self.diff(&was, &wish.target),
                    _ => None,
                };
                file.reason = Some(why.to_string());
                return (file, None);
            }
            _ if self.dry_run => return (file, None),
            action => {
                if let Err(error) = self.act(&wish.path, action).await {
                    file.outcome = FileOutcome::Skipped;
                    file.reason = Some(match error.kind() {
                        io::ErrorKind::DirectoryNotEmpty => "other files are in it".to_owned(),
                        io::ErrorKind::NotFound => "its kept content is gone".to_owned(),
                        _ => error.to_string(),
                    });
                    return (file, None);
                }
            }
        }
        let now = self.present(&wish.path, is_remote).await;
        if let Some(workspace) = &self.checkpoints.workspace {
            let object = match &now {
                FileState::File(FileFacts { content: Content::Object(object), .. }) => Some(*object),
                _ => None,
            };
            workspace.own_change(&wish.path, object);
        }
        (file, Some(Restored { path: wish.path.as_path().into(), was, now }))
    }

    /// What a path holds; kept, so that the undo can be taken back.
    async fn present(&self, path: &Path, is_remote: bool) -> FileState {
        let store = (!self.dry_run).then(|| self.store.clone());
        if is_remote {
            return look_through(&**self.operations, path, store.as_deref()).await;
        }
        let path = path.to_owned();
        let looked = spawn_blocking(move || look(&path, store.as_deref(), KEPT_AT_MOST)).await;
        looked.unwrap_or(FileState::Unknown)
    }

    async fn act(&self, path: &Path, action: Action) -> io::Result<()> {
        let owned = path.to_owned();
        match action {
            Action::Write { object, mode, new } => {
                let store = self.store.clone();
                let bytes = blocking(move || store.get(&object)).await?;
                if new && let Some(folder) = path.parent() {
                    self.operations.create_folder(folder).await?;
                }
                let mode = mode.filter(|_| self.checkpoints.config.place.is_none());
                let (first, last) = mode.map_or((None, None), |mode| match !new && mode & 0o200 != 0 {
                    // It may be that nobody may write it as it is.
                    true => (Some(mode), None),
                    false => (None, Some(mode)),
                });
                if let Some(mode) = first {
                    let path = owned.clone();
                    blocking(move || set_mode(&path, mode)).await?;
                }
                self.operations.write(path, bytes).await?;
                match last {
                    Some(mode) => blocking(move || set_mode(&owned, mode)).await,
                    None => Ok(()),
                }
            }
            Action::SetMode(mode) => blocking(move || set_mode(&owned, mode)).await,
            Action::Remove => blocking(move || fs::remove_file(owned)).await,
            Action::RemoveFolder => blocking(move || fs::remove_dir(owned)).await,
            Action::MakeFolder => blocking(move || fs::create_dir_all(owned)).await,
            Action::Link(target) => blocking(move || link(&owned, &target.0)).await,
            Action::Replace(then) => {
                if let Action::Write { object, .. } = &*then {
                    // Nothing goes for a content that is not there any more.
                    let (store, object) = (self.store.clone(), *object);
                    blocking(move || store.get(&object)).await?;
                }
                blocking(move || clear(&owned)).await?;
                Box::pin(self.act(path, *then)).await
            }
            Action::Keep | Action::Skip(_) => Ok(()),
        }
    }

    /// What would change in a file.
    fn diff(&self, present: &FileState, target: &FileState) -> Option<String> {
        let text = |state: &FileState| match state {
            FileState::Missing => Some(String::new()),
            FileState::File(FileFacts { content: Content::Object(object), len, .. }) if *len <= COMPARED_AT_MOST => {
                String::from_utf8(self.store.get(object).ok()?).ok()
            }
            _ => None,
        };
        let (now, then) = (text(present)?, text(target)?);
        let mut diff = TextDiff::from_lines(&now, &then).unified_diff().header("now", "before").to_string();
        if diff.len() > DIFF_AT_MOST {
            diff.truncate(diff.floor_char_boundary(DIFF_AT_MOST));
            diff.push_str("\n…");
        }
        Some(diff)
    }
}

fn outcome(action: &Action) -> FileOutcome {
    match action {
        Action::Keep => FileOutcome::Unchanged,
        Action::Write { new: true, .. } | Action::MakeFolder => FileOutcome::Recreated,
        Action::Write { .. } | Action::SetMode(_) | Action::Link(_) | Action::Replace(_) => FileOutcome::Restored,
        Action::Remove | Action::RemoveFolder => FileOutcome::Removed,
        Action::Skip(Skip::Changed | Skip::Unsure) => FileOutcome::Conflict,
        Action::Skip(_) => FileOutcome::Skipped,
    }
}

/// Whether a folder of the path has become a link: what is behind it is not what the checkpoint names.
fn leads_elsewhere(path: &Path) -> bool {
    let existing = path.ancestors().skip(1).find(|folder| folder.symlink_metadata().is_ok());
    existing.is_some_and(|folder| folder.canonicalize().map_or(true, |real| real != folder))
}

/// Removes a file, a link or an empty folder.
fn clear(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) }
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

fn link(path: &PathBuf, target: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    symlink(target, path)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}
