//! What is known of the agents of a family: who is whose child, what they do, how their tasks ended.
//!
//! One board for a family, shared by all its agents, so that it outlives every actor. The fleet is the only one who
//! changes it; everybody may look. It does no I/O and knows no actors.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    account::Account,
    family_notes::{Note, SpawnNote},
    kin::Kin,
};
use crate::{
    protocol::sibling::{
        SiblingEnd, SiblingError, SiblingId, SiblingLimits, SiblingState, SiblingStatus, SpawnReceipt,
    },
    store::{jsonl::EntryKind, tree::TreeView},
};

mod member;
#[cfg(test)]
mod tests;

pub use member::{Face, Member};

/// See the module.
pub struct FamilyBoard {
    limits: SiblingLimits,
    members: Mutex<BTreeMap<SiblingId, Member>>,
}

/// What a spawn comes to.
#[derive(Debug)]
pub enum Admission {
    /// A new child, which has its place and its account.
    New(SiblingId),
    /// The key is known.
    Existing(Box<SpawnReceipt>),
}

impl FamilyBoard {
    /// The board of a family that has nobody but its root.
    #[must_use]
    pub fn new(limits: SiblingLimits) -> Self {
        Self { limits, members: Mutex::default() }
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> SiblingLimits {
        self.limits
    }

    /// Takes in the children that a session tells of. Those of another session, which this one was forked from, count
    /// as gone: they belong to that one.
    pub fn restore(&self, parent: &SiblingId, session: &TreeView, account: &Arc<Account>) {
        let own = session.header().id.clone();
        let notes = session.entries().filter(|entry| entry.kind() == EntryKind::Custom);
        for note in notes.filter_map(|entry| Note::of(&entry.entry().body)) {
            match note {
                Note::Spawn(note) if note.id.parent().as_ref() == Some(parent) => {
                    let foreign = note.session != own;
                    let account = account.reopen(note.id.to_string(), note.spec.budget);
                    let mut member = Member::new(*note.clone(), account);
                    if foreign {
                        member.gone();
                    }
                    self.lock().entry(note.id).or_insert(member);
                }
                Note::Spawn(_) => {}
                Note::Task(note) => drop(self.change(&note.id.clone(), |member| member.next_task(note))),
                Note::End(end) => {
                    self.change(&end.id.clone(), |member| {
                        let spent = member::spent(&end.usage);
                        if member.ended(*end) {
                            member.account.carry(spent);
                        }
                    });
                }
                Note::Gone(note) => drop(self.change(&note.id, Member::gone)),
            }
        }
    }

    /// Looks for the sessions of a parent's children beside that of the parent: where both were brought from another
    /// machine, the notes have the places of that one.
    pub fn beside(&self, parent: &SiblingId, parent_file: &Path) {
        let mut members = self.lock();
        let children = members.iter_mut().filter(|(id, _)| id.parent().as_ref() == Some(parent));
        children.for_each(|(_, member)| member.move_beside(parent_file));
    }

    /// Looks whether `parent` may spawn this, and gives it a place.
    ///
    /// # Errors
    /// Why it may not.
    pub fn admit(
        &self,
        parent: &Kin,
        mut note: SpawnNote,
        parent_file: Option<&Path>,
    ) -> Result<Admission, SiblingError> {
        let mut members = self.lock();
        let spec = &note.spec;
        if let Some(key) = &spec.key
            && let Some((id, member)) = members.iter().find(|(id, member)| {
                id.parent().as_ref() == Some(&parent.id) && member.spec().key.as_ref() == Some(key)
            })
        {
            if member.spec() != spec {
                return Err(SiblingError::KeyTaken { key: key.clone(), id: id.to_string() });
            }
            let end = member.last_end().filter(|_| !member.is_busy()).cloned();
            return Ok(Admission::Existing(Box::new(SpawnReceipt { id: id.clone(), existing: true, end })));
        }
        if !parent.may_spawn() {
            return Err(SiblingError::Depth { depth: parent.depth });
        }
        if let Some(name) = &spec.name
            && let Some((id, _)) = members
                .iter()
                .filter(|(_, member)| member.state() != SiblingState::Gone)
                .find(|(id, member)| member.spec().name.as_ref() == Some(name) || id.to_string() == *name)
        {
            return Err(SiblingError::NameTaken { name: name.clone(), id: id.to_string() });
        }
        if members.len() >= self.limits.total {
            return Err(SiblingError::Total { limit: self.limits.total });
        }
        let running = active(&members);
        if running.len() >= self.limits.running {
            return Err(full(&running, self.limits.running));
        }
        let last =
            members.keys().filter(|id| id.parent().as_ref() == Some(&parent.id)).filter_map(SiblingId::number).max();
        let id = parent.id.child(last.unwrap_or(0) + 1);
        let account = parent.account.open(id.to_string(), spec.budget)?;
        note.session_file = spec
            .session_file
            .clone()
            .or_else(|| Some(parent_file?.with_extension("agents").join(format!("{id}_{}.jsonl", note.session_id))))
            .map(|file| file.display().to_string());
        note.id = id.clone();
        members.insert(id.clone(), Member::new(note, account));
        Ok(Admission::New(id))
    }

    /// The refusal of whoever wants one more to run.
    #[must_use]
    pub fn full(&self) -> SiblingError {
        full(&active(&self.lock()), self.limits.running)
    }

    /// Takes a child out that was never begun.
    pub fn withdraw(&self, id: &SiblingId) {
        if let Some(member) = self.lock().remove(id) {
            member.account.close();
        }
    }

    /// Changes what is known of an agent.
    pub fn change<T>(&self, id: &SiblingId, change: impl FnOnce(&mut Member) -> T) -> Option<T> {
        self.lock().get_mut(id).map(change)
    }

    /// Looks at an agent.
    pub fn look<T>(&self, id: &SiblingId, look: impl FnOnce(&Member) -> T) -> Option<T> {
        self.lock().get(id).map(look)
    }

    /// The agent below `above` of an id or a name.
    ///
    /// # Errors
    /// There is none.
    pub fn resolve(&self, above: &SiblingId, name: &str) -> Result<SiblingId, SiblingError> {
        let members = self.lock();
        let below = members.iter().filter(|(id, _)| id.is_below(above));
        let named = below.filter(|(id, member)| id.to_string() == name || member.spec().name.as_deref() == Some(name));
        // A name may be given again when its agent is gone.
        let found = named.max_by_key(|(id, member)| (member.state() != SiblingState::Gone, *id));
        found.map(|(id, _)| id.clone()).ok_or_else(|| {
            let known: Vec<_> = members.keys().filter(|id| id.is_below(above)).map(ToString::to_string).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            SiblingError::Unknown { id: name.to_owned(), known }
        })
    }

    /// The agents of these names below `above`; all of its children when none is given.
    ///
    /// # Errors
    /// There is none of one of the names.
    pub fn resolve_all(&self, above: &SiblingId, names: &[String]) -> Result<Vec<SiblingId>, SiblingError> {
        if names.is_empty() {
            return Ok(self.children(above));
        }
        let ids: Result<BTreeSet<_>, _> = names.iter().map(|name| self.resolve(above, name)).collect();
        Ok(ids?.into_iter().collect())
    }

    /// The children of an agent.
    #[must_use]
    pub fn children(&self, parent: &SiblingId) -> Vec<SiblingId> {
        self.lock().keys().filter(|id| id.parent().as_ref() == Some(parent)).cloned().collect()
    }

    /// All agents below one.
    #[must_use]
    pub fn ids_below(&self, above: &SiblingId) -> Vec<SiblingId> {
        self.lock().keys().filter(|id| id.is_below(above)).cloned().collect()
    }

    /// All agents below one, as they are now.
    #[must_use]
    pub fn below(&self, above: &SiblingId) -> Vec<SiblingStatus> {
        self.lock().iter().filter(|(id, _)| id.is_below(above)).map(|(_, member)| member.status()).collect()
    }

    /// How an agent is now.
    #[must_use]
    pub fn status(&self, id: &SiblingId) -> Option<SiblingStatus> {
        self.look(id, Member::status)
    }

    /// How the last task of an agent ended.
    #[must_use]
    pub fn last_end(&self, id: &SiblingId) -> Option<SiblingEnd> {
        self.look(id, |member| member.last_end().cloned()).flatten()
    }

    /// The stored ends of all children of an agent that its model is to hear of.
    #[must_use]
    pub fn ends_to_tell(&self, parent: &SiblingId) -> Vec<SiblingEnd> {
        let members = self.lock();
        let children =
            members.iter().filter(|(id, member)| id.parent().as_ref() == Some(parent) && member.spec().tells_parent);
        children.flat_map(|(_, member)| member.ends().iter().cloned()).collect()
    }

    /// Whether one of the children works whose end the model of `parent` is to hear of.
    #[must_use]
    pub fn awaits_news(&self, parent: &SiblingId) -> bool {
        let members = self.lock();
        members
            .iter()
            .any(|(id, member)| id.parent().as_ref() == Some(parent) && member.spec().tells_parent && member.is_busy())
    }

    /// How many run, and how many there are.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let members = self.lock();
        (members.values().filter(|member| member.state().is_active()).count(), members.len())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SiblingId, Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The ids of those that run.
fn active(members: &BTreeMap<SiblingId, Member>) -> Vec<String> {
    members.iter().filter(|(_, member)| member.state().is_active()).map(|(id, _)| id.to_string()).collect()
}

fn full(running: &[String], limit: usize) -> SiblingError {
    SiblingError::Full { running: running.len(), limit, ids: running.join(", ") }
}

impl std::fmt::Debug for FamilyBoard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FamilyBoard({:?})", self.counts())
    }
}
