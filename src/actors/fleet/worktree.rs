//! Worktrees of siblings: made before they begin, saved as a patch at each end, put into the parent's folder on
//! request.
//!
//! All of it blocks and is called by workers. Nothing is ever lost by it: a worktree goes only when its patch is saved.

mod merge;
#[cfg(test)]
mod tests;

use std::{
    fmt::Display,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::task::spawn_blocking;

use super::{FleetMsg, family_msg::FamilyMsg};
use crate::{
    actors::{address::Addr, family_notes::SpawnNote, shared::AgentShared},
    protocol::{
        event::NoticeLevel,
        sibling::{Merged, Patch, SiblingError, WorktreeFate},
    },
    store::paths::create_private_dir,
    tools::git::Git,
};

/// A worktree that is there.
#[derive(Debug)]
pub(super) struct Worktree {
    /// The folder in it that stands for the parent's.
    pub folder: PathBuf,
}

/// The name of the file in the worktree's part of the repository that names the commit it was made from.
const BASE: &str = "troupe-base";

/// Git changes what all worktrees of a repository share (its config, its branches) under locks that it does not wait for: of
/// two that come at once, one fails. So they come one after the other.
pub(super) fn repository() -> MutexGuard<'static, ()> {
    static REPOSITORY: Mutex<()> = Mutex::new(());
    REPOSITORY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a sibling's worktree, or finds the one that it had before a restart.
pub(super) fn open(parent: &Path, note: &SpawnNote) -> Result<Worktree, String> {
    let outside = || {
        format!(
            "{} is in no git repository, so there can be no worktree: spawn with the isolation shared, or run git init and \
             commit first",
            parent.display()
        )
    };
    let git = Git::in_folder(parent);
    let top = PathBuf::from(git.line(&["rev-parse", "--show-toplevel"]).map_err(|_| outside())?);
    let base = git.line(&["rev-parse", "--verify", "HEAD^{commit}"]);
    let base =
        base.map_err(|_| format!("{} has no commit yet, so there can be no worktree: commit first", top.display()))?;
    let parent = fs::canonicalize(parent).map_err(|error| failed("look at", parent, &error))?;
    let within = parent.strip_prefix(&top).map(Path::to_owned).unwrap_or_default();
    let place = place_of(note);
    if !place.join(".git").exists() {
        if let Some(above) = place.parent() {
            create_private_dir(above).map_err(|error| error.to_string())?;
        }
        let _one = repository();
        // What a worktree that somebody removed by hand left in the repository is in the way.
        git.run(&["worktree", "prune"])?;
        let (place, branch) = (place.display().to_string(), branch_of(note));
        match has_branch(&git, &branch) {
            true => git.run(&["worktree", "add", &place, &branch])?,
            false => git.run(&["worktree", "add", "-b", &branch, &place, &base])?,
        }
    }
    let own = Git::in_folder(&place);
    let mark = PathBuf::from(own.line(&["rev-parse", "--absolute-git-dir"])?).join(BASE);
    if !mark.exists() {
        fs::write(&mark, &base).map_err(|error| failed("write", &mark, &error))?;
    }
    let folder = place.join(within);
    fs::create_dir_all(&folder).map_err(|error| failed("make", &folder, &error))?;
    Ok(Worktree { folder })
}

/// Where a sibling's worktree lies: beside its session.
fn place_of(note: &SpawnNote) -> PathBuf {
    match &note.session_file {
        Some(file) => PathBuf::from(file).with_extension("worktree"),
        None => std::env::temp_dir().join(format!("troupe-worktree-{}", note.session_id)),
    }
}

/// The branch of a sibling's worktree: of two sessions, no two are alike.
fn branch_of(note: &SpawnNote) -> String {
    let tail = note.session_id.get(note.session_id.len().saturating_sub(8)..).unwrap_or_default();
    format!("troupe/{}-{tail}", note.id)
}

/// Saves all that differs from the commit that the worktree was made from: what is committed there, what is not, and
/// new files. None when nothing does.
pub(super) fn save_patch(agent: &AgentShared) -> Result<Option<Patch>, String> {
    let note = agent.kin.board.look(&agent.kin.id, |member| member.note().clone());
    let note = note.ok_or_else(|| "it is not one of its family any more".to_owned())?;
    save_patch_of(&note)
}

fn save_patch_of(note: &SpawnNote) -> Result<Option<Patch>, String> {
    let (place, git) = (place_of(note), Git::in_folder(&place_of(note)));
    if !place.join(".git").exists() {
        return Ok(None);
    }
    let own = PathBuf::from(git.line(&["rev-parse", "--absolute-git-dir"])?);
    let mark = own.join(BASE);
    let base = fs::read_to_string(&mark).map_err(|error| failed("read", &mark, &error))?;
    // An index of our own: what the sibling has staged stays as it is.
    let index = own.join("troupe-index");
    if own.join("index").exists() {
        copy_index(&own.join("index"), &index).map_err(|error| failed("write", &index, &error))?;
    }
    let staging = git.with_index(&index);
    let saved = staging.run(&["add", "--all"]).and_then(|()| {
        let names = staging.bytes(&["diff", "--cached", "--name-only", "-z", &base])?;
        let patch = staging.bytes(&["diff", "--cached", "--binary", "--full-index", &base])?;
        Ok((names.split(|byte| *byte == 0).filter(|name| !name.is_empty()).count(), patch))
    });
    // It is only a copy.
    drop(fs::remove_file(&index));
    let (files, patch) = saved?;
    let file = place.with_extension("patch");
    if files == 0 {
        return Ok(None);
    }
    crate::store::replace::with(&file, |writer| writer.write_all(&patch))
        .map_err(|error| failed("write", &file, &error))?;
    Ok(Some(Patch { file: file.display().to_string(), branch: branch_of(note), base, files }))
}

/// Copies an index with its time: git looks into a file whose time is that of its index, in seconds, as it may have been
/// changed since; with an index that is younger it trusts the time.
fn copy_index(from: &Path, to: &Path) -> io::Result<()> {
    let time = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    fs::File::options().write(true).open(to)?.set_modified(time)
}

/// The folder in the worktree of a sibling that stands for the parent's; none of one that works in the parent's.
pub(super) async fn folder(parent: &Arc<AgentShared>, name: &str) -> Result<Option<PathBuf>, SiblingError> {
    let board = &parent.kin.board;
    let id = board.resolve(&parent.kin.id, name)?;
    let found = board.look(&id, |member| (member.is_apart(), member.live().cloned(), member.note().clone()));
    let (note, into) = match found {
        Some((true, Some(live), _)) => return Ok(Some(live.config.cwd.clone())),
        Some((true, None, note)) => (note, parent.config.cwd.clone()),
        Some((false, ..)) | None => return Ok(None),
    };
    let opened = spawn_blocking(move || open(&into, &note)).await.unwrap_or_else(|error| Err(error.to_string()));
    let cannot = |cause| SiblingError::Refused(format!("the worktree of {id} cannot be used: {cause}"));
    opened.map(|worktree| Some(worktree.folder)).map_err(cannot)
}

/// Puts the changes of a sibling into the folder of `parent`.
pub(super) async fn merge(parent: &Arc<AgentShared>, name: &str) -> Result<Merged, SiblingError> {
    let board = &parent.kin.board;
    let id = board.resolve(&parent.kin.id, name)?;
    let live = board.look(&id, |member| member.live().cloned()).flatten();
    let end = board.last_end(&id);
    let into = parent.config.cwd.clone();
    let merged = spawn_blocking(move || {
        let patch = match live {
            Some(agent) => save_patch(&agent)?,
            None => end.and_then(|end| end.patch),
        };
        patch.map_or_else(|| Ok(Merged::default()), |patch| merge::apply(&into, Path::new(&patch.file)))
    });
    let merged = merged.await.unwrap_or_else(|error| Err(error.to_string()));
    merged.map_err(|cause| SiblingError::Refused(format!("the changes of {id} could not be merged: {cause}")))
}

/// A worktree that is to go.
pub(super) struct Clearing {
    /// The sibling, whose actors are gone, or were never there in this process.
    pub note: SpawnNote,
    /// Its root.
    pub root: Arc<str>,
    /// The parent's folder, while the parent is there.
    pub into: Option<PathBuf>,
    /// What becomes of it.
    pub fate: WorktreeFate,
    /// Who waits.
    pub to: Addr<FleetMsg>,
    /// What they are told.
    pub then: FamilyMsg,
}

/// The worker that clears a worktree away.
pub(super) struct Clear;

impl Actor for Clear {
    type Msg = Clearing;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Clearing>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(&self, myself: ActorRef<Clearing>, work: Clearing, (): &mut ()) -> Result<(), ActorProcessingErr> {
        let Clearing { note, root, into, fate, to, then } = work;
        let id = note.id.clone();
        let cleared = spawn_blocking(move || clear(&note, into.as_deref(), fate));
        let text = match cleared.await.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(text) => text,
            Err(cause) => Some(format!("The worktree of {id} stays, since {cause}")),
        };
        if let Some(text) = text {
            to.tell(FleetMsg::Family(Box::new(FamilyMsg::Notice(root, NoticeLevel::Warning, text))));
        }
        to.tell(FleetMsg::Family(Box::new(then)));
        myself.stop(None);
        Ok(())
    }
}

