//! `troupe acp` from the outside: what an editor sends and gets.

#![allow(clippy::unwrap_used)]

mod support;

use rustix::process::{Pid, Signal, kill_process, test_kill_process_group};
use serde_json::{Value, json};
use support::*;

fn bash(command: &str) -> Call {
    call("bash", json!({"command": command}))
}

/// A model that answers with what it is asked.
async fn obliging() -> Sandbox {
    Sandbox::new(|request: &Request| text(&format!("re {}", request.last_user()))).await
}

fn pick(options: &Value, kind: &str) -> Value {
    let options = options.as_array().unwrap();
    let option =
        options.iter().find(|option| option["kind"] == kind).unwrap_or_else(|| panic!("no {kind}: {options:?}"));
    json!({"outcome": {"outcome": "selected", "optionId": option["optionId"]}})
}

#[tokio::test]
async fn a_prompt_streams_its_answer_and_says_how_it_ended() {
    let sandbox = Sandbox::new(replies([thinking(&["hm"], &["Hello, ", "world"]).usage(100, 20)])).await;
    let mut acp = Acp::in_sandbox(&sandbox, &["--model", "mock/r1"]).await;
    let session = acp.new_session(&sandbox).await;
    assert_eq!(acp.prompted(&session, "hi").await, "end_turn");
    assert_eq!(acp.text(0, &session, "agent_message_chunk"), "Hello, world");
    assert_eq!(acp.text(0, &session, "agent_thought_chunk"), "hm");
    let usage = &acp.updates(0, &session, "usage_update")[0];
    assert_eq!((usage["used"].as_u64(), usage["size"].as_u64()), (Some(120), Some(200_000)));
    let ids: Vec<Value> =
        acp.updates(0, &session, "agent_message_chunk").iter().map(|update| update["messageId"].clone()).collect();
    assert!(ids.iter().all(|id| *id == ids[0] && id.is_string()), "{ids:?}");
    assert_eq!(acp.close().await, Some(0));
    assert!(sandbox.session_file().to_string_lossy().contains(&session), "the session is kept under its id");
}

#[tokio::test]
async fn a_prompt_brings_pictures_and_files_along() {
    let sandbox = Sandbox::new(replies([text("seen")])).await;
    let mut acp = Acp::in_sandbox(&sandbox, &["--model", "mock/img"]).await;
    let session = acp.new_session(&sandbox).await;
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let prompt = json!([
        {"type": "text", "text": "look at "},
        {"type": "resource", "resource": {"uri": "file:///p/a.rs", "text": "fn main() {}"}},
        {"type": "resource_link", "name": "b", "uri": "file:///p/b.rs"},
        {"type": "image", "data": png, "mimeType": "image/png"},
    ]);
    acp.call("session/prompt", json!({"sessionId": session, "prompt": prompt})).await;
    let text = sandbox.server.last().all_text();
    assert!(text.contains("<file name=\\\"/p/a.rs\\\">") || text.contains("<file name=\"/p/a.rs\">"), "{text}");
    assert!(text.contains("look at @/p/a.rs@/p/b.rs"), "{text}");
    assert!(serde_json::to_string(sandbox.server.last().messages()).unwrap().contains("data:image/"), "{text}");
    let audio = json!([{"type": "audio", "data": "", "mimeType": "audio/wav"}]);
    let (code, why) = acp.refused("session/prompt", json!({"sessionId": session, "prompt": audio})).await;
    assert_eq!((code, why.contains("audio")), (-32602, true), "{why}");
}

