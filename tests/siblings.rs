//! Siblings, from outside: the tools, the commands of RPC, `kill -9`, worktrees, and git in one folder.

#![allow(clippy::unwrap_used)]

mod support;

use std::{path::Path, process::Command};

use serde_json::{Value, json};
use support::*;

/// A model that tells agents apart by their last user message: `child` answers those whose task begins with `CHILD`.
async fn family(
    mut parent: impl FnMut(&Request) -> Reply + Send + 'static,
    mut child: impl FnMut(&Request) -> Reply + Send + 'static,
) -> Sandbox {
    Sandbox::new(move |request| match request.texts("user").first().is_some_and(|text| text.starts_with("CHILD")) {
        true => child(request),
        false => parent(request),
    })
    .await
}

fn spawn(more: Value) -> Call {
    let mut arguments = json!({"task": "CHILD: work"});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    call("agent_spawn", arguments)
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn repository(folder: &Path) {
    git(folder, &["init", "--quiet", "--initial-branch", "main"]);
    for (key, value) in [("user.name", "T"), ("user.email", "t@example.invalid")] {
        git(folder, &["config", key, value]);
    }
    std::fs::write(folder.join("a.txt"), "a\n").unwrap();
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "-m", "first"]);
}

#[tokio::test]
async fn the_tools_are_there_only_when_they_are_asked_for() {
    let has = |tools: &Value| tools.to_string().contains("\"name\":\"agent_spawn\"");
    for (args, declared) in [(&["-p", "go"][..], false), (&["--siblings", "-p", "go"], true)] {
        let sandbox = Sandbox::new(replies([text("ok")])).await;
        assert_eq!(sandbox.run(args).await.code, Some(0));
        assert_eq!(has(&sandbox.server.last().body["tools"]), declared, "{args:?}");
    }
    let sandbox = Sandbox::new(replies([text("ok")])).await;
    sandbox.settings(json!({"siblings": {"tools": true, "maxDepth": 1}}));
    assert_eq!(sandbox.run(&["-p", "go"]).await.code, Some(0));
    assert!(has(&sandbox.server.last().body["tools"]));
}

#[tokio::test]
async fn a_printed_answer_waits_for_background_siblings_and_their_cost_is_counted_once() {
    let gate = Gate::closed();
    let mut script = replies([
        calls([spawn(json!({"background": true, "name": "ann"}))]).usage(10, 1),
        text("waiting").usage(10, 1),
        text("heard").usage(10, 1),
    ]);
    let held = gate.clone();
    let parent = move |request: &Request| {
        // The sibling answers when its parent has begun to wait.
        if request.roles().contains(&"tool") {
            gate.open();
        }
        script(request)
    };
    let sandbox = family(parent, replies([text("from the child").usage(1_000, 100).begin_at(&held)])).await;
    sandbox.settings(json!({"siblings": {"maxDepth": 1}}));
    let finished = sandbox.run(&["--siblings", "-p", "go"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "heard\n"), "{}", finished.stderr);
    let child = sandbox.server.requests().into_iter().find(|request| request.last_user().starts_with("CHILD")).unwrap();
    assert!(!child.tools().contains(&"agent_spawn"), "absent where it cannot be used: {:?}", child.tools());
    let told = sandbox.server.last().all_text();
    assert_eq!(told.matches("from the child").count(), 1, "{told}");

    let file = sandbox.session_file();
    let entries = lines(&file);
    linked(&entries);
    let kinds: Vec<_> = entries.iter().filter_map(|entry| entry["customType"].as_str()).collect();
    assert_eq!(kinds, ["agent_spawn", "agent_end", "agents"]);
    let usage: Vec<_> = entries.iter().filter(|entry| entry["type"] == "usage").collect();
    assert_eq!(
        (usage.len(), &usage[0]["kind"], &usage[0]["usage"]["totalTokens"]),
        (1, &json!("agent"), &json!(1_100))
    );
    let spawned = entries.iter().find(|entry| entry["customType"] == "agent_spawn").unwrap();
    let header = &lines(Path::new(spawned["data"]["sessionFile"].as_str().unwrap()))[0];
    assert_eq!((&header["type"], &header["parentSession"]), (&json!("session"), &json!(file.display().to_string())));
    let agent = json!({"id": "agent-1", "name": "ann", "role": "sibling", "parentId": "main", "rootId": entries[0]["id"], "depth": 1});
    assert_eq!(header["agent"], agent);
    let stats = sandbox.rpc(&["--continue"]).await.request(json!({"type": "get_session_stats"})).await;
    assert_eq!(stats["data"]["tokens"]["total"], 1_133, "{stats}");
}

