//! Traces of moves within a session (sections 2.5, 4.13 and 6.7): where they lead, what they leave in the file, what is
//! summarised, and what a restart makes of them.

mod support;

use std::path::Path;

use serde_json::{Value, json};
use support::*;

/// A request for a summary: it declares no tools.
fn is_summary(request: &Request) -> bool {
    request.tools().is_empty()
}

/// A model that says `re …`, and `SUMMARY` when it is asked for one.
async fn sandbox() -> Sandbox {
    Sandbox::new(|request: &Request| match is_summary(request) {
        true => text("SUMMARY"),
        false => text(&format!("re {}", request.last_user())),
    })
    .await
}

/// The entry of the message with this text.
fn entry_of(file: &Path, text: &str) -> Value {
    let said = |entry: &Value| entry["message"]["content"][0]["text"] == text;
    lines(file).into_iter().find(said).unwrap_or_else(|| panic!("no message {text}"))
}

fn id_of(file: &Path, text: &str) -> Value {
    entry_of(file, text)["id"].clone()
}

/// Texts of the context's messages without the prompt.
async fn said(rpc: &mut Rpc) -> Vec<String> {
    let messages = rpc.messages().await;
    let told = messages.iter().filter(|message| message["role"] != "system");
    told.map(|message| message["content"][0]["text"].as_str().unwrap_or("?").to_owned()).collect()
}

/// What was said in three turns.
async fn three_turns(rpc: &mut Rpc) {
    for text in ["one", "two", "three"] {
        rpc.prompt(text).await;
    }
}

#[tokio::test]
async fn a_conversation_goes_back_before_a_message_and_is_there_after_a_restart_4_13() {
    let sandbox = sandbox().await;
    let mut rpc = sandbox.rpc(&[]).await;
    three_turns(&mut rpc).await;
    let file = sandbox.session_file();
    let gone = rpc.call(json!({"type": "navigate_tree", "targetId": id_of(&file, "two")})).await;
    assert_eq!((&gone["cancelled"], &gone["editorText"]), (&json!(false), &json!("two")));
    assert_eq!((gone.get("aborted"), gone.get("summaryEntry")), (None, None));
    let last = lines(&file).pop().unwrap();
    assert_eq!((&last["customType"], &last["parentId"]), (&json!("troupe.leaf"), &id_of(&file, "re one")));
    assert_eq!(gone["leafId"], last["id"]);
    assert_eq!(said(&mut rpc).await, ["one", "re one"]);

    rpc.close().await;
    let mut rpc = sandbox.rpc(&["--session", file.to_str().unwrap()]).await;
    assert_eq!(said(&mut rpc).await, ["one", "re one"]);
    rpc.prompt("other").await;
    assert_eq!(said(&mut rpc).await, ["one", "re one", "other", "re other"]);
    sandbox.server.last().assert_strict();
    linked(&lines(&file));
    // The branch that was left is still there to go to.
    rpc.call(json!({"type": "navigate_tree", "targetId": id_of(&file, "re three")})).await;
    assert_eq!(said(&mut rpc).await.len(), 6);
    rpc.close().await;
    let mut rpc = sandbox.rpc(&["--continue"]).await;
    assert_eq!(said(&mut rpc).await.last().unwrap(), "re three");
}

#[tokio::test]
async fn a_conversation_goes_back_to_its_beginning_and_declares_everything_anew() {
    let sandbox = sandbox().await;
    let mut rpc = sandbox.rpc(&["--model", "mock/m2"]).await;
    rpc.prompt("one").await;
    let file = sandbox.session_file();
    let first = sandbox.server.last();
    let gone = rpc.call(json!({"type": "navigate_tree", "targetId": null})).await;
    let all = lines(&file);
    let root = all.iter().find(|entry| entry["customType"] == "troupe.leaf").unwrap();
    assert_eq!(root["parentId"], Value::Null);
    // What was selected is said on the new branch, too, so that a restart selects the same.
    assert!(entry_roles(&all).ends_with(&["custom", "model_change", "thinking_level_change"]));
    assert_eq!(gone["leafId"], all.last().unwrap()["id"]);
    assert!(said(&mut rpc).await.is_empty());
    let stays = rpc.call(json!({"type": "navigate_tree", "targetId": null})).await;
    assert_eq!((stays, lines(&file).len()), (gone, all.len()));
    rpc.close().await;
    let mut rpc = sandbox.rpc(&["--session", file.to_str().unwrap()]).await;
    assert!(rpc.messages().await.is_empty());
    assert_eq!(rpc.call(json!({"type": "get_state"})).await["model"]["id"], "m2");
    rpc.prompt("anew").await;
    let request = sandbox.server.last();
    assert_eq!(request.roles(), ["system", "user"]);
    assert_eq!((request.tools(), request.texts("system")), (first.tools(), first.texts("system")));
    let tree = rpc.call(json!({"type": "get_tree"})).await;
    assert_eq!(tree["tree"].as_array().map(Vec::len), Some(2), "two roots");
    let texts = rpc.call(json!({"type": "get_fork_messages"})).await;
    assert_eq!(texts["messages"].as_array().map(Vec::len), Some(2), "words of all branches");
}

