//! Traces of steering, follow-ups (section 14.5) and abort (14.6), over RPC.

mod support;

use serde_json::{Value, json};
use support::*;

fn bash(command: &str) -> Reply {
    calls([call("bash", json!({"command": command}))])
}

/// A model that answers "go" with a tool that waits for the file `on`, and everything else with "re: …".
async fn held_in_a_tool() -> Sandbox {
    Sandbox::new(|request: &Request| {
        let user = request.last_user();
        if user == "go" && request.results().is_empty() {
            bash(&format!("echo begun; {}", wait_for_file("on")))
        } else {
            text(&format!("re: {user}"))
        }
    })
    .await
}

/// Prompts "go" and waits until the tool has begun to run; the place before the prompt.
async fn begin(rpc: &mut Rpc) -> usize {
    let from = rpc.mark();
    rpc.call(json!({"type": "prompt", "message": "go"})).await;
    rpc.until_that("output of the tool", |event| {
        event["type"] == "tool_execution_update" && text_of(&event["partialResult"]).contains("begun")
    })
    .await;
    from
}

async fn queue(rpc: &mut Rpc, messages: &[(&str, &str)]) {
    for (kind, message) in messages {
        let data = rpc.call(json!({"type": kind, "message": message})).await;
        assert_eq!(data, json!({"disposition": "queued"}), "{kind} {message}");
    }
}

const FOUR: [(&str, &str); 4] = [("steer", "A"), ("steer", "B"), ("follow_up", "C"), ("follow_up", "D")];

#[tokio::test]
async fn queued_messages_are_delivered_one_at_a_time_in_the_recorded_order_14_5() {
    let sandbox = held_in_a_tool().await;
    let mut rpc = sandbox.rpc(&[]).await;
    let from = begin(&mut rpc).await;
    queue(&mut rpc, &FOUR).await;
    let error = rpc.refused(json!({"type": "prompt", "message": "plain"})).await;
    assert!(error.contains("'steer'") && error.contains("'followUp'"), "{error}");
    sandbox.write("on", "");
    let events = rpc.settled(from).await;

    let queues: Vec<_> = of_type(&events, "queue_update")
        .into_iter()
        .map(|event| json!([event["steering"], event["followUp"]]))
        .collect();
    let wanted = json!([
        [["A"], []],
        [["A", "B"], []],
        [["A", "B"], ["C"]],
        [["A", "B"], ["C", "D"]],
        [["B"], ["C", "D"]],
        [[], ["C", "D"]],
        [[], ["D"]],
        [[], []],
    ]);
    assert_eq!(Value::from(queues), wanted);

    let names = shape(&events);
    let tool_end = names.iter().position(|name| name == "tool_execution_end").unwrap();
    let mut wanted = vec!["tool_execution_end", "message_start:toolResult", "message_end:toolResult", "turn_end"];
    for _ in 0..4 {
        wanted.extend(["turn_start", "queue_update", "message_start:user", "message_end:user"]);
        wanted.extend(["message_start:assistant", "message_end:assistant", "turn_end"]);
    }
    wanted.extend(["agent_end", "agent_settled"]);
    assert_eq!(names[tool_end..], wanted);
    let users: Vec<_> = ended(&events, "user").into_iter().map(text_of).collect();
    assert_eq!(users, ["go", "A", "B", "C", "D"]);
    assert_eq!(sandbox.server.count(), 5);
    sandbox.server.last().assert_strict();
}

#[tokio::test]
async fn queues_in_mode_all_are_delivered_whole_14_5() {
    let sandbox = held_in_a_tool().await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.call(json!({"type": "set_steering_mode", "mode": "all"})).await;
    rpc.call(json!({"type": "set_follow_up_mode", "mode": "all"})).await;
    let from = begin(&mut rpc).await;
    queue(&mut rpc, &FOUR).await;
    sandbox.write("on", "");
    rpc.settled(from).await;
    assert_eq!(sandbox.server.count(), 3);
    assert_eq!(sandbox.server.request(1).await.texts("user"), ["go", "A", "B"]);
    assert_eq!(sandbox.server.request(2).await.texts("user"), ["go", "A", "B", "C", "D"]);
}

#[tokio::test]
async fn steering_while_idle_waits_for_the_next_prompt_14_5() {
    let sandbox = Sandbox::new(replies([text("re")])).await;
    let mut rpc = sandbox.rpc(&[]).await;
    queue(&mut rpc, &[("steer", "Q")]).await;
    assert_eq!(rpc.call(json!({"type": "get_state"})).await["pendingMessageCount"], 1);
    assert_eq!(sandbox.server.count(), 0);
    rpc.prompt("P").await;
    assert_eq!(sandbox.server.request(0).await.texts("user"), ["P", "Q"]);
}