#[tokio::test]
async fn tools_are_shown_with_what_they_change_and_print() {
    let edit = call("edit", json!({"path": "f", "edits": [{"oldText": "b", "newText": "B"}]})).id("e");
    let script = [
        calls([call("write", json!({"path": "f", "content": "a\nb\nc\n"})).id("w"), bash("echo hi").id("s")]),
        calls([call("read", json!({"path": "f", "offset": 2})).id("r"), call("read", json!({"path": "no"})).id("r")]),
        calls([edit]),
        calls([call("write", json!({"path": "f", "content": "z"})).id("o")]),
        text("done"),
    ];
    let sandbox = Sandbox::new(replies(script)).await;
    let mut acp = Acp::in_sandbox(&sandbox, &[]).await;
    let session = acp.new_session(&sandbox).await;
    assert_eq!(acp.prompted(&session, "go").await, "end_turn");
    let calls = acp.updates(0, &session, "tool_call");
    let ids: Vec<&str> = calls.iter().map(|call| call["toolCallId"].as_str().unwrap()).collect();
    assert_eq!(ids, ["w", "s", "r", "r#2", "e", "o"], "ids are different where a model's are not");
    let updates = acp.updates(0, &session, "tool_call_update");
    let last = |id: &str, field: &str| {
        let of = updates.iter().rev().filter(|update| update["toolCallId"] == id);
        of.filter_map(|update| update.get(field)).next().cloned().unwrap_or_default()
    };
    let file = sandbox.project.join("f");
    let path = file.to_str().unwrap();
    assert_eq!(last("w", "content")[0], json!({"type": "diff", "path": path, "newText": "a\nb\nc\n"}));
    assert_eq!((last("w", "kind"), last("w", "status")), (json!("edit"), json!("completed")));
    assert_eq!((last("s", "kind"), last("s", "title")), (json!("execute"), json!("echo hi")));
    assert_eq!(last("s", "content")[0]["content"]["text"], "```\nhi\n```");
    assert_eq!(last("s", "rawInput"), json!({"command": "echo hi"}));
    assert_eq!(last("r", "locations"), json!([{"path": path, "line": 2}]));
    assert_eq!((last("r#2", "status"), last("r#2", "kind")), (json!("failed"), json!("read")));
    let diff = &last("e", "content")[0];
    assert_eq!((&diff["oldText"], &diff["newText"]), (&json!("a\nb\nc\n"), &json!("a\nB\nc\n")));
    assert_eq!(last("o", "content")[0], json!({"type": "diff", "path": path, "oldText": "a\nB\nc\n", "newText": "z"}));
    assert_eq!(last("e", "locations"), json!([{"path": path, "line": 1}]));
}

#[tokio::test]
async fn a_permission_is_asked_for_and_the_answer_counts() {
    let script =
        [calls([bash("touch a").id("c")]), calls([bash("touch b").id("c")]), calls([bash("touch b")]), text("done")];
    let sandbox = Sandbox::new(replies(script)).await;
    let mut acp = Acp::in_sandbox(&sandbox, &["--permissions", "ask"]).await;
    let session = acp.new_session(&sandbox).await;
    let prompt = acp.prompt(&session, "go").await;
    let request = acp.asked(0, "session/request_permission").await;
    assert_eq!(
        (&request["params"]["sessionId"], &request["params"]["toolCall"]["toolCallId"]),
        (&json!(session), &json!("c"))
    );
    assert!(request["params"]["toolCall"]["content"][0]["content"]["text"].as_str().unwrap().contains("touch a"));
    let from = acp.mark();
    acp.reply(&request, pick(&request["params"]["options"], "reject_once")).await;
    let request = acp.asked(from, "session/request_permission").await;
    assert_eq!(request["params"]["toolCall"]["toolCallId"], "c#2");
    acp.reply(&request, pick(&request["params"]["options"], "allow_always")).await;
    assert_eq!(acp.result(prompt).await["stopReason"], "end_turn");
    assert!(!sandbox.exists("a") && sandbox.exists("b"), "the third call is allowed by the second answer");
    let failed = acp.updates(0, &session, "tool_call_update");
    assert!(failed.iter().any(|update| update["toolCallId"] == "c" && update["status"] == "failed"));
}