#[tokio::test]
async fn where_the_conversation_stands_already_nothing_happens() {
    let sandbox = sandbox().await;
    let mut rpc = sandbox.rpc(&[]).await;
    three_turns(&mut rpc).await;
    let file = sandbox.session_file();
    let before = sandbox.read(&file);
    let leaf = id_of(&file, "re three");
    let stays = rpc.call(json!({"type": "navigate_tree", "targetId": leaf, "summarize": true})).await;
    assert_eq!(stays, json!({"cancelled": false, "leafId": leaf}));
    assert_eq!(sandbox.read(&file), before);
    let there = json!({"type": "navigate_tree", "targetId": id_of(&file, "three")});
    let gone = rpc.call(there.clone()).await;
    let after = sandbox.read(&file);
    assert_eq!(rpc.call(there).await, gone, "the words come back a second time");
    assert_eq!(sandbox.read(&file), after);
    assert_eq!(sandbox.server.count(), 3);
}

#[tokio::test]
async fn what_is_left_is_summarised_below_the_place_and_the_model_is_told_6_7() {
    let sandbox = sandbox().await;
    let mut rpc = sandbox.rpc(&[]).await;
    three_turns(&mut rpc).await;
    let file = sandbox.session_file();
    let (target, old_leaf) = (id_of(&file, "re one"), id_of(&file, "re three"));
    let from = rpc.mark();
    let gone = rpc
        .call(json!({"type": "navigate_tree", "targetId": target, "summarize": true, "label": "tried",
            "customInstructions": "mind the FOO"}))
        .await;
    let summary = &gone["summaryEntry"];
    assert_eq!(
        (&summary["type"], &summary["parentId"], &summary["fromId"]),
        (&json!("branch_summary"), &target, &old_leaf)
    );
    assert!(summary["summary"].as_str().unwrap().ends_with("\n\nSUMMARY"), "{summary}");
    assert_eq!(summary["details"], json!({"readFiles": [], "modifiedFiles": []}));
    let asked = sandbox.server.last().all_text();
    for part in ["[User]: two", "[Assistant]: re three", "## Next Steps", "Additional focus: mind the FOO"] {
        assert!(asked.contains(part), "{part} in {asked}");
    }
    assert!(!asked.contains("[User]: one") && !asked.contains("## Critical Context"), "{asked}");
    let kinds: Vec<_> = of_type(rpc.since(from), "entry_appended").iter().map(|e| e["entry"]["type"].clone()).collect();
    assert_eq!(kinds, ["branch_summary", "label"]);
    assert!(!sandbox.read(&file).contains("troupe.leaf"), "the summary remembers the move");
    let label = lines(&file).pop().unwrap();
    assert_eq!((&label["targetId"], &label["label"], &label["id"]), (&summary["id"], &json!("tried"), &gone["leafId"]));

    rpc.close().await;
    let mut rpc = sandbox.rpc(&["--session", file.to_str().unwrap()]).await;
    rpc.prompt("on").await;
    let request = sandbox.server.last();
    assert!(request.all_text().contains("SUMMARY") && !request.all_text().contains("re three"));
    request.assert_strict();
    let stats = rpc.call(json!({"type": "get_session_stats"})).await;
    assert!(stats["tokens"]["total"].as_u64().unwrap() > 0, "{stats}");
}

