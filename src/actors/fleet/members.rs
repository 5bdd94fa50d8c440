//! The agents whose actors run, by actor and by name.

use std::{collections::HashMap, sync::Arc};

use ractor::ActorId;

use crate::actors::{address::Addr, agent::AgentMsg};

/// A running agent.
pub(super) struct Member {
    pub addr: Addr<AgentMsg>,
    pub id: Arc<str>,
}

/// See the module.
#[derive(Default)]
pub(super) struct Members {
    all: HashMap<ActorId, Member>,
    names: HashMap<Arc<str>, ActorId>,
}

impl Members {
    pub fn add(&mut self, member: Member) {
        let actor = member.addr.id();
        self.names.insert(member.id.clone(), actor);
        self.all.insert(actor, member);
    }

    /// An actor is gone; the agent may have a newer one.
    pub fn remove(&mut self, actor: ActorId) -> Option<Member> {
        let removed = self.all.remove(&actor)?;
        if self.names.get(&removed.id) == Some(&actor) {
            self.names.remove(&removed.id);
        }
        Some(removed)
    }

    /// The agent of this name.
    pub fn named(&self, name: &str) -> Option<&Member> {
        self.all.get(self.names.get(name)?)
    }

    /// Whether the actors of an agent run.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Member> {
        self.all.values()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}
