//! Tables of contexts.

use serde_json::json;

use crate::{
    protocol::{AgentMessage, EntryId, message::text_of},
    store::{
        testing::{answer, compaction, edit, line, system, user, view},
        tree::SessionContext,
    },
};

/// Messages as `role:text`.
fn said(context: &SessionContext) -> Vec<String> {
    let text = |message: &AgentMessage| match message {
        AgentMessage::System(m) => {
            m.sections.iter().flatten().map(|(key, _)| key.clone()).collect::<Vec<_>>().join(",")
        }
        AgentMessage::User(m) => m.content.text(""),
        AgentMessage::Assistant(m) => text_of(&m.content, ""),
        AgentMessage::ToolResult(m) => text_of(&m.content, ""),
        AgentMessage::BashExecution(m) => m.command.clone(),
        AgentMessage::Custom(m) => m.content.text(""),
        AgentMessage::BranchSummary(m) => m.summary.clone(),
        AgentMessage::CompactionSummary(m) => m.summary.clone(),
        AgentMessage::Unknown(_) => String::new(),
    };
    context.messages.iter().map(|message| format!("{}:{}", message.role(), text(message))).collect()
}

fn check(lines: &[String], expected: &[&str]) {
    assert_eq!(said(&super::context(&view(lines))), expected);
}

#[test]
fn each_kind_of_entry_gives_its_messages() {
    check(
        &[
            line("model_change", "m", "", json!({"provider": "p", "modelId": "m"})),
            user("u", "m", "U"),
            line("branch_summary", "b", "u", json!({"fromId": "root", "summary": "B"})),
            line("branch_summary", "b0", "b", json!({"fromId": "root", "summary": ""})),
            line("custom", "c0", "b0", json!({"customType": "x", "data": 1})),
            line("custom_message", "c", "c0", json!({"customType": "x", "content": "C", "display": false})),
            line("message", "h", "c", json!({"message": {"role": "bashExecution", "command": "ls"}})),
            line("message", "o", "h", json!({"message": {"role": "oracle", "content": "O"}})),
            line("hologram", "x", "o", json!({"payload": 1})),
            line("message", "n", "x", json!({"message": {"role": "assistant", "content": null}})),
        ],
        &["user:U", "branchSummary:B", "custom:C", "bashExecution:ls", "oracle:", "assistant:"],
    );
}

