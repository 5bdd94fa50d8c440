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
mod tests {
    use std::task::{Context, Waker};

    use super::*;

    fn path(name: &str) -> PathBuf {
        PathBuf::from("/mutation-queue-test").join(name)
    }

    #[tokio::test]
    async fn turns_are_granted_in_the_order_of_the_first_poll() {
        let mut context = Context::from_waker(Waker::noop());
        let first = turn(path("order")).await;
        let mut second = pin!(turn(path("order")));
        let mut third = pin!(turn(path("order")));
        assert!(second.as_mut().poll(&mut context).is_pending());
        assert!(third.as_mut().poll(&mut context).is_pending());
        drop(first);
        assert!(third.as_mut().poll(&mut context).is_pending());
        let Poll::Ready(held) = second.as_mut().poll(&mut context) else { panic!("the second waiter is next") };
        drop(held);
        assert!(third.as_mut().poll(&mut context).is_ready());
    }

    #[tokio::test]
    async fn links_are_looked_up_in_the_order_of_the_first_poll() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("real");
        let link = folder.path().join("link");
        std::fs::write(&real, "").unwrap();
        std::os::unix::fs::symlink("real", &link).unwrap();
        let order = std::sync::Mutex::new(Vec::new());
        let calls = (0..20).map(|n| {
            let path = if n % 2 == 0 { real.clone() } else { link.clone() };
            let order = &order;
            async move {
                let turn = turn_at(Arc::new(crate::tools::Local), path).await;
                tokio::task::yield_now().await;
                order.lock().unwrap().push((n, turn.real_path().to_owned()));
            }
        });
        futures_util::future::join_all(calls).await;
        let wanted: Vec<(i32, PathBuf)> = (0..20).map(|n| (n, real.clone())).collect();
        assert_eq!(order.into_inner().unwrap(), wanted);
    }

    #[tokio::test]
    async fn other_files_do_not_wait() {
        let _one = turn(path("one")).await;
        let _other = turn(path("other")).await;
    }

    #[tokio::test]
    async fn nothing_is_kept_for_files_that_nobody_changes() {
        let held = turn(path("kept")).await;
        assert!(is_busy(&path("kept")));
        {
            let mut given_up = pin!(turn(path("kept")));
            assert!(given_up.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            drop(held);
            assert!(is_busy(&path("kept")), "a waiter is left");
        }
        assert!(!is_busy(&path("kept")));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_two_hold_one_turn() {
        let counter = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let tasks: Vec<_> = (0..50)
            .map(|_| {
                let counter = Arc::clone(&counter);
                tokio::spawn(async move {
                    let _turn = turn(path("busy")).await;
                    assert_eq!(counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                    tokio::task::yield_now().await;
                    counter.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert!(!is_busy(&path("busy")));
    }
}
