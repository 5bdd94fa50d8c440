//! Commands that change how the agent works, and look at what works for it.

use super::SlashCommand;
use crate::{
    protocol::{Command, event::NoticeLevel, permission::PermissionMode},
    tui::{
        effect::{Effect, Purpose},
        model::Model,
        overlay::{
            agents::AgentSelector,
            jobs::JobSelector,
            permissions::{self, PermissionSelector},
            settings::SettingsSelector,
            skills::SkillSelector,
            theme::ThemeSelector,
            tools::ToolSelector,
            trust::TrustQuestion,
        },
    },
};

/// See the module.
pub(super) const COMMANDS: &[SlashCommand] = &[
    SlashCommand { name: "settings", argument: "", description: "Look at settings and change them", run: settings },
    SlashCommand { name: "theme", argument: "", description: "Choose colours", run: theme },
    SlashCommand { name: "trust", argument: "", description: "Trust the project, or not", run: trust },
    SlashCommand { name: "tools", argument: "", description: "Choose which tools the model may use", run: tools },
    SlashCommand { name: "skills", argument: "", description: "List the skills", run: skills },
    SlashCommand { name: "jobs", argument: "", description: "Look at background jobs, or end one", run: jobs },
    SlashCommand { name: "agents", argument: "", description: "Look at agents, steer or stop one", run: agents },
    SlashCommand {
        name: "permissions",
        argument: "[off|allow|ask|deny]",
        description: "Choose what becomes of calls that no rule is about",
        run: permission_mode,
    },
    SlashCommand { name: "plan", argument: "[on|off]", description: "Only plan, or work again", run: plan },
];

fn settings(model: &mut Model, _: &str) -> Vec<Effect> {
    let (selector, effects) = SettingsSelector::new(&model.settings.all, model.look.themes.list());
    model.overlays.push(Box::new(selector));
    effects
}

fn theme(model: &mut Model, _: &str) -> Vec<Effect> {
    let selector = ThemeSelector::new(model.look.themes.list(), &model.settings.theme);
    model.overlays.push(Box::new(selector));
    Vec::new()
}

fn trust(model: &mut Model, _: &str) -> Vec<Effect> {
    let folder = model.surroundings.short(&model.facts.cwd);
    let (question, effects) = TrustQuestion::again(&folder);
    model.overlays.push(Box::new(question));
    effects
}

fn tools(model: &mut Model, _: &str) -> Vec<Effect> {
    let (selector, effects) = ToolSelector::new();
    model.overlays.push(Box::new(selector));
    effects
}

fn skills(model: &mut Model, _: &str) -> Vec<Effect> {
    model.overlays.push(Box::new(SkillSelector::new(&model.facts.commands)));
    Vec::new()
}

fn jobs(model: &mut Model, _: &str) -> Vec<Effect> {
    let (selector, effects) = JobSelector::new(model.now);
    model.overlays.push(Box::new(selector));
    effects
}

fn agents(model: &mut Model, _: &str) -> Vec<Effect> {
    let (selector, effects) = AgentSelector::new(&model.settings, model.now);
    model.overlays.push(Box::new(selector));
    effects
}

fn permission_mode(model: &mut Model, argument: &str) -> Vec<Effect> {
    if let Some(mode) = PermissionMode::parse(argument) {
        return vec![permissions::change(mode)];
    }
    if !argument.is_empty() {
        let names = PermissionMode::NAMES.map(|(name, _)| name).join(", ");
        model.transcript.notice(NoticeLevel::Error, format!("{argument} is no mode. There are: {names}."));
        return Vec::new();
    }
    let (selector, effects) = PermissionSelector::new(model.facts.permission_mode);
    model.overlays.push(Box::new(selector));
    effects
}

fn plan(model: &mut Model, argument: &str) -> Vec<Effect> {
    let plans = match argument {
        "" => !model.facts.plan_mode,
        "on" => true,
        "off" => false,
        other => {
            let text = format!("/plan takes on or off, not {other}.");
            model.transcript.notice(NoticeLevel::Error, text);
            return Vec::new();
        }
    };
    let told =
        if plans { "Plan mode: nothing is changed until /plan off." } else { "Plan mode is over: the agent works." };
    vec![Effect::Send(Command::SetPlanMode(plans), Purpose::Told(told.to_owned()))]
}
