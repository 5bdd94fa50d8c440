use std::{
    io,
    sync::mpsc::{Receiver, channel},
    task::{Context, Waker},
};

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::tools::{
    BoxFuture, Local,
    operations::{
        FileReader, FileStat, FindHits, FindQuery, FolderEntry, GrepHits, GrepQuery, Place, Process, SearchError,
        ShellCommand,
    },
    testing::{Bench, text},
};

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

/// A network folder that does not answer when links are looked up, until the sender is gone.
struct Stuck(std::sync::Mutex<Receiver<()>>);

impl Operations for Stuck {
    fn real_path(&self, path: &Path) -> PathBuf {
        let _ = self.0.lock().unwrap().recv();
        path.to_owned()
    }
    fn place(&self) -> Place {
        Local.place()
    }
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<FileStat>> {
        Local.stat(path)
    }
    fn open<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<Box<dyn FileReader>>> {
        Local.open(path)
    }
    fn check_access<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<()>> {
        Local.check_access(path)
    }
    fn write<'a>(&'a self, path: &'a Path, bytes: Vec<u8>) -> BoxFuture<'a, io::Result<FileStat>> {
        Local.write(path, bytes)
    }
    fn create_folder<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<()>> {
        Local.create_folder(path)
    }
    fn list<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, io::Result<Vec<FolderEntry>>> {
        Local.list(path)
    }
    fn grep(&self, query: GrepQuery, cancel: CancellationToken) -> BoxFuture<'_, Result<GrepHits, SearchError>> {
        Local.grep(query, cancel)
    }
    fn find(&self, query: FindQuery, cancel: CancellationToken) -> BoxFuture<'_, Result<FindHits, SearchError>> {
        Local.find(query, cancel)
    }
    fn spawn(&self, command: ShellCommand) -> BoxFuture<'_, io::Result<Box<dyn Process>>> {
        Local.spawn(command)
    }
}

#[tokio::test]
async fn a_folder_that_does_not_answer_holds_up_no_abort() {
    let (answer, waits) = channel();
    let mut bench = Bench::new();
    bench.operations = Arc::new(Stuck(std::sync::Mutex::new(waits)));
    let path = bench.write("f", "old");
    for (tool, arguments) in [
        ("write", json!({"path": "f", "content": "new"})),
        ("edit", json!({"path": "f", "edits": [{"oldText": "old", "newText": "new"}]})),
        ("read", json!({"path": "f"})),
    ] {
        bench.cancel = CancellationToken::new();
        let (call, cancel) = (bench.call(tool, arguments), bench.cancel.clone());
        let (output, ()) = tokio::join!(call, async move { cancel.cancel() });
        assert_eq!(text(&output), "Operation aborted", "{tool}");
    }
    // What waits ends, and has no effect.
    drop(answer);
    bench.cancel = CancellationToken::new();
    assert_eq!(bench.ok("read", json!({"path": "f"})).await, "old");
    assert!(!is_busy(&path));
}
