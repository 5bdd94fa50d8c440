//! Results that are too large, records that cannot be read, streams that are gone: a run ends, and says why.

use std::fs;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use crate::{stage::*, support::*};

/// Waits until the server has the result of the run.
async fn with_result(stage: &Stage) {
    within("result", async {
        loop {
            // It may not be known yet.
            let shown: Value =
                serde_json::from_str(&stage.runs(&["show", ID, "--json"]).await.stdout).unwrap_or_default();
            if shown["result"].is_object() {
                return;
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_client_that_is_read_slowly_shows_all_events_though_the_result_is_there() {
    let answer = "x".repeat(300_000);
    let Some(stage) = Stage::new(move |_: &Request| text(&answer)).await else { return };
    let _worker = stage.worker("a").await;
    let client = stage.start(&["--output", "events", "go"]);
    // Nobody reads what the client prints until the run is over.
    with_result(&stage).await;
    let finished = end(client).await;
    let stored = stage.runs(&["logs", ID, "--events"]).await.stdout;
    assert!(stored.len() > 1 << 20, "{}", stored.len());
    assert!(finished.stdout == stored, "{} of {} bytes", finished.stdout.len(), stored.len());
}

#[tokio::test]
async fn a_result_that_is_too_large_is_cut_and_nothing_is_done_again_for_it() {
    let answer = "x".repeat(100_000);
    let Some(stage) = Stage::with("max_payload: 65536", move |_: &Request| text(&answer)).await else { return };
    let _worker = stage.worker("a").await;
    let effects = ["--verify", "echo verified >> effects", "--notify", "echo notified >> effects"];
    let finished = stage.run(&[&effects[..], &["go"]].concat()).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stdout.starts_with("xxx") && finished.stdout.contains("x… (cut"), "{}", finished.stdout.len());
    assert_eq!(stage.sandbox.read("effects"), "verified\nnotified\n");
    let shown = stage.shown().await;
    assert!(shown["result"]["reason"].as_str().unwrap().contains("the server takes"), "{shown}");
    assert_eq!(shown["terms"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_run_that_no_worker_can_read_ends_and_says_why() {
    for record in ["troupe.log.r1", "$KV.troupe_runs.r1.spec"] {
        let Some(stage) = Stage::new(replies([text("done")])).await else { return };
        let client = stage.start(&["go"]);
        within("run", async { while stage.runs(&["show", ID]).await.code != Some(0) {} }).await;
        let jetstream = stage.jetstream().await;
        jetstream.publish(record, "of another version".into()).await.unwrap().await.unwrap();
        let worker = stage.worker("a").await;
        let finished = end(client).await;
        assert_eq!(finished.code, Some(1), "{record}: {}", finished.stderr);
        let told = ["Worker a leaves the run to others", "no worker of the pool default can take it", "cannot be read"];
        assert!(told.iter().all(|told| finished.stderr.contains(told)), "{record}: {}", finished.stderr);
        assert_eq!(stage.sandbox.server.count(), 0, "{record}");
        let said = worker.stop().await;
        assert_eq!(said.matches("left to others").count(), 4, "{record}: {said}");
    }
}

#[tokio::test]
async fn a_run_goes_on_when_the_bucket_of_leases_was_lost() {
    let sleeps = |n: u32| calls([call("bash", json!({"command": format!("echo $$ > pid{n}; sleep 600")}))]);
    let Some(stage) = Stage::new(replies([sleeps(1), sleeps(2), text("done")])).await else { return };
    let client = stage.start(&["the task"]);
    for n in 1..=2 {
        // The epoch of the second one is beyond what a new bucket begins with.
        let worker = stage.worker(&format!("w{n}")).await;
        stage.pid_in(&format!("pid{n}")).await;
        match n {
            1 => drop(worker.stop().await),
            _ => worker.kill().await,
        }
    }
    stage.jetstream().await.delete_stream("KV_troupe_leases").await.unwrap();
    let _last = stage.worker("w3").await;
    let finished = end(client).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    let shown = stage.shown().await;
    let epochs: Vec<u64> =
        shown["terms"].as_array().unwrap().iter().map(|term| term["epoch"].as_u64().unwrap()).collect();
    assert!(epochs.is_sorted() && epochs.len() == 3, "{epochs:?}");
}

#[tokio::test]
async fn a_run_that_is_handed_on_though_its_worker_stays_counts_as_a_failure() {
    let reply = replies([calls([call("bash", json!({"command": "echo $$ > pid; sleep 600"}))]), text("done")]);
    let Some(stage) = Stage::new(reply).await else { return };
    let worker = stage.worker("a").await;
    let client = stage.start(&["the task"]);
    stage.pid_in("pid").await;
    let supervisor = worker.tree()[1];
    kill_process(supervisor, Signal::TERM).unwrap();
    let finished = end(client).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    let ends: Vec<Value> =
        stage.shown().await["terms"].as_array().unwrap().iter().map(|term| term["end"]["how"].clone()).collect();
    assert_eq!(ends, ["broke", "ended"]);
    assert!(worker.stop().await.contains("left to others"), "it says so");
}

#[tokio::test]
async fn what_a_killed_worker_left_is_removed_by_its_next_start() {
    let reply = replies([calls([call("bash", json!({"command": "echo $$ > pid; sleep 600"}))]), text("done")]);
    let Some(stage) = Stage::new(reply).await else { return };
    let first = stage.worker("a").await;
    let client = stage.start(&["the task"]);
    stage.pid_in("pid").await;
    let folder = first.user_dir.join("workers/a/runs").join(ID);
    first.kill().await;
    assert!(folder.join("sessions").is_dir());
    // The run goes on elsewhere; the machine comes back and takes nothing.
    let _second = stage.worker("b").await;
    assert_eq!(end(client).await.code, Some(0));
    assert!(folder.is_dir());
    let _again = stage.worker("a").await;
    assert!(fs::symlink_metadata(&folder).is_err(), "sessions are left");
}
