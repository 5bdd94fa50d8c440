//! From a look at the workspace to records of what a command changed.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use super::{
    contents::{Budget, Contents},
    index::{Change, Index},
    stamp::{Kind, Stamp},
};
use crate::{
    store::checkpoints::{Content, FileFacts, FileState, ObjectId, Record, Unkept},
    tools::checkpoints::{
        look::{KEPT_AT_MOST, look},
        recorder::lock,
        turn::Turn,
    },
};

/// Changes of one command that are recorded one by one: about 10 MB of the log.
const RECORDED_AT_MOST: usize = 20_000;
/// Files that tools have read or changed and that are remembered.
const REMEMBERED_AT_MOST: usize = 10_000;

/// What tools tell while a look may be under way.
#[derive(Debug)]
pub struct Inbox {
    root: PathBuf,
    own: HashMap<PathBuf, Own>,
    seen: HashSet<PathBuf>,
}

#[derive(Clone, Copy, Debug)]
struct Own {
    stamp: Option<Stamp>,
    object: Option<ObjectId>,
}

impl Inbox {
    pub fn new(root: PathBuf) -> Self {
        Self { root, own: HashMap::new(), seen: HashSet::new() }
    }

    pub fn changed(&mut self, path: &Path, object: Option<ObjectId>) {
        if !path.starts_with(&self.root) {
            return;
        }
        if self.own.len() >= REMEMBERED_AT_MOST {
            self.own.clear();
        }
        let stamp = std::fs::symlink_metadata(path).ok().map(|metadata| Stamp::of(&metadata));
        self.own.insert(path.to_owned(), Own { stamp, object });
        self.seen(path);
    }

    pub fn seen(&mut self, path: &Path) {
        if path.starts_with(&self.root) && self.seen.len() < REMEMBERED_AT_MOST {
            self.seen.insert(path.to_owned());
        }
    }
}

/// What is known of a workspace.
#[derive(Debug)]
pub struct State {
    root: PathBuf,
    inbox: Arc<Mutex<Inbox>>,
    cancel: Arc<AtomicBool>,
    /// None before the first look.
    index: Option<Index>,
    /// Why it is not looked at.
    off: Option<String>,
    contents: Contents,
    /// Files whose content may not be known.
    unknown: Vec<(PathBuf, Stamp)>,
    /// Commands that run.
    running: usize,
    /// The last look before a command was over when the command began.
    in_time: bool,
}

impl State {
    pub fn new(root: PathBuf, inbox: Arc<Mutex<Inbox>>, cancel: Arc<AtomicBool>) -> Self {
        Self {
            off: unsuitable(&root),
            root,
            inbox,
            cancel,
            index: None,
            contents: Contents::default(),
            unknown: Vec::new(),
            running: 0,
            in_time: true,
        }
    }

    /// Walks the tree, unless that was done.
    pub fn first_look(&mut self) {
        if self.index.is_some() || self.off.is_some() {
            return;
        }
        self.contents.read_git(&self.root);
        match Index::first(&self.root, &self.cancel) {
            Ok(index) => {
                self.unknown = index.files().map(|(path, stamp)| (path, *stamp)).collect();
                self.index = Some(index);
            }
            Err(error) => self.off = Some(error.to_string()),
        }
    }

    /// Looks before a command; `begun` says that the command does not wait any more.
    pub fn before_command(&mut self, turn: &Turn, begun: &AtomicBool) {
        self.first_look();
        let changes = self.look();
        if self.running > 0 {
            // A command that still runs made them, or somebody else: nobody can tell.
            self.record(turn, changes);
        } else {
            self.note_foreign(&changes);
        }
        self.running += 1;
        self.in_time = !begun.load(Ordering::Acquire);
        if let Some(why) = &self.off {
            turn.checkpoints.tell_once(format!(
                "What commands change in {} cannot be undone: {why}. Changes by the tools write and edit can.",
                self.root.display()
            ));
        } else if let Err(error) = turn.record(|id| vec![Record::Command { id }]) {
            turn.checkpoints.tell_once(format!("Changes by commands cannot be undone: {error}."));
        }
    }

    /// Keeps contents that a command may change and that nobody else has, until that is done or somebody waits for this
    /// state; then the rest is left for the next time.
    pub fn keep_contents(&mut self, turn: &Turn, waiting: &AtomicUsize) {
        let mut unknown = std::mem::take(&mut self.unknown);
        let seen: Vec<PathBuf> = lock(&self.inbox).seen.drain().collect();
        let Some(index) = &self.index else { return };
        let Ok(store) = turn.checkpoints.store() else { return };
        let mut budget = Budget::default();
        for path in seen {
            if let Some(stamp) = index.get(&path) {
                self.contents.keep(&path, &stamp, &store, &mut budget, true);
            }
        }
        // Who was changed last is likely to be changed next.
        unknown.sort_by_key(|(_, stamp)| stamp.modified);
        while let Some((path, stamp)) = unknown.pop() {
            self.contents.keep(&path, &stamp, &store, &mut budget, false);
            if self.cancel.load(Ordering::Relaxed) {
                return;
            }
            if waiting.load(Ordering::Relaxed) > 0 {
                self.unknown = unknown;
                return;
            }
        }
    }