#[tokio::test]
async fn a_client_with_forms_may_say_why_it_denies() {
    let sandbox = Sandbox::new(replies([calls([bash("touch a")]), text("done")])).await;
    let mut acp = Acp::start(sandbox.command(&["acp", "--model", "mock/m1", "--permissions", "ask"]));
    acp.call("initialize", json!({"protocolVersion": 1, "clientCapabilities": {"elicitation": {"form": {}}}})).await;
    let session = acp.new_session(&sandbox).await;
    let prompt = acp.prompt(&session, "go").await;
    let request = acp.asked(0, "session/request_permission").await;
    let last = request["params"]["options"].as_array().unwrap().last().unwrap().clone();
    acp.reply(&request, json!({"outcome": {"outcome": "selected", "optionId": last["optionId"]}})).await;
    let form = acp.asked(0, "elicitation/create").await;
    assert_eq!(form["params"]["sessionId"], json!(session));
    acp.reply(&form, json!({"action": "accept", "content": {"text": "use the other folder"}})).await;
    acp.result(prompt).await;
    let told = sandbox.server.last().results();
    assert!(told[0].contains("use the other folder") && !sandbox.exists("a"), "{told:?}");
}

#[tokio::test]
async fn an_answer_that_makes_no_sense_is_a_no() {
    let script = [calls([bash("touch a")]), calls([bash("touch a")]), text("done")];
    let sandbox = Sandbox::new(replies(script)).await;
    let mut acp = Acp::in_sandbox(&sandbox, &["--permissions", "ask"]).await;
    let session = acp.new_session(&sandbox).await;
    let prompt = acp.prompt(&session, "go").await;
    let request = acp.asked(0, "session/request_permission").await;
    let from = acp.mark();
    acp.send_raw(r#"{"jsonrpc":"2.0","id":99,"result":{"outcome":{"outcome":"selected","optionId":"0"}}}"#).await;
    acp.reply(&request, json!({"outcome": "yes"})).await;
    let request = acp.asked(from, "session/request_permission").await;
    let failure =
        json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "no dialogs here"}});
    acp.send_raw(&failure.to_string()).await;
    assert_eq!(acp.result(prompt).await["stopReason"], "end_turn");
    assert!(!sandbox.exists("a"));
    acp.said("no dialogs here").await;
}

#[tokio::test]
async fn a_cancelled_prompt_ends_as_cancelled_wherever_it_is() {
    let script = [hang("I think"), calls([bash("touch a")]), text("later"), text("after")];
    let sandbox = Sandbox::new(replies(script)).await;
    let mut acp = Acp::in_sandbox(&sandbox, &["--permissions", "ask"]).await;
    let session = acp.new_session(&sandbox).await;
    // In the middle of an answer.
    let prompt = acp.prompt(&session, "one").await;
    acp.update(0, "the first words", |update| update["content"]["text"] == "I think").await;
    acp.notify("session/cancel", json!({"sessionId": session})).await;
    assert_eq!(acp.result(prompt).await["stopReason"], "cancelled");
    // While a question is open; the next prompt need not wait for the end.
    let prompt = acp.prompt(&session, "two").await;
    let request = acp.asked(0, "session/request_permission").await;
    acp.notify("session/cancel", json!({"sessionId": session})).await;
    acp.reply(&request, json!({"outcome": {"outcome": "cancelled"}})).await;
    let next = acp.prompt(&session, "three").await;
    assert_eq!(acp.result(prompt).await["stopReason"], "cancelled");
    assert_eq!(acp.result(next).await["stopReason"], "end_turn");
    assert!(!sandbox.exists("a"));
    let calls = acp.updates(0, &session, "tool_call");
    let call = calls[0]["toolCallId"].clone();
    let closed = acp.updates(0, &session, "tool_call_update");
    let last = closed.iter().rev().find(|update| update["toolCallId"] == call && update.get("status").is_some());
    assert_eq!(last.unwrap()["status"], "failed");
    // By the general way to give a request up; and with nothing to cancel.
    let prompt = acp.prompt(&session, "four").await;
    acp.notify("$/cancel_request", json!({"requestId": prompt})).await;
    acp.result(prompt).await;
    acp.notify("session/cancel", json!({"sessionId": session})).await;
    acp.notify("session/cancel", json!({"sessionId": "nobody"})).await;
    assert_eq!(acp.close().await, Some(0));
}

