//! Commands that go straight to the agent.

use super::SlashCommand;
use crate::{
    protocol::{Command, event::NoticeLevel, session_change::SessionChange},
    tui::{
        effect::{Effect, Purpose},
        model::Model,
    },
};

/// See the module.
pub(super) const COMMANDS: &[SlashCommand] = &[
    SlashCommand { name: "new", argument: "", description: "Start a new session", run: new },
    SlashCommand { name: "name", argument: "[name]", description: "Name the session, or show its name", run: name },
    SlashCommand {
        name: "compact",
        argument: "[instructions]",
        description: "Summarise old history to free context",
        run: compact,
    },
    SlashCommand { name: "clone", argument: "", description: "Go on in a copy of the session", run: clone },
    SlashCommand {
        name: "reload",
        argument: "",
        description: "Read settings, keys, skills and themes again",
        run: reload,
    },
    SlashCommand { name: "quit", argument: "", description: "End the program", run: quit },
];

fn new(_: &mut Model, _: &str) -> Vec<Effect> {
    vec![Effect::Replace(SessionChange::New { parent_session: None })]
}

fn name(model: &mut Model, argument: &str) -> Vec<Effect> {
    if argument.is_empty() {
        let name = model.facts.tree.as_ref().and_then(|tree| tree.name());
        let text = name.map_or_else(
            || "The session has no name. /name NAME gives it one.".to_owned(),
            |name| format!("The session's name: {name}"),
        );
        model.transcript.notice(NoticeLevel::Info, text);
        return Vec::new();
    }
    let told = format!("The session's name: {argument}");
    vec![Effect::Send(Command::SetSessionName(argument.to_owned()), Purpose::Told(told))]
}

fn compact(_: &mut Model, argument: &str) -> Vec<Effect> {
    let instructions = (!argument.is_empty()).then(|| argument.to_owned());
    vec![Effect::Send(Command::Compact { instructions }, Purpose::Plain)]
}

fn clone(_: &mut Model, _: &str) -> Vec<Effect> {
    vec![Effect::Replace(SessionChange::Clone)]
}

fn reload(model: &mut Model, _: &str) -> Vec<Effect> {
    if model.is_busy() {
        model.transcript.notice(NoticeLevel::Warning, "Wait until the agent is idle, or press escape, before /reload.");
        return Vec::new();
    }
    vec![Effect::Replace(SessionChange::Reload)]
}

fn quit(_: &mut Model, _: &str) -> Vec<Effect> {
    vec![Effect::Quit]
}
