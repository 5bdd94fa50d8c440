//! An agent as extensions reach it.

use std::sync::{Arc, Weak, atomic::Ordering};

use serde_json::Value;

use super::{extension_commands, front::rpc_stats, reply::ReplyTo, shared::AgentShared, turn_loop::LoopMsg};
use crate::{
    extensions::backstage::{AgentHost, AgentStatus, Then},
    protocol::{Command, Event, wire::CommandInfo},
    store::tree::TreeView,
};

/// See the module. Holds nothing of the agent alive.
pub struct Host(Weak<AgentShared>);

impl Host {
    /// That of an agent.
    #[must_use]
    pub fn of(shared: &Arc<AgentShared>) -> Arc<dyn AgentHost> {
        Arc::new(Self(Arc::downgrade(shared)))
    }
}

impl AgentHost for Host {
    fn send(&self, command: Command, then: Then) {
        let reply = ReplyTo::new(then);
        if let Some(shared) = self.0.upgrade() {
            // Dropping an undelivered command answers that it is lost.
            drop(shared.turn_loop.try_tell(LoopMsg::Command(command, reply)));
        }
    }

    fn is_there(&self) -> bool {
        self.0.strong_count() > 0
    }

    fn status(&self) -> Option<AgentStatus> {
        let shared = self.0.upgrade()?;
        let tree = shared.tree();
        let selection = shared.selection().clone();
        Some(AgentStatus {
            cwd: shared.config.cwd.display().to_string(),
            model: selection.model,
            thinking_level: selection.thinking,
            active_tools: shared.active_tools().iter().map(|tool| tool.declaration().name.clone()).collect(),
            is_idle: *shared.phase.borrow() == "idle",
            pending_messages: shared.waiting.load(Ordering::Relaxed),
            context_usage: tree.as_ref().and_then(|tree| rpc_stats::window_usage(&shared, tree)),
            session_name: tree.and_then(|tree| tree.name()),
        })
    }

    fn tree(&self) -> Option<TreeView> {
        self.0.upgrade()?.tree()
    }

    fn system_prompt(&self) -> Option<String> {
        let sections = self.0.upgrade()?.prompt_sections();
        Some(sections.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n\n"))
    }

    fn settings(&self) -> Option<Value> {
        Some(self.0.upgrade()?.config.settings.all())
    }

    fn commands(&self) -> Option<Vec<CommandInfo>> {
        self.0.upgrade().map(|shared| extension_commands::all(&shared))
    }

    fn activate(&self, tool: &str) {
        if let Some(shared) = self.0.upgrade() {
            let mut selection = shared.selection();
            if !selection.active_tools.iter().any(|known| known == tool) {
                selection.active_tools.push(tool.to_owned());
            }
        }
    }

    fn publish(&self, event: Event) {
        if let Some(shared) = self.0.upgrade() {
            shared.publish(vec![event]);
        }
    }
}
