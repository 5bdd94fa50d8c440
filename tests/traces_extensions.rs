//! What extensions are asked and shown, in which order, against a scripted model server (pi's trace 14.9).

#![allow(clippy::unwrap_used)]

mod support;

use std::path::{Path, PathBuf};

use serde_json::json;
use support::*;

/// The program of `examples/order.rs`, which `cargo test` builds beside the binary.
fn order() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_troupe")).with_file_name("examples").join("order");
    assert!(program.exists(), "{} is not there: run `cargo build --examples` first", program.display());
    program
}

#[tokio::test]
async fn an_extension_is_asked_and_shown_things_in_pis_order_14_9() {
    let batch = calls([call("bash", json!({"command": "true"})), call("read", json!({"path": "a"}))]);
    let sandbox = Sandbox::new(replies([batch, text("done")])).await;
    let file = sandbox.write("order.txt", "");
    let args = ["--order", file.to_str().unwrap(), "--refuse", "read", "-p", "go"];
    let finished = finish(sandbox.command_of(order(), &args), "").await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    let wanted = "\
        resources
        start
        session_start
        input
        before_agent_start
        agent_start
        turn_start
        message_start system
        message_end system
        message_start user
        message_end user
        context
        before_request
        payload
        provider_response 200
        message_start assistant
        message_end assistant
        tool_execution_start bash
        tool_call bash
        tool_execution_start read
        tool_call read denied
        tool_execution_end read
        tool_result bash
        tool_execution_end bash
        message_start toolResult
        message_end toolResult
        message_start toolResult
        message_end toolResult
        turn_end
        turn_start
        context
        before_request
        payload
        provider_response 200
        message_start assistant
        message_end assistant
        turn_end
        agent_end
        before_settle
        agent_settled
        session_shutdown";
    let order = sandbox.read("order.txt");
    let order: Vec<_> = order.lines().collect();
    let wanted: Vec<_> = wanted.lines().map(str::trim).collect();
    assert_eq!(order, wanted, "\n{}", order.join("\n"));
}
