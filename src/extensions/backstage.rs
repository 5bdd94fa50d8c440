//! What the extensions of a process share: the agents that they reach, and everything that is theirs together.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use serde_json::Value;

use super::{bus::Bus, flags::FlagValues, questions::Questions};
use crate::{
    protocol::{
        Command, CommandError, Event, Model, Reply, ThinkingLevel,
        session_change::SessionChange,
        wire::{CommandInfo, ContextUsage},
    },
    store::tree::TreeView,
    tools::{LiveTools, Tool},
};

/// What to do with the answer to a command.
pub type Then = Box<dyn FnOnce(Result<Reply, CommandError>) + Send>;

/// How an agent stands.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentStatus {
    /// The folder that it works in.
    pub cwd: String,
    /// The selected model.
    pub model: Option<Arc<Model>>,
    /// The level in force.
    pub thinking_level: ThinkingLevel,
    /// Names of the active tools, in order.
    pub active_tools: Vec<String>,
    /// No trace runs, and nothing is being stored.
    pub is_idle: bool,
    /// Messages that wait in its queues.
    pub pending_messages: usize,
    /// How full the model's window is; none when the window is not known.
    pub context_usage: Option<ContextUsage>,
    /// The session's name.
    pub session_name: Option<String>,
}

/// One agent, as extensions reach it. None everywhere: it is gone.
pub trait AgentHost: Send + Sync {
    /// Sends a command; `then` gets the answer, exactly once.
    fn send(&self, command: Command, then: Then);

    /// Whether it is still there.
    fn is_there(&self) -> bool;

    /// How it stands.
    fn status(&self) -> Option<AgentStatus>;

    /// Its session at this moment.
    fn tree(&self) -> Option<TreeView>;

    /// The system prompt that the next turn would have.
    fn system_prompt(&self) -> Option<String>;

    /// The settings in force, a copy.
    fn settings(&self) -> Option<Value>;

    /// Slash commands that its prompts may use.
    fn commands(&self) -> Option<Vec<CommandInfo>>;

    /// Adds a tool to the active ones.
    fn activate(&self, tool: &str);

    /// Publishes an event of it.
    fn publish(&self, event: Event);
}

/// See the module. Clones are handles of the same one.
#[derive(Clone, Default)]
pub struct Backstage {
    /// The tools of the process.
    pub tools: LiveTools,
    /// Questions to people.
    pub questions: Questions,
    /// Where extensions talk to each other.
    pub bus: Bus,
    /// What the command line says.
    pub flags: FlagValues,
    agents: Arc<RwLock<HashMap<Arc<str>, Attached>>>,
    ending: Arc<Mutex<Ending>>,
    front: Arc<Mutex<Option<Front>>>,
}

/// What the front does that an extension asks for another session.
type Front = Arc<dyn Fn(WantedSession) + Send + Sync>;

/// An extension wants another session in the place of an agent's.
pub struct WantedSession {
    /// The agent.
    pub agent: Arc<str>,
    /// Which session.
    pub change: SessionChange,
    /// Is told what came of it.
    pub then: Changed,
}

/// What came of the wish: the agent that is there now, none when an extension objected, or why it did not work.
pub type Changed = Box<dyn FnOnce(Result<Option<Arc<str>>, String>) + Send + Sync>;

impl std::fmt::Debug for WantedSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WantedSession({}, {:?})", self.agent, self.change)
    }
}

/// The end of the process, which an extension may want.
#[derive(Default)]
struct Ending {
    end: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Commands of extensions that run.
    commands: usize,
    /// Somebody wants it.
    wanted: bool,
}

/// An agent under its id. Another one that takes the id over is another agent.
#[derive(Clone)]
pub(super) struct Attached {
    pub(super) host: Arc<dyn AgentHost>,
    pub(super) generation: u64,
}

impl Backstage {
    /// With these tools, questions and values of flags.
    #[must_use]
    pub fn new(tools: LiveTools, questions: Questions, flags: FlagValues) -> Self {
        Self { tools, questions, flags, ..Self::default() }
    }

    /// An agent is there, or another one has taken over its id: handles of the one before are stale.
    pub fn attach(&self, agent: Arc<str>, host: Arc<dyn AgentHost>) {
        self.tools.active().iter().for_each(|tool| host.activate(tool));
        let mut agents = self.agents.write().unwrap_or_else(PoisonError::into_inner);
        agents.retain(|_, known| known.host.is_there());
        let generation = agents.get(&agent).map_or(0, |known| known.generation + 1);
        agents.insert(agent, Attached { host, generation });
    }

    /// Ids of the agents.
    #[must_use]
    pub fn agents(&self) -> Vec<Arc<str>> {
        let agents = self.agents.read().unwrap_or_else(PoisonError::into_inner);
        agents.iter().filter(|(_, known)| known.host.is_there()).map(|(id, _)| id.clone()).collect()
    }

    pub(super) fn agent(&self, id: &str) -> Option<Attached> {
        self.agents.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    fn ending(&self) -> MutexGuard<'_, Ending> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A front says that from now on it puts other sessions in the place of its agent's.
    pub fn on_session_wanted(&self, front: impl Fn(WantedSession) + Send + Sync + 'static) {
        *self.front.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(front));
    }

    pub(super) fn want_session(&self, wanted: WantedSession) {
        let front = self.front.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match front {
            Some(front) => front(wanted),
            None => (wanted.then)(Err("sessions are not replaced in this mode".to_owned())),
        }
    }

    /// Says how the process is ended in good order.
    pub fn on_end(&self, end: impl Fn() + Send + Sync + 'static) {
        self.ending().end = Some(Arc::new(end));
    }

    /// A command of an extension runs: the process is not ended before it is done.
    pub fn command_begins(&self) {
        self.ending().commands += 1;
    }

    /// It is done.
    pub fn command_over(&self) {
        let wanted = {
            let mut ending = self.ending();
            ending.commands = ending.commands.saturating_sub(1);
            ending.wanted
        };
        if wanted {
            self.end();
        }
    }

    /// Ends the process when no command of an extension runs.
    pub(super) fn end(&self) {
        let end = {
            let mut ending = self.ending();
            ending.wanted = true;
            ending.end.clone().filter(|_| ending.commands == 0)
        };
        if let Some(end) = end {
            end();
        }
    }

    /// Registers a tool of `owner`; `active` makes all agents have it.
    pub(super) fn register_tool(
        &self,
        owner: &str,
        tool: Arc<dyn Tool>,
        active: bool,
    ) -> Result<(), crate::tools::live::ToolTaken> {
        let name = tool.declaration().name.clone();
        self.tools.register(owner, tool, active)?;
        if active {
            let agents = self.agents.read().unwrap_or_else(PoisonError::into_inner).clone();
            agents.values().for_each(|agent| agent.host.activate(&name));
        }
        Ok(())
    }
}
