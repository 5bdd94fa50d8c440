//! Traces of failed model calls (sections 14.4 and 4.9): what is tried again, when, and what stays in the session.

mod support;

use serde_json::{Value, json};
use support::*;

/// A sandbox whose first wait before a retry is `base_delay_ms`.
async fn with_delay(base_delay_ms: u64, answers: impl Into<Vec<Reply>>) -> Sandbox {
    let sandbox = Sandbox::new(replies(answers)).await;
    sandbox.settings(json!({"retry": {"baseDelayMs": base_delay_ms}}));
    sandbox
}

fn fields(events: &[Value], kind: &str, field: &str) -> Vec<Value> {
    of_type(events, kind).into_iter().map(|event| event[field].clone()).collect()
}

fn overloaded() -> Reply {
    http(503, "overloaded")
}

#[tokio::test]
async fn a_transient_failure_is_retried_in_the_recorded_order_14_4() {
    let sandbox = with_delay(50, [overloaded(), text("fine")]).await;
    let events = sandbox.json(&["go"]).await;
    let mut wanted = vec!["message_start:assistant", "message_end:assistant", "turn_end", "agent_end"];
    wanted.extend(["auto_retry_start", "entry_appended", "agent_start", "turn_start"]);
    wanted.extend(["message_start:assistant", "message_end:assistant", "auto_retry_end", "turn_end"]);
    wanted.extend(["agent_end", "agent_settled"]);
    assert_eq!(shape(&events)[7..], wanted);
    assert_eq!(fields(&events, "agent_end", "willRetry"), [true, false]);
    let start = one(&events, "auto_retry_start");
    assert_eq!((&start["attempt"], &start["maxAttempts"], &start["delayMs"]), (&json!(1), &json!(3), &json!(50)));
    assert!(start["errorMessage"].as_str().unwrap().starts_with("503: "), "{start}");
    let end = one(&events, "auto_retry_end");
    assert_eq!((&end["success"], &end["attempt"], end.get("finalError")), (&json!(true), &json!(1), None));
}

#[tokio::test]
async fn a_failed_attempt_stays_in_the_file_and_out_of_the_context_14_4() {
    let sandbox = with_delay(50, [overloaded(), text("fine"), text("next")]).await;
    let events = sandbox.json(&["go"]).await;
    let stored = lines(&sandbox.session_file());
    let wanted = ["model_change", "thinking_level_change", "system", "user", "assistant", "context_edit", "assistant"];
    assert_eq!(entry_roles(&stored), wanted);
    let (failed, edit) = (&stored[5], &stored[6]);
    assert_eq!((&edit["targetId"], &edit["replacement"]), (&failed["id"], &Value::Null));
    assert_eq!((&failed["message"]["stopReason"], &failed["message"]["content"]), (&json!("error"), &json!([])));
    assert!(failed["message"]["errorMessage"].as_str().unwrap().contains("503"));
    assert_eq!(one(&events, "entry_appended")["entry"]["id"], edit["id"]);
    sandbox.json(&["--continue", "again"]).await;
    let last = sandbox.server.last();
    assert!(!last.all_text().contains("overloaded"));
    assert_eq!(last.texts("user"), ["go", "again"]);
    last.assert_strict();
}

#[tokio::test]
async fn the_first_wait_is_two_seconds_by_default_14_4() {
    let sandbox = Sandbox::new(replies([overloaded()])).await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.send(json!({"type": "prompt", "message": "go"})).await;
    let start = rpc.until("auto_retry_start").await;
    assert_eq!((&start["delayMs"], &start["maxAttempts"]), (&json!(2000), &json!(3)));
}

#[tokio::test]
async fn waits_double_until_the_attempts_are_used_up_14_4() {
    let sandbox = with_delay(40, [overloaded()]).await;
    let events = sandbox.json(&["go"]).await;
    assert_eq!(fields(&events, "auto_retry_start", "delayMs"), [40, 80, 160]);
    assert_eq!(fields(&events, "auto_retry_start", "attempt"), [1, 2, 3]);
    assert_eq!(fields(&events, "agent_end", "willRetry"), [true, true, true, false]);
    let end = one(&events, "auto_retry_end");
    assert_eq!((&end["success"], &end["attempt"]), (&json!(false), &json!(3)));
    assert!(end["finalError"].as_str().unwrap().contains("503"), "{end}");
    assert_eq!(sandbox.server.count(), 4);
    assert_eq!(of_type(&events, "agent_settled").len(), 1);
    let stored = lines(&sandbox.session_file());
    let roles = entry_roles(&stored);
    assert_eq!(roles.iter().filter(|role| **role == "context_edit").count(), 3);
    assert_eq!(roles.last(), Some(&"assistant"), "the last failure is not taken out of the context");
}

#[tokio::test]
async fn the_number_of_attempts_and_the_longest_wait_are_settings_4_9() {
    let sandbox = Sandbox::new(replies([overloaded()])).await;
    sandbox.settings(json!({"retry": {"baseDelayMs": 40, "maxAgentDelayMs": 60, "maxRetries": 2}}));
    let events = sandbox.json(&["go"]).await;
    assert_eq!(fields(&events, "auto_retry_start", "delayMs"), [40, 60]);
    assert_eq!(fields(&events, "auto_retry_start", "maxAttempts"), [2, 2]);
}

