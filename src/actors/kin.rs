//! What ties an agent to its family: its place there, its account, and the gate before its requests.

use std::{path::Path, sync::Arc};

use tokio::sync::watch;

use super::{
    account::Account,
    address::Slot,
    family_board::FamilyBoard,
    fleet::{FleetMsg, family_msg::FamilyMsg},
    shared::AgentConfig,
};
use crate::{
    protocol::sibling::{SiblingId, SiblingLimits},
    providers::Provider,
    store::tree::TreeView,
};

/// Makes what an agent cannot take over from its parent: what belongs to a folder, or to a file that a sibling names.
/// Whoever built the parent implements it. It may block: only workers ask.
pub trait SiblingMaker: Send + Sync {
    /// What an agent is made of that works in another folder than its parent, with the same permissions and the same
    /// walls around that folder.
    ///
    /// # Errors
    /// Why there can be no such agent, in words for people and models.
    fn config_in(&self, parent: &AgentConfig, cwd: &Path) -> Result<AgentConfig, String>;

    /// The wire that plays a script.
    ///
    /// # Errors
    /// The file cannot be read, or is no script.
    fn script(&self, file: &Path) -> Result<Arc<dyn Provider>, String>;
}

/// What a family begins with.
#[derive(Clone, Default)]
pub struct FamilyStart {
    /// Its limits.
    pub limits: SiblingLimits,
    /// What makes agents in other folders; none: there can be none.
    pub maker: Option<Arc<dyn SiblingMaker>>,
}

/// See the module.
pub struct Kin {
    /// The agent's name in its family.
    pub id: SiblingId,
    /// Generations above it.
    pub depth: u32,
    /// What is known of the agents of the family.
    pub board: Arc<FamilyBoard>,
    /// What it and all below it have used.
    pub account: Arc<Account>,
    /// Holds it at its next turn boundary.
    pub gate: Gate,
    /// The fleet that it is in.
    pub fleet: Slot<FleetMsg>,
    /// The name of its root in the fleet.
    pub root: Arc<str>,
    /// The id of the root's session.
    pub session_of_root: Arc<str>,
    /// Its parent's name in the fleet; none for a root.
    pub parent: Option<Arc<str>>,
    pub(super) start: FamilyStart,
}

impl Kin {
    /// The root of a family, which may have had agents before: its session tells of them.
    #[must_use]
    pub fn root(agent: &Arc<str>, start: FamilyStart, session: &TreeView) -> Self {
        let board = Arc::new(FamilyBoard::new(start.limits));
        let account = Account::root(SiblingId::ROOT);
        board.restore(&SiblingId::root(), session, &account);
        Self {
            id: SiblingId::root(),
            depth: 0,
            board,
            account,
            gate: Gate::default(),
            fleet: Slot::default(),
            root: agent.clone(),
            session_of_root: session.header().id.as_str().into(),
            parent: None,
            start,
        }
    }

    /// A child, with an account that was opened for it.
    #[must_use]
    pub fn child(parent: &Self, parent_agent: &Arc<str>, id: SiblingId, account: Arc<Account>) -> Self {
        Self {
            id,
            depth: parent.depth + 1,
            board: parent.board.clone(),
            account,
            gate: Gate::default(),
            fleet: parent.fleet.clone(),
            root: parent.root.clone(),
            session_of_root: parent.session_of_root.clone(),
            parent: Some(parent_agent.clone()),
            start: parent.start.clone(),
        }
    }

    /// The name in the fleet of an agent of this family.
    #[must_use]
    pub fn agent(&self, id: &SiblingId) -> Arc<str> {
        if *id == SiblingId::root() { self.root.clone() } else { format!("{}/{id}", self.root).into() }
    }

    /// Whether the agent may spawn at all, as far as its generation is concerned.
    #[must_use]
    pub fn may_spawn(&self) -> bool {
        self.account.generations_left() != Some(0) && self.depth < self.board.limits().depth
    }

    /// Tells the fleet that no trace of the agent runs. Said more often than needed.
    pub(super) fn tell_idle(&self) {
        if self.parent.is_some() {
            self.tell(FamilyMsg::Settled(self.root.clone(), self.id.clone()));
        }
    }

    /// Tells the fleet that a request waits at the gate.
    pub(super) fn tell_held(&self) {
        self.tell(FamilyMsg::Held(self.root.clone(), self.id.clone()));
    }

    pub(super) fn tell(&self, message: FamilyMsg) {
        self.fleet.tell(FleetMsg::Family(Box::new(message)));
    }
}

/// Holds an agent at its next turn boundary: a request that is about to be made waits until the gate is open.
#[derive(Debug)]
pub struct Gate {
    closed: watch::Sender<bool>,
    waiting: watch::Sender<bool>,
}

impl Default for Gate {
    fn default() -> Self {
        Self { closed: watch::Sender::new(false), waiting: watch::Sender::new(false) }
    }
}

impl Gate {
    /// Closes or opens it.
    pub fn set_closed(&self, closed: bool) {
        self.closed.send_replace(closed);
    }

    /// Whether it is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Whether a request waits before it.
    #[must_use]
    pub fn holds(&self) -> bool {
        *self.waiting.borrow()
    }

    /// Waits until it is open; `held` is called when there is something to wait for.
    pub async fn pass(&self, held: impl FnOnce()) {
        if !self.is_closed() {
            return;
        }
        /// The wait may end by the death of its worker.
        struct Waiting<'a>(&'a Gate);
        impl Drop for Waiting<'_> {
            fn drop(&mut self) {
                self.0.waiting.send_replace(false);
            }
        }
        let waiting = Waiting(self);
        self.waiting.send_replace(true);
        held();
        // The sender lives as long as this does.
        let _ = self.closed.subscribe().wait_for(|closed| !closed).await;
        drop(waiting);
    }
}
