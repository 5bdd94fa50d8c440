//! How the program ends: by signals, by a reader that goes away, by `kill -9`; and what is left behind then.

#![allow(clippy::unwrap_used)]

mod support;

use std::{path::Path, process::Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use serde_json::{Value, json};
use support::*;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
};

/// A model that calls bash once; the command writes its process id to `pid`, says "begun", and never ends by itself.
async fn busy() -> Sandbox {
    let command = "echo $$ > pid.new; mv pid.new pid; echo begun; touch running; sleep 600 & wait";
    Sandbox::new(replies([calls([call("bash", json!({"command": command}))]), text("done")])).await
}

/// Starts the binary; returns when its command runs.
async fn begin(sandbox: &Sandbox, args: &[&str]) -> Child {
    let mut command = sandbox.command(args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    within("running command", async {
        while !sandbox.exists("running") || !sandbox.exists("pid") {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    })
    .await;
    child
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// The process group of the command.
fn group(sandbox: &Sandbox) -> Pid {
    Pid::from_raw(sandbox.read("pid").trim().parse().unwrap()).unwrap()
}

/// Ends the command; what it printed stays.
fn end_command(sandbox: &Sandbox) {
    // It may have been taken along already.
    let _ = kill_process_group(group(sandbox), Signal::KILL);
}

/// Waits until the processes of the command are gone.
async fn group_gone(sandbox: &Sandbox) {
    let group = group(sandbox);
    within("end of the command's processes", async {
        while test_kill_process_group(group).is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    })
    .await;
}

/// The results in a session file, by the ids of the calls that it has.
fn results(file: &Path) -> Vec<(Value, Vec<String>)> {
    let lines = lines(file);
    linked(&lines);
    let messages: Vec<&Value> = lines[1..].iter().map(|entry| &entry["message"]).collect();
    let calls = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let calls = calls.filter(|block| block["type"] == "toolCall").map(|block| block["id"].clone());
    calls
        .map(|id| {
            let of_call = messages.iter().filter(|message| message["toolCallId"] == id);
            let texts = of_call.map(|message| text_of(message)).collect();
            (id, texts)
        })
        .collect()
}

#[tokio::test]
async fn a_signal_ends_the_run_in_order_with_its_code_and_takes_the_commands_along() {
    for (kind, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let sandbox = busy().await;
        let child = begin(&sandbox, &["--mode", "json", "go"]).await;
        signal(&child, kind);
        let output = within("end", child.wait_with_output()).await.unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
        group_gone(&sandbox).await;
        let results = results(&sandbox.session_file());
        assert_eq!(results.len(), 1);
        assert_eq!(results[0].1.len(), 1, "{results:?}");
        assert!(results[0].1[0].contains("begun") && results[0].1[0].contains("abort"), "{results:?}");
        // What was aborted is over: the next process has nothing to repair and does not go on with it.
        let asked = sandbox.server.count();
        let events = sandbox.json(&["--continue", "and now?"]).await;
        let answers = ended(&events, "assistant");
        assert_eq!((answers.len(), text_of(answers[0]).as_str()), (1, "done"));
        assert_eq!(sandbox.server.count(), asked + 1);
        strict(sandbox.server.last().messages()).unwrap();
    }
}

#[tokio::test]
async fn a_second_signal_ends_the_program_at_once() {
    let sandbox = Sandbox::new(replies([hang("thinking")])).await;
    let mut command = sandbox.command(&["-p", "go"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    sandbox.server.request(0).await;
    signal(&child, Signal::TERM);
    signal(&child, Signal::TERM);
    let output = within("end", child.wait_with_output()).await.unwrap();
    assert_eq!(output.status.code(), Some(143));
}

#[tokio::test]
async fn a_reader_that_goes_away_ends_the_run_without_a_panic() {
    for mode in ["json", "text"] {
        let sandbox = busy().await;
        let mut child = begin(&sandbox, &["--mode", mode, "go"]).await;
        let mut out = BufReader::new(child.stdout.take().unwrap());
        if mode == "json" {
            let mut header = String::new();
            out.read_line(&mut header).await.unwrap();
        }
        drop(out);
        // The end of the command is the next thing that there is to say.
        end_command(&sandbox);
        let output = within("end", child.wait_with_output()).await.unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{mode}: {stderr}");
        assert!(stderr.contains("standard output") && !stderr.contains("panicked"), "{mode}: {stderr}");
        assert_eq!(results(&sandbox.session_file())[0].1.len(), 1);
    }
}

#[tokio::test]
async fn after_kill_9_in_the_middle_of_a_call_each_call_has_one_result_and_nothing_is_repeated() {
    let command = "echo x >> effects; (env -i setsid sh -c 'echo $$ > escaped; touch running; exec sleep 600' &); \
                   echo $$ > pid.new; mv pid.new pid; sleep 600 & wait";
    let both = calls([call("bash", json!({"command": command})), call("read", json!({"path": "note.txt"}))]);
    let sandbox = Sandbox::new(replies([both, text("recovered")])).await;
    sandbox.write("note.txt", "hello");
    let mut child = begin(&sandbox, &["--mode", "json", "go"]).await;
    signal(&child, Signal::KILL);
    within("end", child.wait()).await.unwrap();
    // Also the one that left the group, its parent and its environment.
    group_gone(&sandbox).await;
    if cfg!(target_os = "linux") {
        let escaped = Pid::from_raw(sandbox.read("escaped").trim().parse().unwrap()).unwrap();
        within("end of what got away", async {
            while rustix::process::test_kill_process(escaped).is_ok() {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        })
        .await;
    }

    sandbox.json(&["--continue", "and now?"]).await;
    let results = results(&sandbox.session_file());
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(|(_, texts)| texts.len() == 1), "{results:?}");
    assert!(results[0].1[0].contains("interrupted"), "{results:?}");
    assert!(results[1].1[0].contains("hello") || results[1].1[0].contains("interrupted"), "{results:?}");
    assert_eq!(sandbox.read("effects"), "x\n", "what may have had effects is not run again");
    strict(sandbox.server.last().messages()).unwrap();
}

#[tokio::test]
async fn the_trace_file_tells_of_starts_and_ends_and_holds_neither_words_nor_keys() {
    let reply = calls([call("bash", json!({"command": "echo tool-words"}))]);
    let sandbox = Sandbox::new(replies([reply, text("model-words")])).await;
    sandbox.write_models("sk-very-secret");
    let finished = sandbox.run(&["--trace-file", "trace.jsonl", "-p", "user-words"]).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let trace = sandbox.read("trace.jsonl");
    let events: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let has = |event: &str, actor: &str| events.iter().any(|e| e["event"] == event && e["actor"] == actor);
    for actor in [
        "Runtime",
        "Fleet",
        "Agent",
        "SessionWriter",
        "EventBus",
        "TurnLoop",
        "Printer",
        "ProviderStream",
        "ToolBatch",
        "ToolCall",
    ] {
        assert!(has("start", actor), "{actor}: {trace}");
    }
    for worker in ["ProviderStream", "ToolBatch", "ToolCall"] {
        assert!(has("stop", worker), "{worker}: {trace}");
    }
    for secret in ["sk-very-secret", "tool-words", "model-words", "user-words"] {
        assert!(!trace.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn a_worker_that_panics_is_in_the_trace_file_and_the_run_ends_well() {
    let sandbox = Sandbox::new(replies([text("unused")])).await;
    let script = json!({"turns": [{"text": "fine", "fault": {"kind": "panic", "message": "staged", "times": 1}}]});
    sandbox.write("script.json", script.to_string());
    let args = ["--model", "troupe/script", "--script", "script.json", "--trace-file", "trace.jsonl", "-p", "hi"];
    let mut command = sandbox.command(&args);
    let output = within("end", command.stdin(Stdio::null()).output()).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "fine\n");
    assert_eq!(output.status.code(), Some(0));
    let trace = sandbox.read("trace.jsonl");
    let died =
        |line: &str| line.contains("\"panic\"") && line.contains("\"ProviderStream\"") && line.contains("staged");
    assert!(trace.lines().any(died), "{trace}");
}

#[tokio::test]
async fn spans_of_turns_calls_and_tools_are_nested_in_their_trace_and_hold_no_words() {
    let reply = calls([call("bash", json!({"command": "echo tool-words"}))]);
    let sandbox = Sandbox::new(replies([reply, text("model-words")])).await;
    sandbox.write_models("sk-very-secret");
    let mut command = sandbox.command(&["--log-file", "log.txt", "-p", "user-words"]);
    command.env("TROUPE_LOG", "trace");
    let output = within("end", command.stdin(Stdio::null()).output()).await.unwrap();
    assert_eq!(output.status.code(), Some(0));
    let log = sandbox.read("log.txt");
    assert!(log.contains("trace{agent=\"main\"}:turn:call{"), "{log}");
    for secret in ["sk-very-secret", "tool-words", "model-words", "user-words"] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}
