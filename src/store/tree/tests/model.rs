//! Random trees against a model that is simple and slow.

use std::collections::HashMap;

use proptest::{prelude::*, sample::Index};
use serde_json::{Value, json};

use super::nodes_json;
use crate::store::testing::{answer, compaction, edit, label, line, system, user, view};

/// An entry to be: its kind, where it hangs (by number, or nowhere), and which entry it is about.
type Seed = (u8, Option<Index>, Index);

fn seeds() -> impl Strategy<Value = Vec<Seed>> {
    let entry = (0u8..10, prop::option::weighted(0.95, any::<Index>()), any::<Index>());
    prop::collection::vec(entry, 1..40)
}

fn lines(seeds: &[Seed]) -> Vec<String> {
    let mut lines = Vec::new();
    for (n, (kind, parent, about)) in seeds.iter().enumerate() {
        let id = format!("i{n}");
        let parent = match parent {
            Some(parent) if n > 0 => format!("i{}", parent.index(n)),
            _ => String::new(),
        };
        let about = format!("i{}", about.index(seeds.len()));
        lines.push(match kind {
            0 => answer(&id, &parent, &id),
            1 => compaction(&id, &parent, &id, &about),
            2 => edit(&id, &parent, &about, Value::Null),
            3 => edit(&id, &parent, &about, json!({"content": format!("by {id}")})),
            4 => label(&id, &parent, &about, &id),
            5 => system(&id, &parent, json!({"s": id})),
            6 => line("branch_summary", &id, &parent, json!({"fromId": "root", "summary": id})),
            _ => user(&id, &parent, &id),
        });
    }
    lines
}

/// The texts of the context of the entry `leaf`, straight from the rules.
fn model(lines: &[Value], leaf: usize) -> Vec<String> {
    let by_id: HashMap<&str, &Value> = lines.iter().map(|line| (line["id"].as_str().unwrap(), line)).collect();
    let mut path = Vec::new();
    let mut at = Some(&lines[leaf]);
    while let Some(entry) = at {
        path.insert(0, entry);
        at = entry["parentId"].as_str().map(|parent| by_id[parent]);
    }
    let kind = |entry: &Value| entry["type"].as_str().unwrap().to_owned();
    let mut shown = Vec::new();
    match path.iter().rposition(|entry| kind(entry) == "compaction") {
        None => shown.extend(path.iter().copied()),
        Some(place) => {
            shown.push(path[place]);
            let mut keep = false;
            for entry in &path[..place] {
                keep |= entry["id"] == path[place]["firstKeptEntryId"];
                if keep && entry["message"]["role"] != "system" {
                    shown.push(entry);
                }
            }
            shown.extend(&path[place + 1..]);
        }
    }
    let mut texts = Vec::new();
    for (place, entry) in shown.iter().enumerate() {
        let edit = shown.iter().rev().find(|edit| kind(edit) == "context_edit" && edit["targetId"] == entry["id"]);
        if edit.is_some_and(|edit| edit["replacement"].is_null()) {
            continue;
        }
        let new = edit.and_then(|edit| edit["replacement"]["content"].as_str());
        let own = entry["id"].as_str().unwrap();
        match (kind(entry).as_str(), entry["message"]["role"].as_str()) {
            ("message", Some("system")) => texts.push(format!("system {own}")),
            ("message", _) => texts.push(new.unwrap_or(own).to_owned()),
            ("branch_summary", _) => texts.push(own.to_owned()),
            ("compaction", _) if place == 0 => texts.push(own.to_owned()),
            _ => {}
        }
    }
    texts
}

fn context(lines: &[String], leaf: &str) -> Vec<String> {
    let view = view(lines).with_leaf(Some(&leaf.into())).unwrap();
    let context = super::context(&view);
    let entry = |place: usize| context.entry_of(place).unwrap().id.to_string();
    let text = |(place, message): (usize, &crate::protocol::AgentMessage)| match message {
        crate::protocol::AgentMessage::System(_) => format!("system {}", entry(place)),
        crate::protocol::AgentMessage::User(user) => user.content.text(""),
        crate::protocol::AgentMessage::Assistant(answer) => crate::protocol::message::text_of(&answer.content, ""),
        _ => entry(place),
    };
    context.messages.iter().enumerate().map(text).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn the_context_of_any_leaf_is_what_the_rules_say(
        seeds in seeds(),
        leaf in any::<Index>(),
    ) {
        let lines = lines(&seeds);
        let values: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let leaf = leaf.index(lines.len());
        prop_assert_eq!(context(&lines, &format!("i{leaf}")), model(&values, leaf));
    }

    #[test]
    fn any_parents_at_all_give_a_forest(parents in prop::collection::vec(0usize..14, 1..12)) {
        // Numbers above the length are ids that no entry has.
        let line = |(n, parent): (usize, &usize)| user(&format!("i{n}"), &format!("i{parent}"), "x");
        let lines: Vec<_> = parents.iter().enumerate().map(line).collect();
        let view = view(&lines);
        for entry in view.entries() {
            prop_assert!(view.with_leaf(Some(entry.id())).unwrap().path().len() <= lines.len());
        }
        prop_assert_eq!(nodes_json(&view).matches("\"entry\":").count(), lines.len());
    }

    #[test]
    fn a_branch_taken_out_has_the_same_context(
        seeds in seeds(),
    ) {
        let whole = view(&lines(&seeds));
        let branch = view(&whole.branch_lines().unwrap());
        // A compaction that keeps from a label of another place on keeps from the next entry on: the same messages.
        prop_assert_eq!(branch.context().messages, whole.context().messages);
        let parents: Vec<_> = branch.entries().map(|entry| entry.parent().map(|parent| parent.position())).collect();
        let chain: Vec<_> = (0..branch.len()).map(|n| n.checked_sub(1)).collect();
        prop_assert_eq!(parents, chain);
    }
}
