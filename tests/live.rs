//! Other processes by their control sockets: `troupe top` and `troupe attach`.

#![allow(clippy::unwrap_used)]

mod support;

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use support::*;

/// What `troupe top --once --json` says.
async fn top(sandbox: &Sandbox) -> Vec<Value> {
    let finished = sandbox.run(&["top", "--once", "--json"]).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let said: Value = serde_json::from_str(&finished.stdout).unwrap();
    said["processes"].as_array().unwrap().clone()
}

/// The files in the folder of sockets.
fn sockets(sandbox: &Sandbox) -> Vec<std::path::PathBuf> {
    let folder = std::fs::read_dir(sandbox.user_dir.join("live"));
    folder.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn top_shows_agents_and_actors_of_processes_that_offer_a_socket() {
    let sandbox = Sandbox::new(replies([text("the answer")])).await;
    let quiet = sandbox.rpc(&[]).await;
    assert_eq!(top(&sandbox).await, [Value::Null; 0], "without a terminal it must be asked for");
    let mut rpc = sandbox.rpc(&["--control"]).await;
    rpc.prompt("hello").await;
    let found = top(&sandbox).await;
    assert_eq!((found.len(), &found[0]["front"], &found[0]["pid"]), (1, &json!("rpc"), &json!(rpc.pid())));
    let agent = &found[0]["agents"][0];
    assert_eq!(
        (&agent["id"], &agent["state"], &agent["spent"]["tokens"]),
        (&json!("main"), &json!("idle"), &json!(110))
    );
    let actors = found[0]["actors"].to_string();
    for kind in ["Runtime", "Fleet", "Agent", "SessionWriter", "EventBus", "TurnLoop", "Control"] {
        assert!(actors.contains(&format!("\"kind\":\"{kind}\"")), "{kind}: {actors}");
    }
    let files = sockets(&sandbox);
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(std::fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o600);
    let table = sandbox.run(&["top", "--once", &rpc.pid().to_string()]).await.stdout;
    assert!(table.contains("AGENT") && table.contains("MAILBOX") && table.contains("mock/m1"), "{table}");
    let missing = sandbox.run(&["top", "nightly"]).await;
    assert_eq!((missing.code, missing.stdout.as_str()), (Some(1), ""));
    rpc.close().await;
    drop(quiet);
    assert_eq!((top(&sandbox).await.len(), sockets(&sandbox).len()), (0, 0));
}

#[tokio::test]
async fn attached_requests_are_answered_and_refused_and_the_process_goes_on() {
    let gate = Gate::closed();
    let held = gate.clone();
    let script = move |request: &Request| match request.last_user().as_str() {
        "work" => text("I work").hold(&held),
        _ => text("ok"),
    };
    let sandbox = Sandbox::new(script).await;
    let mut rpc = sandbox.rpc(&["--control"]).await;
    let from = rpc.mark();
    rpc.call(json!({"type": "prompt", "message": "work"})).await;
    sandbox.server.request(0).await;
    let requests = [
        json!({"id": 1, "type": "get_state"}),
        json!({"id": 2, "type": "bash", "command": "touch x"}),
        json!({"id": 3, "type": "steer", "message": "be quick"}),
    ];
    let input = requests.map(|request| format!("{request}\n")).concat();
    let attached = sandbox.run_with_input(&["attach"], &input).await;
    assert_eq!(attached.code, Some(0), "{}", attached.stderr);
    let records: Vec<Value> = attached.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let response = |id: i64| records.iter().find(|record| record["id"] == id).unwrap();
    assert_eq!(response(1)["data"]["isStreaming"], true);
    assert_eq!((&response(2)["success"], sandbox.exists("x")), (&json!(false), false));
    assert_eq!(response(3)["success"], true);
    gate.open();
    assert_eq!(sandbox.server.request(1).await.last_user(), "be quick");
    rpc.settled(from).await;
    rpc.close().await;
}

#[tokio::test]
async fn the_socket_of_a_process_that_was_killed_is_removed_by_whoever_finds_it() {
    let sandbox = Sandbox::new(replies([text("ok")])).await;
    let mut rpc = sandbox.rpc(&["--control"]).await;
    let is_there = |path: &std::path::PathBuf| path.extension().is_some_and(|ending| ending != "new");
    until("socket", || (sockets(&sandbox).iter().filter(|path| is_there(path)).count() == 1).then_some(())).await;
    rpc.kill().await;
    assert_eq!(sockets(&sandbox).len(), 1, "nobody could remove it");
    assert_eq!((top(&sandbox).await.len(), sockets(&sandbox).len()), (0, 0));
}

#[tokio::test]
async fn a_command_of_an_agent_does_not_reach_its_own_process() {
    let command = format!("{} top --once --json", env!("CARGO_BIN_EXE_troupe"));
    let sandbox = Sandbox::new(replies([calls([call("bash", json!({ "command": command }))]), text("ok")])).await;
    let mut rpc = sandbox.rpc(&["--control"]).await;
    rpc.prompt("look").await;
    let told = sandbox.server.last().results();
    assert_eq!(told[0].trim(), r#"{"processes":[]}"#);
    assert_eq!(top(&sandbox).await.len(), 1, "others do");
    rpc.close().await;
}
