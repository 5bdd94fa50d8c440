//! What a running call has so far.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use crate::protocol::ToolOutput;

/// What a running call has so far. The batch looks when it is told that something changed, at most ten times a second,
/// and once more when the call is over; a killed call still yields what it had.
#[derive(Default)]
pub struct Progress {
    source: OnceLock<Arc<dyn OutputSource>>,
    changed: AtomicBool,
    wake: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

/// Output that grows while a call runs.
pub trait OutputSource: Send + Sync {
    /// All of it so far, cut as the final result would be.
    fn snapshot(&self) -> ToolOutput;
}

impl Progress {
    /// Progress that calls `wake` when there is something new; once until the next [`Progress::take`].
    #[must_use]
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        let progress = Self::default();
        let _ = progress.wake.set(Box::new(wake));
        progress
    }

    /// Says where the output is; to be called once, before the first output.
    pub fn attach(&self, source: Arc<dyn OutputSource>) {
        let _ = self.source.set(source);
        self.changed();
    }

    /// Says that there is more output.
    pub fn changed(&self) {
        if !self.changed.swap(true, Ordering::AcqRel)
            && let Some(wake) = self.wake.get()
        {
            wake();
        }
    }

    /// The output when it changed since the last look.
    #[must_use]
    pub fn take(&self) -> Option<ToolOutput> {
        if self.changed.swap(false, Ordering::AcqRel) { self.snapshot() } else { None }
    }

    /// The output so far; none when the tool shows no progress.
    #[must_use]
    pub fn snapshot(&self) -> Option<ToolOutput> {
        self.source.get().map(|source| source.snapshot())
    }
}
