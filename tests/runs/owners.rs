//! One run, one owner, one result.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::{stage::*, support::*};

#[tokio::test]
async fn a_run_that_is_done_tells_its_result_again_and_starts_nothing() {
    let sandbox = Sandbox::new(replies([text("fine")])).await;
    assert_eq!(run(&sandbox, &["go"]).await.code, Some(0));
    for words in [&["go"][..], &[]] {
        let again = run(&sandbox, words).await;
        assert_eq!((again.code, again.stdout.as_str()), (Some(0), "fine\n"), "{}", again.stderr);
    }
    let other = run(&sandbox, &["something else"]).await;
    assert_eq!(other.code, Some(2), "{}", other.stderr);
    assert!(other.stderr.contains("prompts are others"), "{}", other.stderr);
    assert_eq!(sandbox.server.count(), 1);
}

#[tokio::test]
async fn of_two_at_once_one_owns_the_run_and_the_other_is_told() {
    let gate = Gate::closed();
    let sandbox = Sandbox::new(replies([text("fine").hold(&gate)])).await;
    let children = [start(&sandbox, &["go"]), start(&sandbox, &["go"])];
    sandbox.server.request(0).await;
    let owner = file(&sandbox, "lease")["pid"].as_i64().unwrap();
    let (mut owners, mut others) = (Vec::new(), Vec::new());
    for child in children {
        let is_owner = i64::from(pid_of(&child).as_raw_nonzero().get()) == owner;
        if is_owner { owners.push(child) } else { others.push(child) }
    }
    let other = end(others.pop().unwrap()).await;
    assert_eq!(other.code, Some(15), "{}", other.stderr);
    assert!(other.stderr.contains("runs stop r1"), "{}", other.stderr);
    gate.open();
    assert_eq!(end(owners.pop().unwrap()).await.code, Some(0));
    assert_eq!(sandbox.server.count(), 1);
}

#[tokio::test]
async fn runs_are_listed_shown_logged_stopped_and_resumed() {
    let command = "echo $$ > pid; sleep 600";
    let sandbox = Sandbox::new(replies([calls([call("bash", json!({"command": command}))]), text("done")])).await;
    let child = start(&sandbox, &["the task"]);
    let tool = pid_in(&sandbox, "pid").await;
    let list = sandbox.run(&["runs"]).await.stdout;
    assert!(list.contains("r1") && list.contains("running") && list.contains("the task"), "{list}");
    let listed: Value = serde_json::from_str(&sandbox.run(&["runs", "list", "--json"]).await.stdout).unwrap();
    assert_eq!((&listed[0]["id"], &listed[0]["status"]), (&json!("r1"), &json!("running")));
    let stopped = sandbox.run(&["runs", "stop", "r"]).await;
    assert_eq!(stopped.code, Some(0), "{}", stopped.stderr);
    let finished = end(child).await;
    assert_eq!(finished.code, Some(143), "{}", finished.stderr);
    assert!(finished.stderr.contains("troupe runs resume r1"), "{}", finished.stderr);
    gone(tool).await;
    assert!(results(&sandbox)[0].contains("abort"));
    let shown = sandbox.run(&["runs", "show", "r1"]).await.stdout;
    assert!(shown.contains("cancelled") && shown.contains("runs resume r1"), "{shown}");
    assert_eq!(sandbox.run(&["runs", "stop", "r1"]).await.code, Some(0));

    let resumed = sandbox.run(&["runs", "resume", "r1"]).await;
    assert_eq!((resumed.code, resumed.stdout.as_str()), (Some(0), "done\n"), "{}", resumed.stderr);
    let shown: Value = serde_json::from_str(&sandbox.run(&["runs", "show", "r1", "--json"]).await.stdout).unwrap();
    assert_eq!((&shown["status"], &shown["result"]["answer"]), (&json!("done"), &json!("done")));
    let logged = sandbox.run(&["runs", "logs", "r1", "--events", "-f"]).await.stdout;
    assert_eq!(logged.lines().count(), events(&sandbox).len());
    assert_eq!(sandbox.run(&["runs", "logs", "r1"]).await.code, Some(0));
}