#[tokio::test]
async fn instructions_can_replace_the_form_of_a_summary_6_7() {
    let sandbox = sandbox().await;
    let mut rpc = sandbox.rpc(&[]).await;
    three_turns(&mut rpc).await;
    let target = id_of(&sandbox.session_file(), "one");
    let ask = json!({"type": "navigate_tree", "targetId": target, "summarize": true,
        "customInstructions": "In ten words.", "replaceInstructions": true});
    let gone = rpc.call(ask).await;
    let above = entry_of(&sandbox.session_file(), "one")["parentId"].clone();
    assert_eq!((&gone["editorText"], &gone["summaryEntry"]["parentId"]), (&json!("one"), &above));
    let asked = sandbox.server.last().all_text();
    assert!(asked.contains("In ten words.") && !asked.contains("## Goal"), "{asked}");
    // The message that comes back into the editor is no part of what is left.
    assert!(asked.contains("[Assistant]: re one") && !asked.contains("[User]: one"), "{asked}");
}

#[tokio::test]
async fn a_move_that_is_aborted_or_whose_summary_fails_moves_nothing() {
    let mut summaries = vec![http(400, "broken"), hang("part")];
    let sandbox = Sandbox::new(move |request: &Request| match is_summary(request) {
        true => summaries.pop().unwrap_or(text("SUMMARY")),
        false => text(&format!("re {}", request.last_user())),
    })
    .await;
    let mut rpc = sandbox.rpc(&[]).await;
    three_turns(&mut rpc).await;
    let file = sandbox.session_file();
    let before = sandbox.read(&file);
    let leaf = id_of(&file, "re three");
    let ask = json!({"type": "navigate_tree", "targetId": id_of(&file, "re one"), "summarize": true, "id": "n"});
    rpc.send(ask.clone()).await;
    let request = sandbox.server.request(3).await;
    for refused in [json!({"type": "prompt", "message": "x"}), json!({"type": "compact"}), json!({"type": "undo"})] {
        assert!(rpc.refused(refused).await.contains("about to go to another entry"));
    }
    // What comes meanwhile otherwise waits, and is carried out afterwards.
    rpc.send(json!({"type": "set_session_name", "name": "later", "id": "s"})).await;
    rpc.call(json!({"type": "abort"})).await;
    let response = rpc.until_that("the answer", |record| record["id"] == "n").await;
    assert_eq!(response["data"], json!({"cancelled": true, "aborted": true, "leafId": leaf}));
    request.closed().await;
    rpc.until_that("the name", |record| record["id"] == "s" && record["success"] == true).await;
    assert!(sandbox.read(&file).starts_with(&before));
    assert_eq!(lines(&file).pop().unwrap()["name"], "later");
    let failed = rpc.refused(ask.clone()).await;
    assert!(failed.contains("broken"), "{failed}");
    assert_eq!(said(&mut rpc).await.len(), 6);
    assert_eq!(rpc.call(ask).await["summaryEntry"]["type"], "branch_summary");
}

#[tokio::test]
async fn a_move_is_refused_while_the_agent_works_and_when_nobody_knows_where_to() {
    let gate = Gate::closed();
    let held = gate.clone();
    let sandbox = Sandbox::new(move |request: &Request| match (is_summary(request), request.last_user().as_str()) {
        (true, _) => hang("part"),
        (false, "slow") => text("done").hold(&held),
        (false, user) => text(&format!("re {user}")),
    })
    .await;
    sandbox.settings(json!({"compaction": {"keepRecentTokens": 1}}));
    let mut rpc = sandbox.rpc(&[]).await;
    three_turns(&mut rpc).await;
    let file = sandbox.session_file();
    let ask = json!({"type": "navigate_tree", "targetId": id_of(&file, "two")});
    let from = rpc.mark();
    rpc.call(json!({"type": "prompt", "message": "slow"})).await;
    assert!(rpc.refused(ask.clone()).await.contains("is working"));
    gate.open();
    rpc.settled(from).await;
    rpc.send(json!({"type": "compact"})).await;
    rpc.until("compaction_start").await;
    assert!(rpc.refused(ask).await.contains("is working"));
    rpc.call(json!({"type": "abort"})).await;
    let unknown = rpc.refused(json!({"type": "navigate_tree", "targetId": "nowhere"})).await;
    assert_eq!(unknown, "Entry nowhere not found");
    let missing = rpc.refused(json!({"type": "navigate_tree"})).await;
    assert!(missing.contains("`targetId` of navigate_tree is missing"), "{missing}");
}

