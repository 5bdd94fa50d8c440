//! `--record` and `--replay` of the binary (`docs/cassettes.md`).

#![allow(clippy::unwrap_used)] // The helpers of tests may fail as tests do.

mod support;

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use serde_json::{Value, json};
use support::*;

/// A cassette that lies outside of every sandbox.
struct Tape {
    _dir: tempfile::TempDir,
    file: PathBuf,
}

impl Tape {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().canonicalize().unwrap().join("run.jsonl");
        Self { _dir: dir, file }
    }

    fn path(&self) -> &str {
        self.file.to_str().unwrap()
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.file).unwrap()
    }
}

/// A place where nothing is known of the recorded run: other folders, no models, no key.
async fn elsewhere() -> Sandbox {
    let sandbox = Sandbox::new(replies([text("from the network")])).await;
    fs::remove_file(sandbox.user_dir.join("models.json")).unwrap();
    sandbox
}

/// Two turns: a tool that reads a file, and an answer.
fn two_turns() -> Vec<Reply> {
    let reads = calls([call("bash", json!({"command": "cat a.txt; pwd"}))]).after_text("I look.").split(3);
    vec![reads, text("It says hello.").split(4).chunked()]
}

/// Events without ids, times and places: what two runs of the same thing have in common.
fn essence(events: &[Value], sandbox: &Sandbox) -> Vec<Value> {
    fn strip(value: &mut Value) {
        const VOLATILE: [&str; 8] =
            ["id", "parentId", "entryId", "timestamp", "durationMs", "sessionId", "cwd", "wall_time_seconds"];
        match value {
            Value::Object(map) => {
                map.retain(|name, _| !VOLATILE.contains(&name.as_str()));
                map.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let root = sandbox.project.parent().unwrap().to_str().unwrap();
    let text = serde_json::to_string(events).unwrap().replace(root, "{root}");
    let mut events: Vec<Value> = serde_json::from_str(&text).unwrap();
    events.iter_mut().for_each(strip);
    events
}

#[tokio::test]
async fn a_recorded_run_of_two_turns_gives_the_same_events_without_a_server_a_key_or_the_models() {
    let tape = Tape::new();
    let recording = Sandbox::new(replies(two_turns())).await;
    recording.write("a.txt", "hello\n");
    let live = recording.json(&["--record", tape.path(), "--model", "mock/r1:high", "What does a.txt say?"]).await;
    assert_eq!(recording.server.count(), 2);
    assert_eq!(fs::metadata(&tape.file).unwrap().permissions().mode() & 0o777, 0o600);

    let sandbox = elsewhere().await;
    sandbox.write("a.txt", "hello\n");
    let strict = ["--replay", tape.path(), "--replay-strict", "What does a.txt say?"];
    let replayed = sandbox.json(&strict).await;
    let (live, replayed) = (essence(&live, &recording), essence(&replayed, &sandbox));
    for (index, (live, replayed)) in live.iter().zip(&replayed).enumerate() {
        assert_eq!(live, replayed, "record {index}");
    }
    assert_eq!(live.len(), replayed.len());
    let again = ["-p", "--replay", tape.path(), "--model", "mock/r1:high", "What does a.txt say?"];
    let again = sandbox.run(&again).await;
    assert_eq!((again.code, again.stdout.as_str(), again.stderr.as_str()), (Some(0), "It says hello.\n", ""));
    assert_eq!(recording.server.count(), 2, "a replay asks nobody");
}

#[tokio::test]
async fn a_replay_works_in_rpc_mode_and_ends_with_the_cassette() {
    let tape = Tape::new();
    let recording = Sandbox::new(replies(two_turns())).await;
    let mut rpc = recording.rpc(&["--record", tape.path()]).await;
    let live = rpc.prompt("look").await;
    assert_eq!(rpc.close().await, Some(0));

    let sandbox = elsewhere().await;
    let mut rpc = sandbox.rpc(&["--replay", tape.path()]).await;
    assert_eq!(rpc.call(json!({"type": "get_state"})).await["model"]["name"], "Model One");
    assert_eq!(shape(&rpc.prompt("look").await), shape(&live));
    let ended_by = rpc.prompt("and then?").await;
    let message = ended(&ended_by, "assistant").pop().unwrap()["errorMessage"].as_str().unwrap().to_owned();
    assert_eq!(
        message,
        format!(
            "The cassette {} has 2 exchanges with mock/m1, all of them played already. Request 3 \
             ends with message 6, from the user: \"and then?\"",
            tape.path()
        )
    );
    assert_eq!(of_type(&ended_by, "auto_retry_start").len(), 0, "another try would bring the same");
    assert_eq!(rpc.close().await, Some(0));
}

#[tokio::test]
async fn a_run_that_diverges_says_where_and_goes_on_unless_strict() {
    let tape = Tape::new();
    let recording = Sandbox::new(replies(two_turns())).await;
    recording.run(&["-p", "--record", tape.path(), "What does a.txt say?"]).await;

    let sandbox = elsewhere().await;
    let finished = sandbox.run(&["-p", "--replay", tape.path(), "What does b.txt say?"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "It says hello.\n"), "{}", finished.stderr);
    let where_ = "request 1 is not what exchange 1 (mock/m1) was asked. First difference at messages[1].content: \
                  recorded \"What does a.txt say?\", now \"What does b.txt say?\"";
    assert!(finished.stderr.contains(where_), "{}", finished.stderr);
    assert!(finished.stderr.ends_with("2 requests differed from what was recorded.\n"), "{}", finished.stderr);

    let finished = sandbox.run(&["-p", "--replay", tape.path(), "--replay-strict", "What does b.txt say?"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
    assert!(finished.stderr.contains(where_), "{}", finished.stderr);

    let finished = sandbox.run(&["-p", "--replay", tape.path(), "--model", "openai/gpt-4o", "hi"]).await;
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("it was recorded with mock/m1. Start without --model"), "{}", finished.stderr);
}

#[tokio::test]
async fn fc_106_no_key_of_the_user_gets_into_a_cassette() {
    let tape = Tape::new();
    let key = "sk-mock-0123456789";
    let echo = format!("the key {key} is wrong");
    let recording =
        Sandbox::new(replies([calls([call("bash", json!({"command": "cat keys"}))]), http(401, &echo)])).await;
    recording.write_models(key);
    let auth = json!({"groq": {"type": "api_key", "key": "gsk-stored-0123456789"}});
    recording.write(recording.user_dir.join("auth.json"), auth.to_string());
    recording.write("keys", format!("{key} gsk-stored-0123456789 xai-variable-0123456789 and a word"));
    let mut command = recording.command(&["-p", "--record", tape.path(), "print the keys"]);
    command.env("XAI_API_KEY", "xai-variable-0123456789");
    let finished = support::agent::finish(command, "").await;
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
    assert!(recording.server.last().results()[0].contains(key), "the model saw what the tool printed");
    let text = tape.text();
    assert!(!text.contains("0123456789"), "{text}");
    assert!(text.contains("[secret] [secret] [secret] and a word"), "{text}");
    assert!(text.contains("the key [secret] is wrong"), "{text}");
}

#[tokio::test]
async fn what_a_killed_run_received_is_replayed_to_the_cut() {
    let tape = Tape::new();
    let recording = Sandbox::new(replies([hang("half of it")])).await;
    let mut rpc = recording.rpc(&["--record", tape.path()]).await;
    rpc.send(json!({"type": "prompt", "message": "go"})).await;
    rpc.until("message_update").await;
    rpc.until_that("text", |record| record.to_string().contains("half of it")).await;
    // Kills it.
    drop(rpc);

    let sandbox = elsewhere().await;
    sandbox.settings(json!({"retry": {"enabled": false}}));
    let events = sandbox.json(&["--replay", tape.path(), "go"]).await;
    let message = ended(&events, "assistant").pop().unwrap();
    assert_eq!((text_of(message).as_str(), &message["stopReason"]), ("half of it", &json!("error")));
    let finished = sandbox.run(&["-p", "--replay", tape.path(), "go"]).await;
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("was cut off when it was recorded"), "{}", finished.stderr);
}

#[tokio::test]
async fn a_run_without_http_records_nothing_and_says_so() {
    let tape = Tape::new();
    let sandbox = elsewhere().await;
    let finished = sandbox.run(&["-p", "--record", tape.path(), "--model", "troupe/offline", "hi"]).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stderr.contains("Warning: nothing was recorded"), "{}", finished.stderr);
    assert!(!tape.file.exists());
}

#[tokio::test]
async fn files_that_are_no_cassettes_are_neither_overwritten_nor_played() {
    let sandbox = elsewhere().await;
    let other = sandbox.write("notes.txt", "mine\n");
    let path = other.to_str().unwrap();
    for (flag, text) in [("--record", "exists already and is not overwritten"), ("--replay", "is no cassette")] {
        let finished = sandbox.run(&["-p", flag, path, "--model", "troupe/offline", "hi"]).await;
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{}", finished.stderr);
        assert!(finished.stderr.contains(text), "{}", finished.stderr);
    }
    assert_eq!(sandbox.read("notes.txt"), "mine\n");
    let missing = sandbox.run(&["-p", "--replay", "nowhere.jsonl", "hi"]).await;
    assert!(missing.stderr.contains("nowhere.jsonl cannot be read"), "{}", missing.stderr);
}
