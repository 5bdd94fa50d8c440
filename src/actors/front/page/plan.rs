//! What is on which branch, and which results belong to which call.

use std::{collections::HashMap, sync::Arc};

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
    /// Which of how many branches an entry begins, from 1, where there are several.
    alternatives: HashMap<usize, (usize, usize)>,
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
        let forks = nodes.iter().map(|node| &node.children).chain([&roots]).filter(|siblings| siblings.len() > 1);
        let alternatives = forks
            .flat_map(|siblings| siblings.iter().enumerate().map(|(place, at)| (*at, (place + 1, siblings.len()))))
            .collect();
        Self { nodes, roots, on_branch, positions, alternatives }
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
        self.alternatives.get(&at).copied()
    }

    /// The results of the calls of the answer at `answer`, on all branches, in the order of the file. Of calls with one
    /// id each has one result on a branch: the first result goes to the first of them.
    pub fn results(&self, answer: usize, call_ids: &[&str]) -> Vec<Matched> {
        let mut found = Vec::new();
        if call_ids.is_empty() {
            return found;
        }
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        call_ids.iter().enumerate().for_each(|(place, id)| places.entry(id).or_default().push(place));
        // How many calls of each id have their result on the way to an entry.
        let mut todo = self.below(answer, HashMap::<&str, usize>::new());
        while let Some((at, mut answered)) = todo.pop() {
            match self.entry(at).kind() {
                EntryKind::Message(Role::ToolResult) => {
                    let entry = self.entry(at).entry_once();
                    if let EntryBody::Message { message: AgentMessage::ToolResult(result) } = &entry.body
                        && let Some((id, calls)) = places.get_key_value(result.tool_call_id.as_str())
                    {
                        let count = answered.entry(id).or_default();
                        if let Some(call) = calls.get(*count) {
                            *count += 1;
                            found.push(Matched { call: *call, entry: at, result: result.clone() });
                        }
                    }
                    todo.extend(self.below(at, answered));
                }
                EntryKind::Message(_) | EntryKind::Compaction | EntryKind::BranchSummary => {}
                // Notes of extensions and the like come between results.
                _ => todo.extend(self.below(at, answered)),
            }
        }
        found.sort_by_key(|matched| matched.entry);
        found
    }

    /// What hangs on an entry, each with a copy of `carried`. An only one gets it as it is: the way along a branch costs
    /// no copies.
    fn below<T: Clone>(&self, at: usize, carried: T) -> Vec<(usize, T)> {
        match self.nodes[at].children[..] {
            [only] => vec![(only, carried)],
            ref children => children.iter().map(|child| (*child, carried.clone())).collect(),
        }
    }
}
