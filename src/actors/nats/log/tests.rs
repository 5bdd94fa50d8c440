//! Owners of one log, on a server of their own.

mod faults;
mod laws;

use std::{fs, path::Path};

use bytes::Bytes;
use tempfile::TempDir;

use super::{
    super::testing::{Server, until},
    fence::Fence,
    stamp::Kind,
    *,
};
use crate::{actors::testing::within, store::sidecar};

/// An owner with a folder of its own.
struct Machine {
    dir: TempDir,
    log: SessionLog,
}

impl Machine {
    async fn take(hub: &Hub, run: &str, epoch: u64) -> Result<Self, NatsError> {
        let dir = tempfile::tempdir().unwrap();
        let log = within("log", SessionLog::take(hub, run, epoch, dir.path())).await?;
        Ok(Self { dir, log })
    }

    fn session(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    fn append(&self, name: &str, text: &[u8]) {
        let file = self.session(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let there = fs::read(&file).unwrap_or_default();
        fs::write(file, [&there, text].concat()).unwrap();
    }

    async fn commit(&self, name: &str) -> Result<(), Lost> {
        within("commit", self.log.commit(&self.session(name))).await
    }
}

/// The files below a folder, with their contents.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => {
                    let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                    found.push((name, fs::read(path).unwrap()));
                }
            }
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn an_owner_that_was_overtaken_adds_nothing_more_at_any_point() {
    let Some(server) = Server::start().await else { return };
    let (old_hub, new_hub) = (server.hub().await, server.hub().await);
    for commits in 0..4 {
        for later in [0, 1] {
            let run = format!("run-{commits}-{later}");
            let old = Machine::take(&old_hub, &run, 7).await.unwrap();
            for commit in 0..commits {
                old.append("s.jsonl", format!("{commit}\n").as_bytes());
                old.commit("s.jsonl").await.unwrap();
            }
            let acknowledged = contents(old.dir.path());
            let new = Machine::take(&new_hub, &run, 7 + later).await.unwrap();
            assert_eq!(contents(new.dir.path()), acknowledged, "{run}");
            for attempt in 0..3 {
                old.append("s.jsonl", b"too late\n");
                assert!(old.commit("s.jsonl").await.is_err(), "{run}: {attempt}");
            }
            assert!(old.log.lost().is_cancelled());
            assert!(matches!(old.log.snapshot().await, Err(NatsError::Lost(_))));
            new.append("s.jsonl", b"on time\n");
            new.commit("s.jsonl").await.unwrap();
            let third = Machine::take(&old_hub, &run, 9).await.unwrap();
            assert_eq!(contents(third.dir.path()), contents(new.dir.path()), "{run}");
            let refused = Machine::take(&new_hub, &run, 8).await.err();
            assert!(matches!(refused, Some(NatsError::Lost(_))), "{refused:?}");
        }
    }
}

#[tokio::test]
async fn an_owner_that_does_nothing_hears_of_the_next_one() {
    let Some(server) = Server::start().await else { return };
    let (old_hub, new_hub) = (server.hub().await, server.hub().await);
    let old = Machine::take(&old_hub, "run", 1).await.unwrap();
    assert!(!old.log.lost().is_cancelled());
    let _new = Machine::take(&new_hub, "run", 2).await.unwrap();
    within("word of it", old.log.lost().cancelled()).await;
}

#[tokio::test]
async fn half_of_a_change_counts_for_nothing() {
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    let whole = |text: &'static str| {
        let head = format!("{{\"file\":\"s.jsonl\",\"change\":\"whole\",\"len\":{}}}\n{text}", text.len());
        Bytes::from(head)
    };
    let mut old = Fence::take(&hub, "run", 1).await.unwrap();
    old.append(Kind::Change, whole("all of it")).await.unwrap();
    old.append(Kind::Part, whole("half")).await.unwrap();
    let new = Machine::take(&hub, "run", 2).await.unwrap();
    assert!(old.append(Kind::Change, whole("and the other half")).await.is_err());
    assert_eq!(contents(new.dir.path()), [("s.jsonl".to_owned(), b"all of it".to_vec())]);
    let dir = tempfile::tempdir().unwrap();
    assert!(SessionLog::restore(&hub, "run", dir.path()).await.unwrap());
    assert_eq!(contents(dir.path()), contents(new.dir.path()));
    assert!(!SessionLog::restore(&hub, "another", dir.path()).await.unwrap());
}

