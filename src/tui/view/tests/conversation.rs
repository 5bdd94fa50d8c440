//! A session with entries of every kind.

use serde_json::{Value, json};

use super::{
    screen_on,
    sheet::{sheet, styled},
};
use crate::{
    store::testing::{answer, line, user},
    tui::{testing::press, theme::Theme},
};

const ANSWER: &str = "# Heading\n\nSome **bold** words, *slanted* ones, `code`, and a [link](https://example.com).\n\n\
                      1. First\n2. Second\n   - nested\n\n> Quoted.\n\n```rust\nfn main() {\n    let x = \"text\"; // why\n}\n```\n\n\
                      | col | value |\n|---|---|\n| aa | 1 |\n| 日本 | 22222 |\n\n~~gone~~ 👍";

/// An answer with this content, and other fields.
pub fn assistant(id: &str, parent: &str, content: Value, other: Value) -> String {
    let mut message =
        json!({"role": "assistant", "content": content, "provider": "acme", "model": "alpha", "timestamp": 6});
    for (key, value) in other.as_object().into_iter().flatten() {
        message[key] = value.clone();
    }
    line("message", id, parent, json!({ "message": message }))
}

/// A call in an answer's content.
pub fn call(id: &str, tool: &str, arguments: Value) -> Value {
    json!({"type": "toolCall", "id": id, "name": tool, "arguments": arguments})
}

fn result(id: &str, parent: &str, call: &str, tool: &str, text: &str, is_error: bool, details: Value) -> String {
    let content = json!([{"type": "text", "text": text}]);
    line(
        "message",
        id,
        parent,
        json!({"message": {"role": "toolResult", "toolCallId": call, "toolName": tool, "content": content,
                           "details": details, "isError": is_error, "timestamp": 7, "durationMs": 1500}}),
    )
}

fn bash(id: &str, parent: &str, command: &str, other: Value) -> String {
    let mut message = json!({"role": "bashExecution", "command": command, "output": "out\n", "exitCode": 0,
                             "cancelled": false, "truncated": false, "timestamp": 8});
    for (key, value) in other.as_object().into_iter().flatten() {
        message[key] = value.clone();
    }
    line("message", id, parent, json!({ "message": message }))
}

