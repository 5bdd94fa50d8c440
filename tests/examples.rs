//! The examples do what their heads say.

#![allow(clippy::unwrap_used)]

mod support;

// Its own tests run here: those of examples do not run by themselves.
#[allow(dead_code)]
#[path = "../examples/guard.rs"]
mod guard;

use serde_json::json;
use support::{
    agent::{example, finish},
    *,
};

fn bash(command: &str) -> Reply {
    calls([call("bash", json!({"command": command}))])
}

#[tokio::test]
async fn the_guard_denies_recursive_deletion_tells_the_model_and_lets_the_rest_through() {
    let sandbox = Sandbox::new(replies([bash("rm -rf precious"), bash("echo harmless"), text("done")])).await;
    sandbox.write("precious/file", "x");
    let finished = finish(sandbox.command_of(example("guard"), &["-p", "clean up"]), "").await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    assert!(sandbox.exists("precious/file"));
    let results = sandbox.server.last().results();
    assert!(results[0].contains("Recursive deletion is not allowed here"), "{results:?}");
    assert!(results[1].contains("harmless"), "{results:?}");
}

#[tokio::test]
async fn the_observer_says_which_tools_ran_and_how_they_ended() {
    let sandbox = Sandbox::new(replies([bash("true"), bash("exit 3"), text("done")])).await;
    let finished = finish(sandbox.command_of(example("observer"), &["-p", "go"]), "").await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "done\n"), "{}", finished.stderr);
    let lines: Vec<_> = finished.stderr.lines().filter(|line| line.contains("] bash ")).collect();
    assert_eq!(lines.len(), 2, "{}", finished.stderr);
    assert!(lines[0].contains("bash done, ") && lines[0].ends_with(" ms"), "{lines:?}");
    assert!(lines[1].contains("bash failed, "), "{lines:?}");
}

#[tokio::test]
async fn the_router_answers_by_itself_chooses_by_length_and_keeps_its_count_in_the_session() {
    let sandbox = Sandbox::new(replies([text("nobody asks the server")])).await;
    let run = async |args: &[&str]| {
        let finished = finish(sandbox.command_of(example("router"), args), "").await;
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        finished.stdout
    };
    let listed = run(&["--list-models"]).await;
    for name in ["parrots", "short-or-long"] {
        assert!(listed.contains(name), "{listed}");
    }
    let model = ["--model", "router/short-or-long"];
    assert_eq!(run(&[&model[..], &["-p", "hello"]].concat()).await, "small has read 2 messages.\n");
    assert_eq!(run(&["--continue", "-p", "again"]).await, "small has read 4 messages.\n");
    assert_eq!(run(&["--continue", "-p", "more"]).await, "large has read 6 messages.\n");
    let states: Vec<_> = lines(&sandbox.session_file())
        .into_iter()
        .filter(|line| line["customType"] == "pi.virtual-model-state")
        .map(|line| line["data"]["state"]["requests"].clone())
        .collect();
    assert_eq!(states, [1, 2, 3].map(serde_json::Value::from));
    assert_eq!(sandbox.server.count(), 0);
}

#[tokio::test]
async fn the_command_asks_brings_a_tool_and_has_the_model_answer() {
    let sandbox = Sandbox::new(replies([calls([call("calendar", json!({}))]), text("report")])).await;
    let mut rpc = Rpc::start(sandbox.command_of(example("commands"), &["--mode", "rpc", "--team", "red"]));
    let listed = rpc.call(json!({"type": "get_commands"})).await;
    let wanted = json!({
        "name": "standup", "description": "Write the report for the stand-up meeting", "source": "extension",
        "sourceInfo": {"path": "<native:standup>", "source": "native", "scope": "temporary", "origin": "top-level"}
    });
    assert_eq!(listed["commands"][0], wanted);
    let refused = rpc.refused(json!({"type": "steer", "message": "/standup now"})).await;
    assert!(refused.contains("/standup is a command of the extension standup"), "{refused}");

    let from = rpc.mark();
    rpc.send(json!({"id": "p", "type": "prompt", "message": "/standup now"})).await;
    let question = rpc.until("extension_ui_request").await;
    assert_eq!(
        question,
        json!({"type": "extension_ui_request", "id": question["id"], "method": "input",
               "title": "What was done?", "placeholder": "fixed the build"})
    );
    rpc.send(json!({"type": "extension_ui_response", "id": question["id"], "value": "the parser"})).await;
    let records = rpc.settled(from).await;
    let handled = records.iter().find(|record| record["id"] == "p").unwrap();
    assert_eq!(handled["data"], json!({"disposition": "handled"}));
    let appended = of_type(&records, "entry_appended");
    assert_eq!(
        (&appended[0]["entry"]["customType"], &appended[0]["entry"]["data"]),
        (&json!("standup"), &json!({"done": "the parser"}))
    );
    let status = of_type(&records, "extension_ui_request").into_iter().find(|record| record["method"] == "setStatus");
    assert_eq!(status.unwrap()["statusText"], "the report is being written");
    let first = &ended(&records, "custom")[0];
    assert_eq!((&first["customType"], &first["display"]), (&json!("standup"), &json!(true)));
    let request = sandbox.server.last();
    assert!(request.all_text().contains("Done: the parser"), "{}", request.all_text());
    assert!(request.results()[0].contains("planning of the team red"), "{:?}", request.results());
    assert_eq!(texts_of(&rpc.messages().await, "assistant").last().unwrap(), "report");

    // The question whether the session may be left is answered while everything else waits for it.
    for (confirmed, cancelled) in [(false, true), (true, false)] {
        rpc.send(json!({"id": "n", "type": "new_session"})).await;
        let question = rpc.until_that("question", |record| record["method"] == "confirm").await;
        assert_eq!(question["title"], "Leave the report?");
        rpc.send(json!({"id": "s", "type": "get_state"})).await;
        rpc.send(json!({"type": "extension_ui_response", "id": question["id"], "confirmed": confirmed})).await;
        let answer = rpc.until_that("answer", |record| record["id"] == "n").await;
        assert_eq!(answer["data"]["cancelled"], cancelled, "{answer}");
        rpc.until_that("state", |record| record["id"] == "s").await;
    }
}

