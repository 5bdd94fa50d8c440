//! Traces of the agent loop in JSON mode: three calls in one message (section 14.1), thinking (14.2), output limits
//! and bad arguments (14.3). The numbers are those of the reference's recorded traces.

mod support;

use serde_json::{Value, json};
use support::*;

/// The run of section 14.1: a slow call, a fast one and one of a tool that does not exist.
async fn three_calls() -> (Sandbox, Vec<Value>) {
    let slow = format!("{}; sleep 0.3; echo slow", wait_for_file("fast.done"));
    let sandbox = Sandbox::new(replies([
        calls([
            call("bash", json!({"command": slow})).id("c1"),
            call("bash", json!({"command": "echo fast; touch fast.done"})).id("c2"),
            call("nope", json!({})).id("c3"),
        ]),
        text("done").split(2),
    ]))
    .await;
    let events = sandbox.json(&["go"]).await;
    (sandbox, events)
}

fn ids(events: &[Value], kind: &str) -> Vec<Value> {
    of_type(events, kind).into_iter().map(|event| event["toolCallId"].clone()).collect()
}

#[tokio::test]
async fn a_run_with_three_calls_has_the_recorded_order_of_events_14_1() {
    let (_sandbox, events) = three_calls().await;
    let message = ["message_start:assistant", "message_end:assistant"];
    let mut wanted = vec!["session", "agent_start", "turn_start", "message_start:system", "message_end:system"];
    wanted.extend(["message_start:user", "message_end:user"]);
    wanted.extend(message);
    wanted.extend(["tool_execution_start"; 3]);
    wanted.extend(["tool_execution_end"; 3]);
    wanted.extend(["message_start:toolResult", "message_end:toolResult"].repeat(3));
    wanted.extend(["turn_end", "turn_start"]);
    wanted.extend(message);
    wanted.extend(["turn_end", "agent_end", "agent_settled"]);
    assert_eq!(shape(&events), wanted);
}

#[tokio::test]
async fn calls_end_as_they_complete_and_results_follow_in_call_order_14_1() {
    let (sandbox, events) = three_calls().await;
    assert_eq!(ids(&events, "tool_execution_start"), ["c1", "c2", "c3"]);
    assert_eq!(ids(&events, "tool_execution_end"), ["c3", "c2", "c1"]);
    let results: Vec<_> = ended(&events, "toolResult").into_iter().map(|result| &result["toolCallId"]).collect();
    assert_eq!(results, ["c1", "c2", "c3"]);

    let ends = of_type(&events, "tool_execution_end");
    let unknown = ends[0];
    assert_eq!(unknown["isError"], true);
    assert_eq!(unknown["result"]["content"], json!([{"type": "text", "text": "Tool nope not found"}]));
    assert_eq!(unknown["result"]["details"], json!({}));
    assert!(unknown.get("durationMs").is_none(), "a tool that never ran took no time: {unknown}");
    let fast = ends[1];
    let structured = &fast["result"]["structuredContent"];
    assert_eq!((&structured["output"], &structured["exit_code"]), (&json!("fast\n"), &json!(0)));
    assert_eq!(structured["truncated"], false);
    assert!(fast["durationMs"].is_u64(), "{fast}");

    for (id, output) in [("c1", "slow\n"), ("c2", "fast\n")] {
        let of_call = |event: &&Value| event["toolCallId"] == id;
        let updates: Vec<_> = of_type(&events, "tool_execution_update").into_iter().filter(of_call).collect();
        assert_eq!(updates[0]["partialResult"]["content"], json!([]), "the first update is empty");
        assert_eq!(text_of(&updates[updates.len() - 1]["partialResult"]), output);
        assert_eq!(updates[0]["toolName"], "bash");
        assert!(updates[0]["args"]["command"].is_string());
        let last = events.iter().rposition(|e| e["type"] == "tool_execution_update" && e["toolCallId"] == id);
        let end = events.iter().position(|e| e["type"] == "tool_execution_end" && e["toolCallId"] == id);
        assert!(last < end, "an update of {id} after its end");
    }

    let turns = of_type(&events, "turn_end");
    assert_eq!(turns[0]["toolResults"].as_array().map(Vec::len), Some(3));
    assert_eq!(turns[1]["toolResults"], json!([]));
    let end = one(&events, "agent_end");
    assert_eq!(end["willRetry"], false);
    let roles: Vec<_> = end["messages"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["system", "user", "assistant", "toolResult", "toolResult", "toolResult", "assistant"]);
    assert_eq!(one(&events, "agent_settled")["aborted"], false);
    assert!(sandbox.server.last().results()[2].contains("Tool nope not found"));
}