#[tokio::test]
async fn a_prompt_can_say_how_it_is_queued_14_5() {
    let sandbox = held_in_a_tool().await;
    let mut rpc = sandbox.rpc(&[]).await;
    let from = begin(&mut rpc).await;
    for (message, behavior) in [("F", "followUp"), ("S", "steer")] {
        let data = rpc.call(json!({"type": "prompt", "message": message, "streamingBehavior": behavior})).await;
        assert_eq!(data, json!({"disposition": "queued"}));
    }
    sandbox.write("on", "");
    rpc.settled(from).await;
    assert_eq!(texts_of(&rpc.messages().await, "user"), ["go", "S", "F"]);
}

#[tokio::test]
async fn all_steering_comes_before_all_follow_ups_fc_079() {
    let sandbox = held_in_a_tool().await;
    let mut rpc = sandbox.rpc(&[]).await;
    let from = begin(&mut rpc).await;
    queue(&mut rpc, &[("follow_up", "F1"), ("steer", "S1"), ("follow_up", "F2"), ("steer", "S2")]).await;
    sandbox.write("on", "");
    rpc.settled(from).await;
    assert_eq!(texts_of(&rpc.messages().await, "user"), ["go", "S1", "S2", "F1", "F2"]);
}

#[tokio::test]
async fn steering_cancels_no_call_of_the_running_batch_4_2() {
    let sandbox = Sandbox::new(|request: &Request| {
        let wait = |file| format!("echo begun; {}; touch {file}", wait_for_file("on"));
        if request.last_user() == "go" && request.results().is_empty() {
            calls(["fa", "fb"].map(|file| call("bash", json!({"command": wait(file)}))))
        } else {
            text("re")
        }
    })
    .await;
    let mut rpc = sandbox.rpc(&[]).await;
    let from = begin(&mut rpc).await;
    queue(&mut rpc, &[("steer", "S")]).await;
    sandbox.write("on", "");
    rpc.settled(from).await;
    assert!(sandbox.exists("fa") && sandbox.exists("fb"), "a call was skipped");
    sandbox.server.last().assert_strict();
}

#[tokio::test]
async fn an_abort_of_a_streaming_answer_keeps_its_text_and_answers_when_idle_14_6() {
    let sandbox = Sandbox::new(replies([hang("words of the answer"), text("again")])).await;
    let mut rpc = sandbox.rpc(&[]).await;
    let from = rpc.mark();
    rpc.call(json!({"type": "prompt", "message": "go"})).await;
    rpc.until_that("text", |event| event["assistantMessageEvent"]["type"] == "text_delta").await;
    rpc.call(json!({"type": "abort"})).await;
    let response = rpc.since(from).iter().rposition(|record| record["command"] == "abort");
    let settled = rpc.since(from).iter().rposition(|record| record["type"] == "agent_settled");
    assert!(settled < response, "the response came before the agent was idle");
    let events = rpc.settled(from).await;
    let names = shape(&events);
    assert_eq!(names[names.len() - 4..], ["message_end:assistant", "turn_end", "agent_end", "agent_settled"]);
    let message = ended(&events, "assistant")[0];
    assert_eq!((&message["stopReason"], text_of(message).as_str()), (&json!("aborted"), "words of the answer"));
    assert_eq!(message["errorMessage"], "Request was aborted");
    assert_eq!(one(&events, "agent_settled")["aborted"], true);
    sandbox.server.request(0).await.closed().await;
    rpc.prompt("next").await;
    assert!(!sandbox.server.last().all_text().contains("words of the answer"));
    sandbox.server.last().assert_strict();
}

