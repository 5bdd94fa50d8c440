//! Plans of sessions.

use serde_json::json;

use super::*;
use crate::store::testing::{answer, compaction, edit, line, system, user, view};

fn texts(messages: &[AgentMessage]) -> Vec<String> {
    let text = |message: &AgentMessage| match message {
        AgentMessage::User(user) => user.content.text(""),
        AgentMessage::Assistant(answer) => crate::protocol::message::text_of(&answer.content, ""),
        other => other.role().to_owned(),
    };
    messages.iter().map(|message| text(message).chars().take(2).collect()).collect()
}

/// A text of so many tokens that begins with a name.
fn long(name: &str, tokens: usize) -> String {
    format!("{name}{}", "x".repeat(tokens * 4 - name.len()))
}

fn call(id: &str, parent: &str, tool: &str, path: &str) -> String {
    let content = json!([{"type": "toolCall", "id": "c", "name": tool, "arguments": {"path": path}}]);
    line("message", id, parent, json!({"message": {"role": "assistant", "content": content}}))
}

fn failed(id: &str, parent: &str) -> String {
    line("message", id, parent, json!({"message": {"role": "assistant", "content": [], "stopReason": "error"}}))
}

#[test]
fn old_turns_are_folded_away_and_the_newest_stay() {
    let lines = [
        line("model_change", "m", "", json!({"provider": "p", "modelId": "m"})),
        system("s", "m", json!({"old": "x"})),
        user("u1", "s", &long("U1", 10)),
        call("a1", "u1", "read", "f"),
        answer("a2", "a1", &long("A2", 10)),
        user("u2", "a2", &long("U2", 10)),
        answer("a3", "u2", &long("A3", 10)),
    ];
    let plan = plan(&view(&lines), 15).unwrap();
    assert_eq!(plan.first_kept, "u2".into());
    assert_eq!(texts(&plan.history), ["U1", "", "A2"]);
    assert!(plan.prefix.is_empty() && plan.previous.is_none());
    assert_eq!(plan.files.details(), json!({"readFiles": ["f"], "modifiedFiles": []}));
    // What stays, and a short prompt.
    assert!((20..30).contains(&plan.tokens_kept), "{}", plan.tokens_kept);
    assert!(plan.tokens_before > 40, "{}", plan.tokens_before);
}

#[test]
fn the_next_plan_begins_with_what_the_last_one_kept_and_its_summary() {
    let lines = [
        user("u1", "", &long("U1", 10)),
        call("a1", "u1", "write", "w"),
        user("u2", "a1", &long("U2", 10)),
        line(
            "compaction",
            "k",
            "u2",
            json!({"summary": "OLD", "firstKeptEntryId": "u2", "tokensBefore": 9,
                "details": {"readFiles": ["r"], "modifiedFiles": []}}),
        ),
        answer("a2", "k", &long("A2", 10)),
        user("u3", "a2", &long("U3", 10)),
    ];
    let plan = plan(&view(&lines), 10).unwrap();
    assert_eq!((texts(&plan.history), plan.first_kept), (vec!["U2".to_owned(), "A2".to_owned()], "u3".into()));
    assert_eq!(plan.previous.as_deref(), Some("OLD"));
    assert_eq!(plan.files.details(), json!({"readFiles": ["r"], "modifiedFiles": []}));
}

#[test]
fn what_overflowed_the_window_is_folded_away_with_the_attempt_that_failed() {
    let lines = [user("u1", "", &long("U1", 500)), failed("a1", "u1"), edit("e1", "a1", "a1", json!(null))];
    let made = plan(&view(&lines), 100).unwrap();
    assert_eq!((texts(&made.prefix), made.first_kept), (vec!["U1".to_owned()], "a1".into()));
    // An edit of what was said is no recovery.
    let edited = [
        user("u0", "", "U0"),
        answer("a0", "u0", "A0"),
        user("u1", "a0", &long("U1", 500)),
        edit("e1", "u1", "u0", json!({"content": "shorter"})),
    ];
    assert_eq!(plan(&view(&edited), 100).unwrap().first_kept, "u1".into());
}

#[test]
fn a_refusal_says_why_there_is_nothing_to_do() {
    let small = [system("s", "", json!({"old": "x"})), user("u1", "s", "hi"), answer("a1", "u1", "ho")];
    assert_eq!(plan(&view(&small), 100), Err(Refusal::TooSmall));
    let done = [user("u1", "", "hi"), answer("a1", "u1", "ho"), compaction("k", "a1", "K", "a1")];
    assert_eq!(plan(&view(&done), 0), Err(Refusal::AlreadyCompacted));
}