#[tokio::test]
async fn messages_and_their_updates_carry_the_recorded_fields_14_1() {
    let (_sandbox, events) = three_calls().await;
    let first = ended(&events, "assistant")[0];
    for (field, wanted) in [
        ("stopReason", "toolUse"),
        ("api", "openai-completions"),
        ("provider", "mock"),
        ("model", "m1"),
        ("rawStopReason", "tool_calls"),
        ("responseId", "resp-0"),
    ] {
        assert_eq!(first[field], wanted, "{field} of {first}");
    }
    assert!(first["thinkingLevel"].is_string() && first["durationMs"].is_u64(), "{first}");
    let usage = &first["usage"];
    let counted =
        ["input", "output", "cacheRead", "cacheWrite", "totalTokens"].map(|part| usage[part].as_u64().unwrap());
    assert_eq!(counted, [100, 10, 0, 0, 110]);
    assert!((usage["cost"]["total"].as_f64().unwrap() - 0.000_12).abs() < 1e-12, "{usage}");
    let start = of_type(&events, "message_start").into_iter().find(|e| e["message"]["role"] == "assistant").unwrap();
    assert_eq!((&start["message"]["content"], &start["message"]["stopReason"]), (&json!([]), &json!("pending")));

    let updates = of_type(&events, "message_update");
    for update in &updates {
        let keys: Vec<_> = update.as_object().unwrap().keys().filter(|key| *key != "type").collect();
        assert_eq!(keys.len(), 2, "a message_update has usage and assistantMessageEvent only: {update}");
        assert!(update["usage"].is_object() && update["assistantMessageEvent"].get("partial").is_none(), "{update}");
    }
    let steps: Vec<_> = updates.into_iter().map(|update| update["assistantMessageEvent"].clone()).collect();
    let starts: Vec<_> = of_type(&steps, "toolcall_start").into_iter().cloned().collect();
    assert_eq!(
        Value::from(starts),
        json!([
            {"type": "toolcall_start", "contentIndex": 0, "id": "c1", "toolName": "bash"},
            {"type": "toolcall_start", "contentIndex": 1, "id": "c2", "toolName": "bash"},
            {"type": "toolcall_start", "contentIndex": 2, "id": "c3", "toolName": "nope"},
        ])
    );
    let kinds: Vec<_> = steps.iter().filter_map(|step| step["type"].as_str()).collect();
    assert_eq!(kinds[6..9], ["toolcall_end"; 3], "the ends come together, after the last delta");
    let text: String = of_type(&steps, "text_delta").iter().filter_map(|step| step["delta"].as_str()).collect();
    assert_eq!((text.as_str(), &one(&steps, "text_end")["content"]), ("done", &json!("done")));
}

#[tokio::test]
async fn a_run_leaves_one_chain_of_entries_and_well_formed_requests_14_1() {
    let (sandbox, events) = three_calls().await;
    let header = &events[0];
    let id = header["id"].as_str().unwrap();
    assert!(id.len() == 36 && id.as_bytes()[14] == b'7', "the session's id is a UUID of version 7: {id}");
    assert_eq!((&header["version"], &header["cwd"]), (&json!(3), &json!(sandbox.project)));
    let file = sandbox.session_file();
    assert!(file.to_string_lossy().ends_with(&format!("_{id}.jsonl")), "{}", file.display());

    let lines = lines(&file);
    assert_eq!(lines[0], *header);
    let mut wanted = vec!["model_change", "thinking_level_change", "system", "user", "assistant"];
    wanted.extend(["toolResult", "toolResult", "toolResult", "assistant"]);
    assert_eq!(entry_roles(&lines), wanted);
    let mut parent = Value::Null;
    for entry in &lines[1..] {
        assert_eq!(entry["parentId"], parent, "one chain");
        parent = entry["id"].clone();
        let id = parent.as_str().unwrap();
        assert!(id.len() == 8 && id.bytes().all(|digit| digit.is_ascii_hexdigit()), "{id}");
        assert!(entry["message"].get("structuredContent").is_none(), "structured content is for programs, not stored");
    }
    assert_eq!((&lines[1]["provider"], &lines[1]["modelId"]), (&json!("mock"), &json!("m1")));

    let [first, second] = [sandbox.server.request(0).await, sandbox.server.request(1).await];
    assert_eq!((&first.body["model"], &first.body["stream"]), (&json!("m1"), &json!(true)));
    assert_eq!(first.body["stream_options"], json!({"include_usage": true}));
    let mut tools = first.tools();
    tools.sort_unstable();
    assert_eq!(tools, ["bash", "edit", "read", "write"]);
    assert_eq!(first.header("authorization"), Some("Bearer mock-key"));
    assert_eq!(first.roles(), ["system", "user"]);
    assert_eq!(second.roles(), ["system", "user", "assistant", "tool", "tool", "tool"]);
    second.assert_strict();
}

