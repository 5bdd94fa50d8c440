//! The whole tree, as clients get it.

use std::io::{self, Write};

use serde_json::Value;

use super::{EntryRef, Label, TreeView};
use crate::protocol::time::parse_iso;

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
                children.sort_by_cached_key(|child| parse_iso(&nodes[*child].entry.entry_once().timestamp));
            }
            nodes[parent].children = children;
        }
        (nodes, roots)
    }

    /// Writes the whole tree as JSON, roots with commas between them:
    /// `{"entry":…,"children":[…],"label":…,"labelTimestamp":…},…`, entries as their lines stand in the file. Entries whose
    /// lines are gone are left out with what hangs on them.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_nodes(&self, out: &mut dyn Write) -> io::Result<()> {
        let (nodes, roots) = self.nodes();
        // What is still to be written, last thing first: deep trees must not use the stack.
        let mut todo: Vec<Step> = roots.iter().rev().map(|root| Step::Open(*root)).collect();
        // Whether a node of the same list stands before the next one.
        let mut follows = false;
        while let Some(step) = todo.pop() {
            match step {
                Step::Open(place) => {
                    let Ok(line) = nodes[place].entry.text() else { continue };
                    if std::mem::replace(&mut follows, false) {
                        out.write_all(b",")?;
                    }
                    out.write_all(br#"{"entry":"#)?;
                    out.write_all(line.as_bytes())?;
                    out.write_all(br#","children":["#)?;
                    todo.push(Step::Finish(place));
                    todo.extend(nodes[place].children.iter().rev().map(|child| Step::Open(*child)));
                }
                Step::Finish(place) => {
                    out.write_all(b"]")?;
                    if let Some(Label { text, timestamp }) = &nodes[place].label {
                        let (text, time) = (Value::from(text.as_str()), Value::from(timestamp.as_str()));
                        write!(out, r#","label":{text},"labelTimestamp":{time}"#)?;
                    }
                    out.write_all(b"}")?;
                    follows = true;
                }
            }
        }
        Ok(())
    }
}

enum Step {
    Open(usize),
    Finish(usize),
}
