//! A session that is open.

use std::{collections::HashMap, sync::Arc};

use agent_client_protocol_schema::v1::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, ConfigOptionUpdate, Cost, CurrentModeUpdate,
    SessionId, SessionUpdate, UnstructuredCommandInput, UsageUpdate,
};

use super::{choices::Choices, prompt_turn::PromptTurn, translation::Translation};
use crate::{
    actors::{extension_commands, front::client::AgentClient, subscriber::Backlog},
    protocol::{
        question::{Question, QuestionId},
        wire::CommandInfo,
    },
};

/// See the module.
pub(super) struct Session {
    pub id: SessionId,
    pub client: AgentClient,
    pub backlog: Arc<Backlog>,
    pub translation: Translation,
    pub turn: PromptTurn,
    /// It is on its way out.
    pub closing: bool,
    /// Questions that wait for the client, by the number of the request.
    pub questions: HashMap<i64, Arc<Question>>,
    /// Tokens that its context had when it was opened.
    pub used: u64,
    /// What the client was last told of what is chosen.
    told: Choices,
    /// The same of the usage.
    told_usage: (u64, u64),
}

impl Session {
    pub(super) fn new(
        id: SessionId,
        client: AgentClient,
        backlog: Arc<Backlog>,
        translation: Translation,
        used: u64,
    ) -> Self {
        let told = Choices::of(&client.shared);
        let (turn, questions) = (PromptTurn::default(), HashMap::new());
        Self { id, client, backlog, translation, turn, closing: false, questions, used, told, told_usage: (0, 0) }
    }

    /// What is chosen, as the client was last told.
    pub(super) fn choices(&self) -> &Choices {
        &self.told
    }

    /// Looks again at what is chosen. Returns whether the mode changed, and whether anything did.
    pub(super) fn look(&mut self) -> (bool, bool) {
        let now = Choices::of(&self.client.shared);
        let changed = (now.mode() != self.told.mode(), now != self.told);
        self.told = now;
        changed
    }

    /// Updates about what is chosen, where it changed.
    pub(super) fn choice_updates(&mut self) -> Vec<SessionUpdate> {
        let (mode, anything) = self.look();
        let mode = mode.then(|| SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(self.told.mode())));
        let options = || SessionUpdate::ConfigOptionUpdate(ConfigOptionUpdate::new(self.told.options()));
        mode.into_iter().chain(anything.then(options)).collect()
    }

    /// The slash commands.
    pub(super) fn commands_update(&self) -> SessionUpdate {
        let command = |command: &CommandInfo| {
            let what = command.description.clone().unwrap_or_else(|| command.name.clone());
            let input = AvailableCommandInput::Unstructured(UnstructuredCommandInput::new("arguments"));
            AvailableCommand::new(command.name.clone(), what).input(input)
        };
        let commands = extension_commands::all(&self.client.shared).iter().map(command).collect();
        SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(commands))
    }

    /// How full the context is, when that changed. `used` is what the last request took.
    pub(super) fn usage_update(&mut self, used: u64) -> Option<SessionUpdate> {
        let shared = &self.client.shared;
        let tree = shared.tree()?;
        let size = shared.window(&tree);
        if used == 0 || size == 0 || self.told_usage == (used, size) {
            return None;
        }
        self.told_usage = (used, size);
        let spent = tree.totals().usage.cost.total;
        let cost = (spent > 0.0).then(|| Cost::new(spent, "USD"));
        Some(SessionUpdate::UsageUpdate(UsageUpdate::new(used, size).cost(cost)))
    }

    /// The request that asks a question.
    pub(super) fn asked(&mut self, id: &QuestionId) -> Option<i64> {
        let number = self.questions.iter().find(|(_, question)| question.id == *id).map(|(number, _)| *number)?;
        self.questions.remove(&number);
        Some(number)
    }
}
