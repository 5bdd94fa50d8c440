//! The tree: contexts, names, forks, sums.

mod context;
mod model;

use std::sync::Arc;

use serde_json::{Value, json};

use super::{BranchState, SessionContext, Tree, TreeView};
use crate::{
    protocol::{Entry, EntryBody, EntryId},
    store::testing::{answer, compaction, header, label, line, user, view},
};

fn ids<'v>(entries: impl IntoIterator<Item = super::EntryRef<'v>>) -> Vec<&'v str> {
    entries.into_iter().map(|entry| entry.id().as_str()).collect()
}

fn nodes_json(view: &TreeView) -> String {
    written(|out| view.write_nodes(out))
}

fn entries_json(view: &TreeView, since: Option<&str>) -> String {
    written(|out| view.write_entries(since.map(EntryId::from).as_ref(), out))
}

/// The JSON list of what is written.
fn written(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    format!("[{}]", String::from_utf8(out).unwrap())
}

/// The view's context, which must be what those say that read less of it.
fn context(view: &TreeView) -> SessionContext {
    let lazy = (view.branch_state(), view.message_count(), view.context_tokens(), view.known_tokens());
    let mut each = Vec::new();
    view.each_message(|message| {
        each.push(message.clone());
        Ok::<_, ()>(())
    })
    .unwrap();
    let last = view.last_message(|message| Some(message.clone()));
    let context = view.context();
    let state =
        BranchState { system: context.system(), selection: view.selection(), has_messages: lazy.0.has_messages };
    assert_eq!(lazy, (state, context.messages.len(), context.tokens(), context.known_tokens()));
    assert!(context.messages.is_empty() || lazy.0.has_messages);
    assert_eq!((&each, last.as_ref()), (&context.messages, context.messages.last()));
    let listed: Value = serde_json::from_str(&written(|out| view.write_messages(out))).unwrap();
    assert_eq!(listed, serde_json::to_value(&context.messages).unwrap());
    context
}

fn branched() -> TreeView {
    view(&[
        user("e1", "", "E1"),
        answer("e2", "e1", "E2"),
        user("e3", "e2", "E3"),
        user("f3", "e2", "F3"),
        answer("f4", "f3", "F4"),
        user("r2", "", "R2"),
    ])
}

#[test]
fn the_leaf_is_the_last_line_and_can_be_moved_in_a_view_alone() {
    let view = branched();
    assert_eq!(view.leaf().unwrap().id().as_str(), "r2");
    let at = |id: &str| view.with_leaf(Some(&id.into())).unwrap();
    assert_eq!(ids(at("f4").path()), ["e1", "e2", "f3", "f4"]);
    assert_eq!(ids(at("e3").path()), ["e1", "e2", "e3"]);
    assert_eq!(ids(view.with_leaf(None).unwrap().path()), Vec::<&str>::new());
    assert!(view.with_leaf(Some(&"nowhere".into())).is_none());
    assert_eq!(at("f4").common_ancestor(&"e3".into()).unwrap().id().as_str(), "e2");
    assert!(at("f4").common_ancestor(&"r2".into()).is_none());
}

#[test]
fn children_entries_since_and_fork_messages_cover_all_branches() {
    let view = branched();
    assert_eq!(ids(view.children(Some(&"e2".into()))), ["e3", "f3"]);
    assert_eq!(ids(view.children(None)), ["e1", "r2"]);
    assert_eq!(ids(view.entries_since(&"f3".into()).unwrap()), ["f4", "r2"]);
    assert!(view.entries_since(&"nowhere".into()).is_none());
    let forks: Vec<_> = view.fork_messages().into_iter().map(|(_, text)| text).collect();
    assert_eq!(forks, ["E1", "E3", "F3", "R2"]);
    assert_eq!(entries_json(&view, Some("f4")), format!("[{}]", user("r2", "", "R2")));
    assert_eq!(entries_json(&view, Some("r2")), "[]");
    assert_eq!(entries_json(&view, Some("nowhere")), "[]");
}

#[test]
fn labels_and_the_name_are_those_given_last_in_the_file_on_any_branch() {
    let view = view(&[
        user("e1", "", "E1"),
        answer("e2", "e1", "E2"),
        label("l1", "e2", "e1", "first"),
        label("l2", "e1", "e1", "second"),
        label("l3", "l2", "e2", "x"),
        label("l4", "l3", "e2", ""),
        line("session_info", "s1", "l4", json!({"name": "one"})),
        line("session_info", "s2", "e1", json!({"name": " two\nwords "})),
    ]);
    let labels = view.labels();
    assert_eq!(labels.len(), 1);
    assert_eq!(labels[&EntryId::from("e1")].text, "second");
    assert_eq!(view.name().as_deref(), Some("two words"));
    let nodes: Value = serde_json::from_str(&nodes_json(&view)).unwrap();
    assert_eq!(
        (&nodes[0]["label"], &nodes[0]["labelTimestamp"]),
        (&json!("second"), &json!("2026-01-02T03:04:05.678Z"))
    );
    assert_eq!(nodes[0]["children"][0].get("label"), None);
}