#[tokio::test]
async fn the_model_and_the_level_of_a_branch_come_back_with_it_4_13() {
    let sandbox = sandbox().await;
    let mut rpc = sandbox.rpc(&["--model", "mock/r1", "--thinking", "low"]).await;
    rpc.prompt("one").await;
    rpc.call(json!({"type": "set_thinking_level", "level": "high"})).await;
    rpc.prompt("two").await;
    rpc.call(json!({"type": "set_model", "provider": "mock", "modelId": "m2"})).await;
    rpc.prompt("three").await;
    let file = sandbox.session_file();
    for (text, model, level) in [("re two", "r1", "high"), ("re one", "r1", "low"), ("re three", "m2", "off")] {
        let from = rpc.mark();
        rpc.call(json!({"type": "navigate_tree", "targetId": id_of(&file, text)})).await;
        let state = rpc.call(json!({"type": "get_state"})).await;
        assert_eq!((&state["model"]["id"], &state["thinkingLevel"]), (&json!(model), &json!(level)), "{text}");
        assert_eq!(of_type(rpc.since(from), "thinking_level_changed").len(), 1, "{text}");
    }
    let entries = lines(&file).len();
    rpc.call(json!({"type": "navigate_tree", "targetId": id_of(&file, "re one")})).await;
    assert_eq!(lines(&file).len(), entries + 1, "the branch itself says what is selected");
    rpc.prompt("again").await;
    assert_eq!(sandbox.server.last().body["model"], "r1");
}

#[tokio::test]
async fn a_conversation_that_goes_on_behind_calls_stays_well_formed() {
    let sandbox = Sandbox::new(|request: &Request| match request.last_user().as_str() {
        "list" if request.results().is_empty() => {
            calls([call("ls", json!({"path": "."})), call("ls", json!({"path": ".."}))])
        }
        user => text(&format!("re {user}")),
    })
    .await;
    let mut rpc = sandbox.rpc(&["--tools", "ls"]).await;
    rpc.prompt("list").await;
    let file = sandbox.session_file();
    let of_role = |role: &str| lines(&file).into_iter().find(|entry| entry["message"]["role"] == role).unwrap();
    for role in ["assistant", "toolResult"] {
        rpc.call(json!({"type": "navigate_tree", "targetId": of_role(role)["id"]})).await;
        let from = rpc.mark();
        rpc.call(json!({"type": "prompt", "message": role})).await;
        let events = rpc.settled(from).await;
        assert_eq!(of_type(&events, "tool_execution_start").len(), 0, "no call of another branch runs again");
        let request = sandbox.server.last();
        request.assert_strict();
        assert_eq!(request.last_user(), role);
    }
}

#[tokio::test]
async fn entries_are_named_and_names_are_cleared_2_5() {
    let sandbox = sandbox().await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.prompt("one").await;
    let file = sandbox.session_file();
    let target = id_of(&file, "one");
    let label_of = |tree: &Value| {
        // The chain of the only branch: the entry's node lies as deep as its line.
        let mut node = &tree["tree"][0];
        while node["entry"]["id"] != target {
            node = &node["children"][0];
        }
        (node["label"].clone(), node.get("labelTimestamp").is_some())
    };
    rpc.call(json!({"type": "set_label", "targetId": target, "label": " the\nstart "})).await;
    let stored = lines(&file).pop().unwrap();
    assert_eq!((&stored["type"], &stored["label"]), (&json!("label"), &json!("the start")));
    assert_eq!(label_of(&rpc.call(json!({"type": "get_tree"})).await), (json!("the start"), true));
    rpc.close().await;
    let mut rpc = sandbox.rpc(&["--session", file.to_str().unwrap()]).await;
    assert_eq!(label_of(&rpc.call(json!({"type": "get_tree"})).await), (json!("the start"), true));
    rpc.call(json!({"type": "set_label", "targetId": target})).await;
    assert_eq!(label_of(&rpc.call(json!({"type": "get_tree"})).await), (Value::Null, false));
    let unknown = rpc.refused(json!({"type": "set_label", "targetId": "nowhere", "label": "x"})).await;
    assert!(unknown.contains("Entry nowhere not found"), "{unknown}");
    rpc.prompt("two").await;
    assert_eq!(said(&mut rpc).await, ["one", "re one", "two", "re two"], "names are nothing to the model");
}