#[tokio::test]
async fn an_abort_of_a_running_tool_keeps_what_it_printed_and_ends_in_an_empty_turn_14_6() {
    let sandbox = held_in_a_tool().await;
    let mut rpc = sandbox.rpc(&[]).await;
    let from = begin(&mut rpc).await;
    rpc.call(json!({"type": "abort"})).await;
    let events = rpc.settled(from).await;
    let names = shape(&events);
    let tool_end = names.iter().position(|name| name == "tool_execution_end").unwrap();
    let mut wanted = vec!["tool_execution_end", "message_start:toolResult", "message_end:toolResult", "turn_end"];
    wanted.extend(["turn_start", "message_start:assistant", "message_end:assistant", "turn_end"]);
    wanted.extend(["agent_end", "agent_settled"]);
    assert_eq!(names[tool_end..], wanted);
    let end = one(&events, "tool_execution_end");
    let output = text_of(&end["result"]);
    assert_eq!(end["isError"], true);
    assert!(output.starts_with("begun\n") && output.ends_with("Command aborted"), "{output}");
    let reasons: Vec<_> = of_type(&events, "turn_end").into_iter().map(|turn| &turn["message"]["stopReason"]).collect();
    assert_eq!(reasons, ["toolUse", "aborted"]);
    assert_eq!(ended(&events, "assistant")[1]["content"], json!([]));
    assert_eq!(sandbox.server.count(), 1);
    rpc.prompt("next").await;
    sandbox.server.last().assert_strict();
    assert!(sandbox.server.last().all_text().contains("Command aborted"));
}

#[tokio::test]
async fn each_call_of_an_aborted_batch_has_one_result_fc_082() {
    let sandbox = Sandbox::new(|request: &Request| {
        if request.last_user() == "go" {
            calls((0..3).map(|_| call("bash", json!({"command": wait_for_file("never")}))))
        } else {
            text("again")
        }
    })
    .await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.call(json!({"type": "prompt", "message": "go"})).await;
    for _ in 0..3 {
        rpc.until("tool_execution_start").await;
    }
    rpc.call(json!({"type": "abort"})).await;
    let messages = rpc.messages().await;
    let results: Vec<_> = messages.iter().filter(|message| message["role"] == "toolResult").collect();
    assert_eq!(results.len(), 3);
    assert!(results.iter().all(|result| result["isError"] == true), "{results:?}");
    rpc.prompt("next").await;
    sandbox.server.last().assert_strict();
}

#[tokio::test]
async fn queued_messages_survive_an_abort_14_6() {
    let sandbox = held_in_a_tool().await;
    let mut rpc = sandbox.rpc(&[]).await;
    let from = begin(&mut rpc).await;
    queue(&mut rpc, &[("follow_up", "FU")]).await;
    rpc.call(json!({"type": "abort"})).await;
    rpc.settled(from).await;
    assert_eq!(rpc.call(json!({"type": "get_state"})).await["isStreaming"], false);
    let queues = rpc.call(json!({"type": "clear_queue"})).await;
    assert_eq!(queues, json!({"steering": [], "followUp": ["FU"]}));
    let queues = rpc.call(json!({"type": "clear_queue"})).await;
    assert_eq!(queues, json!({"steering": [], "followUp": []}));
}

#[tokio::test]
async fn a_follow_up_that_survived_an_abort_is_delivered_with_the_next_run_14_6() {
    let sandbox = held_in_a_tool().await;
    let mut rpc = sandbox.rpc(&[]).await;
    begin(&mut rpc).await;
    queue(&mut rpc, &[("follow_up", "FU")]).await;
    rpc.call(json!({"type": "abort"})).await;
    rpc.prompt("P").await;
    assert_eq!(texts_of(&rpc.messages().await, "user"), ["go", "P", "FU"]);
}

#[tokio::test]
async fn an_abort_while_idle_and_a_second_abort_do_no_harm_14_6() {
    let hanging = |request: &Request| if request.last_user() == "go" { hang("a") } else { text("k") };
    let sandbox = Sandbox::new(hanging).await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.call(json!({"type": "abort"})).await;
    let from = rpc.mark();
    rpc.call(json!({"type": "prompt", "message": "go"})).await;
    rpc.until("message_update").await;
    rpc.send_raw(b"{\"id\":\"x1\",\"type\":\"abort\"}\n{\"id\":\"x2\",\"type\":\"abort\"}\n").await;
    for id in ["x1", "x2"] {
        rpc.until_that("response to abort", |record| record["id"] == id).await;
    }
    rpc.call(json!({"type": "get_state"})).await;
    assert_eq!(of_type(rpc.since(from), "agent_settled").len(), 1);
    assert_eq!(text_of(ended(&rpc.prompt("next").await, "assistant")[0]), "k");
}

#[tokio::test]
async fn the_end_of_input_during_a_run_ends_the_process_cleanly_14_6() {
    let sandbox = Sandbox::new(replies([hang("a")])).await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.call(json!({"type": "prompt", "message": "go"})).await;
    rpc.until("message_update").await;
    assert_eq!(rpc.close().await, Some(0));
    linked(&lines(&sandbox.session_file()));
}