#[test]
fn a_view_does_not_see_what_comes_later() {
    let mut tree = Tree::new(serde_json::from_str(&header()).unwrap());
    let push = |tree: &mut Tree, id: &str, body: EntryBody| {
        let parent_id = tree.view().leaf().map(|leaf| leaf.id().clone());
        tree.push(Arc::new(Entry { body, id: id.into(), parent_id, timestamp: String::new() }), None);
    };
    push(&mut tree, "a", EntryBody::SessionInfo { name: Some("early".into()) });
    let early = tree.view().clone();
    push(&mut tree, "b", EntryBody::SessionInfo { name: Some("late".into()) });
    assert_eq!((early.len(), early.name().as_deref()), (1, Some("early")));
    assert!(early.find(&"b".into()).is_none() && early.entries_since(&"b".into()).is_none());
    assert_eq!(early.leaf().unwrap().id().as_str(), "a");
    assert_eq!((tree.view().len(), tree.view().name().as_deref()), (2, Some("late")));
    assert!(tree.set_leaf(Some(&"a".into())) && !tree.set_leaf(Some(&"z".into())));
    push(&mut tree, "c", EntryBody::SessionInfo { name: None });
    assert_eq!(ids(tree.view().path()), ["a", "c"]);
}

#[test]
fn nodes_nest_with_older_children_first() {
    let at = |line: String, time: &str| line.replace("2026-01-02T03:04:05.678Z", time);
    let view = view(&[
        user("e1", "", "E1"),
        at(user("late", "e1", "x"), "2026-01-03T00:00:00.000Z"),
        at(user("early", "e1", "x"), "2026-01-02T23:00:00+00:00"),
        user("r2", "nowhere", "x"),
    ]);
    let nodes: Value = serde_json::from_str(&nodes_json(&view)).unwrap();
    let id = |node: &Value| node["entry"]["id"].as_str().unwrap().to_owned();
    assert_eq!(nodes.as_array().unwrap().iter().map(id).collect::<Vec<_>>(), ["e1", "r2"]);
    assert_eq!(nodes[0]["children"].as_array().unwrap().iter().map(id).collect::<Vec<_>>(), ["early", "late"]);
}

#[test]
fn totals_sum_all_branches_and_go_on_where_they_stopped() {
    let usage = |n: u64| json!({"input": n, "output": n, "totalTokens": 2 * n, "cost": {"total": 0.5}});
    let spent = |mut line: Value, n: u64| {
        line["message"]["usage"] = usage(n);
        line.to_string()
    };
    let parse = |line: String| serde_json::from_str::<Value>(&line).unwrap();
    let mut other = parse(answer("f2", "e1", "F2"));
    other["message"]["responseModel"] = json!("alpha-2");
    let tool = json!({"message": {"role": "toolResult", "content": [], "usage": usage(3)}});
    let view = view(&[
        user("e1", "", "E1"),
        spent(parse(answer("e2", "e1", "E2")), 100),
        spent(other, 1000),
        line("message", "t", "f2", tool),
        line(
            "usage",
            "us",
            "t",
            json!({"kind": "cache_warm", "provider": "acme", "model": "alpha", "usage": usage(7)}),
        ),
        line("compaction", "k", "us", json!({"summary": "", "firstKeptEntryId": "k", "usage": usage(20)})),
        line("branch_summary", "b", "k", json!({"summary": "", "fromId": "k"})),
    ]);
    let totals = view.totals();
    assert_eq!((totals.usage.input, totals.usage.total_tokens), (1130, 2260));
    assert!((totals.usage.cost.total - 2.5).abs() < 1e-9);
    let by_model: Vec<_> = totals.by_model.iter().map(|(model, usage)| (model.as_str(), usage.input)).collect();
    assert_eq!(by_model, [("acme/alpha", 107), ("acme/alpha-2", 1000)]);
    assert_eq!(totals.tools_and_summaries.input, 23);
    assert_eq!((totals.user_messages, totals.assistant_messages, totals.tool_results, totals.messages), (1, 2, 1, 4));
    assert_eq!(view.totals(), totals, "a second call sums nothing twice");
}