#[tokio::test]
async fn two_sessions_work_side_by_side_and_one_takes_one_prompt_at_a_time() {
    let (gate, held) = (Gate::closed(), Gate::closed());
    let (first, second) = (gate.clone(), held.clone());
    let sandbox = Sandbox::new(move |request: &Request| match request.last_user().as_str() {
        "one" => text("of one").hold(&first),
        _ => text("of two").hold(&second),
    })
    .await;
    let mut acp = Acp::in_sandbox(&sandbox, &[]).await;
    let (one, two) = (acp.new_session(&sandbox).await, acp.new_session(&sandbox).await);
    assert_ne!(one, two);
    let (prompt_one, prompt_two) = (acp.prompt(&one, "one").await, acp.prompt(&two, "two").await);
    let more = acp.prompt(&one, "more").await;
    let (code, why) = acp.error(more).await;
    assert_eq!((code, why.contains("is running")), (-32600, true), "{why}");
    held.open();
    assert_eq!(acp.result(prompt_two).await["stopReason"], "end_turn");
    assert_eq!(acp.text(0, &two, "agent_message_chunk"), "of two");
    assert!(!acp.is_answered(prompt_one), "the first goes on");
    gate.open();
    assert_eq!(acp.result(prompt_one).await["stopReason"], "end_turn");
    assert_eq!(acp.text(0, &one, "agent_message_chunk"), "of one");
    acp.call("session/close", json!({"sessionId": one})).await;
    let (code, _) =
        acp.refused("session/prompt", json!({"sessionId": one, "prompt": [{"type": "text", "text": "x"}]})).await;
    assert_eq!(code, -32002);
    assert_eq!(acp.prompted(&two, "again").await, "end_turn");
    assert_eq!(acp.close().await, Some(0));
    assert_eq!(sandbox.session_files().len(), 2);
}

#[tokio::test]
async fn a_session_of_the_command_line_is_listed_loaded_and_gone_on_with() {
    let sandbox =
        Sandbox::new(replies([calls([bash("echo hi").id("c")]), text("made"), text("more"), text("once more")])).await;
    sandbox.run(&["--name", "my work", "-p", "make it"]).await;
    let mut acp = Acp::in_sandbox(&sandbox, &[]).await;
    let list = acp.call("session/list", json!({"cwd": sandbox.project})).await;
    let listed = &list["sessions"][0];
    assert_eq!((&listed["title"], &listed["cwd"]), (&json!("my work"), &json!(sandbox.project)));
    let id = listed["sessionId"].as_str().unwrap().to_owned();
    let params = json!({"sessionId": id, "cwd": sandbox.project, "mcpServers": []});
    let loaded = acp.call("session/load", params.clone()).await;
    assert!(loaded["configOptions"].is_array(), "{loaded}");
    assert_eq!(acp.text(0, &id, "user_message_chunk"), "make it");
    assert_eq!(acp.text(0, &id, "agent_message_chunk"), "made");
    let call = &acp.updates(0, &id, "tool_call")[0];
    assert_eq!((&call["title"], &call["toolCallId"]), (&json!("echo hi"), &json!("c")));
    assert_eq!(acp.updates(0, &id, "tool_call_update")[0]["status"], "completed");
    assert_eq!(acp.refused("session/load", params.clone()).await.0, -32600, "it is open");
    assert_eq!(acp.prompted(&id, "go on").await, "end_turn");
    assert_eq!(sandbox.server.last().texts("user"), ["make it", "go on"]);
    acp.call("session/close", json!({"sessionId": id})).await;
    let from = acp.mark();
    acp.call("session/resume", params).await;
    assert_eq!(acp.text(from, &id, "user_message_chunk"), "", "resuming tells nothing again");
    assert_eq!(acp.prompted(&id, "and on").await, "end_turn");
    let elsewhere = json!({"sessionId": "nobody", "cwd": sandbox.project, "mcpServers": []});
    assert_eq!(acp.refused("session/load", elsewhere).await.0, -32002);
    assert_eq!(acp.refused("session/delete", json!({"sessionId": id})).await.0, -32600, "it is open");
    acp.call("session/close", json!({"sessionId": id})).await;
    let (code, why) =
        acp.refused("session/load", json!({"sessionId": id, "cwd": sandbox.home, "mcpServers": []})).await;
    assert_eq!((code, why.contains("belongs to the folder")), (-32602, true), "{why}");
    acp.call("session/delete", json!({"sessionId": id})).await;
    assert_eq!(acp.call("session/list", json!({})).await["sessions"], json!([]));
    acp.call("session/delete", json!({"sessionId": id})).await;
}

