//! Workers that end in order.

use rustix::process::Signal;
use serde_json::json;

use crate::{stage::*, support::*};

#[tokio::test]
async fn a_worker_that_is_told_to_end_hands_its_run_on_at_once() {
    let command = "echo $$ > pid; sleep 600";
    let reply = replies([calls([call("bash", json!({"command": command}))]), text("done")]);
    let Some(stage) = Stage::new(reply).await else { return };
    // A lease that nobody could wait for.
    let first = stage.worker_with("a", &["--lease", "10m"]).await;
    let client = stage.start(&["the task"]);
    let tool = stage.pid_in("pid").await;
    let _second = stage.worker_with("b", &["--lease", "10m"]).await;
    first.signal(Signal::TERM);
    let (code, said) = first.end().await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("handed on"), "{said}");
    assert!(rustix::process::test_kill_process(tool).is_err(), "the tool lives");
    let finished = end(client).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    assert!(results(&stage.sandbox)[0].contains("abort"));
    let shown = stage.shown().await;
    assert_eq!(
        (&shown["terms"][0]["end"]["how"], &shown["terms"][1]["node"]),
        (&json!("handed_on"), &json!("b")),
        "{shown}"
    );
}

#[tokio::test]
async fn what_an_earlier_owner_changed_counts_for_the_one_who_ends_the_run() {
    let command = "echo made > by-command";
    let write = call("write", json!({"path": "by-tool", "content": "made"}));
    let replies = replies([calls([call("bash", json!({"command": command})), write]), hang("thinking"), text("done")]);
    let Some(stage) = Stage::new(replies).await else { return };
    let first = stage.worker("a").await;
    let client = stage.start(&["--require-change", "--output", "json", "the task"]);
    stage.sandbox.server.request(1).await;
    first.signal(Signal::TERM);
    let (code, said) = first.end().await;
    assert_eq!(code, Some(0), "{said}");
    let _second = stage.worker("b").await;
    let finished = end(client).await;
    assert_eq!(finished.code, Some(0), "{} {}", finished.stdout, finished.stderr);
    let result: serde_json::Value = serde_json::from_str(&finished.stdout).unwrap();
    let path = |name: &str| stage.sandbox.project.join(name).display().to_string();
    assert_eq!(result["changedFiles"], json!([path("by-command"), path("by-tool")]));
}

#[tokio::test]
async fn a_second_signal_does_not_wait_for_agents_and_the_run_goes_on_all_the_same() {
    let reply = replies([hang("thinking"), text("done")]);
    let Some(stage) = Stage::new(reply).await else { return };
    let first = stage.worker_with("a", &["--lease", "10m"]).await;
    let client = stage.start(&["--grace", "10m", "the task"]);
    stage.sandbox.server.request(0).await;
    first.signal(Signal::TERM);
    first.signal(Signal::TERM);
    let (code, said) = first.end().await;
    assert_eq!(code, Some(0), "{said}");
    let _second = stage.worker_with("b", &["--lease", "10m"]).await;
    let finished = end(client).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
}

#[tokio::test]
async fn when_a_worker_alone_is_killed_its_agents_end_and_the_run_goes_on() {
    let command = "echo $$ > pid; sleep 600";
    let reply = replies([calls([call("bash", json!({"command": command}))]), text("done")]);
    let Some(stage) = Stage::new(reply).await else { return };
    let first = stage.worker("a").await;
    let client = stage.start(&["the task"]);
    let tool = stage.pid_in("pid").await;
    let below = first.tree();
    first.signal(Signal::KILL);
    for pid in below[1..].iter().chain([&tool]) {
        until("end of what it started", || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
            // Nobody may be there to take its end.
            stat.rsplit(')')
                .next()
                .is_none_or(|rest| rest.is_empty() || rest.trim_start().starts_with('Z'))
                .then_some(())
        })
        .await;
    }
    let _again = stage.worker("a").await;
    let finished = end(client).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    assert_eq!(results(&stage.sandbox).len(), 1);
}