/// Words of people and of models.
fn words() -> Vec<String> {
    let long: Vec<String> = (1..=70).map(|number| format!("line {number}")).collect();
    let skill = "<skill name=\"tidy\" location=\"/s/SKILL.md\">\nReferences are relative to /s.\n\n## Tidy\n\n\
                 Put it away.\n</skill>\n\nthe cellar";
    let thinking = json!([{"type": "thinking", "thinking": "First *this*."}, {"type": "thinking", "thinking": "Then that."},
                          {"type": "text", "text": ANSWER}]);
    let picture =
        json!([{"type": "text", "text": "Look:"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]);
    vec![
        user("u1", "", "Hello\tthere \u{1b}[31mred\nsecond line"),
        assistant("a1", "u1", thinking, json!({})),
        user("u2", "a1", &long.join("\n")),
        answer("a2", "u2", "Long."),
        user("u3", "a2", skill),
        answer("a3", "u3", "Tidied."),
        line("message", "u4", "a3", json!({"message": {"role": "user", "content": picture, "timestamp": 5}})),
        assistant("e1", "u4", json!([]), json!({"stopReason": "error", "errorMessage": "529 overloaded_error"})),
        assistant("e2", "e1", json!([]), json!({"stopReason": "error", "errorMessage": "401 invalid x-api-key"})),
        user("u5", "e2", "Again"),
        assistant("e3", "u5", json!([{"type": "text", "text": "I beg"}]), json!({"stopReason": "aborted"})),
        user("u6", "e3", "More"),
        assistant("e4", "u6", json!([{"type": "text", "text": "Too lo"}]), json!({"stopReason": "length"})),
        line(
            "compaction",
            "k1",
            "e4",
            json!({"summary": "## Goal\n\nWin.", "firstKeptEntryId": "u6", "tokensBefore": 120_000}),
        ),
        line("branch_summary", "b1", "k1", json!({"summary": "They *lost*.", "fromId": "x"})),
        line(
            "custom_message",
            "m1",
            "b1",
            json!({"customType": "weather", "content": "It **rains**.", "display": true}),
        ),
        line("custom_message", "m2", "m1", json!({"customType": "secret", "content": "Unseen.", "display": false})),
    ]
}

/// Calls of tools, and commands of people.
fn calls() -> Vec<String> {
    let numbers: Vec<String> = (1..=12).map(|number| format!("row {number}")).collect();
    let numbers = numbers.join("\n");
    let content = json!([
        call("c0", "bash", json!({"command": "seq 12"})),
        call("c1", "bash", json!({"command": "false"})),
        call("c2", "read", json!({"path": "/srv/app/src/main.rs", "offset": 3})),
        call("c3", "edit", json!({"path": "a.txt", "edits": [{"oldText": "alpha", "newText": "beta"}]})),
        call("c4", "write", json!({"path": "b.rs", "content": "fn b() {}\n"})),
        call("c5", "grep", json!({"pattern": "TODO", "path": "src"})),
        call("c6", "find", json!({"pattern": "*.rs"})),
        call("c7", "ls", json!({"path": "nowhere"})),
        call("c8", "ask_oracle", json!({"question": "why?", "depth": 3})),
        call("c9", "bash", json!({"command": "sleep 100"})),
    ]);
    let mut lines = vec![user("u1", "", "Do it"), assistant("a1", "u1", content, json!({"stopReason": "toolUse"}))];
    let results = [
        ("c0", "bash", numbers.as_str(), false, json!({})),
        ("c1", "bash", "no\n\nCommand exited with code 1", true, json!({})),
        ("c2", "read", "fn main() {\n}", false, json!({})),
        ("c3", "edit", "Replaced 1 text.", false, json!({"diff": "-1 alpha\n+1 beta\n 2 second"})),
        ("c4", "write", "Wrote 10 bytes.", false, json!({})),
        ("c5", "grep", "src/a.rs:1: TODO", false, json!({})),
        ("c6", "find", "a.rs\nb.rs", false, json!({})),
        ("c7", "ls", "Path not found: nowhere", true, json!({})),
        ("c8", "ask_oracle", "Because.", false, json!({})),
    ];
    let mut parent = "a1".to_owned();
    for (at, (call, tool, text, is_error, details)) in results.into_iter().enumerate() {
        let id = format!("r{at}");
        lines.push(result(&id, &parent, call, tool, text, is_error, details));
        parent = id;
    }
    lines.push(bash("s1", &parent, "seq 12", json!({ "output": numbers })));
    lines.push(bash("s2", "s1", "false", json!({"exitCode": 1, "output": ""})));
    lines.push(bash("s3", "s2", "sleep 9", json!({"exitCode": null, "cancelled": true, "excludeFromContext": true})));
    lines
}

#[test]
fn words_of_every_kind() {
    let mut model = screen_on(&words());
    insta::assert_snapshot!("words", sheet(&mut model, &[(40, 250), (80, 200), (200, 180)]));
    press(&mut model, "ctrl+o ctrl+t");
    insta::assert_snapshot!("words_expanded_without_thinking", sheet(&mut model, &[(80, 250)]));
}

#[test]
fn calls_of_every_kind() {
    let mut model = screen_on(&calls());
    insta::assert_snapshot!("calls", sheet(&mut model, &[(40, 150), (80, 140)]));
    press(&mut model, "ctrl+o");
    insta::assert_snapshot!("calls_expanded", sheet(&mut model, &[(80, 160)]));
}

#[test]
fn words_and_calls_have_their_colours() {
    for (name, theme) in [("dark", Theme::dark()), ("light", Theme::light())] {
        for (kind, lines) in [("words", words()), ("calls", calls())] {
            let mut model = screen_on(&lines);
            model.theme = theme.clone();
            insta::assert_snapshot!(format!("{kind}_in_{name}"), styled(&mut model, (60, 200)));
        }
    }
}