#[tokio::test]
async fn text_of_a_stream_that_broke_is_kept_and_not_sent_again_14_4() {
    let sandbox = with_delay(40, [text("partial words").disconnect(), text("full")]).await;
    let events = sandbox.json(&["go"]).await;
    let messages = ended(&events, "assistant");
    assert_eq!((&messages[0]["stopReason"], &messages[1]["stopReason"]), (&json!("error"), &json!("stop")));
    assert_eq!(messages[0]["errorMessage"], "Stream ended without finish_reason");
    assert_eq!(text_of(messages[0]), "partial words");
    assert!(!sandbox.server.last().all_text().contains("partial words"));
    assert_eq!(one(&events, "auto_retry_end")["success"], true);
}

#[tokio::test]
async fn the_wait_before_a_retry_can_be_given_up_14_4() {
    let sandbox = with_delay(600_000, [overloaded()]).await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.call(json!({"type": "prompt", "message": "go"})).await;
    rpc.until("auto_retry_start").await;
    let from = rpc.mark();
    rpc.call(json!({"type": "abort_retry"})).await;
    let events = rpc.settled(from).await;
    let end = one(&events, "auto_retry_end");
    assert_eq!((&end["success"], &end["attempt"]), (&json!(false), &json!(1)));
    assert_eq!(end["finalError"], "Retry cancelled");
    assert_eq!(one(&events, "agent_settled")["aborted"], false);
    assert_eq!(sandbox.server.count(), 1);
}

#[tokio::test]
async fn an_abort_during_the_wait_sends_no_further_request_fc_083() {
    let sandbox = with_delay(600_000, [overloaded()]).await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.call(json!({"type": "prompt", "message": "go"})).await;
    rpc.until("auto_retry_start").await;
    let from = rpc.mark();
    rpc.call(json!({"type": "abort"})).await;
    assert_eq!(one(&rpc.settled(from).await, "agent_settled")["aborted"], true);
    assert_eq!(rpc.call(json!({"type": "get_state"})).await["isStreaming"], false);
    assert_eq!(sandbox.server.count(), 1);
}

#[tokio::test]
async fn what_does_not_pass_is_not_tried_again_14_4() {
    let refused = |status, message| async move {
        let sandbox = with_delay(40, [http(status, message)]).await;
        let events = sandbox.json(&["go"]).await;
        assert_eq!(sandbox.server.count(), 1, "{message} was tried again");
        let names = shape(&events);
        let tail = ["message_end:assistant", "turn_end", "agent_end", "agent_settled"];
        assert_eq!(names[names.len() - 4..], tail);
        let error = ended(&events, "assistant")[0]["errorMessage"].as_str().unwrap().to_owned();
        assert!(error.contains(&status.to_string()) && error.contains(message), "{error}");
    };
    refused(400, "bad request thing").await;
    refused(429, "You exceeded your quota: insufficient_quota, check billing").await;
}

#[tokio::test]
async fn rate_limits_and_server_faults_are_tried_again_4_9() {
    let answers = [http(429, "Rate limit reached"), http(500, "internal"), text("ok")];
    let sandbox = with_delay(20, answers).await;
    let events = sandbox.json(&["go"]).await;
    assert_eq!(sandbox.server.count(), 3);
    assert_eq!(fields(&events, "auto_retry_start", "attempt"), [1, 2]);
}

#[tokio::test]
async fn retries_can_be_turned_off_4_9() {
    let sandbox = Sandbox::new(replies([overloaded()])).await;
    sandbox.settings(json!({"retry": {"enabled": false, "baseDelayMs": 40}}));
    let events = sandbox.json(&["go"]).await;
    assert_eq!(sandbox.server.count(), 1);
    assert_eq!(of_type(&events, "auto_retry_start").len(), 0);
}

#[tokio::test]
async fn an_answer_that_works_resets_the_count_of_attempts_4_9() {
    let answers = [overloaded(), calls([call("bash", json!({"command": "echo a"}))]), overloaded(), text("k")];
    let sandbox = with_delay(20, answers).await;
    let events = sandbox.json(&["go"]).await;
    assert_eq!(fields(&events, "auto_retry_start", "attempt"), [1, 1]);
    sandbox.server.last().assert_strict();
}

#[tokio::test]
async fn a_follow_up_queued_during_the_wait_runs_after_the_last_attempt_14_4() {
    let sandbox = Sandbox::new(replies([overloaded(), overloaded(), text("late")])).await;
    sandbox.settings(json!({"retry": {"baseDelayMs": 300, "maxRetries": 1}}));
    let mut rpc = sandbox.rpc(&[]).await;
    let from = rpc.mark();
    rpc.call(json!({"type": "prompt", "message": "go"})).await;
    rpc.until("auto_retry_start").await;
    rpc.call(json!({"type": "follow_up", "message": "FU"})).await;
    let events = rpc.settled(from).await;
    assert_eq!(one(&events, "auto_retry_end")["success"], false);
    assert_eq!(of_type(&events, "agent_start").len(), 3, "two attempts and the follow-up's own loop run");
    let messages = rpc.messages().await;
    assert_eq!(texts_of(&messages, "user"), ["go", "FU"]);
    assert_eq!(text_of(messages.last().unwrap()), "late");
}

#[tokio::test]
async fn a_silent_stream_ends_after_the_idle_time_and_is_tried_again_4_10() {
    let sandbox = Sandbox::new(replies([hang("start"), text("k")])).await;
    sandbox.settings(json!({"retry": {"baseDelayMs": 20}, "httpIdleTimeoutMs": 500}));
    let events = sandbox.json(&["go"]).await;
    assert_eq!(sandbox.server.count(), 2);
    assert_eq!(text_of(ended(&events, "assistant")[0]), "start");
    assert_eq!(of_type(&events, "auto_retry_start").len(), 1);
}
