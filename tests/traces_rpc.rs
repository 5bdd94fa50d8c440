//! Traces of RPC mode (sections 9 and 14.12): responses, framing, and the end.

mod support;

use serde_json::{Value, json};
use support::*;

async fn obliging() -> Sandbox {
    Sandbox::new(|request: &Request| text(&format!("re {}", request.last_user()))).await
}

#[tokio::test]
async fn a_prompt_is_answered_at_once_and_carried_out_afterwards_14_12() {
    let sandbox = obliging().await;
    let mut rpc = sandbox.rpc(&[]).await;
    let from = rpc.mark();
    let response = rpc.request(json!({"id": "1", "type": "prompt", "message": "hi"})).await;
    let wanted = json!({"id": "1", "type": "response", "command": "prompt", "success": true,
        "data": {"disposition": "started"}});
    assert_eq!(response, wanted);
    let events = rpc.settled(from).await;
    assert!(events.iter().all(|event| event["type"] != "session"), "RPC has no header line");
    assert_eq!(rpc.call(json!({"type": "get_last_assistant_text"})).await, json!({"text": "re hi"}));
}

#[tokio::test]
async fn built_in_slash_commands_are_ordinary_text_14_12() {
    let sandbox = obliging().await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.prompt("/compact").await;
    assert_eq!(sandbox.server.last().last_user(), "/compact");
}

#[tokio::test]
async fn levels_are_clamped_silently_and_cycled_14_12() {
    let sandbox = obliging().await;
    let mut rpc = sandbox.rpc(&["--model", "mock/r1"]).await;
    let levels = rpc.call(json!({"type": "get_available_thinking_levels"})).await;
    assert_eq!(levels, json!({"levels": ["off", "minimal", "low", "medium", "high"]}));
    let from = rpc.mark();
    rpc.call(json!({"type": "set_thinking_level", "level": "max"})).await;
    let records = rpc.since(from);
    let kinds: Vec<_> = records.iter().map(|record| &record["type"]).collect();
    assert_eq!(kinds, ["thinking_level_changed", "response"]);
    assert_eq!((&records[0]["level"], records[1].get("data")), (&json!("high"), None));
    assert_eq!(rpc.call(json!({"type": "cycle_thinking_level"})).await, json!({"level": "off"}));
    let from = rpc.mark();
    rpc.call(json!({"type": "set_thinking_level", "level": "off"})).await;
    assert_eq!(of_type(rpc.since(from), "thinking_level_changed").len(), 0, "an event without a change");
    rpc.call(json!({"type": "set_model", "provider": "mock", "modelId": "m1"})).await;
    let response = rpc.request(json!({"type": "cycle_thinking_level"})).await;
    assert_eq!(response.get("data"), Some(&Value::Null), "null says that there is no other level");
}

#[tokio::test]
async fn models_are_listed_selected_and_cycled_14_12() {
    let sandbox = obliging().await;
    let mut rpc = sandbox.rpc(&[]).await;
    let models = rpc.call(json!({"type": "get_available_models"})).await;
    let mut ids: Vec<_> = models["models"].as_array().unwrap().iter().map(|model| model["id"].as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["img", "m1", "m2", "o1", "r1", "tiny"].map(Some));
    let model = rpc.call(json!({"type": "set_model", "provider": "other", "modelId": "o1"})).await;
    assert_eq!((&model["provider"], &model["id"]), (&json!("other"), &json!("o1")));
    let error = rpc.refused(json!({"type": "set_model", "provider": "x", "modelId": "y"})).await;
    assert_eq!(error, "Model not found: x/y");
    let next = rpc.call(json!({"type": "cycle_model"})).await;
    let keys: Vec<_> = next.as_object().unwrap().keys().collect();
    assert_eq!((keys.len(), &next["isScoped"]), (3, &json!(false)));
    rpc.prompt("hi").await;
    assert_eq!(sandbox.server.last().body["model"], next["model"]["id"]);
}

#[tokio::test]
async fn a_scope_of_one_model_has_no_other_9_2() {
    let sandbox = obliging().await;
    let mut rpc = sandbox.rpc(&["--models", "mock/m1"]).await;
    let response = rpc.request(json!({"type": "cycle_model"})).await;
    assert_eq!((&response["success"], response.get("data")), (&json!(true), Some(&Value::Null)));
}

