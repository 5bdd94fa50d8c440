//! What the tests of runs share: a run in the background, its folder, and its worker.

use std::{fs, path::PathBuf, process::Stdio};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;
use tokio::process::Child;

use crate::support::*;

/// The id of the run of a test: each has its own user folder.
pub const ID: &str = "r1";

/// Flags for small requests: what is estimated of them counts for limits.
pub const SMALL: [&str; 4] = ["--system-prompt", "Be brief.", "--tools", "bash"];

/// `troupe run` with the model of the sandbox.
pub fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--model", "mock/m1", "--run-id", ID], more].concat()
}

/// Runs it to its end.
pub async fn run(sandbox: &Sandbox, more: &[&str]) -> Finished {
    sandbox_run(sandbox, &words(more)).await
}

/// Runs words of the binary as they are: a run takes its model behind the command.
pub async fn sandbox_run(sandbox: &Sandbox, words: &[&str]) -> Finished {
    finish(sandbox.command(words), "").await
}

/// Starts it.
pub fn start(sandbox: &Sandbox, more: &[&str]) -> Child {
    let mut command = sandbox.command(&words(more));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The run's folder.
pub fn folder(sandbox: &Sandbox) -> PathBuf {
    sandbox.user_dir.join("runs").join(ID)
}

/// A JSON file of the run; null while it is not there.
pub fn file(sandbox: &Sandbox, name: &str) -> Value {
    fs::read(folder(sandbox).join(name)).ok().map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap())
}

/// The process of the worker that runs now; waits for one other than `before`.
pub async fn worker(sandbox: &Sandbox, before: Option<Pid>) -> Pid {
    until("worker", || {
        let pid = i32::try_from(file(sandbox, "state.json")["worker"]["pid"].as_i64()?).unwrap();
        Pid::from_raw(pid).filter(|pid| Some(*pid) != before)
    })
    .await
}

/// `kill -9`.
pub fn kill(pid: Pid) {
    kill_process(pid, Signal::KILL).unwrap();
}

/// The process whose number a command wrote into a file.
pub async fn pid_in(sandbox: &Sandbox, name: &str) -> Pid {
    until("process", || {
        let text = fs::read_to_string(sandbox.project.join(name)).ok()?;
        Pid::from_raw(text.strip_suffix('\n')?.parse().ok()?)
    })
    .await
}

/// Waits until a process is gone.
pub async fn gone(pid: Pid) {
    until("end of a process", || (test_kill_process(pid).is_err() || is_zombie(pid)).then_some(())).await;
}

/// Nobody has taken its end: in a container without an init that happens to orphans.
fn is_zombie(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

/// The run's session: well formed, and every call of its branch has exactly one result. Gives the texts of the results.
pub fn results(sandbox: &Sandbox) -> Vec<String> {
    let lines = lines(&sandbox.session_file());
    linked(&lines);
    let messages: Vec<&Value> = lines[1..].iter().map(|entry| &entry["message"]).collect();
    let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let calls = blocks.filter(|block| block["type"] == "toolCall").map(|block| block["id"].clone());
    calls
        .map(|id| {
            let of_call: Vec<_> = messages.iter().filter(|message| message["toolCallId"] == id).collect();
            assert_eq!(of_call.len(), 1, "results of the call {id}");
            text_of(of_call[0])
        })
        .collect()
}

/// The run's events: whole lines, each of them JSON.
pub fn events(sandbox: &Sandbox) -> Vec<Value> {
    let text = fs::read_to_string(folder(sandbox).join("events.jsonl")).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "a torn line at the end");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}
