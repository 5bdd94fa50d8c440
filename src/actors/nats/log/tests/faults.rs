//! Answers that are lost, servers that die, messages that are too small.

use std::time::Duration;

use super::{super::super::Limits, *};
use crate::actors::nats::testing::Proxy;

/// A lease that nothing here outlasts.
fn patient() -> Limits {
    Limits { lease: Duration::from_secs(60), ..Limits::default() }
}

#[tokio::test]
async fn a_lost_acknowledgement_neither_doubles_nor_loses_a_change() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(&server).await;
    let hub = proxy.hub_with(patient()).await;
    let machine = Machine::take(&hub, "run", 1).await.unwrap();
    let before = server.messages(&hub, "troupe_log").await;
    let rounds = 6;
    for round in 0..rounds {
        proxy.lose_next_answer();
        machine.append("s.jsonl", format!("{round}\n").as_bytes());
        machine.commit("s.jsonl").await.unwrap();
        assert!(proxy.has_happened(), "{round}: nothing was lost");
    }
    let direct = server.hub().await;
    assert_eq!(server.messages(&direct, "troupe_log").await, before + rounds);
    let next = Machine::take(&direct, "run", 2).await.unwrap();
    assert_eq!(contents(next.dir.path()), contents(machine.dir.path()));
    machine.append("s.jsonl", b"too late\n");
    assert!(machine.commit("s.jsonl").await.is_err());
}

#[tokio::test]
async fn a_log_is_taken_once_though_the_acknowledgement_is_lost() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(&server).await;
    let hub = proxy.hub_with(patient()).await;
    let before = server.messages(&hub, "troupe_log").await;
    // The first question is whether there is a log; its answer has a sequence only when there is one.
    proxy.lose_next_answer();
    let machine = Machine::take(&hub, "run", 1).await.unwrap();
    assert!(proxy.has_happened());
    machine.append("s.jsonl", b"1\n");
    machine.commit("s.jsonl").await.unwrap();
    assert_eq!(server.messages(&server.hub().await, "troupe_log").await, before + 2);
}

#[tokio::test]
async fn what_was_stored_before_the_next_owner_came_does_not_count_when_it_is_sent_again() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(&server).await;
    let (hub, direct) = (proxy.hub_with(patient()).await, server.hub().await);
    let overtake = |run: &'static str, epoch| {
        let (proxy, direct) = (&proxy, &direct);
        async move {
            until("loss", || proxy.has_happened().then_some(())).await;
            let new = Machine::take(direct, run, epoch).await.unwrap();
            proxy.open();
            new
        }
    };
    let old = Machine::take(&hub, "run", 1).await.unwrap();
    old.append("s.jsonl", b"the call begins\n");
    proxy.close_at_next_answer();
    let (committed, new) = tokio::join!(old.commit("s.jsonl"), overtake("run", 2));
    // The next owner knows of it, so the old one must not act upon it.
    assert_eq!(contents(new.dir.path()), contents(old.dir.path()));
    assert!(committed.unwrap_err().to_string().contains("another worker has taken"));
    assert!(!old.log.is_ours());
    // Two processes of the same worker.
    proxy.close_at_next_answer();
    let (old, new) = tokio::join!(Machine::take(&hub, "another", 1), overtake("another", 1));
    assert!(matches!(old.err(), Some(NatsError::Lost(_))));
    new.append("s.jsonl", b"1\n");
    new.commit("s.jsonl").await.unwrap();
}

