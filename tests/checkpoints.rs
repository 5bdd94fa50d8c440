//! Changes of files are undone: by `troupe undo`, and over RPC.

#![allow(clippy::unwrap_used)]

mod support;

use serde_json::{Value, json};
use support::{agent::finish, *};

fn write(path: &str, content: &str) -> Reply {
    calls([call("write", json!({"path": path, "content": content}))])
}

fn bash(command: &str) -> Reply {
    calls([call("bash", json!({"command": command}))])
}

async fn run(sandbox: &Sandbox, args: &[&str], code: i32) -> String {
    let finished = finish(sandbox.command(args), "").await;
    assert_eq!(finished.code, Some(code), "{args:?}: {}{}", finished.stdout, finished.stderr);
    finished.stdout + &finished.stderr
}

#[tokio::test]
async fn troupe_undo_goes_back_turn_by_turn_and_forth_and_the_model_is_told() {
    let script = [write("a.txt", "two"), bash("rm b.txt; echo new > c.txt"), text("done"), text("I see")];
    let sandbox = Sandbox::new(replies(script)).await;
    sandbox.write("a.txt", "one");
    sandbox.write("b.txt", "kept\n");
    run(&sandbox, &["-p", "change it"], 0).await;
    let list = run(&sandbox, &["undo", "--list"], 0).await;
    for line in ["changed  ", "deleted  ", "created  ", "after entry "] {
        assert!(list.contains(line), "{list}");
    }
    let look = run(&sandbox, &["undo", "--dry-run"], 0).await;
    assert!(look.contains("would be recreated") && look.contains("would be removed"), "{look}");
    assert!(!sandbox.exists("b.txt"));
    let told = run(&sandbox, &["undo"], 0).await;
    assert!(told.contains("recreated") && told.contains("removed"), "{told}");
    assert_eq!(sandbox.read("b.txt"), "kept\n");
    assert!(!sandbox.exists("c.txt"));
    run(&sandbox, &["undo"], 0).await;
    assert_eq!(sandbox.read("a.txt"), "one");
    let nothing = run(&sandbox, &["undo"], 1).await;
    assert!(nothing.contains("nothing to undo"), "{nothing}");
    run(&sandbox, &["undo", "--redo"], 0).await;
    assert_eq!(sandbox.read("a.txt"), "two");
    // Somebody else's work is left alone, and shown.
    sandbox.write("a.txt", "mine");
    let conflict = run(&sandbox, &["undo", "--prompt"], 1).await;
    assert!(conflict.contains("changed since by somebody else") && conflict.contains("-mine"), "{conflict}");
    assert_eq!(sandbox.read("a.txt"), "mine");
    let report: Value = serde_json::from_str(&run(&sandbox, &["undo", "--force", "--json"], 0).await).unwrap();
    assert_eq!(report["files"][0]["outcome"], "restored");
    assert_eq!(sandbox.read("a.txt"), "one");

    run(&sandbox, &["--continue", "-p", "and now?"], 0).await;
    let request = sandbox.server.last().body.to_string();
    assert!(request.contains("undone by the user"), "{request}");
    assert_eq!(sandbox.session_files().len(), 1, "the log of checkpoints is no session");
}

#[tokio::test]
async fn rpc_undoes_files_and_conversation_and_refuses_while_a_trace_runs() {
    // Outside of the project: what is changed in it while a command runs counts as changed by the command.
    let outside = tempfile::tempdir().unwrap();
    let go = outside.path().join("go");
    let wait = wait_for_file(&go.display().to_string());
    let script = [write("a.txt", "two"), text("done"), bash(&wait), text("over"), text("again")];
    let sandbox = Sandbox::new(replies(script)).await;
    sandbox.write("a.txt", "one");
    let mut rpc = Rpc::start(sandbox.command(&["--mode", "rpc"]));
    rpc.request(json!({"type": "prompt", "message": "first"})).await;
    rpc.until("agent_settled").await;
    let listed = rpc.request(json!({"type": "get_checkpoints"})).await;
    assert_eq!(listed["data"]["checkpoints"][0]["files"][0]["change"], "changed", "{listed}");

    rpc.request(json!({"type": "prompt", "message": "the zebra"})).await;
    rpc.until("tool_execution_start").await;
    let refused = rpc.request(json!({"type": "undo"})).await;
    assert!(refused["error"].as_str().unwrap().contains("is working"), "{refused}");
    std::fs::write(&go, "").unwrap();
    rpc.until("agent_settled").await;

    let undone = rpc.request(json!({"type": "undo", "target": "prompt", "conversation": true})).await;
    assert_eq!(undone["success"], true, "{undone}");
    assert_eq!(undone["data"]["files"][0]["outcome"], "restored", "{undone}");
    assert_eq!(sandbox.read("a.txt"), "one");
    let messages = rpc.request(json!({"type": "get_messages"})).await;
    let roles: Vec<_> = messages["data"]["messages"].as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
    assert!(!roles.contains(&json!("assistant")), "{messages}");
    assert!(roles.contains(&json!("custom")), "{messages}");
    rpc.request(json!({"type": "prompt", "message": "the giraffe"})).await;
    rpc.until("agent_settled").await;
    let last = sandbox.server.last().body.to_string();
    assert!(last.contains("giraffe") && last.contains("undone by the user") && !last.contains("zebra"), "{last}");
    let redone = rpc.request(json!({"type": "undo", "target": "redo"})).await;
    assert_eq!(redone["data"]["files"][0]["outcome"], "restored", "{redone}");
    assert_eq!(sandbox.read("a.txt"), "two");
    let odd = rpc.request(json!({"type": "undo", "target": "yesterday"})).await;
    assert!(odd["error"].as_str().unwrap().contains("target"), "{odd}");
}

#[tokio::test]
async fn without_a_session_file_or_by_the_settings_no_checkpoints_are_taken() {
    for (args, settings) in [(&["--no-session"][..], json!({})), (&[], json!({"checkpoints": {"enabled": false}}))] {
        let sandbox = Sandbox::new(replies([write("a.txt", "two"), text("done")])).await;
        sandbox.settings(settings);
        let mut rpc = Rpc::start(sandbox.command(&[&["--mode", "rpc"], args].concat()));
        rpc.request(json!({"type": "prompt", "message": "go"})).await;
        rpc.until("agent_settled").await;
        let refused = rpc.request(json!({"type": "undo"})).await;
        assert!(refused["error"].as_str().unwrap().contains("No checkpoints are taken"), "{refused}");
        for file in sandbox.session_files() {
            assert!(!file.with_file_name("checkpoints").exists());
        }
    }
}
