//! One run on one worker: it ends, is told, listed, logged, stopped and gone on with as a run of this machine is.

use std::{net::TcpListener, process::Stdio};

use serde_json::{Value, json};

use crate::{stage::*, support::*};

#[tokio::test]
async fn a_run_on_a_worker_ends_as_one_of_this_machine_does() {
    let reply = replies([calls([call("bash", json!({"command": "echo made > made; pwd"}))]), text("done")]);
    let Some(stage) = Stage::new(reply).await else { return };
    let worker = stage.worker("a").await;
    let finished = stage.run(&["the task", "--output", "json"]).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let result: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!((&result["outcome"], &result["answer"], &result["turns"]), (&json!("done"), &json!("done"), &json!(2)));
    assert!(finished.stderr.contains("Worker a takes it"), "{}", finished.stderr);
    assert_eq!(stage.sandbox.read("made"), "made\n");
    assert!(results(&stage.sandbox)[0].contains("project"));

    let listed = stage.runs(&["list"]).await.stdout;
    assert!(listed.contains(ID) && listed.contains("done") && listed.contains("the task"), "{listed}");
    let shown = stage.shown().await;
    assert_eq!((&shown["status"], &shown["terms"][0]["node"]), (&json!("done"), &json!("a")));
    let events = stage.runs(&["logs", ID, "--events"]).await.stdout;
    let types: Vec<String> = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    assert!(types.contains(&"session".to_owned()) && types.contains(&"agent_end".to_owned()), "{types:?}");
    assert!(!types.contains(&"node".to_owned()), "{types:?}");
    let logged = stage.runs(&["logs", ID, "-f"]).await.stdout;
    assert!(logged.contains("worker a"), "{logged}");

    let fetched = stage.runs(&["fetch", ID, "brought"]).await;
    assert_eq!((fetched.code, fetched.stdout.lines().count()), (Some(0), 1), "{}", fetched.stderr);
    let shown = stage.sandbox.command(&["--export", fetched.stdout.trim(), "out.html"]).output().await.unwrap();
    assert!(shown.status.success(), "{shown:?}");
    assert_eq!(stage.runs(&["fetch", ID, "brought"]).await.code, Some(2), "it is there");
    let removed = stage.runs(&["remove", "--ended"]).await;
    assert_eq!((removed.code, removed.stderr.as_str()), (Some(0), "The run r1 is removed.\n"));
    assert_eq!(stage.runs(&["show", ID]).await.code, Some(2));
    assert_eq!(stage.runs(&["list", "--json"]).await.stdout, "[]\n");

    let (node, user_dir) = (worker.user_dir.join("workers/a/runs").join(ID), worker.user_dir.clone());
    let said = worker.stop().await;
    assert!(said.contains("Run r1: taken") && said.contains("done (exit 0)"), "{said}");
    assert!(!node.exists(), "the server has all of it");
    assert!(!user_dir.join("runs").exists() && !stage.sandbox.user_dir.join("runs").exists());
}

#[tokio::test]
async fn one_id_is_one_run_whoever_asks_and_however_often() {
    let gate = Gate::closed();
    let Some(stage) = Stage::new(replies([text("fine").hold(&gate)])).await else { return };
    let _worker = stage.worker("a").await;
    let clients = [stage.start(&["go"]), stage.start(&["go"]), stage.start(&["go"])];
    stage.sandbox.server.request(0).await;
    gate.open();
    for client in clients {
        let finished = end(client).await;
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "fine\n"), "{}", finished.stderr);
    }
    for words in [&["go"][..], &[]] {
        let again = stage.run(words).await;
        assert_eq!((again.code, again.stdout.as_str()), (Some(0), "fine\n"), "{}", again.stderr);
    }
    let other = stage.run(&["something else"]).await;
    assert_eq!(other.code, Some(2), "{}", other.stderr);
    assert!(other.stderr.contains("prompts are others"), "{}", other.stderr);
    assert_eq!(stage.sandbox.server.count(), 1);
}

#[tokio::test]
async fn the_events_of_a_run_are_those_that_it_would_print_itself() {
    let Some(stage) = Stage::new(|_: &Request| text("fine")).await else { return };
    let _worker = stage.worker("a").await;
    let types = |text: &str| -> Vec<String> {
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].to_string()).collect()
    };
    let there = stage.run(&["go", "--output", "events"]).await;
    assert_eq!(there.code, Some(0), "{}", there.stderr);
    let here = stage.sandbox.command(&["run", "--model", "mock/m1", "--output", "events", "go"]);
    let here = finish(here, "").await;
    let (there, here) = (types(&there.stdout), types(&here.stdout));
    let whole = |types: &[String]| types.iter().filter(|name| !name.contains("update")).cloned().collect::<Vec<_>>();
    assert_eq!(whole(&there), whole(&here));
}