#[test]
fn an_answer_that_its_owner_reads_after_it_stood_still_does_not_count() {
    let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (others, mine) = (runtime(), tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap());
    let Some(server) = others.block_on(Server::start()) else { return };
    let proxy = others.block_on(Proxy::to(&server));
    let lease = Duration::from_secs(2);
    mine.block_on(async {
        let hub = proxy.hub_with(Limits { lease, ..Limits::default() }).await;
        let old = Machine::take(&hub, "run", 1).await.unwrap();
        old.append("s.jsonl", b"the call begins\n");
        proxy.hold_answer("troupe_log", "");
        let mut commit = std::pin::pin!(old.commit("s.jsonl"));
        tokio::select! {
            result = &mut commit => panic!("{result:?}"),
            () = until("answer", || proxy.has_happened().then_some(())) => {}
        }
        // The thread of the owner stands still; its time is not over when it goes on.
        std::thread::scope(|scope| {
            let meanwhile = scope.spawn(|| {
                others.block_on(async {
                    let next = Machine::take(&server.hub().await, "run", 2).await.unwrap();
                    assert_eq!(contents(next.dir.path()), contents(old.dir.path()));
                    proxy.release().await;
                    tokio::time::sleep(lease * 6 / 10).await;
                });
            });
            meanwhile.join().unwrap();
        });
        let lost = commit.await.unwrap_err();
        assert!(lost.to_string().contains("another worker has taken"), "{lost}");
        assert!(!old.log.is_ours());
    });
}

#[tokio::test]
async fn a_server_that_is_killed_and_comes_back_has_all_that_it_acknowledged() {
    let Some(mut server) = Server::start().await else { return };
    let hub = server.hub_with(patient()).await;
    let machine = Machine::take(&hub, "run", 1).await.unwrap();
    for round in 0..4 {
        let writing = async {
            for line in 0..40 {
                machine.append("s.jsonl", format!("{round} {line}\n").as_bytes());
                machine.commit("s.jsonl").await.unwrap();
            }
        };
        let killing = async {
            tokio::task::yield_now().await;
            server.kill();
            server.start_again().await;
        };
        tokio::join!(writing, killing);
    }
    let direct = server.hub().await;
    let next = Machine::take(&direct, "run", 2).await.unwrap();
    assert_eq!(contents(next.dir.path()), contents(machine.dir.path()));
}

#[tokio::test]
async fn a_server_that_stays_away_ends_the_ownership_with_the_lease() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(&server).await;
    let hub = proxy.hub_with(Limits { lease: Duration::from_secs(1), ..Limits::default() }).await;
    let idle = Machine::take(&hub, "idle", 1).await.unwrap();
    let busy = Machine::take(&hub, "busy", 1).await.unwrap();
    assert!(idle.log.is_ours());
    proxy.close();
    busy.append("s.jsonl", b"1\n");
    let lost = busy.commit("s.jsonl").await.unwrap_err();
    assert!(lost.to_string().contains("took nothing for 1 s"), "{lost}");
    within("word of it", idle.log.lost().cancelled()).await;
    assert!(!idle.log.is_ours() && !busy.log.is_ours());
    // What was never acknowledged is not there for the next one, and what is queued is not sent later.
    proxy.open();
    until("connection", || hub.is_connected().then_some(())).await;
    let direct = server.hub().await;
    let next = Machine::take(&direct, "busy", 2).await.unwrap();
    next.append("s.jsonl", b"2\n");
    next.commit("s.jsonl").await.unwrap();
    assert!(busy.commit("s.jsonl").await.is_err());
}

#[tokio::test]
async fn changes_that_are_larger_than_a_message_go_in_several() {
    let Some(server) = Server::with("max_payload: 65536").await else { return };
    let hub = server.hub().await;
    let machine = Machine::take(&hub, "run", 1).await.unwrap();
    for (size, fill) in [(10, "a"), (65_536, "b"), (300_000, "c"), (1, "d")] {
        machine.append("s.jsonl", fill.repeat(size).as_bytes());
        machine.append("s.state", fill.repeat(size).as_bytes());
        machine.commit("s.jsonl").await.unwrap();
    }
    let next = Machine::take(&hub, "run", 2).await.unwrap();
    assert_eq!(contents(next.dir.path()), contents(machine.dir.path()));
    next.log.snapshot().await.unwrap();
    let third = Machine::take(&hub, "run", 3).await.unwrap();
    assert_eq!(contents(third.dir.path()), contents(machine.dir.path()));
}
