//! The agents of a family in the order of their ids. Nothing that is asked of it for each spawn or end looks at all of
//! them: a family may have thousands.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    ops::Bound,
};

use super::Member;
use crate::protocol::sibling::SiblingId;

/// See the module.
#[derive(Default)]
pub(super) struct Members {
    /// Boxed: half of the places of a map that grows at its end stay empty.
    all: BTreeMap<SiblingId, Box<Member>>,
    /// How many of them run.
    active: usize,
}

impl Members {
    /// Adds one, unless it is there.
    pub fn add(&mut self, member: Member) {
        if let Entry::Vacant(place) = self.all.entry(member.id().clone()) {
            self.active += usize::from(member.state().is_active());
            place.insert(Box::new(member));
        }
    }

    pub fn remove(&mut self, id: &SiblingId) -> Option<Box<Member>> {
        let removed = self.all.remove(id)?;
        self.active -= usize::from(removed.state().is_active());
        Some(removed)
    }

    pub fn get(&self, id: &SiblingId) -> Option<&Member> {
        self.all.get(id).map(|member| &**member)
    }

    pub fn change<T>(&mut self, id: &SiblingId, change: impl FnOnce(&mut Member) -> T) -> Option<T> {
        let member = self.all.get_mut(id)?;
        let before = member.state().is_active();
        let changed = change(member);
        self.active = self.active + usize::from(member.state().is_active()) - usize::from(before);
        Some(changed)
    }

    /// All below an agent, parents before their children.
    pub fn below(&self, above: &SiblingId) -> impl Iterator<Item = (&SiblingId, &Member)> {
        let behind = self.all.range((Bound::Excluded(above), Bound::Unbounded));
        behind.take_while(move |(id, _)| id.is_below(above)).map(|(id, member)| (id, &**member))
    }

    /// The children of an agent.
    pub fn children(&self, parent: &SiblingId) -> impl Iterator<Item = (&SiblingId, &Member)> {
        self.below(parent).filter(move |(id, _)| id.is_child_of(parent))
    }

    /// The number of the last child of an agent; 0 when it has none.
    pub fn last_child(&self, parent: &SiblingId) -> u32 {
        let end = parent.next().map_or(Bound::Unbounded, Bound::Excluded);
        let last = self.all.range((Bound::Excluded(parent.clone()), end)).next_back();
        last.and_then(|(id, _)| id.child_below(parent)).unwrap_or(0)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&SiblingId, &Member)> {
        self.all.iter().map(|(id, member)| (id, &**member))
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// How many run.
    pub fn active(&self) -> usize {
        self.active
    }
}
