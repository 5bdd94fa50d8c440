//! One writer at a time per file, in the whole process.
//!
//! `write` and `edit` hold a file's turn from before they look at it until it is written. Turns are granted in the
//! order in which [`turn_at`] is first polled. Shell commands do not take part.

use std::{
    future::{Future, poll_fn},
    path::{Path, PathBuf},
    pin::pin,
    sync::{Arc, LazyLock},
    task::Poll,
    time::Duration,
};

use dashmap::DashMap;
use tokio::{
    sync::{Mutex, OwnedMutexGuard},
    task::spawn_blocking,
    time::timeout,
};

use super::operations::Operations;

/// The files that somebody changes or waits to change.
static BUSY: LazyLock<DashMap<PathBuf, Arc<Mutex<()>>>> = LazyLock::new(DashMap::new);
/// Held by the one whose links are being looked up. The lock is fair: who asked first queues up first.
static LOOKING_UP: Mutex<()> = Mutex::const_new(());
/// How long others wait for a look at links. It takes microseconds, except where a network folder does not answer.
const LOOKUP_AT_MOST: Duration = Duration::from_secs(1);

/// The right to change a file; ends when dropped. Hold it for as long as a write may be under way.
#[derive(Debug)]
pub struct Turn {
    // Dropped before the registration, so that the last one sees nobody holding the lock.
    _held: OwnedMutexGuard<()>,
    registration: Registration,
}

impl Turn {
    /// The file, without links.
    #[must_use]
    pub fn real_path(&self) -> &Path {
        &self.registration.path
    }
}

/// Waits for the right to change the file that `path` leads to. Links are looked up where blocking is allowed.
pub async fn turn_at(operations: Arc<dyn Operations>, path: PathBuf) -> Turn {
    let order = LOOKING_UP.lock().await;
    let own = path.clone();
    let mut lookup = spawn_blocking(move || operations.real_path(&own));
    let Ok(found) = timeout(LOOKUP_AT_MOST, &mut lookup).await else {
        drop(order);
        return turn(lookup.await.unwrap_or(path)).await;
    };
    let mut waiting = pin!(turn(found.unwrap_or(path)));
    // The first poll queues up; then the next one's turn comes.
    let first = poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context))).await;
    drop(order);
    match first {
        Poll::Ready(turn) => turn,
        Poll::Pending => waiting.await,
    }
}

/// Waits for the right to change the file at `real_path` (see [`super::operations::Operations::real_path`]: two names
/// of one file must give one key).
pub async fn turn(real_path: PathBuf) -> Turn {
    let lock = Arc::clone(BUSY.entry(real_path.clone()).or_default().value());
    let registration = Registration { lock: Some(Arc::clone(&lock)), path: real_path };
    Turn { _held: lock.lock_owned().await, registration }
}

/// Whether somebody changes, or waits to change, the file.
#[must_use]
pub fn is_busy(real_path: &Path) -> bool {
    BUSY.contains_key(real_path)
}

/// Keeps a file's lock in the map while somebody holds it or waits for it.
#[derive(Debug)]
struct Registration {
    path: PathBuf,
    lock: Option<Arc<Mutex<()>>>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        let own = self.lock.take();
        // References are taken and given back under the map's lock: a single one left is the map's own.
        BUSY.remove_if(&self.path, |_, lock| {
            drop(own);
            Arc::strong_count(lock) == 1
        });
    }
}

#[cfg(test)]
mod tests;
