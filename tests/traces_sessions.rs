//! Another session in the place of one, over RPC (sections 2.10 and 9.2): new, switch, fork, clone, reload.

mod support;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::*;

async fn obliging() -> Sandbox {
    Sandbox::new(|request: &Request| text(&format!("re {}", request.last_user()))).await
}

async fn state(rpc: &mut Rpc) -> Value {
    rpc.call(json!({"type": "get_state"})).await
}

async fn file(rpc: &mut Rpc) -> PathBuf {
    state(rpc).await["sessionFile"].as_str().unwrap_or_default().into()
}

/// The texts of the conversation, without the system prompt.
async fn texts(rpc: &mut Rpc) -> Vec<String> {
    let messages = rpc.messages().await;
    messages.iter().filter(|message| message["role"] != "system").map(text_of).collect()
}

/// Writes a session of the project with these questions, each answered.
fn session(sandbox: &Sandbox, questions: &[&str]) -> PathBuf {
    let mut text = format!(
        "{}\n",
        json!({"type": "session", "version": 3, "id": "one", "timestamp": "2026-01-01T00:00:00.000Z",
            "cwd": sandbox.project})
    );
    let mut parent = Value::Null;
    let mut add = |id: String, message: Value| {
        let entry = json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:01.000Z",
            "message": message});
        text.push_str(&format!("{entry}\n"));
        parent = id.into();
    };
    for (n, question) in questions.iter().enumerate() {
        add(format!("u{n}"), json!({"role": "user", "content": question, "timestamp": 1}));
        let usage = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0});
        add(
            format!("a{n}"),
            json!({"role": "assistant", "content": [{"type": "text", "text": format!("re {question}")}],
                "api": "openai-completions", "provider": "mock", "model": "m2", "usage": usage, "stopReason": "stop",
                "timestamp": 2}),
        );
    }
    sandbox.write(sandbox.user_dir.join("kept/one.jsonl"), text)
}

#[tokio::test]
async fn a_new_session_begins_empty_and_leaves_the_old_file_alone_2_10() {
    let sandbox = obliging().await;
    let mut rpc = sandbox.rpc(&["--name", "first"]).await;
    rpc.prompt("one").await;
    let (old, before) = (file(&mut rpc).await, state(&mut rpc).await);
    let bytes = sandbox.read(&old);
    let parent = json!({"type": "new_session", "parentSession": old});
    assert_eq!(rpc.call(parent).await, json!({"cancelled": false}));
    let after = state(&mut rpc).await;
    assert_ne!(before["sessionId"], after["sessionId"]);
    assert_eq!((&after["messageCount"], after.get("sessionName")), (&json!(0), None));
    rpc.prompt("two").await;
    assert_eq!(sandbox.server.last().texts("user"), ["two"]);
    let new = file(&mut rpc).await;
    assert_eq!(lines(&new)[0]["parentSession"], json!(old));
    assert_eq!(sandbox.read(&old), bytes);
    assert_eq!(sandbox.session_files().len(), 2);
    assert_eq!(rpc.close().await, Some(0));
}

#[tokio::test]
async fn another_session_is_opened_and_the_old_one_can_be_opened_by_others_2_10() {
    let sandbox = obliging().await;
    let kept = session(&sandbox, &["q1", "q2"]);
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.prompt("mine").await;
    let old = file(&mut rpc).await;
    let switch = |path: &Path| json!({"type": "switch_session", "sessionPath": path});
    assert_eq!(rpc.call(switch(&kept)).await, json!({"cancelled": false}));
    assert_eq!(file(&mut rpc).await, kept);
    assert_eq!(texts(&mut rpc).await, ["q1", "re q1", "q2", "re q2"]);
    let bytes = sandbox.read(&old);
    rpc.prompt("there").await;
    assert_eq!(sandbox.read(&old), bytes);
    assert!(sandbox.read(&kept).contains("there"));
    linked(&lines(&kept));
    // The file that was left is free again; the one that is open is not.
    let mut other = sandbox.rpc(&["--session", old.to_str().unwrap()]).await;
    assert_eq!(texts(&mut other).await, ["mine", "re mine"]);
    let error = other.refused(switch(&kept)).await;
    assert!(error.contains(kept.to_str().unwrap()), "{error}");
    assert_eq!(texts(&mut other).await, ["mine", "re mine"], "a switch that fails changes nothing");
    other.prompt("still here").await;
    assert_eq!(other.close().await, Some(0));
    // The open one again: nothing is lost, and it goes on.
    assert_eq!(rpc.call(switch(&kept)).await, json!({"cancelled": false}));
    assert_eq!(texts(&mut rpc).await.len(), 6);
    rpc.prompt("again").await;
    linked(&lines(&kept));
}