#[tokio::test]
async fn a_session_that_was_cut_off_goes_on_when_it_is_loaded() {
    let sandbox = Sandbox::new(replies([calls([bash("echo begun; sleep 600").id("c")]), text("went on")])).await;
    let mut acp = Acp::in_sandbox(&sandbox, &[]).await;
    let session = acp.new_session(&sandbox).await;
    acp.prompt(&session, "go").await;
    acp.update(0, "the output", |update| update["content"][0]["content"]["text"].to_string().contains("begun")).await;
    acp.kill().await;
    let mut acp = Acp::in_sandbox(&sandbox, &[]).await;
    acp.call("session/load", json!({"sessionId": session, "cwd": sandbox.project, "mcpServers": []})).await;
    assert_eq!(acp.prompted(&session, "and now?").await, "end_turn");
    assert_eq!(acp.updates(0, &session, "tool_call").len(), 1, "its result belongs to the call that was told");
    let ended = acp.updates(0, &session, "tool_call_update");
    let texts: Vec<String> = ended.iter().map(|update| update["content"][0]["content"]["text"].to_string()).collect();
    assert_eq!(ended.iter().map(|update| update["toolCallId"].clone()).collect::<Vec<_>>(), ["c"], "{texts:?}");
    assert!(texts[0].contains("interrupted"), "{texts:?}");
    assert_eq!(sandbox.server.last().texts("user"), ["go", "and now?"]);
}