#[tokio::test]
async fn a_session_name_is_trimmed_to_one_line_14_12() {
    let sandbox = obliging().await;
    let mut rpc = sandbox.rpc(&[]).await;
    let from = rpc.mark();
    rpc.call(json!({"type": "set_session_name", "name": "  a\nb "})).await;
    let records = rpc.since(from);
    assert_eq!(records[0], json!({"type": "session_info_changed", "name": "a b"}));
    assert_eq!(records[1]["type"], "response");
    assert_eq!(rpc.call(json!({"type": "get_state"})).await["sessionName"], "a b");
    rpc.refused(json!({"type": "set_session_name", "name": "  "})).await;
}

#[tokio::test]
async fn a_users_shell_command_streams_and_is_told_to_the_model_14_12() {
    let sandbox = obliging().await;
    let mut rpc = sandbox.rpc(&[]).await;
    let from = rpc.mark();
    let result = rpc.call(json!({"id": "5", "type": "bash", "command": "echo hi; exit 3"})).await;
    assert_eq!(result, json!({"output": "hi\n", "exitCode": 3, "cancelled": false, "truncated": false}));
    let updates = of_type(rpc.since(from), "bash_execution_update");
    let output: String = updates.iter().filter_map(|update| update["delta"].as_str()).collect();
    assert_eq!((output.as_str(), &updates[0]["id"]), ("hi\n", &json!("5")));
    rpc.call(json!({"type": "bash", "command": "echo hidden", "excludeFromContext": true})).await;
    rpc.prompt("q").await;
    let told = sandbox.server.last().all_text();
    assert!(told.contains("Ran `echo hi; exit 3`\n```\nhi\n\n```\n\nCommand exited with code 3"), "{told}");
    assert!(!told.contains("hidden"), "{told}");
}

#[tokio::test]
async fn a_users_shell_command_can_be_cancelled_9_2() {
    let sandbox = obliging().await;
    let mut rpc = sandbox.rpc(&[]).await;
    let command = format!("echo begun; {}", wait_for_file("never"));
    rpc.send(json!({"id": "b1", "type": "bash", "command": command})).await;
    rpc.until("bash_execution_update").await;
    rpc.call(json!({"type": "abort_bash"})).await;
    let response =
        rpc.until_that("response to bash", |record| record["id"] == "b1" && record["type"] == "response").await;
    assert_eq!((&response["success"], &response["data"]["cancelled"]), (&json!(true), &json!(true)));
}

#[tokio::test]
async fn the_state_of_a_new_session_has_all_fields_9_2() {
    let sandbox = obliging().await;
    let mut rpc = sandbox.rpc(&[]).await;
    let state = rpc.call(json!({"type": "get_state"})).await;
    for (field, wanted) in [
        ("thinkingLevel", json!("off")),
        ("isStreaming", json!(false)),
        ("isCompacting", json!(false)),
        ("steeringMode", json!("one-at-a-time")),
        ("followUpMode", json!("one-at-a-time")),
        ("autoCompactionEnabled", json!(true)),
        ("messageCount", json!(0)),
        ("pendingMessageCount", json!(0)),
    ] {
        assert_eq!(state[field], wanted, "{field}");
    }
    assert!(state.get("sessionName").is_none());
    assert!(
        state["sessionFile"].as_str().unwrap().ends_with(&format!("{}.jsonl", state["sessionId"].as_str().unwrap()))
    );
    let model = &state["model"];
    assert_eq!(
        (&model["id"], &model["contextWindow"], &model["input"]),
        (&json!("m1"), &json!(200_000), &json!(["text"]))
    );
    assert_eq!(rpc.call(json!({"type": "get_messages"})).await, json!({"messages": []}));
    assert_eq!(rpc.call(json!({"type": "get_last_assistant_text"})).await, json!({}));
    let entries = rpc.call(json!({"type": "get_entries"})).await;
    let kinds: Vec<_> = entries["entries"].as_array().unwrap().iter().map(|entry| &entry["type"]).collect();
    assert_eq!(kinds, ["model_change", "thinking_level_change"]);
    assert_eq!(entries["leafId"], entries["entries"][1]["id"]);
}

