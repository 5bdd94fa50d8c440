//! Owners that die, and owners that only seem to.

use std::fs;

use rustix::process::{Signal, kill_process};
use serde_json::json;

use crate::{server::Proxy, stage::*, support::*};

#[tokio::test]
async fn a_run_whose_machine_dies_goes_on_elsewhere_from_its_last_entry() {
    let command = "echo begun >> effects; echo $$ > pid; sleep 600";
    let reply = replies([
        calls([call("bash", json!({"command": "echo first >> effects"}))]),
        calls([call("bash", json!({"command": command}))]),
        text("done"),
    ]);
    let Some(stage) = Stage::new(reply).await else { return };
    let first = stage.worker("a").await;
    let client = stage.start(&["the task"]);
    stage.pid_in("pid").await;
    first.kill().await;
    let second = stage.worker("b").await;
    let finished = end(client).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    assert!(finished.stderr.contains("Worker b takes it over"), "{}", finished.stderr);
    assert_eq!(stage.sandbox.read("effects"), "first\nbegun\n", "nothing is repeated by itself");
    let results = results(&stage.sandbox);
    assert_eq!(results.len(), 2);
    assert!(results[1].contains("interrupted"), "{results:?}");
    assert_eq!(stage.sandbox.server.last().texts("user"), ["the task"], "the trace was gone on with");
    let shown = stage.shown().await;
    assert_eq!((&shown["terms"][0]["end"]["how"], &shown["terms"][1]["end"]["how"]), (&json!("lost"), &json!("ended")));
    let logged = stage.runs(&["logs", ID]).await.stdout;
    assert!(logged.contains("worker a") && logged.contains("worker b"), "{logged}");
    drop(second);
}

#[tokio::test]
async fn a_run_goes_on_in_the_folder_that_the_next_worker_has() {
    let reply = replies([
        calls([call("bash", json!({"command": "pwd; echo x > made; echo $$ > \"$HOME/../project/pid\"; sleep 600"}))]),
        calls([call("bash", json!({"command": "pwd; ls"}))]),
        text("done"),
    ]);
    let Some(stage) = Stage::new(reply).await else { return };
    let folder = |name: &str| {
        let folder = stage.sandbox.user_dir.with_file_name(name);
        fs::create_dir(&folder).unwrap();
        folder.to_str().unwrap().to_owned()
    };
    let (one, two) = (folder("checkout-one"), folder("checkout-two"));
    let first = stage.worker_with("a", &["--lease", "2s", "--dir", &one]).await;
    let client = stage.start(&["the task"]);
    stage.pid_in("pid").await;
    first.kill().await;
    fs::remove_dir_all(&one).unwrap();
    let _second = stage.worker_with("b", &["--lease", "2s", "--dir", &two]).await;
    let finished = end(client).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    let results = results(&stage.sandbox);
    assert!(results[0].contains("interrupted"), "{results:?}");
    assert!(results[1].contains("checkout-two") && !results[1].contains("made"), "{results:?}");
}

#[tokio::test]
async fn of_an_owner_that_was_overtaken_while_it_stood_still_nothing_is_accepted_and_it_starts_no_tool() {
    // The first owner stands still while its model thinks: when it moves again, the answer with the call is there.
    let gate = Gate::closed();
    let effect = |name: &str| calls([call("bash", json!({"command": format!("echo {name} >> effects")}))]);
    let reply = replies([effect("of the old owner").hold(&gate), effect("of the new owner"), text("done")]);
    let Some(stage) = Stage::new(reply).await else { return };
    let mut first = stage.worker("a").await;
    let client = stage.start(&["the task"]);
    stage.sandbox.server.request(0).await;
    let paused = first.pause();
    gate.open();
    let second = stage.worker("b").await;
    let finished = end(client).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    let before = (fs::read(stage.sandbox.project.join("effects")).unwrap(), stage.sandbox.server.count());
    assert_eq!(before.0, b"of the new owner\n");
    for pid in &paused {
        let _ = kill_process(*pid, Signal::CONT);
    }
    // Its agent and its supervisor end by themselves; the worker goes on and can take other runs.
    for pid in &paused[1..] {
        until("end of the old owner", || rustix::process::test_kill_process(*pid).is_err().then_some(())).await;
    }
    assert_eq!(stage.sandbox.read("effects"), "of the new owner\n", "the old owner started a tool");
    assert_eq!(stage.sandbox.server.count(), before.1, "the old owner asked the model");
    assert!(first.process.try_wait().unwrap().is_none(), "the worker lives");
    let said = first.stop().await;
    assert!(said.contains("Run r1: lost"), "{said}");
    let shown = stage.shown().await;
    assert_eq!((&shown["status"], &shown["result"]["answer"]), (&json!("done"), &json!("done")));
    let ends: Vec<_> = shown["terms"].as_array().unwrap().iter().map(|term| term["end"]["how"].clone()).collect();
    assert_eq!(ends, ["lost", "ended"], "the old owner wrote over the record of the new one");
    drop(second);
}

