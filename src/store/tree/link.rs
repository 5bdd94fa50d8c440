//! Where entries hang: parents by position, without cycles, over damaged lines.

use std::collections::HashMap;

use crate::{
    protocol::EntryId,
    store::jsonl::{Gap, Line},
};

/// The position of each line's parent; `None` for a root.
///
/// A parent that does not exist makes a root, unless a damaged line of the file can have been that parent: then the
/// entry hangs where that line hung. A cycle is cut above its first entry.
pub fn link(lines: &[Line], gaps: &[Gap], index: &HashMap<EntryId, u32>) -> Vec<Option<u32>> {
    let mut parents = Vec::with_capacity(lines.len());
    let mut lost = Lost { gaps, index, claimed: HashMap::new() };
    let mut forward = false;
    for (at, line) in (0u32..).zip(lines) {
        let parent = match &line.parent {
            None => None,
            Some(parent) if at > 0 && lines[at as usize - 1].id == *parent => Some(at - 1),
            Some(parent) if *parent == line.id => None,
            Some(parent) => index.get(parent).copied().or_else(|| lost.parent_over(parent, at)),
        };
        forward |= parent.is_some_and(|parent| parent >= at);
        parents.push(parent);
    }
    if forward {
        cut_cycles(&mut parents);
    }
    parents
}

/// What is known of entries whose lines cannot be read.
struct Lost<'a> {
    gaps: &'a [Gap],
    index: &'a HashMap<EntryId, u32>,
    /// Gaps of unknown id that stand for an id which entries name as their parent.
    claimed: HashMap<EntryId, usize>,
}

impl Lost<'_> {
    /// The position above the lost entry `id`, for an entry at `at` that names it as its parent.
    fn parent_over(&mut self, id: &EntryId, at: u32) -> Option<u32> {
        let mut id = id;
        // Several lost entries in a row: not more of them than there are gaps.
        for _ in 0..self.gaps.len() {
            let gap = &self.gaps[self.gap_of(id, at as usize)?];
            match &gap.parent {
                Some(parent) if self.index.contains_key(parent) => return self.index.get(parent).copied(),
                Some(parent) if self.gap_of(parent, gap.at).is_some() => id = parent,
                _ => return before(gap),
            }
        }
        None
    }

    /// The gap that the lost entry `id` lay in. One that tells no id stands for the first id that is missed after it;
    /// so does one that tells another id, for the entry right behind it: a fragment may show the id of something else.
    fn gap_of(&mut self, id: &EntryId, at: usize) -> Option<usize> {
        if let Some(gap) = self.gaps.iter().position(|gap| gap.id.as_ref() == Some(id)) {
            return Some(gap);
        }
        if let Some(gap) = self.claimed.get(id) {
            return Some(*gap);
        }
        let fits = |gap: &Gap| gap.at == at || (gap.at < at && gap.id.is_none());
        let free = |place: &usize| !self.claimed.values().any(|taken| taken == place);
        let nearest = (0..self.gaps.len()).rev().filter(free).find(|place| fits(&self.gaps[*place]))?;
        self.claimed.insert(id.clone(), nearest);
        Some(nearest)
    }
}

fn before(gap: &Gap) -> Option<u32> {
    u32::try_from(gap.at).ok()?.checked_sub(1)
}

fn cut_cycles(parents: &mut [Option<u32>]) {
    // The walk in which an entry was first seen; walks are numbered from 1.
    let mut seen = vec![0usize; parents.len()];
    for start in 0..parents.len() {
        let mut at = start;
        while seen[at] == 0 {
            seen[at] = start + 1;
            let Some(parent) = parents[at].map(|parent| parent as usize) else { break };
            if seen[parent] == start + 1 {
                let first = cycle(parents, parent).min().unwrap_or(parent);
                parents[first] = None;
                break;
            }
            at = parent;
        }
    }
}

/// The entries of the cycle that `start` is part of.
fn cycle(parents: &[Option<u32>], start: usize) -> impl Iterator<Item = usize> {
    let up = |at: usize| parents[at].map(|parent| parent as usize);
    std::iter::successors(Some(start), move |at| up(*at).filter(|parent| *parent != start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::jsonl::{EntryKind, LineText};

    /// Lines as `id` or `id<parent`; `!`, `!id` and `!id<parent` are lines that cannot be read.
    fn check(file: &str, expected: &[Option<u32>]) {
        let (mut lines, mut gaps) = (Vec::new(), Vec::new());
        for line in file.split_whitespace() {
            let (id, parent) =
                line.split_once('<').map_or((line, None), |(id, parent)| (id, Some(EntryId::from(parent))));
            match id.strip_prefix('!') {
                Some(id) => {
                    gaps.push(Gap { at: lines.len(), id: (!id.is_empty()).then(|| id.into()), parent });
                }
                None => {
                    let text = LineText::Own("".into());
                    lines.push(Line { id: id.into(), parent, kind: EntryKind::Unknown, of_jobs: false, text });
                }
            }
        }
        let index = crate::store::jsonl::read::index(&lines);
        assert_eq!(link(&lines, &gaps, &index), expected, "{file}");
    }

    #[test]
    fn parents_are_found_and_strange_ones_make_roots() {
        check("", &[]);
        check("a b<a c<b d<a e", &[None, Some(0), Some(1), Some(0), None]);
        check("a b<nowhere c<b", &[None, None, Some(1)]);
        check("a<a b<a", &[None, Some(0)]);
        check("b<a a", &[Some(1), None]);
    }

    #[test]
    fn a_cycle_is_cut_above_its_first_entry() {
        check("a b<c c<b d<c", &[None, None, Some(1), Some(2)]);
        check("x<c a<c b<a c<b", &[Some(3), None, Some(1), Some(2)]);
        check("a<b b<a c<d d<c", &[None, Some(0), None, Some(2)]);
    }

    #[test]
    fn fc_003_path_over_bad_line() {
        // The damaged line tells who it was and where it hung.
        check("a b<a !c<a d<c", &[None, Some(0), Some(0)]);
        check("a b<a !c<b !d<c e<d f<d", &[None, Some(0), Some(1), Some(1)]);
        // It tells its id only, or nothing: the entry before it is the parent.
        check("a b<a !c d<c", &[None, Some(0), Some(1)]);
        check("a b<a ! d<c e<c", &[None, Some(0), Some(1), Some(1)]);
        check("a ! b<x ! c<y", &[None, Some(0), Some(1)]);
        // Nothing before it.
        check("! a<x", &[None]);
        // One damaged line is one lost entry: a second stranger is a root.
        check("a ! b<x c<b d<y", &[None, Some(0), Some(1), None]);
        // A fragment that shows another id can only be the parent of the entry right behind it.
        check("a !z b<x", &[None, Some(0)]);
        check("a !z b<a c<x", &[None, Some(0), None]);
        // Damage behind an entry is none of its parent.
        check("a b<x !", &[None, None]);
    }
}
