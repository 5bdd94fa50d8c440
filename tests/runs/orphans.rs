//! What workers and supervisors leave behind when they are killed: nothing.

use serde_json::json;

use crate::{stage::*, support::*};

/// A command whose child leaves group, session, parent and environment behind.
const ESCAPES: &str = "(env -i setsid sh -c 'echo $$ > escaped; exec sleep 600' &) ; echo $$ > pid; sleep 600";

#[tokio::test]
async fn what_a_killed_worker_left_is_ended_before_the_next_one_begins() {
    let sandbox = Sandbox::new(replies([calls([call("bash", json!({"command": ESCAPES}))]), text("done")])).await;
    let run = start(&sandbox, &["go"]);
    let (tool, escaped) = (pid_in(&sandbox, "pid").await, pid_in(&sandbox, "escaped").await);
    kill(worker(&sandbox, None).await);
    sandbox.server.request(1).await;
    // The next worker has sent its request: it began after them.
    assert!(rustix::process::test_kill_process(tool).is_err(), "the tool lives");
    if cfg!(target_os = "linux") {
        assert!(rustix::process::test_kill_process(escaped).is_err(), "what got away lives");
    }
    assert_eq!(end(run).await.code, Some(0));
}

#[tokio::test]
async fn a_worker_whose_supervisor_is_killed_settles_and_the_next_run_goes_on() {
    let sandbox = Sandbox::new(replies([calls([call("bash", json!({"command": ESCAPES}))]), text("done")])).await;
    let mut child = start(&sandbox, &["go"]);
    let (tool, escaped) = (pid_in(&sandbox, "pid").await, pid_in(&sandbox, "escaped").await);
    let orphan = worker(&sandbox, None).await;
    kill(pid_of(&child));
    within("end", child.wait()).await.unwrap();
    for process in [orphan, tool] {
        gone(process).await;
    }
    if cfg!(target_os = "linux") {
        gone(escaped).await;
    }
    assert!(results(&sandbox)[0].contains("abort"), "the trace was ended in order");
    let listed = sandbox.run(&["runs", "list"]).await;
    assert!(listed.stdout.contains("killed"), "{}", listed.stdout);

    let finished = run(&sandbox, &[]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    assert!(sandbox.server.last().last_user().contains("Go on with the task"));
    strict(sandbox.server.last().messages()).unwrap();
    assert_eq!(sandbox.session_files().len(), 1);
}

#[tokio::test]
async fn after_both_were_killed_the_next_run_ends_what_they_left_and_takes_the_trace_over() {
    // The child keeps its environment, with the run's tag, and nothing else of where it came from.
    let command = "(setsid sh -c 'echo $$ > escaped; exec sleep 600' &) ; echo $$ > pid; sleep 600";
    let sandbox = Sandbox::new(replies([calls([call("bash", json!({"command": command}))]), text("done")])).await;
    let mut child = start(&sandbox, &["go"]);
    let (tool, escaped) = (pid_in(&sandbox, "pid").await, pid_in(&sandbox, "escaped").await);
    let orphan = worker(&sandbox, None).await;
    // First the supervisor, which would end the worker's processes.
    rustix::process::kill_process(orphan, rustix::process::Signal::STOP).unwrap();
    kill(pid_of(&child));
    within("end", child.wait()).await.unwrap();
    kill(orphan);
    let finished = run(&sandbox, &[]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    gone(tool).await;
    if cfg!(target_os = "linux") {
        gone(escaped).await;
    }
    assert!(results(&sandbox)[0].contains("interrupted"));
    assert_eq!(sandbox.server.last().texts("user"), ["go"], "the trace was gone on with, not begun again");
}