#[tokio::test]
async fn a_client_spawns_waits_lists_reads_and_stops() {
    let sandbox = family(replies([text("parent")]), |request: &Request| match request.last_user().as_str() {
        "CHILD: hang" => hang("so far"),
        other => text(&format!("re: {other}")),
    })
    .await;
    let mut rpc = sandbox.rpc(&[]).await;
    let spawn = json!({"type": "spawn_agent", "task": "CHILD: work", "name": "ann", "role": "worker"});
    let spawned = rpc.request(spawn).await;
    assert_eq!(spawned["data"], json!({"id": "agent-1", "existing": false}), "{spawned}");
    let waited = rpc.request(json!({"type": "wait_agents", "timeoutS": 20})).await;
    assert_eq!(waited["data"]["ends"][0]["text"], "re: CHILD: work", "{waited}");
    assert_eq!(waited["data"]["ends"][0]["outcome"], json!({"kind": "done"}));
    rpc.until("sibling_end").await;
    let sent = rpc.request(json!({"type": "send_agent", "agentId": "ann", "message": "CHILD: hang"})).await;
    assert_eq!(sent["data"], json!({"receipt": "delivered", "task": 2}), "{sent}");
    let listed = rpc.request(json!({"type": "list_agents"})).await;
    let agent = &listed["data"]["agents"][0];
    assert_eq!(
        (&agent["state"], &agent["role"], &agent["title"]),
        (&json!("running"), &json!("worker"), &json!("CHILD: work"))
    );
    assert_eq!((&listed["data"]["running"], &listed["data"]["maxRunning"]), (&json!(1), &json!(8)));
    let request = sandbox.server.request(1).await;
    let stopped = rpc.request(json!({"type": "stop_agent", "agentIds": ["ann"]})).await;
    let outcome = json!({"kind": "stopped", "message": "it was stopped by hand"});
    assert_eq!(stopped["data"]["ends"][0]["outcome"], outcome, "{stopped}");
    request.closed().await;
    let page = rpc.request(json!({"type": "agent_transcript", "agentId": "ann", "from": 1, "limit": 2})).await;
    let roles: Vec<_> =
        page["data"]["messages"].as_array().unwrap().iter().map(|message| message["role"].clone()).collect();
    assert_eq!((roles, &page["data"]["total"]), (vec![json!("assistant"), json!("user")], &json!(4)), "{page}");
    let dead = rpc.request(json!({"type": "send_agent", "agentId": "ann", "message": "x"})).await;
    assert_eq!(dead["data"], json!({"receipt": "dead"}));
    let unknown = rpc.request(json!({"type": "stop_agent", "agentIds": ["bob"]})).await;
    assert_eq!(unknown["error"], "there is no agent bob; the agents are agent-1");
}