#[tokio::test]
async fn an_owner_that_stood_still_while_its_mark_was_acknowledged_starts_no_tool() {
    let gate = Gate::closed();
    let effect = calls([call("bash", json!({"command": "echo of the old owner >> effects"}))]);
    let Some(stage) = Stage::new(replies([effect.hold(&gate), text("done")])).await else { return };
    let proxy = Proxy::to(&stage.nats).await;
    let mut first = stage.worker_at(&proxy.url, "a", &["--lease", "2s"]).await;
    let client = stage.start(&["the task"]);
    stage.sandbox.server.request(0).await;
    // The mark that the call begins is a line of the journal.
    proxy.hold_answer("troupe_log", r#"{"type":"batch""#);
    gate.open();
    until("mark", || proxy.has_happened().then_some(())).await;
    let paused = first.pause();
    let second = stage.worker("b").await;
    let finished = end(client).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    assert!(results(&stage.sandbox)[0].contains("interrupted"), "the call was marked");
    // The acknowledgement is there when it moves again.
    proxy.release().await;
    for pid in &paused {
        let _ = kill_process(*pid, Signal::CONT);
    }
    for pid in &paused[1..] {
        until("end of the old owner", || rustix::process::test_kill_process(*pid).is_err().then_some(())).await;
    }
    assert!(!stage.sandbox.project.join("effects").exists(), "the old owner started a tool");
    assert!(first.process.try_wait().unwrap().is_none(), "the worker lives");
    drop(second);
}

#[tokio::test]
async fn a_server_that_is_killed_and_comes_back_holds_the_run_up_and_loses_nothing() {
    let wait = |n: u32| {
        let command = format!("echo {n} >> effects; echo $$ > pid{n}; {}", wait_for_file(&format!("go{n}")));
        calls([call("bash", json!({"command": command}))])
    };
    let Some(mut stage) = Stage::new(replies([wait(1), wait(2), text("done")])).await else { return };
    let _worker = stage.worker_with("a", &["--lease", "20s"]).await;
    let client = stage.start(&["the task"]);
    stage.pid_in("pid1").await;
    stage.nats.kill();
    stage.sandbox.write("go1", "");
    // The result of the call cannot be stored, so nobody learns of it.
    let first = stage.pid_in("pid1").await;
    until("end of the call", || rustix::process::test_kill_process(first).is_err().then_some(())).await;
    assert_eq!(stage.sandbox.server.count(), 1);
    stage.nats.start_again().await;
    stage.pid_in("pid2").await;
    stage.sandbox.write("go2", "");
    let finished = end(client).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    assert_eq!(stage.sandbox.read("effects"), "1\n2\n");
    assert_eq!(results(&stage.sandbox).len(), 2);
    assert_eq!(stage.shown().await["terms"].as_array().unwrap().len(), 1, "nobody else had it");
}

#[tokio::test]
async fn a_run_that_kills_its_workers_is_given_up() {
    let command = "echo x >> tries; echo $$ > pid; sleep 600";
    let reply = move |_: &Request| calls([call("bash", json!({"command": command}))]);
    let Some(stage) = Stage::new(reply).await else { return };
    // The first one says how long leases last.
    let mut worker = stage.worker("w1").await;
    let client = stage.start(&["the task"]);
    for n in 1..=5 {
        until("another try", || (stage.sandbox.project.join("tries").exists()).then_some(())).await;
        until("another try", || (stage.sandbox.read("tries").lines().count() == n).then_some(())).await;
        worker.kill().await;
        worker = stage.worker(&format!("w{}", n + 1)).await;
    }
    let finished = end(client).await;
    assert_eq!(finished.code, Some(14), "{}", finished.stderr);
    assert!(finished.stderr.contains("5 nodes took it"), "{}", finished.stderr);
    assert_eq!(stage.sandbox.read("tries").lines().count(), 5);
}
