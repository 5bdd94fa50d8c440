//! Traces of compaction (sections 14.7, 6.3 to 6.6): when it happens, what is asked, what is stored, what fails.

mod support;

use std::path::PathBuf;

use serde_json::{Value, json};
use support::*;

/// A request for a summary: it declares no tools.
fn is_summary(request: &Request) -> bool {
    request.tools().is_empty()
}

/// A sandbox whose model has a window of 20,000 tokens, of which 4,000 are the reserve and `keep` stay; `answer` plays
/// the model, and summaries are `SUMMARY n`, counted from 1.
async fn sandbox(keep: u64, mut answer: impl FnMut(&Request) -> Reply + Send + 'static) -> Sandbox {
    let mut summaries = 0;
    let sandbox = Sandbox::new(move |request| {
        if is_summary(request) {
            summaries += 1;
            return text(&format!("SUMMARY {summaries}"));
        }
        answer(request)
    })
    .await;
    configure(&sandbox, keep);
    sandbox
}

fn configure(sandbox: &Sandbox, keep: u64) {
    sandbox.settings(json!({
        "compaction": {"reserveTokens": 4_000, "keepRecentTokens": keep},
        "retry": {"baseDelayMs": 5},
    }));
    let models = sandbox.read(sandbox.user_dir.join("models.json")).replace("200000", "20000");
    sandbox.write(sandbox.user_dir.join("models.json"), models);
}

fn entry(id: &str, parent: &str, kind: &str, fields: Value) -> Value {
    let mut entry = json!({"type": kind, "id": id, "parentId": parent, "timestamp": "2026-01-02T03:04:05.678Z"});
    for (key, value) in fields.as_object().into_iter().flatten() {
        entry[key] = value.clone();
    }
    if parent.is_empty() {
        entry["parentId"] = Value::Null;
    }
    entry
}