#[tokio::test]
async fn flags_of_an_extension_are_known_typed_and_explained() {
    let sandbox = Sandbox::new(replies([text("ok")])).await;
    let run = async |args: &[&str]| finish(sandbox.command_of(example("commands"), args), "").await;
    let help = run(&["--help"]).await;
    assert!(help.stdout.contains("--team VALUE") && help.stdout.contains("(of standup)"), "{}", help.stdout);
    let missing = run(&["-p", "hi", "--team"]).await;
    assert_eq!((missing.code, missing.stderr.as_str()), (Some(1), "Error: --team requires a value.\n"));
    let unknown = run(&["-p", "hi", "--teem", "x"]).await;
    assert!(unknown.stderr.starts_with("Error: Unknown option: --teem"), "{}", unknown.stderr);
    assert_eq!(run(&["--team", "red", "-p", "hi"]).await.stdout, "ok\n");
    // Nobody can be asked: the command fails, which is told, and the program ends.
    let print = run(&["-p", "/standup"]).await;
    assert_eq!((print.code, print.stdout.as_str()), (Some(0), ""));
    assert!(print.stderr.contains("Extension standup failed at command: nobody can be asked here"), "{}", print.stderr);
}

#[tokio::test]
async fn the_embedded_agent_streams_both_answers_without_a_model_server() {
    let sandbox = Sandbox::new(replies([text("nobody asks the server")])).await;
    sandbox.write("notes.txt", "x");
    let finished = finish(sandbox.command_of(example("embed"), &["--model", "troupe/offline"]), "").await;
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(finished.stderr, "");
    for wanted in ["> What files are here?", "[bash]", "notes.txt", "> What is this project?", "messages, "] {
        assert!(finished.stdout.contains(wanted), "{wanted}: {}", finished.stdout);
    }
    assert_eq!(sandbox.server.count(), 0);
    assert!(sandbox.session_files().is_empty(), "the session is in memory");
}

#[tokio::test]
async fn the_programs_tool_is_called_with_checked_arguments_and_is_the_only_one() {
    let dice = |arguments| calls([call("dice", arguments)]);
    let (wrong, right) = (dice(json!({"count": 0, "sides": 6})), dice(json!({"count": 2, "sides": 1})));
    let sandbox = Sandbox::new(replies([wrong, right, text("two")])).await;
    let finished = finish(sandbox.command_of(example("custom_tool"), &[]), "").await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "two\n"), "{}", finished.stderr);
    let results = sandbox.server.last().results();
    assert!(results[0].contains("count"), "{results:?}");
    assert_eq!(results[1], "The dice show 1, 1.");
    let tools = sandbox.server.last().body["tools"].as_array().unwrap().len();
    assert_eq!(tools, 1);
}

#[tokio::test]
async fn the_programs_provider_answers_and_its_tokens_have_a_price() {
    let sandbox = Sandbox::new(replies([text("nobody asks the server")])).await;
    let finished = finish(sandbox.command_of(example("custom_provider"), &[]), "").await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "I counted 5 words.\n$0.000011\n"));
    assert_eq!(sandbox.server.count(), 0);
}

