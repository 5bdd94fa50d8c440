//! The whole tree, as clients get it.

use serde_json::Value;

use super::{EntryRef, Label, TreeView};
use crate::protocol::{EntryId, time::parse_iso};

/// A node of the whole tree. Nodes refer to each other by their place in the list, which is that of their entries in
/// the file: a branch of a hundred thousand entries is no deep structure.
#[derive(Clone)]
pub struct TreeNode<'v> {
    /// The entry.
    pub entry: EntryRef<'v>,
    /// Places of the entries that hang on it, oldest first.
    pub children: Vec<usize>,
    /// Its name.
    pub label: Option<Label>,
}

impl TreeView {
    /// All entries with what hangs on them, and the places of the roots.
    #[must_use]
    pub fn nodes(&self) -> (Vec<TreeNode<'_>>, Vec<usize>) {
        let mut labels = self.labels();
        let mut nodes: Vec<_> = self
            .entries()
            .map(|entry| TreeNode { entry, children: Vec::new(), label: labels.remove(entry.id()) })
            .collect();
        let mut roots = Vec::new();
        for place in 0..nodes.len() {
            match nodes[place].entry.parent() {
                Some(parent) => nodes[parent.position()].children.push(place),
                None => roots.push(place),
            }
        }
        for parent in 0..nodes.len() {
            let mut children = std::mem::take(&mut nodes[parent].children);
            if children.len() > 1 {
                children.sort_by_cached_key(|child| parse_iso(&nodes[*child].entry.entry().timestamp));
            }
            nodes[parent].children = children;
        }
        (nodes, roots)
    }

    /// The whole tree as JSON: `[{"entry":…,"children":[…],"label":…,"labelTimestamp":…},…]`, entries as their lines
    /// stand in the file. Entries whose lines are gone are left out with what hangs on them.
    #[must_use]
    pub fn nodes_json(&self) -> String {
        let (nodes, roots) = self.nodes();
        let mut out = String::from("[");
        // What is still to be written, last thing first: deep trees must not use the stack.
        let mut todo: Vec<Step> = vec![Step::Close];
        todo.extend(roots.iter().rev().map(|root| Step::Open(*root)));
        while let Some(step) = todo.pop() {
            match step {
                Step::Open(place) => {
                    let Ok(line) = nodes[place].entry.text() else { continue };
                    separate(&mut out);
                    out.push_str(r#"{"entry":"#);
                    out.push_str(&line);
                    out.push_str(r#","children":["#);
                    todo.push(Step::Finish(place));
                    todo.extend(nodes[place].children.iter().rev().map(|child| Step::Open(*child)));
                }
                Step::Finish(place) => {
                    out.push(']');
                    if let Some(Label { text, timestamp }) = &nodes[place].label {
                        let (text, time) = (Value::from(text.as_str()), Value::from(timestamp.as_str()));
                        out.push_str(&format!(r#","label":{text},"labelTimestamp":{time}"#));
                    }
                    out.push('}');
                }
                Step::Close => out.push(']'),
            }
        }
        out
    }

    /// Entries as a JSON list, as their lines stand in the file: all, or those behind the entry `since`. `None` when
    /// there is no such entry.
    #[must_use]
    pub fn entries_json(&self, since: Option<&EntryId>) -> Option<String> {
        let first = match since {
            None => 0,
            Some(id) => self.find(id)?.position() + 1,
        };
        let mut out = String::from("[");
        for entry in self.entries_from(first) {
            if let Ok(line) = entry.text() {
                separate(&mut out);
                out.push_str(&line);
            }
        }
        out.push(']');
        Some(out)
    }
}

enum Step {
    Open(usize),
    Finish(usize),
    Close,
}

/// A comma, unless the list has just begun.
fn separate(out: &mut String) {
    if !out.ends_with('[') {
        out.push(',');
    }
}
