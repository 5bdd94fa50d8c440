//! From a role to the agent that is spawned for it.

use super::TeamRun;
use crate::{
    actors::team::file::{Role, RoleBudget, TeamBudget},
    protocol::sibling::{Budget, Isolation, SiblingSpec},
};

/// The agent of a role.
pub(super) fn spec(run: &TeamRun, role: &Role, name: &str, task: String) -> SiblingSpec {
    SiblingSpec {
        task,
        name: Some(name.to_owned()),
        role: Some(role.name.clone()),
        // A spawn whose answer was lost is made again: it must not begin a second agent.
        key: Some(name.to_owned()),
        // What the command line says holds for the root, and so for all.
        model: if run.model.is_some() { None } else { role.model.clone() },
        thinking: if run.thinking.is_some() { None } else { role.thinking },
        tools: role.tools.clone(),
        prompt: role.system.clone(),
        isolation: if role.worktree { Isolation::Worktree } else { Isolation::Shared },
        budget: role_budget(&role.budget),
        session_file: Some(run.sessions.join(format!("{name}.jsonl"))),
        // A script chooses its model.
        script: if run.model.is_some() { None } else { role.script.clone() },
        ..SiblingSpec::default()
    }
}

/// What an agent of a role may use, all its tasks together.
pub(super) fn role_budget(budget: &RoleBudget) -> Budget {
    Budget {
        tokens: budget.tokens,
        cost: budget.cost,
        turns: budget.turns,
        seconds: budget.time.map(|time| time.as_secs_f64()),
        ..Budget::default()
    }
}

/// What the account of the whole team may come to. Its time is watched by the team itself.
pub(super) fn team_budget(budget: &TeamBudget) -> Budget {
    Budget { tokens: budget.tokens, cost: budget.cost, ..Budget::default() }
}
