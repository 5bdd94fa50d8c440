//! The live supervision tree as others may see it, read off gauges and boards. No actor is asked: one that hangs is shown
//! like any other.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use ractor::ActorId;

use super::{address::Gauge, shared::AgentShared};
use crate::protocol::{
    sibling::{SiblingId, SiblingState, SiblingStatus},
    supervision::{ActorInfo, AgentInfo, Supervision},
};

/// The process that this agent is in front of; `front` says who gives it work.
#[must_use]
pub fn look(agent: &AgentShared, front: &str) -> Supervision {
    let actors = agent.kin.fleet.get().and_then(|fleet| actors(fleet.id()));
    Supervision {
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        front: front.to_owned(),
        run: None,
        cwd: agent.config.cwd.display().to_string(),
        session_file: agent.place.file(),
        seconds: actors.as_ref().map_or(0, |root| root.seconds),
        agents: agents(agent),
        actors,
    }
}

/// An agent and all below it, as they are now.
#[must_use]
pub fn agents(agent: &AgentShared) -> Vec<AgentInfo> {
    let kin = &agent.kin;
    let own = kin.board.status(&kin.id).unwrap_or_else(|| status_of_root(agent));
    let below = kin.board.below(&kin.id);
    let info = |status: SiblingStatus| {
        let live = kin.board.look(&status.id, |member| member.live().cloned()).flatten();
        let live = if status.id == kin.id { Some(agent) } else { live.as_deref() };
        AgentInfo {
            waiting: live.map_or(0, |live| live.waiting.load(std::sync::atomic::Ordering::Relaxed)),
            restarts: Gauge::restarts_of(&kin.agent(&status.id)),
            status,
        }
    };
    std::iter::once(own).chain(below).map(info).collect()
}

/// The agent that nobody spawned: no board knows it.
fn status_of_root(agent: &AgentShared) -> SiblingStatus {
    let kin = &agent.kin;
    let is_idle = *agent.phase.borrow() == "idle";
    let state = match is_idle {
        true => SiblingState::Idle,
        false if kin.gate.is_closed() => SiblingState::Paused,
        false => SiblingState::Running,
    };
    SiblingStatus {
        id: kin.id.clone(),
        name: None,
        role: agent.config.role.to_string(),
        parent_id: SiblingId::root(),
        depth: kin.depth,
        state,
        task: 0,
        title: agent.tree().and_then(|tree| tree.name()).unwrap_or_default(),
        model: agent.selection().model.as_ref().map(|model| model.reference()),
        spent: kin.account.spent(),
        budget: kin.account.budget(),
        tool: tool_of(&agent.id),
        last_line: String::new(),
        outcome: None,
        session_file: agent.place.file(),
        worktree: None,
    }
}

/// The tool that an agent runs; the first, when several do.
fn tool_of(agent: &str) -> Option<String> {
    let all = Gauge::all();
    let batches: HashSet<ActorId> =
        all.iter().filter(|(_, gauge)| gauge.kind == "ToolBatch" && gauge.label == agent).map(|(id, _)| *id).collect();
    let calls = all.iter().filter(|(_, gauge)| gauge.kind == "ToolCall");
    let own = calls.filter(|(_, gauge)| gauge.supervisor().is_some_and(|above| batches.contains(&above)));
    own.min_by_key(|(_, gauge)| gauge.began).map(|(_, gauge)| gauge.label.clone())
}

/// The tree of actors that one of them is in, from its root on; none when it is gone.
#[must_use]
pub fn actors(of: ActorId) -> Option<ActorInfo> {
    let all: HashMap<ActorId, Arc<Gauge>> = Gauge::all().into_iter().collect();
    let above = |id: &ActorId| all.get(id)?.supervisor().filter(|above| all.contains_key(above));
    let root = std::iter::successors(all.contains_key(&of).then_some(of), |id| above(id)).last()?;
    let mut below: HashMap<ActorId, Vec<ActorId>> = HashMap::new();
    for id in all.keys() {
        if let Some(above) = above(id) {
            below.entry(above).or_default().push(*id);
        }
    }
    Some(actor(root, &all, &below))
}

fn actor(id: ActorId, all: &HashMap<ActorId, Arc<Gauge>>, below: &HashMap<ActorId, Vec<ActorId>>) -> ActorInfo {
    let Some(gauge) = all.get(&id) else { return ActorInfo::default() };
    let mut children = below.get(&id).cloned().unwrap_or_default();
    children.sort_by_key(|child| all.get(child).map(|gauge| gauge.began));
    ActorInfo {
        kind: gauge.kind.to_owned(),
        label: gauge.label.clone(),
        mailbox: gauge.depth(),
        handled: gauge.handled.load(std::sync::atomic::Ordering::Relaxed),
        restarts: gauge.restarts(),
        seconds: gauge.began.elapsed().as_secs(),
        children: children.into_iter().map(|child| actor(child, all, below)).collect(),
    }
}

#[cfg(test)]
mod tests;
