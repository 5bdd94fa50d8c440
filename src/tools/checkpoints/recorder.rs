//! Taking checkpoints of a session: the store, the log, and what people are told when either fails.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use super::{
    turn::Turn,
    workspace::{Patience, Workspace},
};
use crate::{
    protocol::{EntryId, checkpoint::CheckpointCause, entry::SessionHeader},
    store::{
        StoreError,
        checkpoints::{Log, ObjectStore, Record, log},
    },
};

/// How checkpoints of a session are taken.
#[derive(Clone, Debug)]
pub struct CheckpointConfig {
    /// The session's file, existing or planned.
    pub session: PathBuf,
    /// The file of the session that it was taken from.
    pub parent: Option<PathBuf>,
    /// Bytes of contents that this process adds at most.
    pub max_size: u64,
    /// A file of which no checkpoint can be taken is not changed.
    pub required: bool,
    /// The machine that files are on; none for this one.
    pub place: Option<String>,
    /// The folder in which changes by commands are looked for; none looks for none.
    pub workspace: Option<PathBuf>,
    /// How long a command waits for that.
    pub patience: Patience,
}

impl CheckpointConfig {
    /// The usual ones for a session in `file` with this header, on this machine.
    #[must_use]
    pub fn new(file: PathBuf, header: &SessionHeader) -> Self {
        Self {
            session: file,
            parent: header.parent_session.as_ref().map(PathBuf::from),
            max_size: DEFAULT_MAX_SIZE,
            required: false,
            place: None,
            workspace: Some(PathBuf::from(&header.cwd)),
            patience: Patience::default(),
        }
    }
}

/// What contents of a project may take on the disk unless the settings say otherwise: 500 MB.
pub const DEFAULT_MAX_SIZE: u64 = 500_000_000;

/// Takes checkpoints of one session. Clones are handles of the same.
#[derive(Clone)]
pub struct Checkpoints(pub(super) Arc<Inner>);

type Tell = Box<dyn Fn(String) + Send + Sync>;

pub(super) struct Inner {
    pub config: CheckpointConfig,
    pub workspace: Option<Workspace>,
    store: Mutex<Option<Arc<ObjectStore>>>,
    log: Mutex<Log>,
    tell: OnceLock<Tell>,
    told: Mutex<HashSet<String>>,
}

impl std::fmt::Debug for Checkpoints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checkpoints").field("config", &self.0.config).finish_non_exhaustive()
    }
}

impl Checkpoints {
    /// For a session. Nothing is read or written yet.
    #[must_use]
    pub fn new(config: CheckpointConfig) -> Self {
        let log = Log::of(&config.session, config.parent.as_deref());
        let workspace = config
            .workspace
            .clone()
            .filter(|_| config.place.is_none())
            .map(|root| Workspace::new(root, config.patience));
        Self(Arc::new(Inner {
            workspace,
            store: Mutex::default(),
            log: Mutex::new(log),
            tell: OnceLock::new(),
            told: Mutex::default(),
            config,
        }))
    }

    /// Who hears what people should know. The first one counts.
    pub fn on_notice(&self, tell: impl Fn(String) + Send + Sync + 'static) {
        // A second one would be told the same.
        let _ = self.0.tell.set(Box::new(tell));
    }

    /// The checkpoint of a turn: changes of files that follow `entry`. It costs nothing until a file changes.
    #[must_use]
    pub fn turn(&self, entry: Option<EntryId>, cause: CheckpointCause) -> Arc<Turn> {
        Arc::new(Turn::new(self.0.clone(), entry, cause))
    }

    /// Begins to look at the workspace, where a command may soon run in it: beside whatever goes on.
    pub fn warm_up(&self) {
        if let Some(workspace) = &self.0.workspace {
            workspace.warm_up();
        }
    }

    /// Waits until all that commands changed has been recorded.
    pub async fn settled(&self) {
        if let Some(workspace) = &self.0.workspace {
            workspace.settled().await;
        }
    }
}

impl Inner {
    /// The store, made when it is missing.
    pub fn store(&self) -> Result<Arc<ObjectStore>, StoreError> {
        let mut store = lock(&self.store);
        if let Some(store) = &*store {
            return Ok(store.clone());
        }
        let opened = Arc::new(ObjectStore::open(&log::folder_of(&self.config.session), self.config.max_size)?);
        *store = Some(opened.clone());
        Ok(opened)
    }

    pub fn append(&self, records: &[Record]) -> Result<(), StoreError> {
        lock(&self.log).append(records)
    }

    pub fn inherit(&self) -> Result<(), StoreError> {
        lock(&self.log).inherit()
    }

    pub fn session(&self) -> &Path {
        &self.config.session
    }

    /// Tells people something, once.
    pub fn tell_once(&self, text: String) {
        if lock(&self.told).insert(text.clone())
            && let Some(tell) = self.tell.get()
        {
            tell(text);
        }
    }
}

/// A panic elsewhere leaves whole values.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
