//! A second process: told who writes, free to read or to fork.

use std::fs;

use serde_json::json;

use crate::support::*;

/// A sandbox whose model says "ok", and a session that a running process writes.
async fn written() -> (Sandbox, Rpc, String) {
    let sandbox = Sandbox::new(replies([text("ok")])).await;
    let mut writer = sandbox.rpc(&[]).await;
    writer.prompt("hello").await;
    let file = sandbox.session_file().display().to_string();
    (sandbox, writer, file)
}

#[tokio::test]
async fn fc_007_a_second_process_is_told_who_writes_and_may_read_or_fork() {
    let (sandbox, mut writer, file) = written().await;
    let refused = sandbox.run(&["--session", &file, "--model", "mock/m1", "-p", "hi"]).await;
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{}", refused.stderr);
    for words in ["is open in another Troupe process", "--fork", "--read-only", &file] {
        assert!(refused.stderr.contains(words), "{words}: {}", refused.stderr);
    }
    if cfg!(target_os = "linux") {
        let holder = format!("(pid {}, running since ", writer.pid());
        assert!(refused.stderr.contains(&holder), "{}", refused.stderr);
    }
    let forked = sandbox.run(&["--fork", &file, "-p", "hi"]).await;
    assert_eq!(forked.code, Some(0), "{}", forked.stderr);

    let before = fs::read(&file).unwrap();
    let mut reader = sandbox.rpc(&["--session", &file, "--read-only", "--model", "mock/m1"]).await;
    let state = reader.call(json!({"type": "get_state"})).await;
    assert_eq!((&state["readOnly"], &state["sessionFile"]), (&json!(true), &json!(file)));
    assert_eq!(reader.messages().await.len(), writer.messages().await.len());
    for question in ["get_tree", "get_entries", "get_session_stats", "get_fork_messages", "get_commands", "abort"] {
        reader.call(json!({"type": question})).await;
    }
    for command in [
        json!({"type": "prompt", "message": "hi"}),
        json!({"type": "steer", "message": "hi"}),
        json!({"type": "follow_up", "message": "hi"}),
        json!({"type": "set_session_name", "name": "n"}),
        json!({"type": "set_thinking_level", "level": "low"}),
        json!({"type": "set_model", "provider": "mock", "modelId": "m2"}),
        json!({"type": "bash", "command": "touch made"}),
        json!({"type": "compact"}),
    ] {
        let refusal = reader.refused(command.clone()).await;
        assert!(refusal.contains("open for reading only") && refusal.contains("--fork"), "{command}: {refusal}");
    }
    assert_eq!(reader.close().await, Some(0));
    assert!(!sandbox.exists("made"));
    assert_eq!(fs::read(&file).unwrap(), before);
    let refused = sandbox.run(&["--session", &file, "--read-only", "--model", "mock/m1", "-p", "hi"]).await;
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("open for reading only"), "{}", refused.stderr);

    // A lock ends with its process, however that ended.
    writer.kill().await;
    let next = sandbox.run(&["--session", &file, "--model", "mock/m1", "-p", "again"]).await;
    assert_eq!(next.code, Some(0), "{}", next.stderr);
}

#[tokio::test]
async fn read_only_needs_a_session_that_exists_and_changes_none() {
    let sandbox = Sandbox::new(replies([text("ok")])).await;
    for (args, words) in [
        (&["--read-only", "-p", "hi"][..], "--read-only requires --session"),
        (&["--read-only", "--fork", "x", "-p", "hi"], "cannot be combined with --fork"),
        (&["--read-only", "--no-session", "--continue", "-p", "hi"], "cannot be combined with --no-session"),
        (&["--read-only", "--continue", "--name", "n", "-p", "hi"], "cannot be combined with --name"),
        (&["--read-only", "--continue", "-p", "hi"], "this folder has no session"),
        (&["--read-only", "--session-id", "x1", "-p", "hi"], "no session here has the id x1"),
        (&["--read-only", "--session", "none.jsonl", "-p", "hi"], "none.jsonl"),
    ] {
        let finished = sandbox.run(args).await;
        assert_eq!(finished.code, Some(1), "{args:?}");
        assert!(finished.stderr.contains(words), "{args:?}: {}", finished.stderr);
    }
    assert!(sandbox.session_files().is_empty());
}