#[tokio::test]
async fn a_signal_stops_the_run_where_it_works_and_resume_goes_on_with_it() {
    let command = "echo $$ > pid; sleep 600";
    let reply = replies([calls([call("bash", json!({"command": command}))]), text("done")]);
    let Some(stage) = Stage::new(reply).await else { return };
    let _worker = stage.worker("a").await;
    let client = stage.start(&["the task"]);
    let tool = stage.pid_in("pid").await;
    let pid = pid_of(&client);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let finished = end(client).await;
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);
    assert!(finished.stderr.contains("troupe runs resume r1 --on nats://"), "{}", finished.stderr);
    until("end of the tool", || rustix::process::test_kill_process(tool).is_err().then_some(())).await;
    let shown = stage.runs(&["show", "r"]).await.stdout;
    assert!(shown.contains("cancelled") && shown.contains("runs resume r1 --on"), "{shown}");

    let resumed = stage.runs(&["resume", "r"]).await;
    assert_eq!((resumed.code, resumed.stdout.as_str()), (Some(0), "done\n"), "{}", resumed.stderr);
    assert!(results(&stage.sandbox)[0].contains("abort"));
    assert!(stage.sandbox.server.last().last_user().contains("Go on with the task"));
    assert_eq!(stage.shown().await["request"], json!(2));
}

#[tokio::test]
async fn a_run_that_no_worker_has_waits_can_be_stopped_and_is_gone_on_with_later() {
    let Some(stage) = Stage::new(replies([text("done")])).await else { return };
    let detached = stage.run(&["--detach", "go"]).await;
    assert_eq!((detached.code, detached.stdout.as_str()), (Some(0), "r1\n"), "{}", detached.stderr);
    assert_eq!(stage.shown().await["status"], json!("waiting"));
    assert_eq!(stage.runs(&["stop", ID]).await.code, Some(0));
    assert_eq!(stage.shown().await["status"], json!("cancelled"));
    // The job is in the queue, and nobody begins it.
    let worker = stage.worker("a").await;
    let resumed = stage.runs(&["resume", ID]).await;
    assert_eq!((resumed.code, resumed.stdout.as_str()), (Some(0), "done\n"), "{}", resumed.stderr);
    assert_eq!(stage.sandbox.server.count(), 1);
    let said = worker.stop().await;
    assert_eq!(said.matches("taken").count(), 1, "{said}");
}

#[tokio::test]
async fn a_worker_without_the_folder_leaves_the_run_to_others() {
    let Some(stage) = Stage::new(replies([text("done")])).await else { return };
    let elsewhere = stage.sandbox.user_dir.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut command = stage.sandbox.command(&stage.words(&["go"]));
    command.current_dir(&elsewhere).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let client = command.spawn().unwrap();
    until("start of the client", || std::fs::read_dir(&elsewhere).ok()).await;
    until("run", || Some(())).await;
    loop {
        let shown = stage.runs(&["show", ID]).await;
        if shown.code == Some(0) {
            break;
        }
    }
    std::fs::remove_dir(&elsewhere).unwrap();
    let worker = stage.worker("a").await;
    loop {
        if stage.shown().await["refusals"][0]["reason"].as_str().is_some_and(|reason| reason.contains("elsewhere")) {
            break;
        }
    }
    // One that is given a folder can work.
    let _other = stage.worker_with("b", &["--lease", "2s", "--dir", stage.sandbox.project.to_str().unwrap()]).await;
    let finished = end(client).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    assert!(worker.stop().await.contains("left to others: there is no folder"));
}

#[tokio::test]
async fn what_cannot_go_to_another_machine_is_refused_before_anything_is_sent() {
    let Some(stage) = Stage::new(|_: &Request| text("done")).await else { return };
    for (words, told) in [
        (&["--api-key", "sk-secret", "go"][..], "--api-key"),
        (&["--session", "abc", "go"], "--session"),
        (&["--continue", "go"], "--continue"),
        (&[], "no prompt"),
    ] {
        let refused = stage.run(words).await;
        assert_eq!(refused.code, Some(2), "{words:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(told) && !refused.stderr.contains("sk-secret"), "{}", refused.stderr);
    }
    assert!(stage.runs(&["list"]).await.stdout.contains("There is no run"));
    let lost = stage.sandbox.run(&["runs", "list", "--on", "nats://u:secret@127.0.0.1:1"]).await;
    assert_eq!(lost.code, Some(1), "{}", lost.stderr);
    assert!(lost.stderr.contains("127.0.0.1:1") && !lost.stderr.contains("secret"), "{}", lost.stderr);
}

#[tokio::test]
async fn without_on_nothing_connects() {
    let sandbox = Sandbox::new(|_: &Request| text("fine")).await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("nats://{}", listener.local_addr().unwrap());
    let mut command = sandbox.command(&["run", "--model", "mock/m1", "go"]);
    command.env("TROUPE_NATS_URL", &url);
    assert_eq!(finish(command, "").await.code, Some(0));
    let mut command = sandbox.command(&["runs"]);
    command.env("TROUPE_NATS_URL", &url);
    assert_eq!(finish(command, "").await.code, Some(0));
    assert!(listener.accept().is_err(), "somebody connected");
}