#[tokio::test]
async fn what_is_no_session_is_refused_and_left_as_it_is_fc_104() {
    let sandbox = obliging().await;
    let foreign = sandbox.write("notes.jsonl", "not json\n{}\n");
    let gone = session(&sandbox, &["q"]);
    let moved = sandbox.read(&gone).replace(sandbox.project.to_str().unwrap(), "/nowhere/at/all");
    sandbox.write(&gone, moved);
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.prompt("a").await;
    for (path, named) in [(&foreign, "notes.jsonl"), (&gone, "/nowhere/at/all")] {
        let error = rpc.refused(json!({"type": "switch_session", "sessionPath": path})).await;
        assert!(error.contains(named), "{error}");
    }
    assert_eq!(sandbox.read(&foreign), "not json\n{}\n");
    let error = rpc.refused(json!({"type": "switch_session", "sessionPath": ""})).await;
    assert!(error.contains("empty"), "{error}");
    rpc.prompt("b").await;
    assert_eq!(texts(&mut rpc).await, ["a", "re a", "b", "re b"]);
}

#[tokio::test]
async fn damage_is_told_and_an_empty_path_is_refused_when_another_session_is_opened_fc_104() {
    let sandbox = obliging().await;
    let damaged = session(&sandbox, &["one"]);
    sandbox.write(&damaged, sandbox.read(&damaged) + "{\"torn\n");
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.call(json!({"type": "switch_session", "sessionPath": damaged})).await;
    rpc.prompt("two").await;
    assert!(rpc.stderr().contains("is damaged: 1 line cannot be read"), "{}", rpc.stderr());
    let refused = rpc.refused(json!({"type": "switch_session", "sessionPath": ""})).await;
    assert!(refused.contains("path of the session is empty"), "{refused}");
    assert_eq!(file(&mut rpc).await, damaged);
}

#[tokio::test]
async fn no_session_is_made_in_a_folder_that_is_gone() {
    let sandbox = obliging().await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.prompt("a").await;
    let files = sandbox.session_files();
    std::fs::remove_dir_all(&sandbox.project).unwrap();
    for command in ["clone", "new_session"] {
        let error = rpc.refused(json!({"type": command})).await;
        assert!(error.contains(sandbox.project.to_str().unwrap()), "{error}");
        assert_eq!(sandbox.session_files(), files, "{command} left a file that nobody can open");
    }
    assert_eq!(texts(&mut rpc).await, ["a", "re a"]);
}

#[tokio::test]
async fn a_fork_holds_what_was_before_the_message_and_gives_its_text_2_10() {
    let sandbox = obliging().await;
    let kept = session(&sandbox, &["q1", "q2", "q3"]);
    let bytes = sandbox.read(&kept);
    let mut rpc = sandbox.rpc(&["--session", kept.to_str().unwrap()]).await;
    for bad in ["nope", "a1", ""] {
        let error = rpc.refused(json!({"type": "fork", "entryId": bad})).await;
        assert!(!error.is_empty());
    }
    assert_eq!(file(&mut rpc).await, kept);
    let forked = rpc.call(json!({"type": "fork", "entryId": "u1"})).await;
    assert_eq!(forked, json!({"text": "q2", "cancelled": false}));
    assert_eq!(texts(&mut rpc).await, ["q1", "re q1"]);
    rpc.prompt("otherwise").await;
    let fork = lines(&file(&mut rpc).await);
    linked(&fork);
    assert_eq!(fork[0]["parentSession"], json!(kept));
    assert!(sandbox.read(&kept).starts_with(&bytes));
    // Before the first message: an empty session that names where it comes from.
    rpc.call(json!({"type": "switch_session", "sessionPath": kept})).await;
    let forked = rpc.call(json!({"type": "fork", "entryId": "u0"})).await;
    assert_eq!(forked["text"], "q1");
    assert_eq!(texts(&mut rpc).await, Vec::<String>::new());
    rpc.prompt("fresh").await;
    assert_eq!(lines(&file(&mut rpc).await)[0]["parentSession"], json!(kept));
}