#[test]
fn a_compaction_begins_the_context_and_keeps_what_it_says() {
    let old = [system("s", "", json!({"old": "x"})), user("u1", "s", "U1"), answer("a1", "u1", "A1")];
    let with = |more: &[String]| [&old[..], more].concat();
    check(
        &with(&[compaction("k", "a1", "K", "a1"), user("u2", "k", "U2")]),
        &["compactionSummary:K", "assistant:A1", "user:U2"],
    );
    check(&with(&[compaction("k", "a1", "K", "k"), user("u2", "k", "U2")]), &["compactionSummary:K", "user:U2"]);
    check(&with(&[compaction("k", "a1", "K", "gone")]), &["compactionSummary:K"]);
    // System messages before it are in its checkpoint; those behind it are not.
    let checkpoint = compaction("k", "a1", "K", "s")
        .replace("\"summary\"", r#""systemMessage":{"role":"system","content":"","sections":{"new":"y"}},"summary""#);
    let lines = with(&[checkpoint, system("s2", "k", json!({"more": "z"}))]);
    check(&lines, &["system:new", "compactionSummary:K", "user:U1", "assistant:A1", "system:more"]);
    assert_eq!(view(&lines).context().system().render(), "y\n\nz");
    // An older compaction in the kept part is not seen; one on another branch does not count.
    check(
        &with(&[compaction("k0", "a1", "K0", "a1"), user("u2", "k0", "U2"), compaction("k", "u2", "K", "a1")]),
        &["compactionSummary:K", "assistant:A1", "user:U2"],
    );
    check(
        &with(&[compaction("k", "a1", "K", "a1"), user("u2", "a1", "U2")]),
        &["system:old", "user:U1", "assistant:A1", "user:U2"],
    );
}

#[test]
fn the_last_edit_of_an_entry_counts_within_the_window() {
    let chain = [user("u1", "", "U1"), answer("a1", "u1", "A1"), user("u2", "a1", "U2"), answer("a2", "u2", "A2")];
    let with = |more: &[String]| [&chain[..], more].concat();
    check(
        &with(&[
            edit("x1", "a2", "a1", json!(null)),
            edit("x2", "x1", "u2", json!({"content": "FIRST"})),
            edit("x3", "x2", "u2", json!({"content": [{"type": "text", "text": "NEW"}]})),
            edit("x4", "x3", "a2", json!({"content": "A-NEW"})),
            edit("x5", "x4", "nowhere", json!(null)),
        ]),
        &["user:U1", "user:NEW", "assistant:A-NEW"],
    );
    // Dropped and brought back.
    check(
        &with(&[edit("x1", "a2", "u1", json!(null)), edit("x2", "x1", "u1", json!({"content": "BACK"}))]),
        &["user:BACK", "assistant:A1", "user:U2", "assistant:A2"],
    );
    // An edit before the compaction that is not kept does not apply any more; one that is kept does.
    check(
        &[
            &chain[..3],
            &[edit("x1", "u2", "u2", json!(null)), answer("a2", "x1", "A2"), compaction("k", "a2", "K", "a2")],
        ]
        .concat(),
        &["compactionSummary:K", "assistant:A2"],
    );
    check(
        &[&chain[..3], &[edit("x1", "u2", "u2", json!(null)), compaction("k", "x1", "K", "u2")]].concat(),
        &["compactionSummary:K"],
    );
    // What has no content of that kind can be dropped and not replaced.
    check(
        &[
            line("branch_summary", "b", "", json!({"fromId": "root", "summary": "B"})),
            line("custom_message", "c", "b", json!({"customType": "x", "content": "C"})),
            edit("x1", "c", "b", json!({"content": "NEW"})),
            edit("x2", "x1", "c", json!({"content": "NEW"})),
        ],
        &["branchSummary:B", "custom:NEW"],
    );
}

#[test]
fn the_model_and_the_level_are_those_of_the_branch() {
    let change = |id: &str, parent: &str, model: &str| {
        line("model_change", id, parent, json!({"provider": "p", "modelId": model}))
    };
    let level = |id: &str, parent: &str, level: &str| {
        line("thinking_level_change", id, parent, json!({"thinkingLevel": level}))
    };
    let lines = [
        change("m1", "", "virtual"),
        level("t1", "m1", "low"),
        user("u", "t1", "U"),
        answer("a", "u", "A"),
        level("t2", "a", "max-2027"),
        compaction("k", "t2", "K", "k"),
        change("m2", "u", "other"),
    ];
    let whole = view(&lines);
    let at = |leaf: &str| {
        let selected = whole.with_leaf(Some(&leaf.into())).unwrap().selection();
        let name = |model: Option<crate::protocol::ModelRef>| model.map(|model| model.to_string());
        (selected.thinking_level, name(selected.model), name(selected.selected_model))
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(at("m1"), (None, some("p/virtual"), some("p/virtual")));
    assert_eq!(at("a"), (some("low"), some("acme/alpha"), some("p/virtual")));
    assert_eq!(at("k"), (some("max-2027"), some("acme/alpha"), some("p/virtual")), "the whole path counts");
    assert_eq!(at("m2"), (some("low"), some("p/other"), some("p/other")));
}

#[test]
fn messages_know_their_entries() {
    let lines = [user("u", "", "U"), edit("x", "u", "nowhere", json!(null)), answer("a", "x", "A")];
    let context = view(&lines).context();
    let owner = |message: usize| context.entry_of(message).map(|entry| entry.id.as_str());
    assert_eq!((owner(0), owner(1), owner(2)), (Some("u"), Some("a"), None));
    assert_eq!(context.messages_of(&context.entries[1]), []);
    assert_eq!(context.entries[2].id, EntryId::from("a"));
}

#[test]
fn a_parent_cycle_and_a_dangling_parent_give_the_leafs_own_path() {
    check(&[user("e1", "e2", "E1"), answer("e2", "e1", "E2")], &["user:E1", "assistant:E2"]);
    check(&[user("e1", "", "E1"), user("dd", "nowhere", "DD"), answer("d2", "dd", "D2")], &["user:DD", "assistant:D2"]);
    check(&[user("e1", "e1", "E1")], &["user:E1"]);
}

/// An answer that reports so many tokens.
fn reporting(id: &str, parent: &str, tokens: u64, stop_reason: &str) -> String {
    let usage = json!({"input": tokens, "totalTokens": tokens});
    line(
        "message",
        id,
        parent,
        json!({"message": {"role": "assistant", "content": [], "usage": usage, "stopReason": stop_reason}}),
    )
}

#[test]
fn a_contexts_length_is_what_the_last_report_that_holds_says_and_an_estimate_of_what_came_after() {
    let (hi, more) = (user("u1", "", "12345678"), user("u2", "a1", "1234"));
    // An empty prompt without tools is estimated, too: `[]`.
    let table = [
        (vec![hi.clone()], 3, Some(3)),
        (vec![hi.clone(), reporting("a1", "u1", 100, "stop"), more.clone()], 101, Some(101)),
        (vec![hi.clone(), reporting("a1", "u1", 100, "error"), more.clone()], 4, Some(4)),
        (vec![hi.clone(), reporting("a1", "u1", 0, "stop"), more.clone()], 4, Some(4)),
        // What an edit or a compaction changed is no longer what was reported.
        (
            vec![hi.clone(), reporting("a1", "u1", 100, "stop"), edit("e", "a1", "u1", json!({"content": "1"}))],
            2,
            Some(2),
        ),
        (vec![hi.clone(), reporting("a1", "u1", 100, "stop"), compaction("k", "a1", "1234", "a1")], 2, None),
        (
            vec![
                hi.clone(),
                reporting("a1", "u1", 100, "stop"),
                compaction("k", "a1", "1234", "a1"),
                reporting("a2", "k", 50, "stop"),
                user("u2", "a2", "1234"),
            ],
            51,
            Some(51),
        ),
    ];
    for (lines, tokens, known) in table {
        let view = view(&lines);
        assert_eq!((view.context_tokens(), view.context().tokens()), (tokens, tokens), "{lines:?}");
        assert_eq!(view.context().known_tokens(), known, "{lines:?}");
    }
}