    /// Looks after a command and records what changed.
    pub fn after_command(&mut self, turn: &Turn) {
        self.running = self.running.saturating_sub(1);
        if self.off.is_some() {
            return;
        }
        let changes = self.look();
        if let Some(why) = &self.off {
            let text = format!("What a command changed is not known: {why}.");
            let _ = turn.record(|id| vec![Record::Note { id: id.clone(), text }, Record::Looked { id }]);
            return;
        }
        if !self.in_time {
            let text = "A command began before its folder had been looked at: some of its changes may be missing.";
            let _ = turn.record(|id| vec![Record::Note { id, text: text.to_owned() }]);
        }
        self.record(turn, changes);
        if let Err(error) = turn.record(|id| vec![Record::Looked { id }]) {
            tracing::warn!(%error, "what a command changed was not recorded");
        }
        if self.contents.read_git(&self.root)
            && let Some(index) = &self.index
        {
            // Files that git does not track any more are to be kept, too.
            self.unknown = index.files().map(|(path, stamp)| (path, *stamp)).collect();
        }
    }

    /// What changed since the last look.
    fn look(&mut self) -> Vec<Change> {
        let Some(index) = &mut self.index else { return Vec::new() };
        let (mut changes, fresh) = match index.refresh(&self.root, &self.cancel) {
            Ok(found) => found,
            Err(error) => {
                self.off = Some(error.to_string());
                self.index = None;
                return Vec::new();
            }
        };
        for path in fresh {
            let Some(stamp) = index.get(&path) else { continue };
            // Written right before the last look: the same stamp may hide another content.
            if let Some(object) = self.contents.object(&path, &stamp)
                && !holds(&path, object)
            {
                changes.push(Change { path, before: Some(stamp), after: Some(stamp) });
            }
        }
        self.take_own(changes)
    }

    /// Leaves out what tools changed themselves, and remembers what they wrote.
    fn take_own(&mut self, changes: Vec<Change>) -> Vec<Change> {
        let Some(index) = &self.index else { return changes };
        let mut inbox = lock(&self.inbox);
        let mut own = HashMap::new();
        inbox.own.retain(|path, change| {
            let is_seen = match change.stamp {
                Some(stamp) if stamp.kind == Kind::Folder => index.has_folder(path),
                stamp => index.get(path) == stamp,
            };
            if is_seen {
                own.insert(path.clone(), *change);
            }
            !is_seen
        });
        for change in &changes {
            inbox.own.remove(&change.path);
        }
        drop(inbox);
        for (path, change) in &own {
            if let (Some(stamp), Some(object)) = (change.stamp, change.object) {
                self.contents.insert(path.clone(), stamp, object);
            }
        }
        changes.into_iter().filter(|change| own.get(&change.path).is_none_or(|own| own.stamp != change.after)).collect()
    }

    /// Somebody else changed files: their contents are to be kept before a command changes them.
    fn note_foreign(&mut self, changes: &[Change]) {
        let files = changes.iter().filter_map(|change| Some((change.path.clone(), change.after?)));
        self.unknown.extend(files);
        if self.contents.read_git(&self.root)
            && let Some(index) = &self.index
        {
            self.unknown = index.files().map(|(path, stamp)| (path, *stamp)).collect();
        }
    }

    fn record(&mut self, turn: &Turn, mut changes: Vec<Change>) {
        if changes.is_empty() {
            return;
        }
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        let more = changes.len().saturating_sub(RECORDED_AT_MOST);
        let mut before = Vec::new();
        for change in changes.iter().take(RECORDED_AT_MOST) {
            before.push((change.path.clone(), self.before(change)));
        }
        // From here on, git is asked about what is there now.
        let git_changed = self.contents.read_git(&self.root);
        let store = turn.checkpoints.store().ok();
        let mut budget = Budget::default();
        let mut after = Vec::new();
        for change in changes.iter().take(RECORDED_AT_MOST) {
            let state = match &change.after {
                None => FileState::Missing,
                Some(stamp) => {
                    if let Some(store) = &store {
                        self.contents.keep(&change.path, stamp, store, &mut budget, false);
                    }
                    self.contents.state(&change.path, stamp)
                }
            };
            after.push((change.path.clone(), state));
        }
        if git_changed && let Some(index) = &self.index {
            self.unknown = index.files().map(|(path, stamp)| (path, *stamp)).collect();
        }
        let recorded = turn.record_before(before).and_then(|()| turn.record_after(after));
        let noted = match more {
            0 => Ok(()),
            more => turn.record(|id| {
                let text = format!("A command changed {more} more files, which are not recorded and cannot be undone.");
                vec![Record::Note { id, text }]
            }),
        };
        if let Err(error) = recorded.and(noted) {
            turn.checkpoints.tell_once(format!("What a command changed cannot be undone: {error}."));
        }
    }

    /// What a file held before it changed.
    fn before(&mut self, change: &Change) -> FileState {
        let Some(stamp) = &change.before else { return FileState::Missing };
        match self.contents.state(&change.path, stamp) {
            // The look may have come after the first change of the command.
            FileState::File(facts) if !self.in_time => {
                FileState::File(FileFacts { content: Content::Unkept(Unkept::NotSeen), ..facts })
            }
            state => state,
        }
    }
}

fn holds(path: &Path, object: ObjectId) -> bool {
    matches!(
        look(path, None, KEPT_AT_MOST),
        FileState::File(FileFacts { content: Content::Object(now), .. }) if now == object
    )
}

/// Why nobody would want all files below a folder to be looked at.
fn unsuitable(root: &Path) -> Option<String> {
    if root.parent().is_none() {
        return Some("it is the root of the file system".to_owned());
    }
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty())?;
    let home = home.canonicalize().unwrap_or(home);
    home.starts_with(root).then(|| "it is the home folder, or above it".to_owned())
}
