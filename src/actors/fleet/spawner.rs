//! The agents below one agent, as its tools reach them.

use std::{sync::Arc, time::Duration};

use super::family::{Family, STOP_GRACE};
use crate::{
    actors::{branch_news::BranchNews, shared::AgentShared, sibling_news::SiblingNews},
    protocol::sibling::{
        Receipt, SendMode, SiblingEnd, SiblingLimits, SiblingSpec, SiblingStatus, SpawnReceipt, Spent, WaitMode,
        Waited, WorktreeFate,
    },
    tools::siblings::{Later, Spawner},
};

/// The agents below one agent, as its tools reach them.
#[derive(Debug)]
pub struct AgentSpawner(Family);

impl AgentSpawner {
    /// Those below `agent`.
    #[must_use]
    pub fn of(agent: &Arc<AgentShared>) -> Self {
        Self(Family::of(agent))
    }
}

impl Spawner for AgentSpawner {
    fn spawn(&self, spec: SiblingSpec) -> Later<'_, SpawnReceipt> {
        Box::pin(self.0.spawn(spec))
    }

    fn send<'a>(&'a self, id: &'a str, message: &'a str, mode: SendMode) -> Later<'a, Receipt> {
        Box::pin(self.0.send(id, message, mode))
    }

    fn wait<'a>(&'a self, ids: &'a [String], mode: WaitMode, limit: Duration) -> Later<'a, Waited> {
        Box::pin(async move {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            self.0.wait(&ids, mode, Some(limit)).await
        })
    }

    fn stop<'a>(&'a self, ids: &'a [String], reason: &'a str) -> Later<'a, Vec<SiblingEnd>> {
        Box::pin(async move {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            self.0.stop(&ids, reason, STOP_GRACE, WorktreeFate::Patch).await
        })
    }

    fn list(&self) -> Vec<SiblingStatus> {
        self.0.status()
    }

    fn untold(&self) -> Vec<SiblingEnd> {
        let agent = self.0.agent();
        let news = agent.tree().map(|tree| SiblingNews::of(&tree)).unwrap_or_default();
        news.untold(&agent.kin.board, &agent.kin.id)
    }

    fn counts(&self) -> (usize, usize) {
        self.0.agent().kin.board.counts()
    }

    fn limits(&self) -> SiblingLimits {
        self.0.agent().kin.board.limits()
    }

    fn spent(&self) -> Spent {
        self.0.account().spent()
    }
}
