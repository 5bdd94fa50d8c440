//! The examples do what their heads say.

#![allow(clippy::unwrap_used)]

mod support;

// Its own tests run here: those of examples do not run by themselves.
#[allow(dead_code)]
#[path = "../examples/guard.rs"]
mod guard;

use std::path::{Path, PathBuf};

use serde_json::json;
use support::{agent::finish, *};

/// An example's program, which `cargo test` builds beside the binary.
fn example(name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_troupe")).with_file_name("examples").join(name);
    assert!(program.exists(), "{} is not there: run `cargo build --examples` first", program.display());
    program
}

fn bash(command: &str) -> Reply {
    calls([call("bash", json!({"command": command}))])
}

#[tokio::test]
async fn the_guard_denies_recursive_deletion_tells_the_model_and_lets_the_rest_through() {
    let sandbox = Sandbox::new(replies([bash("rm -rf precious"), bash("echo harmless"), text("done")])).await;
    sandbox.write("precious/file", "x");
    let finished = finish(sandbox.command_of(example("guard"), &["-p", "clean up"]), "").await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    assert!(sandbox.exists("precious/file"));
    let results = sandbox.server.last().results();
    assert!(results[0].contains("Recursive deletion is not allowed here"), "{results:?}");
    assert!(results[1].contains("harmless"), "{results:?}");
}

#[tokio::test]
async fn the_observer_says_which_tools_ran_and_how_they_ended() {
    let sandbox = Sandbox::new(replies([bash("true"), bash("exit 3"), text("done")])).await;
    let finished = finish(sandbox.command_of(example("observer"), &["-p", "go"]), "").await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    let lines: Vec<_> = finished.stderr.lines().filter(|line| line.contains("] bash ")).collect();
    assert_eq!(lines.len(), 2, "{}", finished.stderr);
    assert!(lines[0].contains("bash done, ") && lines[0].ends_with(" ms"), "{lines:?}");
    assert!(lines[1].contains("bash failed, "), "{lines:?}");
}

#[tokio::test]
async fn the_router_answers_by_itself_chooses_by_length_and_keeps_its_count_in_the_session() {
    let sandbox = Sandbox::new(replies([text("nobody asks the server")])).await;
    let run = async |args: &[&str]| {
        let finished = finish(sandbox.command_of(example("router"), args), "").await;
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        finished.stdout
    };
    let listed = run(&["--list-models"]).await;
    for name in ["parrots", "short-or-long"] {
        assert!(listed.contains(name), "{listed}");
    }
    let model = ["--model", "router/short-or-long"];
    assert_eq!(run(&[&model[..], &["-p", "hello"]].concat()).await, "small has read 2 messages.\n");
    assert_eq!(run(&["--continue", "-p", "again"]).await, "small has read 4 messages.\n");
    assert_eq!(run(&["--continue", "-p", "more"]).await, "large has read 6 messages.\n");
    let states: Vec<_> = lines(&sandbox.session_file())
        .into_iter()
        .filter(|line| line["customType"] == "pi.virtual-model-state")
        .map(|line| line["data"]["state"]["requests"].clone())
        .collect();
    assert_eq!(states, [1, 2, 3].map(serde_json::Value::from));
    assert_eq!(sandbox.server.count(), 0);
}
