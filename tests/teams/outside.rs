//! A team that works, as others see it: `troupe top` and `troupe attach`; and what it leaves running.

use serde_json::{Value, json};

use crate::{breaks::*, support::*};

#[tokio::test]
async fn a_team_is_watched_steered_and_stopped_from_outside() {
    let gate = Gate::closed();
    let held = gate.clone();
    let sandbox = Sandbox::new(move |request: &Request| match (is_of(request, "A"), request.last_user()) {
        (true, told) if told == "be quick" => text("first"),
        (true, _) => text("hm").begin_at(&held),
        (false, _) => hang("second"),
    })
    .await;
    sandbox.write("team.toml", TWO);
    let team = start(&sandbox, &FRESH);
    sandbox.server.request(0).await;
    let looked = sandbox.run(&["top", "--once", "--json"]).await;
    let said: Value = serde_json::from_str(&looked.stdout).unwrap();
    let process = &said["processes"][0];
    assert_eq!((&process["front"], &process["pid"]), (&json!("team"), &json!(team.id())), "{said:#}");
    let agents: Vec<_> = process["agents"].as_array().unwrap().iter().map(|agent| &agent["name"]).collect();
    assert!(agents.contains(&&json!("a")), "{said:#}");

    let requests = [
        json!({"id": 1, "type": "send_agent", "agentId": "a", "message": "be quick", "mode": "steer"}),
        json!({"id": 2, "type": "prompt", "message": "hello"}),
    ];
    let input = requests.map(|request| format!("{request}\n")).concat();
    let attached = sandbox.run_with_input(&["attach"], &input).await;
    let records: Vec<Value> = attached.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let response = |id: i64| records.iter().find(|record| record["id"] == id).unwrap();
    assert_eq!(response(1)["success"], true, "{}", attached.stdout);
    assert_eq!(response(2)["success"], false, "the agent in front is never asked anything");
    gate.open();
    sandbox.server.request(2).await;

    let stopped = sandbox.run_with_input(&["attach"], "{\"id\": 3, \"type\": \"abort\"}\n").await;
    assert_eq!(stopped.code, Some(0), "{}", stopped.stderr);
    let finished = end(team).await;
    assert_eq!(finished.code, Some(143), "{}", finished.stderr);
    assert!(finished.stderr.contains("--resume"), "{}", finished.stderr);
    assert_eq!(result(&sandbox)["outcome"], "stopped");
}

#[tokio::test]
async fn no_socket_is_offered_when_the_flags_say_so() {
    let gate = Gate::closed();
    let held = gate.clone();
    let sandbox = Sandbox::new(move |_: &Request| text("done").begin_at(&held)).await;
    sandbox.write("team.toml", TWO);
    let team = start(&sandbox, &["team.toml", "--out", "out", "--no-control"]);
    sandbox.server.request(0).await;
    let looked = sandbox.run(&["top", "--once", "--json"]).await;
    assert_eq!(looked.stdout.trim(), r#"{"processes":[]}"#);
    gate.open();
    assert_eq!(end(team).await.code, Some(0));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_commands_leave_running_ends_with_the_team() {
    let sandbox = Sandbox::new(|request: &Request| match request.results().is_empty() {
        true => calls([call("bash", json!({"command": "setsid nohup sleep 600 >/dev/null 2>&1 & echo $! > daemon"}))]),
        false => text("done"),
    })
    .await;
    let team = "[team]\nname = \"t\"\n[role.a]\nmodel = \"mock/m1\"\nprompt = \"A\"\n\
                verify = \"setsid nohup sleep 601 >/dev/null 2>&1 & echo $! > checker\"\n";
    sandbox.write("team.toml", team);
    let finished = end(start(&sandbox, &FRESH)).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    for file in ["daemon", "checker"] {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", sandbox.read(file).trim()));
        assert!(stat.is_err() || stat.is_ok_and(|stat| stat.contains(" Z ")), "{file} runs on");
    }
}