#[tokio::test]
async fn modes_and_options_are_offered_and_chosen() {
    let sandbox = obliging().await;
    let mut acp = Acp::in_sandbox(&sandbox, &["--model", "mock/r1", "--permissions", "ask"]).await;
    let session = acp.call("session/new", json!({"cwd": sandbox.project, "mcpServers": []})).await;
    let id = session["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(session["modes"]["currentModeId"], "ask");
    let current = |options: &Value, id: &str| {
        let options = options.as_array().unwrap();
        options
            .iter()
            .find(|option| option["id"] == id)
            .map(|option| option["currentValue"].clone())
            .unwrap_or_default()
    };
    assert_eq!(current(&session["configOptions"], "model"), "mock/r1");
    acp.call("session/set_mode", json!({"sessionId": id, "modeId": "plan"})).await;
    let told = acp.update(0, "the mode", |update| update["sessionUpdate"] == "current_mode_update").await;
    assert_eq!(told["currentModeId"], "plan");
    let set = |option: &str, value: &str| json!({"sessionId": id, "configId": option, "value": value});
    let thinking = acp.call("session/set_config_option", set("thinking", "high")).await;
    assert_eq!(current(&thinking["configOptions"], "thinking"), "high");
    let model = acp.call("session/set_config_option", set("model", "other/o1")).await;
    assert_eq!(current(&model["configOptions"], "model"), "other/o1");
    assert_eq!(current(&model["configOptions"], "thinking"), Value::Null, "that model does not think");
    let mode = acp.call("session/set_config_option", set("mode", "off")).await;
    assert_eq!(current(&mode["configOptions"], "mode"), "off");
    acp.prompted(&id, "hi").await;
    assert_eq!(sandbox.server.last().body["model"], "o1");
    for (option, value) in [("model", "no/such"), ("speed", "fast"), ("mode", "yolo")] {
        assert_eq!(acp.refused("session/set_config_option", set(option, value)).await.0, -32602, "{option}");
    }
    assert_eq!(acp.refused("session/set_mode", json!({"sessionId": id, "modeId": "yolo"})).await.0, -32602);
}

#[tokio::test]
async fn skills_and_templates_are_commands() {
    let sandbox = Sandbox::new(replies([text("fixed")])).await;
    sandbox.write(sandbox.user_dir.join("prompts/fix.md"), "---\ndescription: Fix a thing\n---\nFix $1 now");
    let mut acp = Acp::in_sandbox(&sandbox, &[]).await;
    let session = acp.new_session(&sandbox).await;
    let told = acp.update(0, "commands", |update| update["sessionUpdate"] == "available_commands_update").await;
    let commands = told["availableCommands"].as_array().unwrap();
    assert!(
        commands.iter().any(|command| command["name"] == "fix" && command["description"] == "Fix a thing"),
        "{told}"
    );
    acp.prompted(&session, "/fix it").await;
    assert_eq!(sandbox.server.last().last_user(), "Fix it now");
}

#[tokio::test]
async fn what_is_no_request_is_refused_in_words_and_does_no_harm() {
    let sandbox = obliging().await;
    let mut acp = Acp::start(sandbox.command(&["acp", "--model", "mock/m1"]));
    let (code, why) = acp.refused("session/new", json!({"cwd": sandbox.project})).await;
    assert_eq!((code, why.contains("before initialize")), (-32600, true), "{why}");
    let hello = acp.call("initialize", json!({"protocolVersion": 7, "clientCapabilities": {}})).await;
    assert_eq!(hello["protocolVersion"], 1, "the version that we have");
    for (line, code) in
        [("{", -32700), ("[]", -32600), ("\"x\"", -32600), (r#"{"jsonrpc":"2.0","id":[],"method":"x"}"#, -32600)]
    {
        let from = acp.mark();
        acp.send_raw(line).await;
        assert_eq!(acp.refusal(from).await["error"]["code"], code, "{line}");
    }
    let requests = [
        ("session/fly", json!({}), -32601),
        ("session/new", json!({}), -32602),
        ("session/new", json!({"cwd": "relative", "mcpServers": []}), -32602),
        ("session/new", json!({"cwd": sandbox.project.join("gone"), "mcpServers": []}), -32602),
        ("session/prompt", json!({"sessionId": "nobody", "prompt": []}), -32002),
        ("session/prompt", json!({"sessionId": 7, "prompt": []}), -32602),
        ("session/close", json!({"sessionId": "nobody"}), -32002),
        ("session/load", json!({"sessionId": "../../etc/passwd", "cwd": sandbox.project, "mcpServers": []}), -32002),
    ];
    for (method, params, wanted) in requests {
        let (code, why) = acp.refused(method, params.clone()).await;
        assert_eq!((code, why.is_empty()), (wanted, false), "{method} {params}: {why}");
    }
    acp.notify("session/fly", json!({})).await;
    acp.notify("session/cancel", json!([])).await;
    let servers = json!([{"name": "x", "command": "/bin/true", "args": [], "env": []}]);
    acp.call("session/new", json!({"cwd": sandbox.project, "mcpServers": servers})).await;
    acp.said("MCP servers are not connected").await;
    let session = acp.new_session(&sandbox).await;
    assert_eq!(acp.prompted(&session, "hi").await, "end_turn");
}

#[tokio::test]
async fn a_model_that_fails_is_an_error_and_the_session_goes_on() {
    let sandbox = Sandbox::new(replies([http(400, "the model is broken"), text("better")])).await;
    let mut acp = Acp::in_sandbox(&sandbox, &[]).await;
    let session = acp.new_session(&sandbox).await;
    let prompt = acp.prompt(&session, "hi").await;
    let (code, why) = acp.error(prompt).await;
    assert_eq!((code, why.contains("the model is broken")), (-32603, true), "{why}");
    assert_eq!(acp.prompted(&session, "again").await, "end_turn");
}

#[tokio::test]
async fn without_a_key_the_client_learns_how_to_log_in() {
    let sandbox = obliging().await;
    sandbox.write(sandbox.user_dir.join("models.json"), "{}");
    let mut acp = Acp::start(sandbox.command(&["acp"]));
    let terminal = json!({"protocolVersion": 1, "clientCapabilities": {"auth": {"terminal": true}}});
    let hello = acp.call("initialize", terminal).await;
    assert_eq!(hello["authMethods"][0]["args"], json!(["auth", "login"]));
    let (code, why) = acp.refused("session/new", json!({"cwd": sandbox.project, "mcpServers": []})).await;
    assert_eq!((code, why.is_empty()), (-32000, false), "{why}");
    let (code, why) = acp.refused("authenticate", json!({"methodId": "login"})).await;
    assert_eq!((code, why.contains("troupe auth login")), (-32000, true), "{why}");
    assert_eq!(acp.close().await, Some(0));
    // What an editor runs in a terminal of its own for that.
    let log_in = sandbox.run_with_input(&["acp", "--permissions", "ask", "auth", "login"], "\n").await;
    assert_eq!((log_in.code, log_in.stderr.contains("no provider was named")), (Some(1), true), "{}", log_in.stderr);
}

#[tokio::test]
async fn flags_that_make_no_sense_are_refused() {
    let sandbox = obliging().await;
    for (flags, why) in [
        (&["acp", "--mode", "rpc"][..], "makes no sense"),
        (&["acp", "--continue"], "the editor chooses"),
        (&["acp", "do it"], "takes flags alone"),
        (&["acp", "--nonsense"], "Unknown option"),
        (&["acp", "--list-models"], "only serves editors"),
    ] {
        let finished = sandbox.run(flags).await;
        assert_eq!(finished.code, Some(1), "{flags:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(why) && finished.stdout.is_empty(), "{flags:?}: {}", finished.stderr);
    }
    let help = sandbox.run(&["acp", "--help"]).await;
    assert!(help.stdout.contains("troupe acp [flags]"), "{}", help.stdout);
}

#[tokio::test]
async fn the_end_of_input_and_signals_end_a_running_prompt_in_order() {
    for signal in [None, Some(Signal::TERM)] {
        let sandbox = Sandbox::new(replies([hang("I think")])).await;
        let mut acp = Acp::in_sandbox(&sandbox, &[]).await;
        let session = acp.new_session(&sandbox).await;
        acp.prompt(&session, "hi").await;
        acp.update(0, "the first words", |update| update["content"]["text"] == "I think").await;
        let code = match signal {
            None => acp.close().await,
            Some(signal) => {
                kill_process(Pid::from_raw(acp.pid().cast_signed()).unwrap(), signal).unwrap();
                acp.wait().await
            }
        };
        assert_eq!(code, Some(if signal.is_some() { 143 } else { 0 }));
        let kept = std::fs::read_to_string(sandbox.session_file()).unwrap();
        assert!(kept.contains("I think") && kept.contains("aborted"), "{kept}");
    }
}

#[tokio::test]
async fn a_client_that_is_killed_leaves_nothing_running() {
    let sandbox = Sandbox::new(replies([calls([bash("echo group $$ begun; sleep 600 & wait")])])).await;
    let mut acp = Acp::in_sandbox(&sandbox, &[]).await;
    let session = acp.new_session(&sandbox).await;
    acp.prompt(&session, "go").await;
    let printed = |update: &Value| update["content"][0]["content"]["text"].as_str().unwrap_or_default().to_owned();
    let update = acp.update(0, "the output", |update| printed(update).contains("begun")).await;
    let group = printed(&update).split_whitespace().find_map(|word| word.parse().ok()).unwrap();
    let mut child = acp.vanish();
    let status = within("the end", child.wait()).await.unwrap();
    assert!(matches!(status.code(), Some(0 | 1)), "{status:?}");
    within("the end of the command", async {
        while test_kill_process_group(Pid::from_raw(group).unwrap()).is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    })
    .await;
}