#[tokio::test]
async fn a_process_that_was_killed_is_followed_by_one_that_goes_on_with_its_siblings() {
    let gate = Gate::closed();
    let held = gate.clone();
    let sandbox = family(replies([text("parent")]), move |request: &Request| match request.results().len() {
        0 => calls([call("bash", json!({"command": "echo ran >> ran; touch began; sleep 600"}))]),
        _ => text("after the restart").begin_at(&held),
    })
    .await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.request(json!({"type": "prompt", "message": "hello"})).await;
    rpc.until("agent_settled").await;
    rpc.request(json!({"type": "spawn_agent", "task": "CHILD: work", "key": "k"})).await;
    within("command", async {
        while !sandbox.exists("began") {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    })
    .await;
    rpc.kill().await;
    drop(rpc);

    let mut rpc = sandbox.rpc(&["--continue"]).await;
    let again = rpc.request(json!({"type": "spawn_agent", "task": "CHILD: work", "key": "k"})).await;
    assert_eq!(again["data"], json!({"id": "agent-1", "existing": true}), "{again}");
    gate.open();
    let waited = rpc.request(json!({"type": "wait_agents", "timeoutS": 20})).await;
    assert_eq!(waited["data"]["ends"][0]["text"], "after the restart", "{waited}");
    assert_eq!(sandbox.read("ran"), "ran\n", "the command was not repeated");
    let results = sandbox.server.last().results();
    assert!(results.len() == 1 && results[0].contains("interrupted"), "{results:?}");
}

#[tokio::test]
async fn fc_094_eight_siblings_in_one_folder_add_and_commit_and_none_fails() {
    let spawns: Vec<_> = (1..=8).map(|n| spawn(json!({"task": format!("CHILD {n}")}))).collect();
    let sandbox = family(replies([calls(spawns), text("done")]), |request: &Request| {
        let n = request.texts("user")[0].split(' ').nth(1).unwrap().to_owned();
        match request.results().len() {
            0 => calls([call(
                "bash",
                json!({"command": format!("echo {n} > f{n} && git add f{n} && git commit -q -m c{n}")}),
            )]),
            _ => text(&request.results()[0]),
        }
    })
    .await;
    repository(&sandbox.project);
    let finished = sandbox.run(&["--siblings", "-p", "go"]).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let log = git(&sandbox.project, &["log", "--format=%s"]);
    let mut subjects: Vec<_> = log.lines().collect();
    subjects.sort_unstable();
    assert_eq!(subjects, ["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "first"]);
    assert!(!sandbox.exists(".git/index.lock"));
}

#[tokio::test]
async fn a_sibling_in_a_worktree_leaves_a_patch_that_can_be_merged_and_conflicts_are_named() {
    let sandbox = family(replies([text("parent")]), |request: &Request| match request.results().len() {
        0 => calls([call("bash", json!({"command": "echo b > b.txt; echo changed > a.txt; pwd"}))]),
        _ => text(&request.results()[0]),
    })
    .await;
    repository(&sandbox.project);
    let mut rpc = sandbox.rpc(&[]).await;
    let spawned = rpc.request(json!({"type": "spawn_agent", "task": "CHILD: work", "isolation": "worktree"})).await;
    assert_eq!(spawned["success"], true, "{spawned}");
    let waited = rpc.request(json!({"type": "wait_agents", "timeoutS": 20})).await;
    let end = &waited["data"]["ends"][0];
    let patch = Path::new(end["patch"]["file"].as_str().unwrap()).to_owned();
    assert_eq!((&end["patch"]["files"], patch.is_file()), (&json!(2), true), "{waited}");
    let worktree = Path::new(end["text"].as_str().unwrap().trim()).to_owned();
    assert!(worktree.is_dir() && !sandbox.exists("b.txt") && sandbox.read("a.txt") == "a\n");

    sandbox.write("a.txt", "mine\n");
    let merge = json!({"type": "merge_agent", "agentId": "agent-1"});
    let conflict = rpc.request(merge.clone()).await;
    assert_eq!(conflict["data"], json!({"files": [], "conflicts": ["a.txt"]}), "{conflict}");
    assert!(!sandbox.exists("b.txt"), "all of it or nothing");
    sandbox.write("a.txt", "a\n");
    let merged = rpc.request(merge).await;
    assert_eq!(merged["data"], json!({"files": ["a.txt", "b.txt"], "conflicts": []}), "{merged}");
    assert_eq!((sandbox.read("a.txt"), sandbox.read("b.txt")), ("changed\n".to_owned(), "b\n".to_owned()));

    rpc.request(json!({"type": "stop_agent"})).await;
    assert!(!worktree.exists() && patch.is_file(), "the patch stays");
    let outside = family(replies([text("x")]), replies([text("x")])).await;
    let refused =
        outside.rpc(&[]).await.request(json!({"type": "spawn_agent", "task": "CHILD", "isolation": "worktree"})).await;
    assert!(refused["error"].as_str().unwrap().contains("is in no git repository"), "fc_095: {refused}");
    assert_eq!(outside.server.count(), 0, "no fallback");
}

#[tokio::test]
async fn fc_096_a_question_of_a_sibling_goes_to_the_client_and_is_denied_where_nobody_is() {
    let child = || {
        |request: &Request| match request.results().len() {
            0 => calls([call("bash", json!({"command": "touch made"}))]),
            _ => text(&request.results()[0]),
        }
    };
    let sandbox = family(replies([calls([spawn(json!({}))]), text("done")]), child()).await;
    sandbox.settings(json!({"permissions": {"mode": "ask", "allow": ["agent_spawn"]}}));
    let finished = sandbox.run(&["--siblings", "-p", "go"]).await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(!sandbox.exists("made"), "nobody could be asked");
    let told = sandbox.server.last().all_text();
    assert!(told.contains("nobody can be asked"), "{told}");

    let sandbox = family(replies([text("parent")]), child()).await;
    sandbox.settings(json!({"permissions": {"mode": "ask"}}));
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.request(json!({"type": "spawn_agent", "task": "CHILD: work", "name": "ann"})).await;
    let question = rpc.until("extension_ui_request").await;
    assert!(question["title"].as_str().unwrap().starts_with("agent-1 (ann): "), "{question}");
    let answer = question["options"][0].clone();
    rpc.send(json!({"type": "extension_ui_response", "id": question["id"], "value": answer})).await;
    let waited = rpc.request(json!({"type": "wait_agents", "timeoutS": 20})).await;
    assert_eq!(waited["data"]["ends"][0]["outcome"]["kind"], "done", "{waited}");
    assert!(sandbox.exists("made"));
}

#[tokio::test]
async fn a_prompt_to_a_session_whose_model_is_still_to_hear_of_an_end_is_answered_and_the_end_is_told_once() {
    let gate = Gate::closed();
    let mut script = replies([calls([spawn(json!({"background": true}))]), text("waiting"), text("heard")]);
    let held = gate.clone();
    let parent = move |request: &Request| {
        if request.roles().contains(&"tool") {
            gate.open();
        }
        script(request)
    };
    let sandbox = family(parent, replies([text("from the child").begin_at(&held)])).await;
    assert_eq!(sandbox.run(&["--siblings", "-p", "go"]).await.code, Some(0));
    // The session as it was when the end was noted, and the process died.
    let file = sandbox.session_file();
    let lines = std::fs::read_to_string(&file).unwrap();
    let told = lines.lines().position(|line| line.contains("\"customType\":\"agents\"")).unwrap();
    let noted: String = lines.lines().take(told).map(|line| format!("{line}\n")).collect();
    assert!(noted.contains("agent_end"), "{noted}");
    std::fs::write(&file, noted).unwrap();
    let finished = sandbox.run(&["--siblings", "--continue", "-p", "and now?"]).await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "heard\n"), "{}", finished.stderr);
    let last = sandbox.server.last().all_text();
    assert_eq!((last.matches("from the child").count(), last.matches("and now?").count()), (1, 1), "{last}");
}
