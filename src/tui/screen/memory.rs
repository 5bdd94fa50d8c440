//! What is known beyond the life of a screen: when one dies, the next goes on where it was.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    actors::shared::AgentShared,
    protocol::command::Input,
    tui::{editor::Fragment, facts::AgentFacts, view::rest},
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
pub struct ScreenMemory(Mutex<Remembered>);

pub(super) struct Remembered {
    /// The agent in front.
    pub agent: Arc<AgentShared>,
    /// A screen ended in order: all that is to stay on the terminal is there.
    pub left: bool,
    /// It takes commands.
    pub opened: bool,
    /// The text that was being written.
    pub draft: Fragment,
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
        let draft = Fragment::default();
        Self(Mutex::new(Remembered { agent, left: false, opened: false, draft, prompts, first: command, ask_trust }))
    }

    /// The agent in front.
    #[must_use]
    pub fn agent(&self) -> Arc<AgentShared> {
        self.lock().agent.clone()
    }

    /// What is to be said when screens ended otherwise than in order: how to go on with the session.
    #[must_use]
    pub fn last_words(&self) -> Option<String> {
        let remembered = self.lock();
        let facts = AgentFacts::of(&remembered.agent, Arc::default());
        let hint = if remembered.left { None } else { rest::resume_hint(&facts) };
        hint.map(|hint| format!("{}\n{hint}\n", rest::RESUME))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
