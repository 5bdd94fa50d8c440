//! What commands change in a workspace: nobody knows before, so all of it is looked at, before and after.
//!
//! Before a command, the stamps of all files are taken; after it, again, beside whatever goes on. A file that changed
//! can be restored when its content before is known: git has it, a tool wrote it, or it was small and was kept in time.
//! Blocking work runs on threads of its own, and a command waits for it for a moment only.
//!
//! - `stamp`: by what a file is known without reading it.
//! - `index`: the stamps of a workspace.
//! - `git_index`: what git vouches for.
//! - `contents`: which contents are known.
//! - `state`: from a look to records.

mod contents;
pub mod git_index;
pub mod index;
mod stamp;
mod state;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    runtime::Handle,
    sync::{Mutex as AsyncMutex, oneshot, watch},
    task::{JoinHandle, spawn_blocking},
    time::timeout,
};

use self::state::{Inbox, State};
use super::{recorder::lock, turn::Turn};
use crate::store::checkpoints::ObjectId;

/// How long a command waits at most before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For the look at the workspace: one of 50,000 files takes about 40 ms when it was looked at before.
    pub look: Duration,
    /// For contents to be kept, after that; it goes on beside the command.
    pub keep: Duration,
}

impl Default for Patience {
    /// A look is hardly ever waited for. When it takes longer, on a cold disk or a busy machine, waiting is the smaller
    /// harm: a command that begins before its look cannot be undone. What nobody notices is enough for contents.
    fn default() -> Self {
        Self { look: Duration::from_secs(3), keep: Duration::from_millis(50) }
    }
}

/// A workspace in which commands run.
pub struct Workspace(Arc<Shared>);

struct Shared {
    root: PathBuf,
    patience: Patience,
    state: Arc<AsyncMutex<State>>,
    inbox: Arc<Mutex<Inbox>>,
    /// Ended commands whose changes are not recorded yet.
    outstanding: watch::Sender<usize>,
    /// Commands that wait for the state.
    waiting: Arc<AtomicUsize>,
    warm: AtomicBool,
    cancel: Arc<AtomicBool>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

impl Workspace {
    /// The workspace below `root`. Nothing is looked at yet.
    pub fn new(root: PathBuf, patience: Patience) -> Self {
        // Tools name files by their real paths.
        let root = root.canonicalize().unwrap_or(root);
        let cancel = Arc::new(AtomicBool::new(false));
        let inbox = Arc::new(Mutex::new(Inbox::new(root.clone())));
        let state = State::new(root.clone(), inbox.clone(), cancel.clone());
        Self(Arc::new(Shared {
            root,
            patience,
            state: Arc::new(AsyncMutex::new(state)),
            inbox,
            outstanding: watch::Sender::new(0),
            waiting: Arc::default(),
            warm: AtomicBool::new(false),
            cancel,
        }))
    }

    /// Begins the first look, once.
    pub fn warm_up(&self) {
        if self.0.warm.swap(true, Ordering::Relaxed) {
            return;
        }
        let Ok(mut state) = self.0.state.clone().try_lock_owned() else { return };
        spawn_blocking(move || state.first_look());
    }

    /// Waits until all that ended commands changed has been recorded.
    pub async fn settled(&self) {
        // The sender lives as long as this workspace.
        let _ = self.0.outstanding.subscribe().wait_for(|count| *count == 0).await;
    }

    /// A tool changed this file: no command did. `object` names what it holds now.
    pub fn own_change(&self, path: &Path, object: Option<ObjectId>) {
        lock(&self.0.inbox).changed(path, object);
    }

    /// A tool reads this file: a command may be about to change it.
    pub fn seen(&self, path: &Path) {
        lock(&self.0.inbox).seen(path);
    }

    /// Looks at the workspace before a command of this turn. The command may begin when this returns.
    pub async fn before_command(&self, turn: Arc<Turn>) -> Window {
        let waits = Waits::new(self.0.waiting.clone());
        self.settled().await;
        let begun = Arc::new(AtomicBool::new(false));
        let (looked, has_looked) = oneshot::channel();
        let work = {
            let (state, turn, begun) = (self.0.state.clone(), turn.clone(), begun.clone());
            let waiting = self.0.waiting.clone();
            // A task: the look goes on when the command does not wait any longer.
            tokio::spawn(async move {
                let mut state = state.lock_owned().await;
                drop(waits);
                let work = spawn_blocking(move || {
                    state.before_command(&turn, &begun);
                    // Whoever waited may be gone.
                    let _ = looked.send(());
                    state.keep_contents(&turn, &waiting);
                });
                if let Err(error) = work.await {
                    tracing::warn!(%error, "the look before a command failed");
                }
            })
        };
        // From here on the window closes, whatever becomes of the command.
        let mut window = Window { shared: self.0.clone(), turn, before: Some(work) };
        if timeout(self.0.patience.look, has_looked).await.is_ok()
            && let Some(before) = &mut window.before
            && timeout(self.0.patience.keep, before).await.is_ok()
        {
            window.before = None;
        }
        begun.store(true, Ordering::Release);
        window
    }
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Workspace").field(&self.0.root).finish()
    }
}

/// The time in which a command may change files. When it ends, what changed is recorded.
pub struct Window {
    shared: Arc<Shared>,
    turn: Arc<Turn>,
    /// The look before the command, as long as it goes on.
    before: Option<JoinHandle<()>>,
}

impl Drop for Window {
    fn drop(&mut self) {
        // Without a runtime the program is about to end; the log says that the command was cut off.
        let Ok(runtime) = Handle::try_current() else { return };
        let (state, turn, waiting) = (self.shared.state.clone(), self.turn.clone(), self.shared.waiting.clone());
        let outstanding = Outstanding::new(self.shared.clone());
        let before = self.before.take();
        runtime.spawn(async move {
            if let Some(before) = before {
                // A failure was told.
                let _ = before.await;
            }
            let mut state = state.lock_owned().await;
            let recorded = spawn_blocking(move || {
                state.after_command(&turn);
                drop(outstanding);
                state.keep_contents(&turn, &waiting);
            })
            .await;
            if let Err(error) = recorded {
                tracing::warn!(%error, "what a command changed was not recorded");
            }
        });
    }
}

/// Somebody who waits for the state, as long as it lives.
struct Waits(Arc<AtomicUsize>);

impl Waits {
    fn new(waiting: Arc<AtomicUsize>) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Counts as long as it lives.
struct Outstanding(Arc<Shared>);

impl Outstanding {
    fn new(shared: Arc<Shared>) -> Self {
        shared.outstanding.send_modify(|count| *count += 1);
        Self(shared)
    }
}

impl Drop for Outstanding {
    fn drop(&mut self) {
        self.0.outstanding.send_modify(|count| *count -= 1);
    }
}
