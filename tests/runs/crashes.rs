//! Workers that are killed, that stall, that crash again and again.

use rustix::process::Pid;
use serde_json::json;

use crate::{stage::*, support::*};

#[tokio::test]
async fn a_run_is_finished_although_its_worker_is_killed_in_a_stream_and_in_a_tool() {
    let gate = Gate::closed();
    let command = format!("echo x >> effects; touch running; {}", wait_for_file("go"));
    let script = [
        // Killed in the middle of this one, and of the tool of the second.
        hang("I will"),
        calls([call("bash", json!({"command": command})), call("read", json!({"path": "note.txt"}))]),
        text("recovered").hold(&gate),
    ];
    let sandbox = Sandbox::new(replies(script)).await;
    sandbox.write("note.txt", "hello");
    let run = start(&sandbox, &["go"]);
    sandbox.server.request(0).await;
    let first = worker(&sandbox, None).await;
    kill(first);
    sandbox.server.request(1).await;
    let second = worker(&sandbox, Some(first)).await;
    until("running tool", || sandbox.exists("running").then_some(())).await;
    kill(second);
    sandbox.server.request(2).await;
    gate.open();
    let finished = end(run).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "recovered\n"), "{}", finished.stderr);

    let results = results(&sandbox);
    assert_eq!(results.len(), 2);
    assert!(results[0].contains("interrupted") && results[0].contains("check before"), "{results:?}");
    assert!(results[1].contains("hello"), "a tool that only reads is run again: {results:?}");
    assert_eq!(sandbox.read("effects"), "x\n", "what may have had effects is not run again");
    strict(sandbox.server.last().messages()).unwrap();
    assert_eq!(sandbox.server.last().texts("user"), ["go"], "the prompt was delivered once");
    let result = file(&sandbox, "result.json");
    assert_eq!((&result["outcome"], &result["restarts"], &result["exit"]), (&json!("done"), &json!(2), &json!(0)));
    let events = events(&sandbox);
    assert_eq!(of_type(&events, "session").len(), 1);
    assert_eq!(of_type(&events, "restart").len(), 2);
    assert_eq!(ended(&events, "user").len(), 1);
    assert_eq!(ended(&events, "toolResult").len(), 2);
}

#[tokio::test]
async fn calls_that_were_interrupted_twice_have_one_result_each() {
    let command = |n: u32| format!("echo {n} >> effects; echo $$ > pid{n}; sleep 600");
    let script = [
        calls([call("bash", json!({"command": command(1)}))]),
        calls([call("bash", json!({"command": command(2)})), call("read", json!({"path": "effects"}))]),
        text("done"),
    ];
    let sandbox = Sandbox::new(replies(script)).await;
    let run = start(&sandbox, &["go"]);
    let mut before: Option<Pid> = None;
    for n in 1..=2 {
        let tool = pid_in(&sandbox, &format!("pid{n}")).await;
        let now = worker(&sandbox, before).await;
        kill(now);
        gone(tool).await;
        before = Some(now);
    }
    let finished = end(run).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let results = results(&sandbox);
    assert_eq!(results.len(), 3);
    assert!(results[0].contains("interrupted") && results[1].contains("interrupted"), "{results:?}");
    assert!(results[2].contains("1"), "{results:?}");
    assert_eq!(sandbox.read("effects"), "1\n2\n");
    strict(sandbox.server.last().messages()).unwrap();
}

#[tokio::test]
async fn a_worker_that_stalls_is_restarted_and_a_tool_within_its_deadline_is_no_stall() {
    let slow = calls([call("bash", json!({"command": "sleep 3; echo slow", "timeout": 20}))]);
    let sandbox = Sandbox::new(replies([slow, hang("hm"), text("done")])).await;
    let finished = run(&sandbox, &["--stall", "1s", "go"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    assert!(results(&sandbox)[0].contains("slow"), "the tool was not interrupted");
    assert!(finished.stderr.contains("stalled"), "{}", finished.stderr);
    assert_eq!(file(&sandbox, "result.json")["restarts"], 1);
}

#[tokio::test]
async fn a_worker_that_crashes_at_the_same_place_goes_back_a_turn_then_begins_anew_and_is_given_up_at_last() {
    let first = calls([call("bash", json!({"command": "echo made > file"}))]);
    let second = calls([call("bash", json!({"command": "echo poison"}))]);
    let sandbox = Sandbox::new(replies([first, second, hang("hm")])).await;
    let run = start(&sandbox, &["--max-restarts", "9", "the task"]);
    let mut before = None;
    // The model hangs from the third request on: each worker is killed when it has sent its request.
    for n in 2..=5 {
        sandbox.server.request(n).await;
        let now = worker(&sandbox, before).await;
        kill(now);
        before = Some(now);
    }
    let finished = end(run).await;
    assert_eq!(finished.code, Some(14), "{}", finished.stderr);
    assert!(finished.stderr.contains("runs resume r1"), "{}", finished.stderr);
    let asked: Vec<String> = (2..=5).map(|n| sandbox.server.requests()[n].all_text()).collect();
    // Twice where the session stood.
    assert!(asked[0].contains("poison") && asked[1].contains("poison"), "{asked:?}");
    // Before the last answer, with a note.
    assert!(asked[2].contains("crashed more than once") && !asked[2].contains("poison"), "{}", asked[2]);
    assert!(asked[2].contains("the task"));
    // In a new session that is told everything.
    assert!(asked[3].contains("takes the place of another one") && asked[3].contains("the task"), "{}", asked[3]);
    assert!(asked[3].contains("echo made > file"), "{}", asked[3]);
    for request in &sandbox.server.requests()[2..] {
        request.assert_strict();
    }
    let state = file(&sandbox, "state.json");
    let rungs: Vec<_> =
        state["starts"].as_array().unwrap().iter().map(|start| start["rung"].as_str().unwrap()).collect();
    assert_eq!(rungs, ["resume", "resume", "rewind", "anew"], "{state}");
    assert_eq!(state["sessions"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_worker_that_crashes_too_often_is_given_up_whatever_it_reaches() {
    let sandbox = Sandbox::new(|request: &Request| {
        let n = request.n;
        calls([call("bash", json!({"command": format!("echo $$ > pid{n}; sleep 600")}))])
    })
    .await;
    let run = start(&sandbox, &["--max-restarts", "1", "go"]);
    let mut before = None;
    for n in 0..2 {
        pid_in(&sandbox, &format!("pid{n}")).await;
        let now = worker(&sandbox, before).await;
        kill(now);
        before = Some(now);
    }
    let finished = end(run).await;
    assert_eq!(finished.code, Some(14), "{}", finished.stderr);
    assert_eq!(file(&sandbox, "result.json")["outcome"], "gave_up");
    assert_eq!(sandbox.server.count(), 2);
}
