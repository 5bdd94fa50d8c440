//! A session's tree as rows: the branch in use first, set in only where branches part.
//!
//! All of it costs time in the number of entries and none in their sizes: nothing is parsed.

use crate::store::{jsonl::EntryKind, tree::TreeView};

/// No entry, no row.
const NONE: u32 = u32::MAX;

/// Which entry hangs on which, in the order in which they are shown.
#[derive(Debug, Default)]
pub struct Shape {
    /// Of each entry, by its position in the file.
    kinds: Vec<EntryKind>,
    parents: Vec<u32>,
    /// On the branch in use.
    active: Vec<bool>,
    /// Positions: each entry before those that hang on it, those of the branch in use first.
    order: Vec<u32>,
}

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The entry's position in the file.
    pub entry: u32,
    /// It is one of several that hang on the same.
    pub branch: bool,
    /// It is the last of them.
    pub last: bool,
    /// Shown entries that hang on it.
    pub children: u32,
    /// The row nearest above on its branch, itself included, that is one of several.
    guide: u32,
    /// The same without itself.
    above: u32,
}

/// Rows, and where entries are in them.
#[derive(Debug, Default)]
pub struct Rows {
    /// The rows.
    pub rows: Vec<Row>,
    /// The row of each entry.
    row_of: Vec<u32>,
}

impl Shape {
    /// The shape of a session.
    #[must_use]
    pub fn of(tree: &TreeView) -> Self {
        let place = |position: usize| u32::try_from(position).unwrap_or(NONE);
        let mut kinds = Vec::with_capacity(tree.len());
        let mut parents = Vec::with_capacity(tree.len());
        for entry in tree.entries() {
            kinds.push(entry.kind());
            parents.push(entry.parent().map_or(NONE, |parent| place(parent.position())));
        }
        let mut active = vec![false; kinds.len()];
        tree.ancestors().for_each(|entry| active[entry.position()] = true);
        let order = order(&parents, &active);
        Self { kinds, parents, active, order }
    }

    /// The kind of an entry.
    #[must_use]
    pub fn kind(&self, entry: u32) -> EntryKind {
        self.kinds[entry as usize]
    }

    /// The number of entries.
    #[must_use]
    pub fn count(&self) -> usize {
        self.kinds.len()
    }

    /// Whether an entry is on the branch in use.
    #[must_use]
    pub fn is_active(&self, entry: u32) -> bool {
        self.active[entry as usize]
    }

    /// The rows of the entries that `shown` takes. What hangs on one that `folded` takes is left out.
    #[must_use]
    pub fn rows(&self, shown: impl Fn(u32) -> bool, folded: impl Fn(u32) -> bool) -> Rows {
        let count = self.kinds.len();
        // By entry: the nearest shown one above, and of shown ones what hangs on them. The last place is that of roots.
        let mut above = vec![NONE; count];
        let mut children = vec![0u32; count + 1];
        let mut last = vec![NONE; count + 1];
        let at = |entry: u32| (entry as usize).min(count);
        let mut is_shown = vec![false; count];
        for &entry in &self.order {
            let parent = self.parents[entry as usize];
            let up = if parent == NONE || is_shown[at(parent)] { parent } else { above[at(parent)] };
            above[at(entry)] = up;
            if shown(entry) {
                is_shown[at(entry)] = true;
                children[at(up)] += 1;
                last[at(up)] = entry;
            }
        }
        let mut rows = Rows { rows: Vec::new(), row_of: vec![NONE; count] };
        for &entry in self.order.iter().filter(|entry| is_shown[at(**entry)]) {
            let up = above[at(entry)];
            let above_row = if up == NONE { NONE } else { rows.row_of[at(up)] };
            // Folded away, or below what is.
            if up != NONE && (above_row == NONE || folded(up)) {
                continue;
            }
            let row = u32::try_from(rows.rows.len()).unwrap_or(NONE);
            let outer = if above_row == NONE { NONE } else { rows.rows[above_row as usize].guide };
            let branch = children[at(up)] > 1;
            rows.rows.push(Row {
                entry,
                branch,
                last: last[at(up)] == entry,
                children: children[at(entry)],
                guide: if branch { row } else { outer },
                above: outer,
            });
            rows.row_of[at(entry)] = row;
        }
        rows
    }

    /// The row of an entry, or of the nearest one above it that has one.
    #[must_use]
    pub fn nearest(&self, rows: &Rows, entry: u32) -> Option<usize> {
        let up = |entry: &u32| Some(self.parents[*entry as usize]).filter(|parent| *parent != NONE);
        let mut way = std::iter::successors((entry as usize).lt(&self.count()).then_some(entry), up);
        way.find_map(|entry| rows.row_of(entry))
    }
}

impl Rows {
    /// The row of an entry.
    #[must_use]
    pub fn row_of(&self, entry: u32) -> Option<usize> {
        self.row_of.get(entry as usize).filter(|row| **row != NONE).map(|row| *row as usize)
    }