#[tokio::test]
async fn a_run_is_removed_when_nobody_owns_it_and_its_session_stays() {
    let gate = Gate::closed();
    let sandbox = Sandbox::new(replies([text("fine").hold(&gate)])).await;
    let child = start(&sandbox, &["the task"]);
    sandbox.server.request(0).await;
    let early = sandbox.run(&["runs", "remove", "r1"]).await;
    assert!(early.code == Some(1) && early.stderr.contains("troupe runs stop r1"), "{}", early.stderr);
    let none = sandbox.run(&["runs", "remove", "--ended"]).await;
    assert_eq!((none.code, none.stderr.as_str()), (Some(0), ""));
    gate.open();
    assert_eq!(end(child).await.code, Some(0));
    let session = file(&sandbox, "result.json")["session"].as_str().unwrap().to_owned();
    let removed = sandbox.run(&["runs", "remove", "r1", "r"]).await;
    assert_eq!((removed.code, removed.stderr.matches("removed").count()), (Some(0), 1), "{}", removed.stderr);
    assert!(!folder(&sandbox).exists() && std::path::Path::new(&session).exists());
    assert_eq!(sandbox.run(&["runs", "remove", "r1"]).await.code, Some(2));
}

#[tokio::test]
async fn a_signal_settles_the_run_and_a_second_one_ends_it_at_once() {
    let sandbox = Sandbox::new(replies([hang("thinking"), text("done")])).await;
    let child = start(&sandbox, &["go"]);
    sandbox.server.request(0).await;
    rustix::process::kill_process(pid_of(&child), rustix::process::Signal::INT).unwrap();
    let finished = end(child).await;
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);

    // A worker that does not settle.
    let mut child = start(&sandbox, &["--grace", "600s"]);
    let stuck = worker(&sandbox, None).await;
    rustix::process::kill_process(stuck, rustix::process::Signal::STOP).unwrap();
    let supervisor = pid_of(&child);
    rustix::process::kill_process(supervisor, rustix::process::Signal::TERM).unwrap();
    // The first one was heard: the supervisor says so.
    let mut said = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    within("word of the supervisor", async { while !said.next_line().await.unwrap().unwrap().contains("Stopping") {} })
        .await;
    rustix::process::kill_process(supervisor, rustix::process::Signal::TERM).unwrap();
    let finished = end(child).await;
    assert_eq!(finished.code, Some(143), "{}", finished.stderr);
    gone(stuck).await;
}

#[cfg(not(feature = "nats"))]
#[tokio::test]
async fn a_build_without_nats_says_so_and_how_to_get_one_that_has_it() {
    let sandbox = Sandbox::new(|_: &Request| text("fine")).await;
    for words in [
        &["worker", "--on", "nats://h"][..],
        &["run", "--model", "mock/m1", "--on", "nats://h", "go"],
        &["runs", "list", "--on", "nats://h"],
        &["top", "--on", "nats://h"],
        &["attach", "--on", "nats://h", "r1"],
    ] {
        let refused = sandbox_run(&sandbox, words).await;
        assert!(refused.code != Some(0) && refused.stderr.contains("--features nats"), "{words:?}: {}", refused.stderr);
    }
    assert_eq!(sandbox.server.count(), 0);
}

#[tokio::test]
async fn fc_011_fc_106_the_folder_of_a_run_is_private_and_holds_no_key() {
    let sandbox = Sandbox::new(replies([text("fine")])).await;
    let finished = run(&sandbox, &["--api-key", "sk-very-secret", "go"]).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(sandbox.server.last().header("authorization"), Some("Bearer sk-very-secret"));
    let folder = folder(&sandbox);
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
        let bytes = fs::read(entry.path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("very-secret"), "{entry:?}");
    }
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 6, "{names:?}");
}

#[tokio::test]
async fn fc_105_commands_do_not_see_where_the_nats_server_is() {
    let command = "echo \"url=$TROUPE_NATS_URL\"";
    let sandbox = Sandbox::new(replies([calls([call("bash", json!({"command": command}))]), text("done")])).await;
    let mut run = sandbox.command(&words(&["go"]));
    let output = run.env("TROUPE_NATS_URL", "nats://user:secret@hub").output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(results(&sandbox)[0].trim(), "url=");
}