#[tokio::test]
async fn processes_that_begin_the_same_id_at_once_make_one_session() {
    let sandbox = Sandbox::new(replies([text("ok")])).await;
    let args = ["--mode", "rpc", "--session-id", "shared-1"];
    let mut all: Vec<Rpc> = (0..5).map(|_| Rpc::start(sandbox.command(&args))).collect();
    let mut winners = Vec::new();
    for mut rpc in all.drain(..) {
        match rpc.try_call(json!({"type": "get_state"})).await {
            Some(_) => winners.push(rpc),
            None => {
                let told = rpc.finish().await;
                assert_eq!(told.0, Some(1));
                assert!(told.1.contains("\"shared-1\" is being begun by another Troupe process"), "{}", told.1);
            }
        }
    }
    assert_eq!(winners.len(), 1);
    winners[0].prompt("hello").await;
    // Now it has a file, and is found by its id.
    let late = sandbox.run(&["--session-id", "shared-1", "-p", "hi"]).await;
    assert_eq!(late.code, Some(1));
    assert!(late.stderr.contains("is open in another Troupe process"), "{}", late.stderr);
    let winner = winners.remove(0);
    assert_eq!(winner.close().await, Some(0));
    let next = sandbox.run(&["--session-id", "shared-1", "-p", "hi"]).await;
    assert_eq!(next.code, Some(0), "{}", next.stderr);
    let folder = sandbox.session_file().parent().unwrap().to_owned();
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.retain(|name| name.to_string_lossy().starts_with('.'));
    assert!(names.is_empty(), "left behind: {names:?}");
}

#[tokio::test]
async fn fc_111_a_session_of_a_newer_format_is_opened_for_reading_and_never_written() {
    let (sandbox, writer, file) = written().await;
    assert_eq!(writer.close().await, Some(0));
    let newer = fs::read_to_string(&file).unwrap().replacen("\"version\":3", "\"version\":42", 1);
    fs::write(&file, &newer).unwrap();
    for args in [&["--session", &file, "--model", "mock/m1", "-p", "hi"][..], &["--fork", &file, "-p", "hi"]] {
        let refused = sandbox.run(args).await;
        assert_eq!(refused.code, Some(1), "{args:?}");
        assert!(refused.stderr.contains("format 42") && refused.stderr.contains("format 3"), "{}", refused.stderr);
    }
    let mut reader = sandbox.rpc(&["--session", &file, "--model", "mock/m1"]).await;
    assert!(reader.stderr().contains("format 42"), "{}", reader.stderr());
    assert_eq!(reader.messages().await.last().map(text_of), Some("ok".to_owned()));
    let refusal = reader.refused(json!({"type": "prompt", "message": "hi"})).await;
    assert!(refusal.contains("format 42") && refusal.contains("format 3"), "{refusal}");
    assert_eq!(reader.close().await, Some(0));
    assert_eq!(fs::read_to_string(&file).unwrap(), newer);
    assert_eq!(sandbox.session_files().len(), 1);
}

#[tokio::test]
async fn fc_111_an_old_session_goes_on_in_our_format_and_its_old_file_is_kept() {
    let sandbox = Sandbox::new(replies([text("ok")])).await;
    let cwd = sandbox.project.display().to_string();
    let old = [
        json!({"type": "session", "id": "old-1", "timestamp": "2025-01-02T03:04:05.678Z", "cwd": cwd}),
        json!({"type": "message", "timestamp": "t", "message": {"role": "user", "content": "A", "later": 1}}),
        json!({"type": "message", "timestamp": "t", "message": {"role": "hookMessage", "customType": "h", "content": "H", "display": true}}),
    ];
    let text: String = old.iter().map(|line| format!("{line}\n")).collect();
    let file = sandbox.write("old.jsonl", &text).display().to_string();
    let mut reader = sandbox.rpc(&["--session", &file, "--read-only", "--model", "mock/m1"]).await;
    assert_eq!(reader.messages().await.len(), 2);
    reader.close().await;
    assert_eq!(sandbox.read("old.jsonl"), text, "looking changes nothing");
    let finished = sandbox.run(&["--session", &file, "--model", "mock/m1", "-p", "B"]).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let written = lines(file.as_ref());
    linked(&written);
    assert_eq!((&written[0]["version"], &written[1]["message"]["later"]), (&json!(3), &json!(1)));
    assert_eq!(sandbox.read("old.jsonl.v1"), text);
    let users = sandbox.server.last().messages().iter().filter(|message| message["role"] == "user").count();
    assert_eq!(users, 3, "A, H and B");
}