#[tokio::test]
async fn a_clone_needs_a_file_unless_the_session_lives_in_memory_2_10() {
    let sandbox = obliging().await;
    let mut rpc = sandbox.rpc(&[]).await;
    let error = rpc.refused(json!({"type": "clone"})).await;
    assert!(error.contains("saved"), "{error}");
    rpc.prompt("one").await;
    let old = file(&mut rpc).await;
    assert_eq!(rpc.call(json!({"type": "clone"})).await, json!({"cancelled": false}));
    assert_ne!(file(&mut rpc).await, old);
    assert_eq!(texts(&mut rpc).await, ["one", "re one"]);
    let mut rpc = sandbox.rpc(&["--no-session"]).await;
    rpc.prompt("one").await;
    assert_eq!(rpc.call(json!({"type": "clone"})).await, json!({"cancelled": false}));
    assert_eq!(texts(&mut rpc).await, ["one", "re one"]);
    let messages = rpc.call(json!({"type": "get_fork_messages"})).await;
    let fork = json!({"type": "fork", "entryId": messages["messages"][0]["entryId"]});
    assert_eq!(rpc.call(fork).await["text"], "one");
    rpc.call(json!({"type": "new_session"})).await;
    rpc.prompt("two").await;
    assert_eq!(sandbox.session_files().len(), 2, "what lives in memory stays there");
}

#[tokio::test]
async fn a_running_trace_is_ended_and_kept_and_lines_wait_meanwhile_2_10() {
    let sandbox = Sandbox::new(|request: &Request| match request.last_user().as_str() {
        "slow" => hang("begun"),
        other => text(&format!("re {other}")),
    })
    .await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.call(json!({"type": "prompt", "message": "slow"})).await;
    rpc.until_that("text", |record| record["assistantMessageEvent"]["delta"] == "begun").await;
    let old = file(&mut rpc).await;
    let from = rpc.mark();
    rpc.send(json!({"id": "new", "type": "new_session"})).await;
    rpc.send(json!({"id": "next", "type": "prompt", "message": "two"})).await;
    let records = rpc.settled(from).await;
    assert_eq!(one(&records, "agent_settled")["aborted"], true);
    let settled = rpc.until_that("the second end", |record| record["aborted"] == false).await;
    assert_eq!(settled["type"], "agent_settled");
    let answered: Vec<_> = of_type(rpc.since(from), "response").iter().map(|record| record["id"].clone()).collect();
    assert_eq!(answered, ["new", "next"]);
    assert_eq!(texts(&mut rpc).await, ["two", "re two"]);
    let kept = lines(&old);
    assert_eq!(kept.last().unwrap()["message"]["stopReason"], "aborted");
    assert_eq!(text_of(&kept.last().unwrap()["message"]), "begun");
}

#[tokio::test]
async fn a_reload_reads_settings_and_prompt_again_and_goes_on() {
    let sandbox = obliging().await;
    sandbox.write("AGENTS.md", "FIRST RULE");
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.prompt("one").await;
    assert!(sandbox.server.last().all_text().contains("FIRST RULE"));
    sandbox.write("AGENTS.md", "SECOND RULE");
    sandbox.settings(json!({"steeringMode": "all"}));
    let old = file(&mut rpc).await;
    rpc.call(json!({"type": "reload"})).await;
    let after = state(&mut rpc).await;
    assert_eq!((&after["sessionFile"], &after["steeringMode"]), (&json!(old), &json!("all")));
    rpc.prompt("two").await;
    assert!(sandbox.server.last().all_text().contains("SECOND RULE"));
    assert_eq!(texts(&mut rpc).await, ["one", "re one", "two", "re two"]);
    linked(&lines(&old));
}

#[tokio::test]
async fn the_command_line_chooses_the_model_of_later_sessions_too() {
    let sandbox = obliging().await;
    let kept = session(&sandbox, &["q1"]);
    let mut rpc = sandbox.rpc(&["--model", "mock/m1"]).await;
    rpc.call(json!({"type": "set_model", "provider": "mock", "modelId": "r1"})).await;
    rpc.call(json!({"type": "new_session"})).await;
    assert_eq!(state(&mut rpc).await["model"]["id"], "m1");
    rpc.call(json!({"type": "switch_session", "sessionPath": kept})).await;
    assert_eq!(state(&mut rpc).await["model"]["id"], "m1");
}

#[tokio::test]
async fn many_sessions_one_after_another_leave_nothing_behind() {
    let sandbox = obliging().await;
    let mut rpc = sandbox.rpc(&[]).await;
    for n in 0..20 {
        rpc.prompt(&format!("prompt {n}")).await;
        rpc.call(json!({"type": "new_session"})).await;
    }
    rpc.prompt("last").await;
    assert_eq!(texts(&mut rpc).await, ["last", "re last"]);
    assert_eq!(sandbox.session_files().len(), 21);
    assert_eq!(rpc.close().await, Some(0));
}