    /// The lines that lead to a row, three columns for each place where branches part; of many, the last `most` of them.
    #[must_use]
    pub fn guides(&self, row: usize, most: usize) -> String {
        let Some(own) = self.rows.get(row) else { return String::new() };
        let first = if own.branch { own.above } else { own.guide };
        let outer = |guide: &u32| Some(self.rows[*guide as usize].above).filter(|above| *above != NONE);
        let way = std::iter::successors((first != NONE).then_some(first), outer);
        let mut pieces: Vec<&str> = Vec::new();
        if own.branch {
            pieces.push(if own.last { "└─ " } else { "├─ " });
        }
        // One more than is shown tells whether there is more.
        pieces.extend(way.take(most + 1).map(|guide| if self.rows[guide as usize].last { "   " } else { "│  " }));
        if pieces.len() > most {
            pieces.truncate(most.saturating_sub(1));
            pieces.push("…  ");
        }
        pieces.into_iter().rev().collect()
    }
}

/// Positions, each before those that hang on it: a walk in depth that goes to active ones first.
fn order(parents: &[u32], active: &[bool]) -> Vec<u32> {
    let count = parents.len();
    let at = |entry: u32| (entry as usize).min(count);
    // Where the children of each begin in one list of all, roots at the end.
    let mut begins = vec![0usize; count + 2];
    parents.iter().for_each(|parent| begins[at(*parent) + 1] += 1);
    for place in 0..=count {
        begins[place + 1] += begins[place];
    }
    let mut next = begins.clone();
    let mut children = vec![NONE; count];
    for (entry, parent) in (0u32..).zip(parents) {
        let place = &mut next[at(*parent)];
        children[*place] = entry;
        *place += 1;
    }
    let mut order = Vec::with_capacity(count);
    let mut stack: Vec<u32> = Vec::new();
    let push = |stack: &mut Vec<u32>, of: usize| {
        let children = &children[begins[of]..begins[of + 1]];
        // The last one that is pushed comes first.
        stack.extend(children.iter().rev().filter(|child| !active[**child as usize]));
        stack.extend(children.iter().filter(|child| active[**child as usize]));
    };
    push(&mut stack, count);
    while let Some(entry) = stack.pop() {
        order.push(entry);
        push(&mut stack, entry as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::{answer, line, user, view};

    /// a ─ b ─ c (leaf is the last of the file: f), b ─ d ─ e, b ─ f
    fn tree() -> TreeView {
        view(&[
            user("a", "", "a"),
            answer("b", "a", "b"),
            user("c", "b", "c"),
            user("d", "b", "d"),
            answer("e", "d", "e"),
            user("f", "b", "f"),
        ])
    }

    fn drawn(tree: &TreeView, hidden: &[&str], folded: &[&str]) -> Vec<String> {
        let name = |entry: u32| tree.entry_at(entry as usize).unwrap().id().as_str().to_owned();
        let shape = Shape::of(tree);
        let rows = shape.rows(|entry| !hidden.contains(&&*name(entry)), |entry| folded.contains(&&*name(entry)));
        (0..rows.rows.len()).map(|row| rows.guides(row, 9) + &name(rows.rows[row].entry)).collect()
    }

    #[test]
    fn branches_are_set_in_where_they_part_and_the_one_in_use_comes_first() {
        for (hidden, folded, expected) in [
            (&[][..], &[][..], &["a", "b", "├─ f", "├─ c", "└─ d", "   e"][..]),
            (&["b"], &[], &["a", "├─ f", "├─ c", "└─ d", "   e"]),
            (&["c", "d"], &[], &["a", "b", "├─ f", "└─ e"]),
            (&["c", "d", "e"], &[], &["a", "b", "f"]),
            (&["a", "b"], &[], &["├─ f", "├─ c", "└─ d", "   e"]),
            (&[], &["d"], &["a", "b", "├─ f", "├─ c", "└─ d"]),
            (&[], &["a"], &["a"]),
            (&["a", "b", "c", "d", "e", "f"], &[], &[]),
        ] {
            assert_eq!(drawn(&tree(), hidden, folded), expected, "without {hidden:?}, folded {folded:?}");
        }
    }

    #[test]
    fn the_nearest_row_of_a_hidden_entry_is_above_it() {
        let tree = tree();
        let shape = Shape::of(&tree);
        let rows = shape.rows(|entry| entry == 0 || entry == 5, |_| false);
        assert_eq!([0, 1, 4, 5].map(|entry| shape.nearest(&rows, entry)), [Some(0), Some(0), Some(0), Some(1)]);
        assert_eq!(shape.nearest(&shape.rows(|_| false, |_| false), 3), None);
    }

    #[test]
    fn many_branches_leave_room_for_the_text() {
        // Each entry has a sibling: twenty places where branches part.
        let mut lines = vec![user("n0", "", "x")];
        for depth in 1..20 {
            let parent = format!("n{}", depth - 1);
            lines.push(line("custom", &format!("s{depth}"), &parent, serde_json::json!({"customType": "x"})));
            lines.push(user(&format!("n{depth}"), &parent, "x"));
        }
        let tree = view(&lines);
        let rows = Shape::of(&tree).rows(|_| true, |_| false);
        let deepest = rows.rows.len() - 1;
        let widest = (0..=deepest).map(|row| rows.guides(row, 4).chars().count()).max();
        assert_eq!(widest, Some(12));
        assert_eq!(Shape::of(&view(&[])).rows(|_| true, |_| false).rows.len(), 0);
    }
}
