//! What is known of runs.

use serde_json::{Value, json};

use super::super::{
    NatsError, Put, Versioned,
    testing::{Proxy, Server},
};
use crate::actors::testing::within;

#[tokio::test]
async fn records_are_made_once_changed_by_revision_and_removed() {
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    let (one, two) = (json!({"n": 1}), json!({"n": 2}));
    assert_eq!(hub.get::<Value>("run", "spec").await.unwrap(), None);
    assert_eq!(hub.put_new("run", "spec", &one).await.unwrap(), Put::New);
    assert_eq!(hub.put_new("run", "spec", &two).await.unwrap(), Put::There(one.clone()));
    let there = hub.get::<Value>("run", "spec").await.unwrap().unwrap();
    assert_eq!(there.value, one);
    let revision = hub.update("run", "spec", there.revision, &two).await.unwrap().unwrap();
    assert_eq!(hub.update("run", "spec", there.revision, &one).await.unwrap(), None);
    let there = hub.get::<Value>("run", "spec").await.unwrap();
    assert_eq!(there, Some(Versioned { value: two.clone(), revision }));
    assert!(hub.put("run", "spec", &one).await.unwrap() > revision);
    hub.delete("run", "spec").await.unwrap();
    assert_eq!(hub.get::<Value>("run", "spec").await.unwrap(), None);
    assert_eq!(hub.put_new("run", "spec", &two).await.unwrap(), Put::New);
}

#[tokio::test]
async fn runs_are_listed_by_what_is_known_of_them_and_forgotten_whole() {
    let Some(server) = Server::start().await else { return };
    let hub = server.hub().await;
    for run in ["b", "a.1", "c"] {
        hub.put(run, "spec", &1).await.unwrap();
    }
    hub.put("c", "result", &1).await.unwrap();
    assert_eq!(hub.runs("spec").await.unwrap(), ["a.1", "b", "c"]);
    assert_eq!(hub.runs("result").await.unwrap(), ["c"]);
    hub.forget("c").await.unwrap();
    assert_eq!(hub.runs("spec").await.unwrap(), ["a.1", "b"]);
    assert!(hub.runs("result").await.unwrap().is_empty());
    hub.forget("never there").await.unwrap_err();
    hub.forget("never-there").await.unwrap();
}

#[tokio::test]
async fn whoever_watches_a_record_sees_what_is_there_and_each_change() {
    let Some(mut server) = Server::start().await else { return };
    let hub = server.hub().await;
    let mut early = hub.watch::<u32>("run", "result").await.unwrap();
    hub.put("run", "result", &1).await.unwrap();
    let mut late = hub.watch::<u32>("run", "result").await.unwrap();
    for watch in [&mut early, &mut late] {
        assert_eq!(within("record", watch.next()).await.unwrap().unwrap().value, 1);
    }
    server.kill();
    server.start_again().await;
    hub.put("run", "result", &2).await.unwrap();
    hub.put("run", "state", &9).await.unwrap();
    assert_eq!(within("record", late.next()).await.unwrap().unwrap().value, 2);
    hub.delete("run", "result").await.unwrap();
    assert_eq!(within("record", late.next()).await.unwrap(), None);
}

#[tokio::test]
async fn a_record_whose_answer_is_lost_is_new_all_the_same() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(&server).await;
    let hub = proxy.hub_with(Default::default()).await;
    proxy.lose_next_answer();
    assert_eq!(hub.put_new("run", "spec", &json!({"n": 1})).await.unwrap(), Put::New);
    assert!(proxy.has_happened());
}

#[tokio::test]
async fn what_cannot_be_stored_is_said() {
    let Some(server) = Server::with("max_payload: 65536").await else { return };
    let hub = server.hub().await;
    let large = hub.put("run", "spec", &"x".repeat(70_000)).await.unwrap_err();
    assert!(large.to_string().contains("the spec of run run has 70002 bytes, and the server takes"), "{large}");
    for (run, kind) in [("a b", "spec"), ("run", "a.b"), ("*", "spec"), ("run", "")] {
        let refused = hub.put(run, kind, &1).await.unwrap_err();
        assert!(matches!(refused, NatsError::BadName(_)), "{run} {kind}: {refused}");
    }
    hub.put("run", "spec", &"text").await.unwrap();
    let unreadable = hub.get::<u32>("run", "spec").await.unwrap_err();
    assert!(matches!(unreadable, NatsError::Unreadable { .. }), "{unreadable}");
}
