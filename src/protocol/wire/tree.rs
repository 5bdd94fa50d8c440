//! The nested form of a session's tree.
//!
//! A branch of ten thousand entries nests ten thousand levels deep on the wire. Such a value must neither be built nor
//! written nor dropped by recursion, so it is held flat and written with a stack of its own.

use std::sync::Arc;

use super::json::{Record, write_value};
use crate::protocol::{Entry, EntryId};

/// A session's tree: nodes by place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeData {
    /// All nodes, in any order.
    pub nodes: Vec<TreeNode>,
    /// Places of the nodes without parent.
    pub roots: Vec<usize>,
    /// The last entry of the branch that is in use; none in an empty session.
    pub leaf_id: Option<EntryId>,
}

/// An entry and what follows it.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeNode {
    /// The entry.
    pub entry: Arc<Entry>,
    /// Places of the nodes after it; each node has one parent at most.
    pub children: Vec<usize>,
    /// Its label.
    pub label: Option<String>,
    /// When it got the label, ISO-8601.
    pub label_timestamp: Option<String>,
}

/// What is left to write, last first.
enum Step {
    Open(usize),
    Close(usize),
    Comma,
}

impl TreeData {
    /// Appends `{"tree":[…],"leafId":…}`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"tree":["#);
        let mut steps = Vec::new();
        push_all(&mut steps, &self.roots);
        while let Some(step) = steps.pop() {
            match step {
                Step::Comma => out.push(b','),
                Step::Open(at) => {
                    let node = &self.nodes[at];
                    out.extend_from_slice(br#"{"entry":"#);
                    write_value(out, &node.entry);
                    out.extend_from_slice(br#","children":["#);
                    steps.push(Step::Close(at));
                    push_all(&mut steps, &node.children);
                }
                Step::Close(at) => {
                    let node = &self.nodes[at];
                    out.push(b']');
                    Record::resume(out)
                        .optional("label", node.label.as_ref())
                        .optional("labelTimestamp", node.label_timestamp.as_ref())
                        .end_with(b"}");
                }
            }
        }
        out.push(b']');
        Record::resume(out).field("leafId", &self.leaf_id).end_with(b"}");
    }
}

/// Puts the nodes of `places` on the stack so that the first is written first.
fn push_all(steps: &mut Vec<Step>, places: &[usize]) {
    for (n, place) in places.iter().enumerate().rev() {
        steps.push(Step::Open(*place));
        if n > 0 {
            steps.push(Step::Comma);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::protocol::EntryBody;

    fn node(id: &str, parent: Option<&str>, children: &[usize]) -> TreeNode {
        let entry = Entry {
            body: EntryBody::SessionInfo { name: None },
            id: id.into(),
            parent_id: parent.map(EntryId::from),
            timestamp: "t".into(),
        };
        TreeNode { entry: Arc::new(entry), children: children.to_vec(), label: None, label_timestamp: None }
    }

    fn written(tree: &TreeData) -> Vec<u8> {
        let mut out = Vec::new();
        tree.write(&mut out);
        out
    }

    #[test]
    fn branches_nest_and_labels_follow_the_children() {
        let mut nodes = vec![
            node("a", None, &[1, 2]),
            node("b", Some("a"), &[]),
            node("c", Some("a"), &[3]),
            node("d", Some("c"), &[]),
        ];
        nodes[1].label = Some("here".into());
        nodes[1].label_timestamp = Some("t1".into());
        let tree = TreeData { nodes, roots: vec![0], leaf_id: Some("d".into()) };
        let entry =
            |id: &str, parent: Value| json!({"type": "session_info", "id": id, "parentId": parent, "timestamp": "t"});
        assert_eq!(
            serde_json::from_slice::<Value>(&written(&tree)).unwrap(),
            json!({"tree": [{"entry": entry("a", Value::Null), "children": [
                {"entry": entry("b", json!("a")), "children": [], "label": "here", "labelTimestamp": "t1"},
                {"entry": entry("c", json!("a")), "children": [{"entry": entry("d", json!("c")), "children": []}]},
            ]}], "leafId": "d"})
        );
        assert_eq!(written(&TreeData::default()), br#"{"tree":[],"leafId":null}"#);
    }

    #[test]
    fn a_branch_of_a_hundred_thousand_entries_is_written_without_recursion() {
        let last = 100_000;
        let nodes = (0..last)
            .map(|n| node("x", None, if n + 1 < last { &[0] } else { &[] }))
            .enumerate()
            .map(|(n, mut node)| {
                node.children.iter_mut().for_each(|child| *child = n + 1);
                node
            })
            .collect();
        let out = written(&TreeData { nodes, roots: vec![0], leaf_id: None });
        assert_eq!(out.iter().filter(|byte| **byte == b'{').count(), 2 * last + 1);
        assert!(out.ends_with(br#"],"leafId":null}"#));
    }
}