/// Saves, merges if wanted, and removes. What people should know of it.
fn clear(note: &SpawnNote, into: Option<&Path>, fate: WorktreeFate) -> Result<Option<String>, String> {
    let place = place_of(note);
    if !place.join(".git").exists() {
        // Whoever removed it may have been killed before its branch was.
        if let (WorktreeFate::Drop, Some(into)) = (fate, into) {
            let _one = repository();
            drop_branch(&Git::in_folder(into), note)?;
        }
        return Ok(None);
    }
    let patch = save_patch_of(note)?;
    let mut text = None;
    if let (WorktreeFate::Merge, Some(into), Some(patch)) = (fate, into, &patch) {
        let merged = merge::apply(into, Path::new(&patch.file))?;
        if !merged.conflicts.is_empty() {
            let files = merged.conflicts.join(", ");
            text = Some(format!("The changes of {} conflict in {files}: {} has them", note.id, patch.file));
        }
    }
    let git = Git::in_folder(&place);
    let _one = repository();
    let common = PathBuf::from(git.line(&["rev-parse", "--path-format=absolute", "--git-common-dir"])?);
    let git = Git::in_folder(&common);
    git.run(&["worktree", "remove", "--force", &place.display().to_string()])?;
    if fate == WorktreeFate::Drop {
        drop_branch(&git, note)?;
    }
    Ok(text)
}

/// Deletes the branch of a worktree that is gone, when it is there.
fn drop_branch(git: &Git, note: &SpawnNote) -> Result<(), String> {
    let branch = branch_of(note);
    if has_branch(git, &branch) { git.run(&["branch", "-D", &branch]) } else { Ok(()) }
}

fn has_branch(git: &Git, branch: &str) -> bool {
    git.line(&["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")]).is_ok()
}

/// An error of a file.
fn failed(what: &str, path: &Path, error: &impl Display) -> String {
    format!("could not {what} {}: {error}", path.display())
}
