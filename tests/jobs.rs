//! Background jobs, from outside: what is left of them when the program ends, and what front ends see of them.

#![allow(clippy::unwrap_used)]

mod support;

use serde_json::{Value, json};
use support::*;

fn start(command: &str) -> Reply {
    calls([call("jobs", json!({"action": "start", "command": command}))])
}

/// Waits until a process is gone.
async fn gone(pid: &str) {
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    within("end of the process", async {
        while rustix::process::test_kill_process(pid).is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn the_tool_is_there_only_when_it_is_asked_for() {
    for (args, declared) in [(&["-p", "go"][..], false), (&["--tools", "+jobs", "-p", "go"], true)] {
        let sandbox = Sandbox::new(replies([text("ok")])).await;
        assert_eq!(sandbox.run(args).await.code, Some(0));
        let tools = sandbox.server.last().body["tools"].to_string();
        assert_eq!(tools.contains("\"name\":\"jobs\""), declared, "{tools}");
    }
    let sandbox = Sandbox::new(replies([text("ok")])).await;
    sandbox.settings(json!({"defaultTools": ["+jobs"]}));
    assert_eq!(sandbox.run(&["-p", "go"]).await.code, Some(0));
    assert!(sandbox.server.last().body["tools"].to_string().contains("\"name\":\"jobs\""));
}

#[tokio::test]
async fn a_run_that_ends_takes_its_jobs_along_says_so_and_the_next_one_tells_the_model() {
    let wait = calls([call("jobs", json!({"action": "wait", "id": "job-1", "pattern": "up"}))]);
    let script = [start("echo $$ > pid; echo up; sleep 600"), wait, text("started"), text("I see")];
    let sandbox = Sandbox::new(replies(script)).await;
    let finished = sandbox.run(&["--tools", "+jobs", "-p", "go"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "started\n"));
    let said = "job-1 ended with the agent that had started it: echo $$ > pid; echo up; sleep 600";
    assert!(finished.stderr.contains(said), "{}", finished.stderr);
    gone(&sandbox.read("pid")).await;

    let events = sandbox.json(&["--continue", "and now?"]).await;
    let notices = ended(&events, "custom");
    assert_eq!(notices.len(), 1, "{events:?}");
    let gone = "job-1 is gone, since the program that ran it has ended: echo $$ > pid; echo up; sleep 600";
    assert!(text_of(notices[0]).contains(gone), "{}", notices[0]);
    strict(sandbox.server.last().messages()).unwrap();
    let request = Value::from(sandbox.server.last().messages().to_vec()).to_string();
    assert!(request.contains("job-1 is gone"), "{request}");
}

#[tokio::test]
async fn clients_list_read_and_end_jobs() {
    let sandbox = Sandbox::new(replies([start("echo $$ > pid; echo ready; cat"), text("started")])).await;
    let mut rpc = sandbox.rpc(&["--tools", "+jobs"]).await;
    let none = rpc.call(json!({"type": "jobs", "action": "list"})).await;
    assert_eq!(none, json!({"jobs": [], "kept": []}));
    rpc.prompt("go").await;
    let read = json!({"type": "jobs", "action": "read", "jobId": "job-1"});
    let mut output = rpc.call(read.clone()).await;
    while output["output"] != "ready\n" {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        output = rpc.call(read.clone()).await;
    }
    assert_eq!((&output["next"], &output["job"]["running"]), (&json!(6), &json!(true)));
    assert_eq!(rpc.call(json!({"type": "jobs", "action": "read", "jobId": "job-1", "from": 6})).await["output"], "");
    rpc.call(json!({"type": "jobs", "action": "kill", "jobId": "job-1"})).await;
    gone(&sandbox.read("pid")).await;
    let refused = rpc.refused(json!({"type": "jobs", "action": "read", "jobId": "job-7"})).await;
    assert_eq!(refused, "There is no job job-7. There are job-1.");
    assert!(rpc.refused(json!({"type": "jobs", "action": "stop"})).await.contains("`list`, `read` or `kill`"));
    assert!(rpc.refused(json!({"type": "jobs", "action": "kill"})).await.contains("jobId"));
}
