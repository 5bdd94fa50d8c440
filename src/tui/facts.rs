//! What the screen knows of the agent in front of it, as of one moment.

use std::{path::PathBuf, sync::Arc};

use crate::{
    actors::shared::AgentShared,
    protocol::{Model, ThinkingLevel, permission::PermissionMode, wire::CommandInfo},
    providers::catalogue::LiveCatalogue,
    store::tree::TreeView,
};

/// See the module.
#[derive(Clone)]
pub struct AgentFacts {
    /// The agent's id.
    pub agent: Arc<str>,
    /// The folder that it works in.
    pub cwd: PathBuf,
    /// The file of its session; none when it is kept nowhere.
    pub session_file: Option<String>,
    /// Nothing can be added to it.
    pub read_only: bool,
    /// Its session.
    pub tree: Option<TreeView>,
    /// The selected model.
    pub model: Option<Arc<Model>>,
    /// Models to cycle through and to choose from first; empty: all.
    pub scope: Arc<[Arc<Model>]>,
    /// The level in force.
    pub thinking: ThinkingLevel,
    /// Tokens of the model's window; 0 = unknown.
    pub window: u64,
    /// It compacts by itself.
    pub auto_compaction: bool,
    /// It only plans.
    pub plan_mode: bool,
    /// What becomes of calls that no rule is about.
    pub permission_mode: PermissionMode,
    /// Background jobs that run.
    pub jobs: usize,
    /// Models, as they are known now.
    pub catalogue: LiveCatalogue,
    /// Slash commands of skills, templates and extensions.
    pub commands: Arc<[CommandInfo]>,
}

impl std::fmt::Debug for AgentFacts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AgentFacts({}, {:?})", self.agent, self.tree)
    }
}

impl AgentFacts {
    /// The session's name.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        self.tree.as_ref()?.name()
    }

    /// What is so now. `commands` are those that were asked for last: to list them reads files.
    #[must_use]
    pub fn of(shared: &AgentShared, commands: Arc<[CommandInfo]>) -> Self {
        let tree = shared.tree();
        let selection = shared.selection().clone();
        Self {
            agent: shared.id.clone(),
            cwd: shared.config.cwd.clone(),
            session_file: shared.place.file(),
            read_only: shared.place.read_only.is_some(),
            window: tree.as_ref().map_or(0, |tree| shared.window(tree)),
            tree,
            model: selection.model,
            scope: selection.scope.iter().map(|(model, _)| model.clone()).collect(),
            thinking: selection.thinking,
            auto_compaction: selection.auto_compaction,
            plan_mode: selection.plan_mode,
            permission_mode: shared.config.permissions.mode(),
            jobs: shared.job_board.running().len(),
            catalogue: shared.config.catalogue.clone(),
            commands,
        }
    }
}
