//! What is known beyond the life of a screen: when one dies, the next goes on where it was.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use super::ScreenState;
use crate::{
    actors::shared::AgentShared,
    protocol::command::Input,
    tui::{editor::Fragment, facts::AgentFacts, queue::LocalQueue, view::rest},
};

/// What the first screen begins with.
#[derive(Clone, Debug, Default)]
pub struct FirstWords {
    /// What is said first.
    pub prompts: Vec<Input>,
    /// A slash command, before that.
    pub command: Option<&'static str>,
    /// What the project brings, when somebody is to be asked about it before all else.
    pub ask_trust: Option<Vec<PathBuf>>,
}

/// What is known beyond the life of a screen.
pub struct ScreenMemory {
    remembered: Mutex<Remembered>,
    /// The agent in front.
    front: watch::Sender<Arc<AgentShared>>,
}

pub(super) struct Remembered {
    /// A screen ended in order: all that is to stay on the terminal is there.
    pub left: bool,
    /// It takes commands.
    pub opened: bool,
    /// The text that was being written.
    pub draft: Fragment,
    /// What waits to be sent.
    pub queue: LocalQueue,
    /// What is to be said first.
    pub prompts: Vec<Input>,
    /// The slash command to begin with.
    pub first: Option<&'static str>,
    /// What the project brings, when somebody is to be asked about it.
    pub ask_trust: Option<Vec<PathBuf>>,
}

impl ScreenMemory {
    /// What the first screen is to know.
    #[must_use]
    pub fn new(agent: Arc<AgentShared>, first: FirstWords) -> Self {
        let FirstWords { prompts, command, ask_trust } = first;
        let (draft, queue) = (Fragment::default(), LocalQueue::default());
        let left = false;
        let remembered = Remembered { left, opened: false, draft, queue, prompts, first: command, ask_trust };
        Self { remembered: Mutex::new(remembered), front: watch::Sender::new(agent) }
    }

    /// The agent in front.
    #[must_use]
    pub fn agent(&self) -> Arc<AgentShared> {
        self.front.borrow().clone()
    }

    /// The agent in front, as it changes.
    #[must_use]
    pub fn front(&self) -> watch::Receiver<Arc<AgentShared>> {
        self.front.subscribe()
    }

    /// Another agent is in front.
    pub(super) fn set_agent(&self, agent: Arc<AgentShared>) {
        self.front.send_replace(agent);
    }

    /// What is to be said when screens ended otherwise than in order: how to go on with the session.
    #[must_use]
    pub fn last_words(&self) -> Option<String> {
        let remembered = self.lock();
        let facts = AgentFacts::of(&self.agent(), Arc::default());
        let hint = if remembered.left { None } else { rest::resume_hint(&facts) };
        hint.map(|hint| format!("{}\n{hint}\n", rest::RESUME))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Remembered> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScreenState {
    /// Goes on with what the screen before was given to write.
    pub(super) fn recall(&mut self) {
        let (draft, queue) = {
            let mut memory = self.memory.lock();
            (std::mem::take(&mut memory.draft), memory.queue.clone())
        };
        self.model.editor.restore(&draft);
        self.model.queue = queue;
        self.remember();
    }

    /// Remembers what is written and was not sent, whoever changed it.
    pub(super) fn remember(&mut self) {
        let mut memory = self.memory.lock();
        let revision = self.model.editor.revision();
        if std::mem::replace(&mut self.remembered, revision) != revision {
            self.model.editor.content().clone_into(&mut memory.draft);
        }
        if memory.queue != self.model.queue {
            memory.queue.clone_from(&self.model.queue);
        }
    }
}
