//! What is on which branch, and which results belong to which call.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use crate::{
    protocol::{AgentMessage, EntryBody, EntryId, message::ToolResultMessage},
    store::{
        jsonl::{EntryKind, Role},
        tree::{EntryRef, Label, TreeNode, TreeView},
    },
};

/// The session's shape. Entries are named by their position in the file.
pub struct Plan<'v> {
    /// The entries, with what hangs on each.
    pub nodes: Vec<TreeNode<'v>>,
    /// Those that hang on nothing.
    pub roots: Vec<usize>,
    /// Whether each is on the branch of the leaf.
    pub on_branch: Vec<bool>,
    /// Positions by id, for entries that name others.
    positions: HashMap<&'v EntryId, usize>,
}

/// A result, and the call that it belongs to.
pub struct Matched {
    /// The call's place in its message.
    pub call: usize,
    /// The result's entry.
    pub entry: usize,
    /// The result.
    pub result: Arc<ToolResultMessage>,
}

impl<'v> Plan<'v> {
    /// The shape of a session.
    pub fn new(view: &'v TreeView) -> Self {
        let (nodes, roots) = view.nodes();
        let mut on_branch = vec![false; nodes.len()];
        view.path().iter().for_each(|entry| on_branch[entry.position()] = true);
        let positions = nodes.iter().enumerate().map(|(at, node)| (node.entry.id(), at)).collect();
        Self { nodes, roots, on_branch, positions }
    }

    /// The entry at a position.
    pub fn entry(&self, at: usize) -> EntryRef<'v> {
        self.nodes[at].entry
    }

    /// The name of an entry.
    pub fn label(&self, at: usize) -> Option<&Label> {
        self.nodes[at].label.as_ref()
    }

    /// The position of the entry of that id.
    pub fn find(&self, id: &EntryId) -> Option<usize> {
        self.positions.get(id).copied()
    }

    /// Which of how many branches an entry begins, from 1; none when nothing else hangs where it hangs.
    pub fn alternative(&self, at: usize) -> Option<(usize, usize)> {
        let siblings = match self.entry(at).parent() {
            Some(parent) => &self.nodes[parent.position()].children,
            None => &self.roots,
        };
        let place = siblings.iter().position(|sibling| *sibling == at)?;
        (siblings.len() > 1).then_some((place + 1, siblings.len()))
    }

    /// The results of the calls of the answer at `answer`, on all branches, in the order of the file. Of calls with one
    /// id each has one result on a branch: the first result goes to the first of them.
    pub fn results(&self, answer: usize, call_ids: &[&str]) -> Vec<Matched> {
        let mut found = Vec::new();
        if call_ids.is_empty() {
            return found;
        }
        let open = |at: usize, answered: &HashSet<usize>| {
            self.nodes[at].children.iter().map(|child| (*child, answered.clone())).collect::<Vec<_>>()
        };
        let mut todo = open(answer, &HashSet::new());
        while let Some((at, mut answered)) = todo.pop() {
            match self.entry(at).kind() {
                EntryKind::Message(Role::ToolResult) => {
                    let entry = self.entry(at).entry_once();
                    if let EntryBody::Message { message: AgentMessage::ToolResult(result) } = &entry.body
                        && let Some(call) = (0..call_ids.len())
                            .find(|place| call_ids[*place] == result.tool_call_id && !answered.contains(place))
                    {
                        answered.insert(call);
                        found.push(Matched { call, entry: at, result: result.clone() });
                    }
                    todo.extend(open(at, &answered));
                }
                EntryKind::Message(_) | EntryKind::Compaction | EntryKind::BranchSummary => {}
                // Notes of extensions and the like come between results.
                _ => todo.extend(open(at, &answered)),
            }
        }
        found.sort_by_key(|matched| matched.entry);
        found
    }
}