#[tokio::test]
async fn a_second_prompt_adds_no_second_system_message_14_1() {
    let sandbox = Sandbox::new(replies([text("a"), text("b")])).await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.prompt("one").await;
    let second = rpc.prompt("two").await;
    assert!(!shape(&second).contains(&"message_start:system".to_owned()));
    let messages = rpc.messages().await;
    let roles: Vec<_> = messages.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant"]);
    let sections: Vec<_> = messages[0]["sections"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!((sections[0], sections[sections.len() - 1]), ("preamble", "cwd"));
    assert!(sections.contains(&"tools") && sections.contains(&"rules"), "{sections:?}");
    assert_eq!(messages[0]["toolsAdded"].as_array().map(Vec::len), Some(4));
    assert_eq!(messages[1]["content"], json!([{"type": "text", "text": "one"}]));
}

#[tokio::test]
async fn a_tool_runs_only_when_its_message_is_complete_14_1() {
    let gate = Gate::closed();
    let reply = calls([call("bash", json!({"command": "touch ran"}))]).hold(&gate);
    let sandbox = Sandbox::new(replies([reply, text("k")])).await;
    let mut rpc = sandbox.rpc(&[]).await;
    let from = rpc.mark();
    rpc.call(json!({"type": "prompt", "message": "go"})).await;
    rpc.until("message_update").await;
    assert_eq!(rpc.call(json!({"type": "get_state"})).await["isStreaming"], true);
    assert!(!sandbox.exists("ran"), "the call ran before its message ended");
    gate.open();
    rpc.settled(from).await;
    assert!(sandbox.exists("ran"));
}

#[tokio::test]
async fn text_and_a_call_in_pieces_make_one_message_14_1() {
    let pieces = calls([call("read", json!({"path": "a.txt"}))]).after_text("look").split(3).chunked();
    let sandbox = Sandbox::new(replies([pieces, text("k")])).await;
    sandbox.write("a.txt", "AAA");
    let events = sandbox.json(&["go"]).await;
    let content = &ended(&events, "assistant")[0]["content"];
    assert_eq!((&content[0]["text"], &content[1]["arguments"]), (&json!("look"), &json!({"path": "a.txt"})));
    let steps = of_type(&events, "message_update").into_iter().map(|update| &update["assistantMessageEvent"]);
    let deltas: String =
        steps.filter(|step| step["type"] == "toolcall_delta").filter_map(|step| step["delta"].as_str()).collect();
    assert_eq!(deltas, r#"{"path":"a.txt"}"#);
    assert_eq!(sandbox.server.last().results(), ["AAA"]);
}

#[tokio::test]
async fn two_calls_with_one_id_both_run_and_both_have_a_result_4_5() {
    let twice = ["echo one", "echo two"].map(|command| call("bash", json!({"command": command})).id("dup"));
    let sandbox = Sandbox::new(replies([calls(twice), text("k")])).await;
    let events = sandbox.json(&["go"]).await;
    let called = ended(&events, "assistant")[0]["content"].as_array().unwrap().len();
    assert_eq!(of_type(&events, "tool_execution_end").len(), called);
    assert_eq!(ended(&events, "toolResult").len(), called);
}

#[tokio::test]
async fn sixteen_calls_have_sixteen_results_in_order_4_5() {
    let many = (0..16).map(|n| call("bash", json!({"command": format!("echo n{n}")})));
    let sandbox = Sandbox::new(replies([calls(many), text("k")])).await;
    sandbox.json(&["go"]).await;
    let wanted: Vec<_> = (0..16).map(|n| format!("n{n}\n")).collect();
    assert_eq!(sandbox.server.last().results(), wanted);
}

#[tokio::test]
async fn thinking_ends_with_the_message_and_keeps_the_field_it_came_in_14_2() {
    let sandbox = Sandbox::new(replies([thinking(&["hmm ", "ok"], &["ans", "wer"])])).await;
    let events = sandbox.json(&["--model", "mock/r1", "go"]).await;
    let steps: Vec<_> = of_type(&events, "message_update")
        .into_iter()
        .map(|update| {
            let step = &update["assistantMessageEvent"];
            format!("{}({})", step["type"].as_str().unwrap(), step["contentIndex"])
        })
        .collect();
    let mut wanted = vec!["thinking_start(0)", "thinking_delta(0)", "thinking_delta(0)"];
    wanted.extend(["text_start(1)", "text_delta(1)", "text_delta(1)", "thinking_end(0)", "text_end(1)"]);
    assert_eq!(steps, wanted);
    let wanted = json!([{"type": "thinking", "thinking": "hmm ok", "thinkingSignature": "reasoning_content"},
        {"type": "text", "text": "answer"}]);
    assert_eq!(ended(&events, "assistant")[0]["content"], wanted);
}

#[tokio::test]
async fn a_call_cut_by_the_output_limit_is_not_run_and_the_next_turn_follows_14_3() {
    let cut = calls([raw_call("bash", r#"{"command":"touch marker; echo "#)]).finish("length").usage(100, 16_384);
    let sandbox = Sandbox::new(replies([cut, text("k")])).await;
    let events = sandbox.json(&["go"]).await;
    assert!(!sandbox.exists("marker"), "a cut call ran");
    let message = ended(&events, "assistant")[0];
    assert_eq!((&message["stopReason"], &message["content"][0]["arguments"]), (&json!("length"), &json!({})));
    let error = message["content"][0]["argumentsError"].as_str().unwrap();
    assert!(error.contains("Received arguments:") && error.contains("touch marker"), "{error}");
    assert_eq!(one(&events, "tool_execution_start")["args"], json!({}));
    let end = one(&events, "tool_execution_end");
    assert_eq!((&end["isError"], &end["result"]["details"]), (&json!(true), &json!({})));
    assert!(text_of(&end["result"]).contains("limit"), "{end}");
    assert_eq!(sandbox.server.count(), 2);
    sandbox.server.last().assert_strict();
}

#[tokio::test]
async fn a_complete_call_before_an_output_limit_is_not_run_either_14_3() {
    let cut = calls([call("bash", json!({"command": "touch marker"}))]).finish("length").usage(100, 16_384);
    let sandbox = Sandbox::new(replies([cut, text("k")])).await;
    sandbox.json(&["go"]).await;
    assert!(!sandbox.exists("marker"));
    assert_eq!(sandbox.server.count(), 2);
}

#[tokio::test]
async fn arguments_that_are_no_json_come_back_to_the_model_with_the_reason_14_3() {
    let sandbox = Sandbox::new(replies([calls([raw_call("bash", r#"{"command":"#)]), text("k")])).await;
    let events = sandbox.json(&["go"]).await;
    let end = one(&events, "tool_execution_end");
    assert_eq!(end["isError"], true);
    let told = text_of(&end["result"]);
    assert!(told.starts_with(r#"Invalid arguments for tool "bash": "#), "{told}");
    assert!(told.ends_with("\n\nReceived arguments:\n{\"command\":"), "{told}");
    sandbox.server.last().assert_strict();
}

#[tokio::test]
async fn fc_081_a_model_that_reads_the_same_file_for_ever_is_told_and_the_run_fails() {
    let sandbox = Sandbox::new(|_: &Request| calls([call("read", json!({"path": "a.txt"}))])).await;
    sandbox.write("a.txt", "one\n");
    let finished = sandbox.run(&["-p", "go"]).await;
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
    assert!(finished.stderr.contains("The run was ended: the model made the same calls"), "{}", finished.stderr);
    let told = |n: usize| sandbox.server.requests()[n].all_text().contains("Notice of the program");
    assert_eq!((sandbox.server.count(), told(4), told(5)), (15, false, true));
    sandbox.server.last().assert_strict();
}