#[tokio::test]
async fn commands_without_data_have_no_data_field_9_2() {
    let sandbox = obliging().await;
    let mut rpc = sandbox.rpc(&[]).await;
    for request in [
        json!({"type": "abort"}),
        json!({"type": "set_thinking_level", "level": "off"}),
        json!({"type": "set_steering_mode", "mode": "all"}),
        json!({"type": "set_follow_up_mode", "mode": "all"}),
        json!({"type": "set_auto_compaction", "enabled": true}),
        json!({"type": "set_auto_retry", "enabled": true}),
        json!({"type": "abort_retry"}),
        json!({"type": "abort_bash"}),
        json!({"type": "set_session_name", "name": "n"}),
    ] {
        let response = rpc.request(request.clone()).await;
        let wanted = json!({"id": response["id"], "type": "response", "command": request["type"], "success": true});
        assert_eq!(response, wanted);
    }
}

#[tokio::test]
async fn lines_that_are_no_command_are_answered_and_harmless_14_12() {
    let sandbox = obliging().await;
    let mut rpc = sandbox.rpc(&[]).await;
    let error = rpc.refused(json!({"id": "7", "type": "bogus"})).await;
    assert_eq!(error, "Unknown command: bogus");
    for line in [&b"{bad\n"[..], b"\xff\xfe\n", b"{\"type\":\n"] {
        rpc.send_raw(line).await;
        let response = rpc.until_that("refusal", |record| record["command"] == "parse").await;
        assert_eq!((&response["success"], response.get("id")), (&json!(false), None));
        assert!(response["error"].as_str().unwrap().starts_with("Failed to parse command: "), "{response}");
    }
    for line in ["42", "[]", "\"x\"", "{}", "null", r#"{"type":5}"#, r#"{"type":"prompt"}"#, r#"{"type":"fork"}"#] {
        rpc.send_raw(format!("{line}\n").as_bytes()).await;
        let response = rpc.until("response").await;
        assert_eq!(response["success"], false, "{line}: {response}");
    }
    assert_eq!(ended(&rpc.prompt("alive").await, "assistant").len(), 1);
}

#[tokio::test]
async fn a_line_ends_at_lf_alone_fc_085() {
    let odd = "ans\u{2028}wer\u{2029} \u{85} end";
    let sandbox = Sandbox::new(replies([text(odd)])).await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.send_raw(b"{\"id\":\"c1\",\"type\":\"get_state\"}\r\n").await;
    rpc.until_that("response to a line with CR", |record| record["id"] == "c1").await;
    rpc.prompt("a\u{2028}b\u{85}c").await;
    assert_eq!(sandbox.server.last().last_user(), "a\u{2028}b\u{85}c");
    assert_eq!(texts_of(&rpc.messages().await, "assistant"), [odd]);
}

#[tokio::test]
async fn a_last_line_without_lf_is_carried_out_and_the_process_ends_9_1() {
    let sandbox = obliging().await;
    let finished = sandbox.run_with_input(&["--mode", "rpc"], r#"{"id":"1","type":"get_state"}"#).await;
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    let mut records = finished.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert!(records.any(|record| record["id"] == "1" && record["success"] == true), "{}", finished.stdout);
}

#[tokio::test]
async fn two_hundred_commands_in_one_write_have_two_hundred_responses_9_1() {
    let sandbox = obliging().await;
    let mut rpc = sandbox.rpc(&[]).await;
    let kinds = ["get_state", "get_messages", "get_session_stats", "get_tree", "get_entries", "get_commands", "nope"];
    let from = rpc.mark();
    let lines = (0..200).map(|n| json!({"id": format!("c{n}"), "type": kinds[n % kinds.len()]}).to_string() + "\n");
    rpc.send_raw(lines.collect::<String>().as_bytes()).await;
    let mut ids: Vec<Value> = Vec::new();
    for _ in 0..200 {
        ids.push(rpc.until("response").await["id"].take());
    }
    rpc.call(json!({"type": "abort"})).await;
    assert_eq!(of_type(rpc.since(from), "response").len(), 201, "a command was answered twice");
    let distinct: std::collections::HashSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), 200);
}

#[tokio::test]
async fn questions_about_state_are_answered_during_a_run_9_1() {
    let gate = Gate::closed();
    let sandbox = Sandbox::new(replies([text("w").hold(&gate)])).await;
    let mut rpc = sandbox.rpc(&[]).await;
    let from = rpc.mark();
    rpc.call(json!({"type": "prompt", "message": "go"})).await;
    rpc.until("message_update").await;
    for kind in ["get_messages", "get_entries", "get_session_stats", "get_tree"] {
        rpc.call(json!({"type": kind})).await;
    }
    assert_eq!(rpc.call(json!({"type": "get_state"})).await["isStreaming"], true);
    gate.open();
    rpc.settled(from).await;
}