#[tokio::test]
async fn the_interceptor_masks_keys_and_denies_publications() {
    let sandbox = Sandbox::new(replies([bash("cat .env"), bash("cargo publish"), text("ready")])).await;
    sandbox.write(".env", "KEY=sk-very-secret\nNAME=x\n");
    let finished = finish(sandbox.command_of(example("interceptor"), &[]), "").await;
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "ready\n"), "{}", finished.stderr);
    let results = sandbox.server.last().results();
    assert!(results[0].contains("KEY=[key]\nNAME=x"), "{results:?}");
    assert!(results[1].contains("Nothing is published from here"), "{results:?}");
}

#[tokio::test]
async fn a_dialog_is_ended_by_its_own_answer_alone_and_by_the_end_of_input() {
    let sandbox = Sandbox::new(replies([text("nobody asks the model")])).await;
    let mut rpc = Rpc::start(sandbox.command_of(example("commands"), &["--mode", "rpc"]));
    rpc.send(json!({"id": "p", "type": "prompt", "message": "/standup"})).await;
    let id = rpc.until("extension_ui_request").await["id"].clone();
    rpc.send(json!({"type": "extension_ui_response", "id": "of another dialog", "value": "x"})).await;
    rpc.call(json!({"type": "get_state"})).await;
    rpc.send(json!({"type": "extension_ui_response", "id": id, "cancelled": true})).await;
    let notice = rpc.until("extension_ui_request").await;
    assert_eq!(
        notice,
        json!({"type": "extension_ui_request", "id": notice["id"], "method": "notify",
               "message": "No report, then.", "notifyType": "info"})
    );
    let handled = rpc.until_that("the end of the command", |record| record["id"] == "p").await;
    assert_eq!(handled["data"]["disposition"], "handled");
    rpc.send(json!({"type": "extension_ui_response", "id": id, "value": "too late"})).await;
    rpc.send(json!({"type": "prompt", "message": "/standup"})).await;
    rpc.until("extension_ui_request").await;
    assert_eq!(rpc.close().await, Some(0));
    assert_eq!(sandbox.server.count(), 0);
}

#[tokio::test]
async fn a_command_of_an_extension_begins_a_new_session_and_goes_on_there() {
    let sandbox = Sandbox::new(replies([text("one"), text("two")])).await;
    let mut rpc = Rpc::start(sandbox.command_of(example("commands"), &["--mode", "rpc", "--model", "mock/m1"]));
    rpc.prompt("hi").await;
    let before = rpc.call(json!({"type": "get_state"})).await;
    let fresh = rpc.call(json!({"type": "prompt", "message": "/fresh"})).await;
    assert_eq!(fresh["disposition"], "handled");
    let notice = rpc.until_that("a notice", |record| record["method"] == "notify").await;
    assert_eq!(notice["message"], "A new session.");
    let after = rpc.call(json!({"type": "get_state"})).await;
    assert_ne!(before["sessionId"], after["sessionId"]);
    rpc.prompt("again").await;
    assert_eq!(sandbox.server.last().texts("user"), ["again"]);
    assert_eq!(sandbox.session_files().len(), 2);
    // In a mode that replaces no sessions, the command says so.
    let finished = finish(sandbox.command_of(example("commands"), &["-p", "--model", "mock/m1", "/fresh"]), "").await;
    assert!(finished.stderr.contains("not replaced in this mode"), "{}", finished.stderr);
}

#[tokio::test]
async fn an_answer_is_heard_behind_more_commands_than_are_read_ahead() {
    let sandbox = Sandbox::new(replies([text("the report")])).await;
    let mut rpc = Rpc::start(sandbox.command_of(example("commands"), &["--mode", "rpc", "--model", "mock/m1"]));
    rpc.send(json!({"id": "report", "type": "prompt", "message": "/standup"})).await;
    let id = rpc.until("extension_ui_request").await["id"].clone();
    rpc.send(json!({"type": "extension_ui_response", "id": id, "value": "all of it"})).await;
    rpc.until("agent_settled").await;
    rpc.send(json!({"id": "new", "type": "new_session"})).await;
    let confirm = rpc.until_that("a question", |record| record["method"] == "confirm").await;
    for at in 0..200 {
        rpc.send(json!({"id": format!("{at}"), "type": "get_state"})).await;
    }
    rpc.send(json!({"type": "extension_ui_response", "id": confirm["id"], "confirmed": true})).await;
    let new = rpc.until_that("the new session", |record| record["id"] == "new").await;
    assert_eq!(new["data"], json!({"cancelled": false}));
    let last = rpc.until_that("the last state", |record| record["id"] == "199").await;
    assert_eq!(last["data"]["messageCount"], 0, "it is that of the new session: {last}");
    assert_eq!(rpc.close().await, Some(0));
}
