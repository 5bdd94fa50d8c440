//! What becomes of a text that is sent: a command of the screen, a shell command, or words for the agent.

use crate::{
    protocol::{
        Command,
        command::{Input, QueueKind},
        event::NoticeLevel,
    },
    tui::{
        commands,
        effect::{Effect, Purpose},
        model::Model,
        transcript::live::LiveCommand,
    },
};

impl Model {
    /// Sends the editor's text; while the agent works it steers.
    pub(super) fn submit(&mut self) -> Vec<Effect> {
        self.send_as(QueueKind::Steer)
    }

    /// Sends the editor's text; while the agent works it waits until the agent would stop.
    pub(super) fn submit_behind(&mut self) -> Vec<Effect> {
        self.send_as(QueueKind::FollowUp)
    }

    fn send_as(&mut self, kind: QueueKind) -> Vec<Effect> {
        if self.editor.text().trim().is_empty() {
            return Vec::new();
        }
        let text = self.editor.take();
        self.menu = None;
        self.transcript.to_bottom();
        self.say(text, kind)
    }

    /// Does what a text says, as if it had been written and sent.
    pub fn say(&mut self, text: String, kind: QueueKind) -> Vec<Effect> {
        if let Some((command, argument)) = commands::find(&text) {
            let argument = argument.to_owned();
            return (command.run)(self, &argument);
        }
        if let Some(command) = text.strip_prefix('!') {
            let (command, excluded) = match command.strip_prefix('!') {
                Some(command) => (command, true),
                None => (command, false),
            };
            return self.run_shell(command.trim(), excluded, &text);
        }
        self.prompt(text, kind)
    }

    fn run_shell(&mut self, command: &str, excluded: bool, text: &str) -> Vec<Effect> {
        if command.is_empty() {
            return Vec::new();
        }
        if self.transcript.live.runs_command() {
            self.transcript.notice(NoticeLevel::Warning, "A command is running already; escape ends it.");
            self.put_back(text);
            return Vec::new();
        }
        let id = uuid::Uuid::now_v7().to_string();
        self.transcript.live.commands.push(LiveCommand {
            id: id.clone(),
            command: command.to_owned(),
            excluded,
            output: String::new(),
            since: self.now,
            ended: None,
        });
        let run = Command::Bash { id: Some(id.clone()), command: command.to_owned(), exclude_from_context: excluded };
        vec![Effect::Send(run, Purpose::Bash(id))]
    }

    /// Gives the agent words.
    pub fn prompt(&mut self, text: String, kind: QueueKind) -> Vec<Effect> {
        if self.replacing || (self.view.compacting && !self.view.running) {
            self.queue.push(kind, text);
            return Vec::new();
        }
        // Commands of extensions need no model.
        if self.facts.model.is_none() && !text.starts_with('/') {
            self.put_back(&text);
            return commands::login::without_model(self);
        }
        self.taking_back = false;
        self.sent.push(text.clone());
        let prompt = Command::Prompt { input: Input::text(text.clone()), behavior: Some(kind) };
        vec![Effect::Send(prompt, Purpose::Prompt(text))]
    }

    /// Gives the agent what waited here.
    pub(super) fn flush_queue(&mut self) -> Vec<Effect> {
        if self.replacing || self.view.compacting {
            return Vec::new();
        }
        self.queue.take().into_iter().flat_map(|(kind, text)| self.prompt(text, kind)).collect()
    }
}