#[tokio::test]
async fn a_process_that_comes_back_goes_on_from_what_was_acknowledged() {
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    let first = Machine::take(&hub, "run", 1).await.unwrap();
    first.append("s.jsonl", b"1\n");
    first.commit("s.jsonl").await.unwrap();
    // Nobody saw these.
    first.append("s.jsonl", b"2\n");
    first.append("s.state", b"queued\n");
    let log = SessionLog::take(&hub, "run", 1, first.dir.path()).await.unwrap();
    assert_eq!(contents(first.dir.path()), [("s.jsonl".to_owned(), b"1\n".to_vec())]);
    let again = Machine { dir: first.dir, log };
    again.append("s.jsonl", b"3\n");
    again.commit("s.jsonl").await.unwrap();
    assert!(first.log.commit(&again.session("s.jsonl")).await.is_err());
    let other = Machine::take(&hub, "run", 2).await.unwrap();
    assert_eq!(contents(other.dir.path()), [("s.jsonl".to_owned(), b"1\n3\n".to_vec())]);
}

#[tokio::test]
async fn files_of_a_first_process_stay_and_are_shipped_whole() {
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("s.jsonl"), "there before\n").unwrap();
    let log = SessionLog::take(&hub, "run", 1, dir.path()).await.unwrap();
    let first = Machine { dir, log };
    first.commit("s.jsonl").await.unwrap();
    let next = Machine::take(&hub, "run", 2).await.unwrap();
    assert_eq!(contents(next.dir.path()), contents(first.dir.path()));
}

#[tokio::test]
async fn sessions_of_siblings_are_in_the_same_log() {
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    let machine = Machine::take(&hub, "run", 1).await.unwrap();
    let names = ["s.jsonl", "s.agents/a.jsonl", "s.agents/a.agents/b.jsonl", "s.agents/c.jsonl"];
    for round in 0..5 {
        for name in names {
            machine.append(name, format!("{name} {round}\n").as_bytes());
            let journal = sidecar::path_of(Path::new(name));
            machine.append(journal.to_str().unwrap(), b"noted\n");
        }
        let commits = names.map(|name| machine.commit(name));
        assert!(futures_util::future::join_all(commits).await.iter().all(Result::is_ok));
    }
    let next = Machine::take(&hub, "run", 2).await.unwrap();
    assert_eq!(contents(next.dir.path()), contents(machine.dir.path()));
    assert_eq!(contents(next.dir.path()).len(), 8);
}

#[tokio::test]
async fn a_session_outside_of_the_folder_is_refused() {
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    let machine = Machine::take(&hub, "run", 1).await.unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let lost = machine.log.commit(&elsewhere.path().join("s.jsonl")).await.unwrap_err();
    assert!(lost.to_string().contains("is not in"), "{lost}");
}

#[tokio::test]
async fn a_commit_without_a_change_asks_nobody() {
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    let machine = Machine::take(&hub, "run", 1).await.unwrap();
    machine.append("s.jsonl", b"1\n");
    machine.commit("s.jsonl").await.unwrap();
    let stored = server.messages(&hub, "troupe_log").await;
    for _ in 0..10 {
        machine.commit("s.jsonl").await.unwrap();
    }
    assert_eq!(server.messages(&hub, "troupe_log").await, stored);
}

#[tokio::test]
async fn a_log_that_has_grown_is_stored_in_one_piece_by_itself() {
    let Some(server) = Server::start().await else { return };
    let limits = super::super::Limits { snapshot_after: 2000, ..Default::default() };
    let hub = server.hub_with(limits).await;
    let machine = Machine::take(&hub, "run", 1).await.unwrap();
    for round in 0..100 {
        machine.append("s.jsonl", format!("line {round} {}\n", "x".repeat(100)).as_bytes());
        machine.commit("s.jsonl").await.unwrap();
    }
    // The last of them may still be under way.
    machine.log.snapshot().await.unwrap();
    machine.log.snapshot().await.unwrap();
    assert!(server.messages(&hub, "troupe_log").await < 30);
    assert_eq!(server.objects(&hub).await, 1);
    let next = Machine::take(&hub, "run", 2).await.unwrap();
    assert_eq!(contents(next.dir.path()), contents(machine.dir.path()));
    hub.forget("run").await.unwrap();
    assert_eq!((server.messages(&hub, "troupe_log").await, server.objects(&hub).await), (0, 0));
    assert!(next.commit("s.jsonl").await.is_ok(), "nothing has changed");
    next.append("s.jsonl", b"more");
    assert!(next.commit("s.jsonl").await.unwrap_err().to_string().contains("was removed"));
}
