//! Questions to a run.

use std::time::Duration;

use super::super::{NatsError, testing::Server};
use crate::actors::testing::within;

const LIMIT: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_question_is_answered_from_wherever_the_run_is() {
    let Some(server) = Server::with("max_payload: 65536").await else { return };
    let (node, client) = (server.hub().await, server.hub().await);
    let mut requests = node.serve("run").await.unwrap();
    tokio::spawn(async move {
        while let Some(request) = requests.next().await {
            let size: usize = std::str::from_utf8(&request.request).unwrap().parse().unwrap();
            request.answer("x".repeat(size).as_bytes()).await.unwrap();
        }
    });
    for size in [0, 1, 1000, 65_536, 500_000] {
        let answer = client.ask("run", size.to_string().as_bytes(), LIMIT).await.unwrap();
        assert_eq!(answer, "x".repeat(size), "{size}");
    }
    let asked = (0..50).map(|size| {
        let client = client.clone();
        async move { client.ask("run", size.to_string().as_bytes(), LIMIT).await.unwrap().len() }
    });
    let answers = within("answers", futures_util::future::join_all(asked)).await;
    assert_eq!(answers, (0..50).collect::<Vec<_>>());
    let large = client.ask("run", &[b'x'; 70_000], LIMIT).await.unwrap_err();
    assert!(matches!(large, NatsError::TooLarge { .. }), "{large}");
}

#[tokio::test]
async fn a_run_that_is_nowhere_is_known_at_once() {
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    assert_eq!(hub.ask("run", b"state", LIMIT).await, Err(NatsError::NoOne));
    let requests = hub.serve("run").await.unwrap();
    drop(requests);
    within("nobody", async { while hub.ask("run", b"state", LIMIT).await != Err(NatsError::NoOne) {} }).await;
}

#[tokio::test]
async fn a_run_that_does_not_answer_is_given_up() {
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    let _requests = hub.serve("run").await.unwrap();
    let error = hub.ask("run", b"state", Duration::from_millis(50)).await.unwrap_err();
    assert!(error.to_string().contains("no answer in 0.05 s"), "{error}");
}

#[tokio::test]
async fn a_run_answers_after_a_restart_of_the_server() {
    let Some(mut server) = Server::start().await else { return };
    let (node, client) = (server.hub().await, server.hub().await);
    let mut requests = node.serve("run").await.unwrap();
    tokio::spawn(async move {
        while let Some(request) = requests.next().await {
            request.answer(b"here").await.unwrap();
        }
    });
    server.kill();
    server.start_again().await;
    within("answer", async { while client.ask("run", b"?", LIMIT).await.is_err() {} }).await;
}
