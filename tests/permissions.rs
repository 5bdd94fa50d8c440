//! Permissions and plan mode, from the outside: what runs, what the model and the user are told, and what is remembered.

#![allow(clippy::unwrap_used)]

mod support;

use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};
use support::*;

fn bash(command: &str) -> Call {
    call("bash", json!({"command": command}))
}

/// A model that calls tools, one a message, and ends with "done".
async fn calling(wanted: &[Call]) -> Sandbox {
    let script: Vec<_> = wanted.iter().map(|wanted| calls([wanted.clone()])).collect();
    Sandbox::new(replies([&script[..], &[text("done")]].concat())).await
}

/// The results that the model got: failed or not, and the text.
fn results(events: &[Value]) -> Vec<(bool, String)> {
    ended(events, "toolResult").iter().map(|message| (message["isError"] == true, text_of(message))).collect()
}

/// Waits for a dialog; its id and title.
async fn dialog(rpc: &mut Rpc, method: &str) -> (String, String) {
    let record = rpc.until("extension_ui_request").await;
    assert_eq!(record["method"], method, "{record}");
    (record["id"].as_str().unwrap().to_owned(), record["title"].as_str().unwrap().to_owned())
}

/// Answers a dialog; there is no response to wait for.
async fn answer(rpc: &mut Rpc, id: &str, value: &str) {
    rpc.send(json!({"type": "extension_ui_response", "id": id, "value": value})).await;
}

#[tokio::test]
async fn without_permissions_everything_runs_and_nobody_is_asked() {
    let sandbox = calling(&[bash("echo hi > out"), call("write", json!({"path": "w", "content": "x"}))]).await;
    let events = sandbox.json(&["go"]).await;
    assert!(results(&events).iter().all(|(failed, _)| !failed), "{events:?}");
    assert!(sandbox.exists("out") && sandbox.exists("w"));
}

