//! One owner of a run at a time.

use std::time::Duration;

use super::super::{
    Hub, Lease, Limits, Owner, Taking,
    testing::{Proxy, Server},
};
use crate::actors::testing::within;

fn owner(name: &str) -> Owner {
    Owner { name: name.to_owned(), node: format!("{name}-1") }
}

async fn take(hub: &Hub, name: &str) -> Lease {
    match hub.take_lease("run", &owner(name)).await.unwrap() {
        Taking::Taken(lease) => lease,
        Taking::Owned(other) => panic!("{other:?} has it"),
    }
}

fn short() -> Limits {
    Limits { lease: Duration::from_millis(500), ..Limits::default() }
}

#[tokio::test]
async fn a_lease_has_one_owner_and_each_a_greater_epoch() {
    let Some(server) = Server::start().await else { return };
    let (one, two) = (server.hub().await, server.hub().await);
    assert_eq!(one.owner("run").await.unwrap(), None);
    let mut lease = take(&one, "a").await;
    assert!(matches!(two.take_lease("run", &owner("b")).await.unwrap(), Taking::Owned(it) if it == owner("a")));
    assert_eq!(two.owner("run").await.unwrap(), Some(owner("a")));
    for _ in 0..3 {
        lease.beat().await.unwrap();
    }
    assert!(matches!(two.take_lease("run", &owner("b")).await.unwrap(), Taking::Owned(_)));
    let first = lease.epoch;
    lease.give_back().await.unwrap();
    assert_eq!(one.owner("run").await.unwrap(), None);
    let mut next = take(&two, "b").await;
    assert!(next.epoch > first);
    next.beat().await.unwrap();
}

#[tokio::test]
async fn many_who_want_a_lease_at_once_are_told_who_has_it() {
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    let wanting = (0..16).map(|at| {
        let hub = hub.clone();
        async move { hub.take_lease("run", &owner(&format!("n{at}"))).await.unwrap() }
    });
    let taken = futures_util::future::join_all(wanting).await;
    assert_eq!(taken.iter().filter(|taking| matches!(taking, Taking::Taken(_))).count(), 1);
}

#[tokio::test]
async fn a_lease_that_nobody_keeps_up_ends_by_itself_and_is_lost_to_its_owner() {
    let Some(server) = Server::start().await else { return };
    let (one, two) = (server.hub_with(short()).await, server.hub_with(short()).await);
    assert_eq!(two.lease_time(), Duration::from_millis(500));
    let mut lease = take(&one, "a").await;
    let next = within("end of the lease", async {
        loop {
            if let Taking::Taken(lease) = two.take_lease("run", &owner("b")).await.unwrap() {
                return lease;
            }
        }
    })
    .await;
    assert!(next.epoch > lease.epoch);
    assert!(lease.beat().await.is_err());
    // What is not ours is not given back.
    lease.give_back().await.unwrap();
    assert_eq!(two.owner("run").await.unwrap(), Some(owner("b")));
}

#[tokio::test]
async fn a_beat_whose_answer_is_lost_counts() {
    let Some(server) = Server::start().await else { return };
    let limits = Limits { lease: Duration::from_secs(30), ..Limits::default() };
    let proxy = Proxy::to(&server).await;
    let hub = proxy.hub_with(limits).await;
    proxy.lose_next_answer();
    let mut lease = take(&hub, "a").await;
    assert!(proxy.has_happened());
    for _ in 0..3 {
        proxy.lose_next_answer();
        lease.beat().await.unwrap();
        assert!(proxy.has_happened());
        // One that nobody waits for to its end.
        drop(tokio::time::timeout(Duration::ZERO, lease.beat()).await);
        lease.beat().await.unwrap();
    }
}

#[tokio::test]
async fn an_owner_that_reaches_nobody_gives_up_with_the_lease() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(&server).await;
    let hub = proxy.hub_with(short()).await;
    let mut lease = take(&hub, "a").await;
    proxy.close();
    let lost = within("end", lease.beat()).await.unwrap_err();
    assert!(lost.to_string().contains("could not be kept up"), "{lost}");
}
