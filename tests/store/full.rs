//! A disk that refuses, and takes things again: the system's limit for the size of files stands for it, which can be
//! set from outside while a process runs, and cuts a write in the middle as a full disk does.

use std::{fs, path::Path, process::Stdio};

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};

use crate::support::*;

/// No file that this process writes may grow beyond `bytes`; none lifts the limit.
fn limit_files(pid: u32, bytes: Option<u64>) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap());
    prlimit(pid, Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
}

fn texts(file: &Path) -> Vec<String> {
    lines(file).iter().filter(|line| line["type"] == "message").map(|line| text_of(&line["message"])).collect()
}

#[tokio::test]
async fn fc_010_an_rpc_session_goes_on_in_memory_says_so_and_is_saved_when_there_is_room() {
    let sandbox = Sandbox::new(replies([text("ok")])).await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.prompt("first").await;
    let file = sandbox.session_file();
    let size = fs::metadata(&file).unwrap().len();
    // In the middle of the next line.
    limit_files(rpc.pid(), Some(size + 70));
    rpc.prompt("second").await;
    let told = rpc.until("saving_changed").await;
    assert!(told["unsavedEntries"].as_u64() >= Some(1) && told["reason"].as_str().unwrap().contains("too large"));
    rpc.call(json!({"type": "set_session_name", "name": "named while it was full"})).await;
    rpc.call(json!({"type": "bash", "command": "echo from bash"})).await;
    let state = rpc.call(json!({"type": "get_state"})).await;
    assert!(state["unsavedEntries"].as_u64().unwrap() >= 4, "{state}");
    assert!(rpc.stderr().contains("not being saved and goes on in memory only"), "{}", rpc.stderr());
    assert_eq!(fs::metadata(&file).unwrap().len(), size, "no part of a line is left behind");
    assert_eq!(lines(&file).last().map(|line| text_of(&line["message"])), Some("ok".into()));

    assert!(!rpc.stderr().contains(".. It is"), "{}", rpc.stderr());
    let refused = rpc.refused(json!({"type": "new_session"})).await;
    assert!(refused.contains("entries of this session are not saved yet"), "{refused}");
    limit_files(rpc.pid(), None);
    rpc.prompt("third").await;
    assert_eq!(rpc.until("saving_changed").await["unsavedEntries"], 0);
    let state = rpc.call(json!({"type": "get_state"})).await;
    assert_eq!(state["unsavedEntries"], Value::Null, "{state}");
    let written = lines(&file);
    linked(&written);
    let spoken: Vec<_> = texts(&file).into_iter().filter(|text| !text.is_empty()).collect();
    for words in ["first", "second", "third"] {
        assert_eq!(spoken.iter().filter(|text| *text == words).count(), 1, "{spoken:?}");
    }
    assert!(written.iter().any(|line| line["name"] == "named while it was full"));
    assert!(written.iter().any(|line| line["message"]["command"] == "echo from bash"));
    assert_eq!(rpc.close().await, Some(0));
}

#[tokio::test]
async fn fc_010_a_new_session_that_cannot_be_saved_to_the_end_has_an_exit_code_that_tells() {
    let sandbox = Sandbox::new(replies([text("ok")])).await;
    let mut rpc = sandbox.rpc(&[]).await;
    limit_files(rpc.pid(), Some(0));
    let events = rpc.prompt("first").await;
    assert_eq!(ended(&events, "assistant").len(), 1, "the run itself goes on");
    assert_eq!(rpc.messages().await.len(), 3);
    assert!(sandbox.session_files().is_empty());
    let (code, stderr) = rpc.finish().await;
    assert_eq!(code, Some(6), "{stderr}");
    assert!(stderr.contains("entries of the session could not be saved and are lost"), "{stderr}");
}

/// The binary in JSON mode in a shell that limits the size of its files to nothing; the limit can be lifted.
fn limited(sandbox: &Sandbox) -> tokio::process::Command {
    let binary = sandbox.command(&["--mode", "json", "hi"]);
    let program = binary.as_std().get_program().to_string_lossy().into_owned();
    let args: Vec<_> = binary.as_std().get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let mut shell = sandbox.command_of("/bin/sh", &[]);
    // The sandbox puts its choice of a model in front, which a shell would take for its own.
    let mut command = tokio::process::Command::new("/bin/sh");
    command.arg("-c").arg(format!("ulimit -S -f 0; exec {program} \"$@\"")).arg("sh").args(args);
    command.current_dir(&sandbox.project).env_clear().kill_on_drop(true);
    let envs: Vec<_> = shell.as_std_mut().get_envs().map(|(k, v)| (k.to_owned(), v.unwrap().to_owned())).collect();
    command.envs(envs).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[tokio::test]
async fn fc_010_a_headless_run_waits_for_the_disk_and_goes_on_when_there_is_room() {
    let sandbox = Sandbox::new(replies([text("ok")])).await;
    let mut child = limited(&sandbox).spawn().unwrap();
    let pid = child.id().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    while !told.contains("The run waits for that, 30 s at most") {
        assert_ne!(within("notice", errors.read_line(&mut told)).await.unwrap(), 0, "{told}");
    }
    assert_eq!(sandbox.server.count(), 0, "nothing is sent before it is stored");
    limit_files(pid, None);
    let output = within("end", child.wait_with_output()).await.unwrap();
    within("stderr", errors.read_to_string(&mut told)).await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("saved again"), "{told}");
    assert_eq!(texts(&sandbox.session_file())[1..], ["hi", "ok"]);
}

#[tokio::test]
async fn fc_010_a_headless_run_that_waited_in_vain_ends_with_its_code() {
    let sandbox = Sandbox::new(replies([text("ok")])).await;
    sandbox.settings(json!({"sessionSaveWaitMs": 400}));
    let output = within("end", limited(&sandbox).output()).await.unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{stderr}");
    assert!(stderr.contains("could not be saved"), "{stderr}");
    assert_eq!(sandbox.server.count(), 0);
    assert!(sandbox.session_files().is_empty());
}