#[tokio::test]
async fn fc_096_without_anybody_to_ask_a_call_is_denied_at_once_with_the_way_to_allow_it() {
    let sandbox = calling(&[bash("touch a && git status"), call("read", json!({"path": "f"}))]).await;
    sandbox.write("f", "content");
    let finished = sandbox.run(&["--permissions", "ask", "--allow", "bash(touch *)", "-p", "go"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"));
    assert!(!sandbox.exists("a"), "a script runs as a whole or not at all");
    let request = sandbox.server.last();
    let texts = request.results();
    for part in ["Denied by permissions: bash(git status)", "nobody can be asked", "--allow 'bash(git status)'"] {
        assert!(texts[0].contains(part), "{texts:?}");
    }
    assert!(texts[1].contains("content"), "reading in the project needs no question: {texts:?}");
    assert!(finished.stderr.contains("Warning: 1 call was denied:\n- bash: Denied by"), "{}", finished.stderr);
}

#[tokio::test]
async fn a_run_whose_calls_were_denied_fails_when_that_is_asked_for() {
    for (mode, expected) in [("json", 5), ("text", 5)] {
        let sandbox = calling(&[bash("touch a")]).await;
        let args = ["--permissions", "deny", "--on-denied", "fail", "--mode", mode, "-p", "go"];
        let finished = sandbox.run(&args).await;
        assert_eq!(finished.code, Some(expected), "{mode}: {}", finished.stderr);
    }
    let sandbox = calling(&[bash("touch a")]).await;
    let events = sandbox.json(&["--permissions", "deny", "--no-session", "go"]).await;
    let end = one(&events, "tool_execution_end");
    assert_eq!((&end["isError"], &end["result"]["details"]), (&json!(true), &json!({"denied": true})));
}

#[tokio::test]
async fn fc_102_chained_commands_do_not_pass_a_rule_for_the_first_one() {
    let chained = ["echo ok; touch a", "echo ok && touch a", "echo ok\ntouch a", "echo $(touch a)", "echo ok > a"];
    let sandbox = calling(&chained.map(bash)).await;
    sandbox.settings(json!({"permissions": {"mode": "deny", "allow": ["bash(echo *)"]}}));
    let events = sandbox.json(&["go"]).await;
    let results = results(&events);
    assert_eq!(results.len(), chained.len());
    assert!(results.iter().all(|(failed, text)| *failed && text.contains("Denied by permissions")), "{results:?}");
    assert!(!sandbox.exists("a"));
}

#[tokio::test]
async fn fc_103_a_link_that_leads_out_is_no_way_around_a_rule_for_the_project() {
    let sandbox = calling(&[
        call("write", json!({"path": "in.txt", "content": "x"})),
        call("write", json!({"path": "plain.txt", "content": "x"})),
        call("edit", json!({"path": "deep/.env", "edits": [{"oldText": "a", "newText": "b"}]})),
    ])
    .await;
    sandbox.write("deep/.env", "a");
    let outside = sandbox.home.join("new.txt");
    symlink(&outside, sandbox.project.join("in.txt")).unwrap();
    sandbox.settings(json!({"permissions": {"mode": "ask", "allow": ["write(.)"], "deny": ["write(.env)"]}}));
    let events = sandbox.json(&["go"]).await;
    let failed: Vec<_> = results(&events).iter().map(|(failed, _)| *failed).collect();
    assert_eq!(failed, [true, false, true], "{events:?}");
    assert!(!outside.exists() && sandbox.read("deep/.env") == "a");
}

#[tokio::test]
async fn a_project_can_only_tighten_and_rules_that_make_no_sense_stop_the_start() {
    let sandbox = calling(&[bash("touch a"), bash("touch b")]).await;
    sandbox.settings(json!({"permissions": {"mode": "allow"}}));
    sandbox.write(
        ".troupe/settings.json",
        json!({"permissions": {"mode": "off", "deny": ["bash(touch a)"], "allow": ["bash"]}}).to_string(),
    );
    let finished = sandbox.run(&["--approve", "-p", "go"]).await;
    assert!(!sandbox.exists("a") && sandbox.exists("b"), "{}", finished.stderr);
    assert!(finished.stderr.contains("a project can only tighten"), "{}", finished.stderr);
    sandbox.settings(json!({"permissions": {"deny": ["bash(rm; x)"]}}));
    let finished = sandbox.run(&["-p", "go"]).await;
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("permissions.deny: the rule"), "{}", finished.stderr);
}

#[tokio::test]
async fn a_client_of_rpc_is_asked_and_its_answers_are_carried_out() {
    let wanted = [bash("touch a"), bash("touch b"), bash("touch b"), bash("touch c"), bash("touch d"), bash("touch e")];
    let sandbox = calling(&wanted).await;
    let mut rpc = sandbox.rpc(&["--permissions", "ask"]).await;
    let from = rpc.mark();
    rpc.call(json!({"type": "prompt", "message": "go"})).await;
    let (id, title) = dialog(&mut rpc, "select").await;
    assert!(title.starts_with("Allow bash?\n\ntouch a\n\nbash(touch a): no rule allows it"), "{title}");
    assert!(!sandbox.exists("a"), "nothing runs while the question is open");
    answer(&mut rpc, "no-such-dialog", "Allow once").await;
    answer(&mut rpc, &id, "Allow once").await;
    let (id, _) = dialog(&mut rpc, "select").await;
    answer(&mut rpc, &id, "Allow for this session").await;
    // The same call again does not ask.
    let (id, title) = dialog(&mut rpc, "select").await;
    assert!(title.contains("touch c"), "{title}");
    answer(&mut rpc, &id, "Deny").await;
    let (id, _) = dialog(&mut rpc, "select").await;
    answer(&mut rpc, &id, "Deny and say why").await;
    let (id, _) = dialog(&mut rpc, "input").await;
    answer(&mut rpc, &id, "use make").await;
    let (id, _) = dialog(&mut rpc, "select").await;
    rpc.send(json!({"type": "extension_ui_response", "id": id, "value": "nonsense"})).await;
    let events = rpc.settled(from).await;
    let results = results(&events);
    let failed: Vec<_> = results.iter().map(|(failed, _)| *failed).collect();
    assert_eq!(failed, [false, false, false, true, true, true], "{results:?}");
    assert!(results[4].1.contains("says: use make"), "{results:?}");
    let made = ["a", "b", "c", "d", "e"].map(|name| sandbox.exists(name));
    assert_eq!(made, [true, true, false, false, false]);
    let info = rpc.call(json!({"type": "get_permissions"})).await;
    let rule = json!({"action": "allow", "rule": "bash(touch b)", "source": "session"});
    assert_eq!(info, json!({"mode": "ask", "rules": [rule], "planMode": false}));
}

#[tokio::test]
async fn an_answer_for_the_project_is_remembered_listed_and_revoked() {
    let sandbox = calling(&[bash("touch 'a b' && touch c > log")]).await;
    let mut rpc = sandbox.rpc(&["--permissions", "ask", "--allow", "bash(touch c)"]).await;
    let from = rpc.mark();
    rpc.call(json!({"type": "prompt", "message": "go"})).await;
    let (id, title) = dialog(&mut rpc, "select").await;
    assert!(title.ends_with("remembers: bash(touch 'a b'), write(./log)"), "{title}");
    answer(&mut rpc, &id, "Always allow in this project").await;
    rpc.settled(from).await;
    assert_eq!(rpc.close().await, Some(0));
    assert!(sandbox.exists("a b") && sandbox.exists("log"));
    let file = sandbox.user_dir.join("permissions.json");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let run = async |args: &[&str]| finish(sandbox.command(args), "").await;
    let listed = run(&["permissions", "list"]).await;
    let wanted = "  1  allow  bash(touch 'a b')  (this project)\n  2  allow  write(./log)  (this project)\n";
    assert_eq!(listed.stdout, wanted);
    let revoked = run(&["permissions", "revoke", "1"]).await;
    assert_eq!(revoked.stdout, "No longer remembered: allow bash(touch 'a b')\n");
    run(&["permissions", "deny", "--global", "write(.env)"]).await;
    assert!(sandbox.read(&file).contains("write(.env)"));
    let refused = run(&["permissions", "allow", "git status"]).await;
    assert_eq!(refused.code, Some(1));
}

#[tokio::test]
async fn a_client_that_does_not_answer_denies_when_the_time_is_over_and_an_abort_withdraws_the_question() {
    let sandbox = calling(&[bash("touch a"), bash("touch b")]).await;
    sandbox.settings(json!({"permissions": {"mode": "ask", "askTimeoutMs": 50}}));
    let mut rpc = sandbox.rpc(&[]).await;
    let events = rpc.prompt("go").await;
    let asked = of_type(&events, "extension_ui_request");
    assert_eq!((asked.len(), &asked[0]["timeout"]), (2, &json!(50)));
    assert!(results(&events).iter().all(|(failed, text)| *failed && text.contains("nobody answered")), "{events:?}");
    drop(rpc);
    let sandbox = calling(&[bash("touch a")]).await;
    let mut rpc = sandbox.rpc(&["--permissions", "ask"]).await;
    let from = rpc.mark();
    rpc.call(json!({"type": "prompt", "message": "go"})).await;
    let (id, _) = dialog(&mut rpc, "select").await;
    rpc.call(json!({"type": "abort"})).await;
    answer(&mut rpc, &id, "Allow once").await;
    let events = rpc.settled(from).await;
    assert_eq!(results(&events).len(), 1);
    assert!(!sandbox.exists("a"), "a late answer runs nothing");
}

#[tokio::test]
async fn the_mode_can_be_changed_while_the_program_runs() {
    let sandbox = calling(&[bash("touch a"), bash("touch b")]).await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.call(json!({"type": "set_permission_mode", "mode": "deny"})).await;
    let events = rpc.prompt("go").await;
    assert!(results(&events).iter().all(|(failed, _)| *failed));
    assert_eq!(rpc.call(json!({"type": "get_permissions"})).await["mode"], "deny");
    let error = rpc.refused(json!({"type": "set_permission_mode", "mode": "maybe"})).await;
    assert!(error.contains("`off`, `allow`, `ask` or `deny`"), "{error}");
}

#[tokio::test]
async fn commands_that_the_user_types_are_the_users_unless_a_rule_names_them() {
    let sandbox = calling(&[]).await;
    let mut rpc = sandbox.rpc(&["--permissions", "deny", "--deny", "user_bash(touch b)"]).await;
    rpc.call(json!({"type": "bash", "command": "touch a"})).await;
    let error = rpc.refused(json!({"type": "bash", "command": "true; touch b"})).await;
    assert!(error.contains("deny user_bash(touch b)"), "{error}");
    assert!(sandbox.exists("a") && !sandbox.exists("b"));
}

#[tokio::test]
async fn a_plan_changes_nothing_and_lasts_until_the_user_ends_it() {
    let sandbox = calling(&[
        call("write", json!({"path": "w", "content": "x"})),
        bash("touch a"),
        bash("ls | head -3"),
        call("read", json!({"path": "f"})),
    ])
    .await;
    sandbox.write("f", "content");
    let finished = sandbox.run(&["--plan", "-p", "go"]).await;
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    assert!(!sandbox.exists("w") && !sandbox.exists("a"));
    let request = sandbox.server.last();
    let texts = request.results();
    assert!(texts[0].contains("Plan mode is on") && texts[0].contains("write can change things"), "{texts:?}");
    // With walls around it, a command may run, and changes nothing; without, it does not run.
    let walled = texts[1].contains("Read-only file system") || texts[1].contains("Permission denied");
    assert!(walled || texts[1].contains("`touch a` is not known to read only"), "{texts:?}");
    assert!(texts[2].contains('f') && texts[3].contains("content"), "{texts:?}");
    assert!(request.texts("system").concat().contains("<plan_mode>"));
    let file = sandbox.session_file();
    let entries = |file: &std::path::Path| {
        let modes = lines(file).into_iter().filter(|line| line["customType"] == "troupe.plan-mode");
        modes.map(|line| line["data"]["enabled"] == true).collect::<Vec<_>>()
    };
    assert_eq!(entries(&file), [true]);
    // A new process goes on with the plan; the user ends it.
    sandbox.run(&["--continue", "-p", "more"]).await;
    assert!(sandbox.server.last().texts("system").concat().contains("<plan_mode>"));
    sandbox.run(&["--continue", "--no-plan", "-p", "go on"]).await;
    assert!(!sandbox.server.last().texts("system").concat().contains("<plan_mode>"), "the section is gone");
    assert_eq!(entries(&file), [true, false]);
    linked(&lines(&file));
}

#[tokio::test]
async fn plan_mode_is_switched_through_rpc_and_nobody_is_asked_about_what_it_refuses() {
    let write = |path: &str| call("write", json!({"path": path, "content": "x"}));
    let sandbox = calling(&[write("a"), write("b")]).await;
    let mut rpc = sandbox.rpc(&["--permissions", "ask"]).await;
    rpc.call(json!({"type": "set_plan_mode", "enabled": true})).await;
    assert_eq!(rpc.until("plan_mode_changed").await["enabled"], true);
    let events = rpc.prompt("go").await;
    assert_eq!(of_type(&events, "extension_ui_request").len(), 0);
    assert!(results(&events).iter().all(|(failed, text)| *failed && text.contains("Plan mode is on")), "{events:?}");
    assert_eq!(rpc.call(json!({"type": "get_permissions"})).await["planMode"], true);
    rpc.call(json!({"type": "set_plan_mode", "enabled": false})).await;
    rpc.prompt("go on").await;
    assert!(!sandbox.server.last().texts("system").concat().contains("<plan_mode>"));
}
