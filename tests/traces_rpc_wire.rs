//! The wire of RPC itself: what is on it, and what ends it.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;

use serde_json::json;
use support::*;

#[tokio::test]
async fn fc_084_what_an_extension_prints_does_not_get_between_the_records() {
    let program = Path::new(env!("CARGO_BIN_EXE_troupe")).with_file_name("examples").join("order");
    let sandbox = Sandbox::new(replies([text("ok")])).await;
    for mode in ["rpc", "json"] {
        let args = ["--mode", mode, "--order", "/dev/stdout", "hi"];
        let finished = finish(sandbox.command_of(&program, &args[..if mode == "rpc" { 4 } else { 5 }]), "").await;
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        assert!(finished.stderr.contains("start\n"), "{}", finished.stderr);
        let records = finished.stdout.lines().map(serde_json::from_str::<serde_json::Value>);
        assert!(records.into_iter().all(|record| record.is_ok()), "{}", finished.stdout);
    }
}

#[tokio::test]
async fn the_end_of_input_ends_a_running_trace_and_the_program_with_0_9_1() {
    let gate = Gate::closed();
    let sandbox = Sandbox::new(replies([text("never").hold(&gate)])).await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.call(json!({"type": "prompt", "message": "go"})).await;
    rpc.until("message_start").await;
    assert_eq!(rpc.close().await, Some(0));
}

#[tokio::test]
async fn every_command_of_pi_is_known_9_2() {
    let commands = "prompt steer follow_up abort clear_queue new_session get_state get_messages set_model cycle_model \
         get_available_models set_thinking_level cycle_thinking_level get_available_thinking_levels set_steering_mode \
         set_follow_up_mode compact set_auto_compaction set_auto_retry abort_retry bash abort_bash get_session_stats \
         export_html switch_session fork clone get_fork_messages get_entries get_tree get_last_assistant_text \
         set_session_name get_commands";
    let sandbox = Sandbox::new(replies([text("ok")])).await;
    let mut rpc = sandbox.rpc(&[]).await;
    assert_eq!(commands.split_whitespace().count(), 33);
    for command in commands.split_whitespace() {
        let response = rpc.request(json!({"type": command, "sessionPath": "/no/such/folder/x.jsonl"})).await;
        assert_eq!(response["command"], command);
        let is_unknown = response["error"].as_str().is_some_and(|error| error.starts_with("Unknown command"));
        assert!(!is_unknown, "{response}");
    }
}
