//! Each job is done by one worker after the other, until one says that it is done.

use std::time::Duration;

use super::super::{
    Delivery, Job, Jobs, Limits,
    testing::{Proxy, Server},
};
use crate::actors::testing::within;

fn job(run: &str, number: u32) -> Job {
    Job { run: run.to_owned(), number }
}

async fn next(jobs: &mut Jobs) -> Delivery {
    within("job", jobs.next()).await.unwrap()
}

#[tokio::test]
async fn a_job_that_is_queued_twice_is_done_once() {
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    assert!(hub.submit("default", &job("a", 1)).await.unwrap());
    assert!(!hub.submit("default", &job("a", 1)).await.unwrap());
    assert!(hub.submit("default", &job("a", 2)).await.unwrap());
    let mut jobs = hub.jobs("default").await.unwrap();
    for number in [1, 2] {
        let delivery = next(&mut jobs).await;
        assert_eq!((&delivery.job, delivery.deliveries), (&job("a", number), 1));
        delivery.done().await.unwrap();
    }
    assert_eq!(server.messages(&hub, "troupe_jobs").await, 0);
}

#[tokio::test]
async fn jobs_go_to_their_pool_in_order_and_to_whoever_asks() {
    let Some(server) = Server::start().await else { return };
    let (one, two) = (server.hub().await, server.hub().await);
    let mut jobs = [one.jobs("big").await.unwrap(), two.jobs("big").await.unwrap()];
    let mut small = one.jobs("small").await.unwrap();
    for number in 1..=4 {
        one.submit("big", &job("a", number)).await.unwrap();
    }
    two.submit("small", &job("b", 1)).await.unwrap();
    for number in 1..=4 {
        let delivery = next(&mut jobs[number as usize % 2]).await;
        assert_eq!(delivery.job, job("a", number));
        delivery.done().await.unwrap();
    }
    assert_eq!(next(&mut small).await.job, job("b", 1));
}

#[tokio::test]
async fn a_job_that_is_given_back_comes_again_and_so_does_one_whose_worker_is_silent() {
    let Some(server) = Server::start().await else { return };
    let limits = Limits { lease: Duration::from_millis(500), ..Limits::default() };
    let (one, two) = (server.hub_with(limits).await, server.hub_with(limits).await);
    one.submit("default", &job("a", 1)).await.unwrap();
    let (mut first, mut second) = (one.jobs("default").await.unwrap(), two.jobs("default").await.unwrap());
    let delivery = next(&mut first).await;
    delivery.give_back(Duration::ZERO).await.unwrap();
    let delivery = next(&mut second).await;
    assert_eq!(delivery.deliveries, 2);
    // Whoever says that it works keeps the job for longer than a lease.
    for _ in 0..8 {
        delivery.progress().await.unwrap();
        let pause = tokio::time::timeout(Duration::from_millis(100), first.next()).await;
        assert!(pause.is_err(), "{pause:?}");
    }
    // Silence.
    let delivery = next(&mut first).await;
    assert_eq!(delivery.deliveries, 3);
    delivery.done().await.unwrap();
}

#[tokio::test]
async fn who_waits_for_jobs_gets_them_after_a_restart_of_the_server() {
    let Some(mut server) = Server::start().await else { return };
    let hub = server.hub().await;
    let mut jobs = hub.jobs("default").await.unwrap();
    let waiting = tokio::spawn(async move { next(&mut jobs).await.job });
    tokio::task::yield_now().await;
    server.kill();
    server.start_again().await;
    hub.submit("default", &job("a", 1)).await.unwrap();
    assert_eq!(within("job", waiting).await.unwrap(), job("a", 1));
}

#[tokio::test]
async fn a_job_whose_answer_is_lost_is_queued_once() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(&server).await;
    let hub = proxy.hub_with(Limits::default()).await;
    proxy.lose_next_answer();
    hub.submit("default", &job("a", 1)).await.unwrap();
    assert!(proxy.has_happened());
    assert_eq!(server.messages(&server.hub().await, "troupe_jobs").await, 1);
}

#[tokio::test]
async fn what_is_no_job_is_taken_out_of_the_queue() {
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    hub.0.client.publish("troupe.jobs.default", "nonsense".into()).await.unwrap();
    hub.submit("default", &job("a", 1)).await.unwrap();
    let mut jobs = hub.jobs("default").await.unwrap();
    next(&mut jobs).await.done().await.unwrap();
    assert!(hub.submit("de fault", &job("a", 1)).await.is_err());
    assert!(hub.submit("default", &job("a b", 1)).await.is_err());
}

#[tokio::test]
async fn a_queue_that_is_gone_is_told_and_made_again() {
    let Some(mut server) = Server::start().await else { return };
    let hub = server.hub().await;
    let mut jobs = hub.jobs("default").await.unwrap();
    hub.stream("troupe_jobs").await.unwrap().delete_consumer("pool-default").await.unwrap();
    let error = within("error", jobs.next()).await.unwrap_err();
    assert!(error.to_string().contains("take a job of the pool default"), "{error}");
    jobs = hub.jobs("default").await.unwrap();
    hub.submit("default", &job("a", 1)).await.unwrap();
    next(&mut jobs).await.done().await.unwrap();
    // The server comes back with an empty store.
    server.kill();
    server.lose_store();
    server.start_again().await;
    within("error", jobs.next()).await.unwrap_err();
    jobs = hub.jobs("default").await.unwrap();
    hub.submit("default", &job("b", 1)).await.unwrap();
    assert_eq!(next(&mut jobs).await.job, job("b", 1));
    assert!(hub.owner("b").await.unwrap().is_none(), "the other streams are there as well");
}

#[tokio::test]
async fn a_queue_keeps_jobs_for_as_long_as_leases_last_by_now() {
    use async_nats::jetstream::{consumer::pull, stream::Config};
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    hub.jobs("default").await.unwrap();
    let leases = hub.0.jetstream.get_stream("KV_troupe_leases").await.unwrap();
    let max_age = Duration::from_secs(40);
    let config = Config { max_age, ..leases.cached_info().config.clone() };
    hub.0.jetstream.update_stream(config).await.unwrap();
    let later = server.hub().await;
    assert_eq!(later.lease_time(), max_age);
    later.jobs("default").await.unwrap();
    let stream = later.stream("troupe_jobs").await.unwrap();
    let consumer = stream.get_consumer::<pull::Config>("pool-default").await.unwrap();
    assert_eq!(consumer.cached_info().config.ack_wait, max_age);
}