fn user(id: &str, parent: &str, text: &str) -> Value {
    let message = json!({"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 5});
    entry(id, parent, "message", json!({ "message": message }))
}

fn answer(id: &str, parent: &str, content: Value) -> Value {
    let message = json!({"role": "assistant", "content": content, "api": "openai-completions", "provider": "mock",
        "model": "m1", "usage": {}, "stopReason": "stop", "timestamp": 6});
    entry(id, parent, "message", json!({ "message": message }))
}

fn said(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

fn called(id: &str, tool: &str, path: &str) -> Value {
    json!([{"type": "toolCall", "id": id, "name": tool, "arguments": {"path": path}}])
}

fn result(id: &str, parent: &str, call: &str, text: &str) -> Value {
    let message = json!({"role": "toolResult", "toolCallId": call, "toolName": "read", "content": said(text),
        "isError": false, "timestamp": 7});
    entry(id, parent, "message", json!({ "message": message }))
}

/// A session file with these entries.
fn session(sandbox: &Sandbox, entries: &[Value]) -> PathBuf {
    let header = json!({"type": "session", "version": 3, "id": "0197a1b2-0000-7000-8000-000000000001",
        "timestamp": "2026-01-02T03:04:05.678Z", "cwd": sandbox.project});
    let lines: Vec<String> = std::iter::once(&header).chain(entries).map(Value::to_string).collect();
    sandbox.write("session.jsonl", lines.join("\n") + "\n")
}

/// Six turns of a thousand tokens each: `u0`, `a0`, `u1`, …
fn six_turns() -> Vec<Value> {
    let mut entries = Vec::new();
    let mut parent = String::new();
    for n in 0..6 {
        entries.push(user(&format!("u{n}"), &parent, &format!("Q{n} {}", "q".repeat(100))));
        entries.push(answer(&format!("a{n}"), &format!("u{n}"), said(&format!("A{n} {}", "w".repeat(4_000)))));
        parent = format!("a{n}");
    }
    entries
}

/// Types of events, with reasons; those of messages and tools left out.
fn outline(events: &[Value]) -> Vec<String> {
    let kinds = events.iter().filter_map(|event| {
        let kind = event["type"].as_str()?;
        let told = !["message_", "tool_", "response"].iter().any(|part| kind.starts_with(part));
        let reason = event["reason"].as_str().map(|reason| format!(":{reason}")).unwrap_or_default();
        told.then(|| format!("{kind}{reason}"))
    });
    kinds.collect()
}

fn summaries(sandbox: &Sandbox) -> Vec<String> {
    let requests = sandbox.server.requests();
    requests.iter().filter(|request| is_summary(request)).map(|request| request.all_text()).collect()
}

fn compactions(file: &std::path::Path) -> Vec<Value> {
    lines(file).into_iter().filter(|entry| entry["type"] == "compaction").collect()
}

#[tokio::test]
async fn a_run_that_fills_the_window_ends_with_a_compaction_14_7() {
    let sandbox = sandbox(200, |request| match &request.last_user()[..3] {
        "one" => text(&"x".repeat(3_000)),
        "two" => text("second").usage(17_000, 10),
        _ => text("third"),
    })
    .await;
    let mut rpc = sandbox.rpc(&[]).await;
    rpc.prompt("one").await;
    let events = rpc.prompt(&"two ".repeat(250)).await;
    let order = outline(&events);
    let wanted = ["agent_end", "compaction_start:threshold", "compaction_end:threshold", "agent_settled"];
    assert_eq!(order[order.len() - 4..], wanted);
    let end = one(&events, "compaction_end");
    assert_eq!((&end["aborted"], &end["willRetry"]), (&json!(false), &json!(false)));
    assert!(end["result"]["summary"].as_str().unwrap().ends_with("SUMMARY 1"), "{end}");
    assert_eq!(end["result"]["tokensBefore"], 17_010);
    assert!(end["result"]["estimatedTokensAfter"].as_u64().unwrap() < 5_000, "{end}");
    let stored = compactions(&sandbox.session_file()).remove(0);
    for field in ["summary", "firstKeptEntryId", "tokensBefore", "details", "usage"] {
        assert_eq!(stored[field], end["result"][field], "{field}");
    }
    // The entry has the prompt and the tools, and nothing declares them again.
    assert_eq!(stored["systemMessage"]["toolsAdded"].as_array().map(Vec::len), Some(4));
    let stats = rpc.call(json!({"type": "get_session_stats"})).await;
    assert_eq!(stats["contextUsage"]["tokens"], Value::Null, "nobody knows right after a compaction");
    rpc.prompt("three").await;
    let last = sandbox.server.last();
    assert!(last.all_text().contains("SUMMARY 1") && !last.all_text().contains("xxxx"));
    assert_eq!(last.roles().iter().filter(|role| **role == "system").count(), 1);
    last.assert_strict();
}

#[tokio::test]
async fn the_window_less_the_reserve_may_be_full_but_not_more_6_2() {
    for (tokens, compacts) in [(16_000, false), (16_001, true)] {
        let sandbox = sandbox(200, move |request| match request.last_user().as_str() {
            "one" => text(&"x".repeat(3_000)),
            _ => text("second").usage(tokens - 10, 10),
        })
        .await;
        let mut rpc = sandbox.rpc(&[]).await;
        rpc.prompt("one").await;
        let events = rpc.prompt("two").await;
        assert_eq!(!of_type(&events, "compaction_start").is_empty(), compacts, "{tokens}");
    }
}

#[tokio::test]
async fn fc_073_a_long_run_is_compacted_between_its_turns() {
    let sandbox = sandbox(200, |request| match request.n {
        0..4 => calls([call("ls", json!({"path": "."}))]).usage(6_000 * (request.n as u64 + 1), 10),
        _ => text("end").usage(500, 10),
    })
    .await;
    let events = sandbox.json(&["--tools", "ls", "go"]).await;
    let order = outline(&events);
    assert_eq!(order.iter().filter(|kind| *kind == "agent_start").count(), 1);
    let at = order.iter().position(|kind| kind == "compaction_start:threshold").expect("a compaction");
    assert_eq!((order[at - 1].as_str(), order[at + 2].as_str()), ("turn_end", "turn_start"));
    assert_eq!(text_of(ended(&events, "assistant").last().unwrap()), "end");
    sandbox.server.requests().iter().for_each(|request| request.assert_strict());
}

#[tokio::test]
async fn after_an_overflow_the_call_is_made_once_more_behind_a_compaction_14_7() {
    let overflow = "This model's maximum context length is 1000 tokens, however you requested 2000";
    for (works, ends) in [(true, "recovered"), (false, "")] {
        let mut first = true;
        let sandbox = sandbox(3_000, move |_| match std::mem::take(&mut first) || !works {
            true => http(400, overflow),
            false => text("recovered"),
        })
        .await;
        let file = session(&sandbox, &six_turns());
        let output = sandbox.run(&["--mode", "json", "--session", file.to_str().unwrap(), "go"]).await;
        let events: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let order = outline(&events);
        let recovery =
            ["turn_end", "agent_end", "entry_appended", "compaction_start:overflow", "compaction_end:overflow"];
        assert_eq!(order[3..8], recovery);
        assert_eq!(order[8..10], ["agent_start", "turn_start"]);
        assert_eq!(text_of(ended(&events, "assistant").last().unwrap()), ends);
        assert_eq!(sandbox.server.requests().iter().filter(|request| !is_summary(request)).count(), 2);
        let last = events.iter().rev().find(|event| event["type"] == "compaction_end").unwrap();
        assert_eq!(last["willRetry"], works);
        assert_eq!(last["errorMessage"].is_string(), !works, "{last}");
    }
}

#[tokio::test]
async fn what_is_asked_for_holds_the_conversation_and_the_files_and_no_thoughts_6_4() {
    let sandbox = sandbox(100, |_| text("ok")).await;
    let thought = json!([{"type": "thinking", "thinking": "SECRET"}, {"type": "text", "text": "SAID"},
        {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "in.txt"}}]);
    let file = session(
        &sandbox,
        &[
            user("u1", "", "FIRST"),
            answer("a1", "u1", thought),
            result("r1", "a1", "c", &"R".repeat(5_000)),
            answer("a2", "r1", called("d", "write", "out.txt")),
            result("r2", "a2", "d", "done"),
            answer("a3", "r2", said(&"w".repeat(400))),
            user("u2", "a3", "SECOND"),
            answer("a4", "u2", said(&"z".repeat(1_200))),
        ],
    );
    let mut rpc = sandbox.rpc(&["--session", file.to_str().unwrap()]).await;
    let from = rpc.mark();
    let made = rpc.call(json!({"type": "compact", "customInstructions": "mind the FOO"})).await;
    assert_eq!(outline(rpc.since(from)), ["compaction_start:manual", "compaction_end:manual"]);
    // Both parts of the turn that was cut are asked for at once, in no order.
    let asked = summaries(&sandbox).into_iter().find(|asked| !is_prefix(asked)).unwrap();
    for part in ["[User]: FIRST", "[Assistant]: SAID", "read(path=\"in.txt\")", "[Tool result]: RRR", "mind the FOO"] {
        assert!(asked.contains(part), "{part} in {asked}");
    }
    assert!(!asked.contains("SECRET") && !asked.contains(&"R".repeat(2_001)));
    assert_eq!(made["details"], json!({"readFiles": ["in.txt"], "modifiedFiles": ["out.txt"]}));
    let files = "<read-files>\nin.txt\n</read-files>\n\n<modified-files>\nout.txt\n</modified-files>";
    assert!(made["summary"].as_str().unwrap().ends_with(files), "{made}");
    // The next one goes on from there.
    assert_eq!(rpc.refused(json!({"type": "compact"})).await, "Already compacted");
    rpc.prompt(&"more ".repeat(300)).await;
    let made = rpc.call(json!({"type": "compact"})).await;
    let asked = summaries(&sandbox);
    let update = asked.iter().find(|text| text.contains("<previous-summary>")).expect("the summary before");
    assert!(update.contains("SUMMARY 1"));
    assert_eq!(made["details"]["modifiedFiles"], json!(["out.txt"]));
}

/// A session whose last turn is too long to stay.
fn long_turn() -> Vec<Value> {
    let mut entries = vec![user("u0", "", "OLD"), answer("a0", "u0", said(&"o".repeat(800))), user("u1", "a0", "BIG")];
    let mut parent = "u1".to_owned();
    for n in 0..8 {
        let (call, reply) = (format!("b{n}"), format!("r{n}"));
        entries.push(answer(&call, &parent, called(&call, "read", "f")));
        entries.push(result(&reply, &call, &call, &"r".repeat(1_200)));
        parent = reply;
    }
    entries.push(answer("end", &parent, said("end of it")));
    entries
}

/// Whether a summary of the beginning of a turn is asked for.
fn is_prefix(request: &str) -> bool {
    request.contains("## Original Request")
}

#[tokio::test]
async fn a_turn_that_is_too_long_to_stay_is_summarised_in_two_parts_at_the_same_time_6_3() {
    let gate = Gate::closed();
    let held = gate.clone();
    let sandbox = Sandbox::new(move |request| match (is_summary(request), is_prefix(&request.all_text())) {
        // The first part comes last: the order of the text is not that of the answers.
        (true, false) => text("HISTORY").hold(&held),
        (true, true) => text("PREFIX"),
        (false, _) => text("ok"),
    })
    .await;
    configure(&sandbox, 700);
    let entries = long_turn();
    let file = session(&sandbox, &entries);
    let mut rpc = sandbox.rpc(&["--session", file.to_str().unwrap()]).await;
    rpc.send(json!({"type": "compact", "id": "c"})).await;
    sandbox.server.request(1).await;
    gate.open();
    let made = rpc.until_that("the answer", |record| record["id"] == "c").await["data"].take();
    let summary = made["summary"].as_str().unwrap();
    assert!(summary.starts_with("HISTORY\n\n---\n\n**Turn Context (split turn):**\n\nPREFIX"), "{summary}");
    assert_eq!(made["usage"]["output"], 20, "what both took");
    let (prefix, history): (Vec<_>, Vec<_>) = summaries(&sandbox).into_iter().partition(|text| is_prefix(text));
    assert!(history[0].contains("OLD") && !history[0].contains("BIG"));
    assert!(prefix[0].contains("BIG") && !prefix[0].contains("OLD"));
    // FC-076: what stays begins with an answer, whose calls have their results.
    let kept = entries.iter().find(|entry| entry["id"] == made["firstKeptEntryId"]).unwrap();
    assert_eq!(kept["message"]["role"], "assistant");
    rpc.prompt("on").await;
    sandbox.server.last().assert_strict();
}

#[tokio::test]
async fn an_abort_and_a_failure_end_both_parts_of_a_summary() {
    let mut hung = 0;
    let sandbox = Sandbox::new(move |request| match (is_summary(request), is_prefix(&request.all_text())) {
        (true, false) => hang("part"),
        (true, true) if std::mem::replace(&mut hung, 1) == 0 => hang("part"),
        (true, true) => http(400, "broken"),
        (false, _) => text("ok"),
    })
    .await;
    configure(&sandbox, 700);
    let file = session(&sandbox, &long_turn());
    let mut rpc = sandbox.rpc(&["--session", file.to_str().unwrap()]).await;
    rpc.send(json!({"type": "compact", "id": "c"})).await;
    let (first, second) = (sandbox.server.request(0).await, sandbox.server.request(1).await);
    rpc.call(json!({"type": "abort"})).await;
    let response = rpc.until_that("the answer", |record| record["id"] == "c").await;
    assert_eq!(response["error"], "Compaction cancelled");
    first.closed().await;
    second.closed().await;
    assert!(rpc.refused(json!({"type": "compact"})).await.contains("broken"));
    for n in 2..4 {
        let request = sandbox.server.request(n).await;
        if !is_prefix(&request.all_text()) {
            request.closed().await;
        }
    }
    assert!(compactions(&file).is_empty());
}

#[tokio::test]
async fn fc_075_a_conversation_that_no_request_holds_is_summarised_in_pieces() {
    let sandbox = sandbox(1_001, |_| text("ok")).await;
    // 26,000 tokens, of which a request of this model holds 16,000.
    let mut entries = Vec::new();
    for n in 0..26 {
        let parent = if n == 0 { String::new() } else { format!("a{}", n - 1) };
        entries.push(user(&format!("u{n}"), &parent, &format!("Q{n}.")));
        entries.push(answer(&format!("a{n}"), &format!("u{n}"), said(&"w".repeat(4_000))));
    }
    let file = session(&sandbox, &entries);
    let mut rpc = sandbox.rpc(&["--session", file.to_str().unwrap()]).await;
    let made = rpc.call(json!({"type": "compact"})).await;
    let asked = summaries(&sandbox);
    assert_eq!(asked.len(), 2, "two halves");
    assert!(asked[0].contains("Q0.") && !asked[0].contains("Q24."));
    assert!(asked[1].contains("Q24.") && asked[1].contains("SUMMARY 1") && !asked[1].contains("Q0."));
    assert_eq!(made["summary"], "SUMMARY 2");
}

#[tokio::test]
async fn a_summary_that_is_none_changes_nothing_6_4() {
    let mut answers = vec![calls([call("ls", json!({}))]), text("half").finish("length"), http(400, "broken")];
    let sandbox = Sandbox::new(move |request| match (is_summary(request), is_prefix(&request.all_text())) {
        (true, false) => answers.pop().unwrap_or(text("whole")),
        _ => text("ok"),
    })
    .await;
    configure(&sandbox, 200);
    let file = session(&sandbox, &six_turns());
    let before = sandbox.read(&file);
    let mut rpc = sandbox.rpc(&["--session", file.to_str().unwrap()]).await;
    for cause in ["broken", "cut off", "called a tool"] {
        let from = rpc.mark();
        let error = rpc.refused(json!({"type": "compact"})).await;
        assert!(error.contains(cause), "{error}");
        let end = one(rpc.since(from), "compaction_end").clone();
        assert!(end["errorMessage"].as_str().unwrap().starts_with("Compaction failed: "), "{end}");
        assert!(sandbox.read(&file).starts_with(&before) && compactions(&file).is_empty());
    }
    let made = rpc.call(json!({"type": "compact"})).await;
    assert!(made["summary"].as_str().unwrap().starts_with("whole"), "{made}");
}

#[tokio::test]
async fn a_summary_is_asked_for_again_when_the_failure_may_pass_6_4() {
    let mut first = true;
    let sandbox = Sandbox::new(move |_| match std::mem::take(&mut first) {
        true => http(503, "overloaded"),
        false => text("SUMMARY"),
    })
    .await;
    configure(&sandbox, 200);
    let file = session(&sandbox, &six_turns());
    let mut rpc = sandbox.rpc(&["--session", file.to_str().unwrap()]).await;
    let from = rpc.mark();
    rpc.call(json!({"type": "compact"})).await;
    let wanted = [
        "compaction_start:manual",
        "summarization_retry_scheduled",
        "summarization_retry_attempt_start:manual",
        "summarization_retry_finished",
        "compaction_end:manual",
    ];
    assert_eq!(outline(rpc.since(from)), wanted);
    let scheduled = one(rpc.since(from), "summarization_retry_scheduled");
    assert_eq!((&scheduled["attempt"], &scheduled["delayMs"]), (&json!(1), &json!(5)));
}

#[tokio::test]
async fn a_compaction_can_be_aborted_and_leaves_everything_as_it_was_6_6() {
    let mut hangs = true;
    let sandbox = Sandbox::new(move |request| match is_summary(request) {
        true if std::mem::take(&mut hangs) => hang("part"),
        true => text("SUMMARY"),
        false => text("ok"),
    })
    .await;
    configure(&sandbox, 200);
    let file = session(&sandbox, &six_turns());
    let mut rpc = sandbox.rpc(&["--session", file.to_str().unwrap()]).await;
    rpc.send(json!({"type": "compact", "id": "c"})).await;
    rpc.until("compaction_start").await;
    assert_eq!(rpc.call(json!({"type": "get_state"})).await["isCompacting"], true);
    let request = sandbox.server.request(0).await;
    rpc.call(json!({"type": "abort"})).await;
    let response = rpc.until_that("the answer", |record| record["id"] == "c").await;
    assert_eq!(response["error"], "Compaction cancelled");
    request.closed().await;
    assert!(compactions(&file).is_empty());
    rpc.prompt("on").await;
    let made = rpc.call(json!({"type": "compact"})).await;
    assert!(made["summary"].as_str().unwrap().starts_with("SUMMARY"), "{made}");
}

#[tokio::test]
async fn the_context_is_the_same_after_a_restart_2_7() {
    let sandbox = sandbox(1_500, |_| text("ok")).await;
    let file = session(&sandbox, &six_turns());
    let mut rpc = sandbox.rpc(&["--session", file.to_str().unwrap()]).await;
    let made = rpc.call(json!({"type": "compact"})).await;
    assert_eq!(made["firstKeptEntryId"], "a4");
    rpc.prompt("on").await;
    let messages = rpc.messages().await;
    rpc.close().await;
    let mut rpc = sandbox.rpc(&["--session", file.to_str().unwrap()]).await;
    assert_eq!(rpc.messages().await, messages);
    let before = sandbox.server.last();
    rpc.prompt("again").await;
    let after = sandbox.server.last();
    assert_eq!(after.messages()[..before.messages().len()], *before.messages(), "FC-039: a request begins as the last");
}