#[test]
fn fc_012_a_branch_leaves_its_labels_behind_and_names_again_at_its_end() {
    let view = view(&[
        user("e1", "", "E1"),
        label("l1", "e1", "e1", "LA"),
        answer("e2", "l1", "E2").replace("\"role\"", "\"later\":1,\"role\""),
        label("l2", "e2", "e2", "LB"),
        user("e3", "l2", "E3"),
        compaction("k", "e3", "S", "l2"),
        user("x", "e1", "other branch"),
    ]);
    let branch = view.with_leaf(Some(&"k".into())).unwrap();
    let lines: Vec<Value> =
        branch.branch_lines().unwrap().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let links: Vec<_> = lines.iter().map(|line| (line["id"].as_str().unwrap(), line["parentId"].as_str())).collect();
    assert_eq!(links[..4], [("e1", None), ("e2", Some("e1")), ("e3", Some("e2")), ("k", Some("e3"))]);
    assert_eq!(lines[3]["firstKeptEntryId"], "e3", "the kept label is no longer there");
    assert_eq!(lines[1]["message"]["later"], 1, "unknown fields come along");
    assert_eq!((links[4].1, links[5].1), (Some("k"), Some(links[4].0)));
    let names: Vec<_> =
        lines[4..].iter().map(|line| (line["targetId"].as_str().unwrap(), line["label"].as_str().unwrap())).collect();
    assert_eq!(names, [("e1", "LA"), ("e2", "LB")]);
    assert_eq!(lines[4]["timestamp"], "2026-01-02T03:04:05.678Z");
}

#[test]
fn fc_003_all_lines_of_a_damaged_session_hang_together_without_the_damaged_one() {
    let lost = answer("e2", "e1", "E2");
    let view = view(&[user("e1", "", "E1"), lost[..lost.len() - 30].to_owned(), user("e3", "e2", "E3")]);
    assert_eq!(ids(view.path()), ["e1", "e3"]);
    let lines: Result<Vec<_>, _> = view.all_lines().collect();
    assert_eq!(lines.unwrap(), [user("e1", "", "E1"), user("e3", "e1", "E3")]);
}

#[test]
fn deep_chains_do_not_use_the_stack() {
    let line = |n: usize| {
        let parent = n.checked_sub(1).map_or("null".to_owned(), |above| format!("\"n{above}\""));
        format!(r#"{{"type":"message","id":"n{n}","parentId":{parent},"message":{{"role":"user","content":"x"}}}}"#)
    };
    const DEEP: usize = 100_000;
    let lines: Vec<_> = (0..DEEP).map(line).collect();
    let view = view(&lines);
    assert_eq!(view.context().messages.len(), DEEP);
    assert_eq!(nodes_json(&view).matches("\"entry\":").count(), DEEP);
    assert_eq!(view.branch_lines().unwrap().len(), DEEP);
    assert_eq!(view.left_for(Some(&"n0".into())).len(), DEEP - 1);
}

#[test]
fn what_was_forgotten_is_read_again() {
    let view = view(&[user("e1", "", "E1"), compaction("k", "e1", "S", "k"), user("e2", "k", "E2")]);
    let before = view.get(&"e1".into()).unwrap();
    view.forget_outside_context();
    let after = view.get(&"e1".into()).unwrap();
    assert!(!Arc::ptr_eq(&before, &after));
    assert_eq!(before, after);
    let shown = view.get(&"e2".into()).unwrap();
    view.forget();
    assert!(!Arc::ptr_eq(&shown, &view.get(&"e2".into()).unwrap()), "of what is shown, too");
}

#[test]
fn what_tells_of_background_jobs_is_found_without_reading_the_rest() {
    let result = |id: &str, parent: &str, tool: &str| {
        let message = json!({"role": "toolResult", "toolCallId": "c", "toolName": tool, "content": []});
        line("message", id, parent, json!({ "message": message }))
    };
    let view = view(&[
        user("u", "", "jobs"),
        result("r", "u", "read"),
        result("j", "r", "jobs"),
        result("other", "r", "jobs"),
        line("custom_message", "c", "j", json!({"customType": "x", "content": "C", "display": false})),
        compaction("k", "c", "K", "c"),
        result("last", "k", "jobs"),
    ]);
    assert_eq!(ids(view.job_entries()), ["j", "c", "k", "last"]);
    let mut tree = Tree::new(serde_json::from_str(&header()).unwrap());
    let entry: Entry = serde_json::from_str(&result("j", "", "jobs")).unwrap();
    tree.push(Arc::new(entry), None);
    assert_eq!(ids(tree.view().job_entries()), ["j"]);
}
