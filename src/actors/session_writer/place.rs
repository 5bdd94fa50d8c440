//! Where an agent's session is, and what outlives the writer.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::{
    actors::kin::Kin,
    protocol::EntryId,
    store::{
        SessionStore, Sidecar, StoreError,
        replica::{Lost, Replica},
        session::StoreNotice,
        settings::session::SessionSync,
    },
    tools::Checkpoints,
};

/// What a run does while the disk refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRefusal {
    /// It fails at once.
    Fail,
    /// It waits so long for the disk, and fails then: nobody sees it who could act.
    Wait(Duration),
    /// It goes on in memory and says so: somebody watches.
    GoOn,
}

/// Where an agent's session is.
pub struct SessionPlace {
    /// The session.
    pub store: SessionStore,
    /// The journal of its running trace.
    pub journal: Sidecar,
    /// Checkpoints of the files that its tools change, where they are taken.
    pub checkpoints: Option<Checkpoints>,
    /// Why nothing can be added; none for a session that is written.
    pub read_only: Option<String>,
    /// What happens while the disk refuses.
    pub on_refusal: OnRefusal,
    /// When what was written is brought to the disk.
    pub sync: SessionSync,
    /// The copy of it that is kept elsewhere, where there is one.
    pub replica: Option<Arc<dyn Replica>>,
    /// Another process may have left a trace unfinished; this one does not go on with it by itself.
    opened: AtomicBool,
    /// A run ended because something could not be saved.
    failed: AtomicBool,
    /// Operations that this process accepted, and whether each began a trace. Whoever got no answer repeats one, also
    /// when its message has left the journal for the session meanwhile.
    accepted: Mutex<HashMap<String, bool>>,
}

impl SessionPlace {
    /// A session that this process has just opened.
    #[must_use]
    pub fn new(store: SessionStore, journal: Sidecar) -> Self {
        Self {
            read_only: store.writable().err().map(|error| error.to_string()),
            store,
            journal,
            checkpoints: None,
            on_refusal: OnRefusal::Fail,
            sync: SessionSync::default(),
            replica: None,
            opened: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            accepted: Mutex::default(),
        }
    }

    /// The same with checkpoints.
    #[must_use]
    pub fn with_checkpoints(self, checkpoints: Option<Checkpoints>) -> Self {
        Self { checkpoints, ..self }
    }

    /// The same with these ways of saving.
    #[must_use]
    pub fn with_saving(self, sync: SessionSync, on_refusal: OnRefusal) -> Self {
        self.store.set_keep_going(on_refusal == OnRefusal::GoOn);
        self.journal.set_keep_going(on_refusal == OnRefusal::GoOn);
        Self { sync, on_refusal, ..self }
    }

    /// The same with a copy that is kept elsewhere: what it does not take does not count.
    #[must_use]
    pub fn with_replica(self, replica: Option<Arc<dyn Replica>>) -> Self {
        Self { replica, ..self }
    }

    /// The same for a process that takes over from one that died: it goes on with the trace that was running.
    #[must_use]
    pub fn taking_over(self) -> Self {
        self.opened.store(true, Ordering::Relaxed);
        self
    }

    /// The same for a session whose first message, which becomes the entry `prompt`, the session of its parent tells, too:
    /// it needs no files before it has more to say than that.
    #[must_use]
    pub fn begun_by_parent(self, prompt: EntryId) -> Self {
        if self.store.saved_path().is_none() {
            self.journal.keep_back(prompt);
            if self.journal.is_kept_back() {
                self.store.await_answer();
            }
        }
        self
    }

    /// Makes the files of a session that [had nothing to say](Self::begun_by_parent) but what is told elsewhere. What
    /// people should be told of that.
    ///
    /// # Errors
    /// They cannot be written.
    pub(super) fn write_out(&self) -> Result<Vec<StoreNotice>, StoreError> {
        // The journal first: a session without one is at rest.
        self.journal.write_out()?;
        self.store.write_out()
    }

    /// Whether this process still owns the session.
    ///
    /// # Errors
    /// Another one does.
    pub(in crate::actors) fn still_ours(&self) -> Result<(), Lost> {
        match &self.replica {
            Some(replica) if replica.lost().is_cancelled() => Err(Lost("another process has taken it over".to_owned())),
            _ => Ok(()),
        }
    }

    /// Whether calls may begin, as far as the session is concerned.
    ///
    /// # Errors
    /// Another process has it, or may have it.
    pub(in crate::actors) fn may_begin(&self) -> Result<(), Lost> {
        match &self.replica {
            Some(replica) if !replica.is_ours() => Err(Lost("another process has it, or may have it".to_owned())),
            _ => Ok(()),
        }
    }

    /// Returns when what was written is in the copy that is kept elsewhere, where there is one.
    ///
    /// # Errors
    /// The copy does not take it any longer.
    pub(in crate::actors) async fn commit(&self) -> Result<(), Lost> {
        let Some(replica) = &self.replica else { return Ok(()) };
        // What lives in memory has no copy.
        let Some(file) = self.store.path() else { return Ok(()) };
        replica.commit(&file).await
    }

    /// Finds the sessions of the children of `kin`, whose own this is. A session that has a copy elsewhere may come from
    /// another machine, and theirs with it.
    pub(in crate::actors) fn find_children(&self, kin: &Kin) {
        if let (Some(_), Some(file)) = (&self.replica, self.store.path()) {
            kin.board.beside(&kin.id, &file);
        }
    }

    /// The session's file, existing or planned; none in memory.
    #[must_use]
    pub fn file(&self) -> Option<String> {
        self.store.path().map(|path| path.display().to_string())
    }

    /// Whether something could not be saved: a run ended for it, or entries are in memory only.
    #[must_use]
    pub fn is_unsaved(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.store.unsaved().is_some()
    }

    /// Notes that a run ended because something could not be saved.
    pub(super) fn note_failure(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    pub(super) fn accepted(&self) -> MutexGuard<'_, HashMap<String, bool>> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is looked at for the first time.
    pub(super) fn is_first_look(&self) -> bool {
        !self.opened.swap(true, Ordering::Relaxed)
    }
}
