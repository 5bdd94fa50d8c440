//! Looking at a run that works anywhere, and steering it.

use serde_json::{Value, json};

use crate::{stage::*, support::*};

#[tokio::test]
async fn a_run_is_looked_at_and_steered_wherever_it_works() {
    let gate = Gate::closed();
    let reply = replies([calls([call("bash", json!({"command": "echo hi"}))]).hold(&gate), text("done")]);
    let Some(stage) = Stage::new(reply).await else { return };
    let nowhere = stage.sandbox.run(&["attach", "r1", "--on", &stage.nats.url]).await;
    assert_eq!(nowhere.code, Some(2), "{}", nowhere.stderr);
    let _worker = stage.worker("a").await;
    let client = stage.start(&["the task"]);
    stage.sandbox.server.request(0).await;

    let top = stage.sandbox.run(&["top", "--once", "--json", "--on", &stage.nats.url]).await;
    let top: Value = serde_json::from_str(&top.stdout).unwrap_or_else(|error| panic!("{error}: {}", top.stderr));
    assert_eq!(top["processes"][0]["run"], json!("r1"));

    // Requests and records; what may not be asked of a control socket may not be asked from afar.
    let requests = [
        json!({"id": "1", "type": "get_state"}),
        json!({"id": "2", "type": "bash", "command": "echo no > no"}),
        json!({"id": "3", "type": "steer", "message": "and mind the gap"}),
    ];
    let input: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let attached = stage.sandbox.run_with_input(&["attach", "r1", "--on", &stage.nats.url], &input).await;
    assert_eq!(attached.code, Some(0), "{}", attached.stderr);
    let records: Vec<Value> = attached.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answer = |id: &str| records.iter().find(|record| record["id"] == id).unwrap();
    assert_eq!(answer("1")["data"]["isStreaming"], json!(true), "{records:?}");
    assert_eq!((&answer("2")["success"], &answer("3")["success"]), (&json!(false), &json!(true)), "{records:?}");
    gate.open();
    assert_eq!(end(client).await.code, Some(0));
    assert!(!stage.sandbox.exists("no"));
    assert!(stage.sandbox.server.last().all_text().contains("mind the gap"));
}
