//! Logging in at providers, and out again.

use super::SlashCommand;
use crate::{
    protocol::{Command, event::NoticeLevel},
    tui::{
        effect::{Effect, Purpose},
        model::Model,
        overlay::login::{Origin, choose, first_run, providers::For},
        work::login::LoginStep,
    },
};

/// See the module.
pub(super) const COMMANDS: &[SlashCommand] = &[
    SlashCommand {
        name: "login",
        argument: "[provider]",
        description: "Log in at a provider, or store its API key",
        run: login,
    },
    SlashCommand { name: "logout", argument: "[provider]", description: "Forget a login or a key", run: logout },
];

fn login(model: &mut Model, argument: &str) -> Vec<Effect> {
    show(model, For::LogIn, argument)
}

fn logout(model: &mut Model, argument: &str) -> Vec<Effect> {
    show(model, For::LogOut, argument)
}

fn show(model: &mut Model, purpose: For, provider: &str) -> Vec<Effect> {
    let wanted = (!provider.is_empty()).then(|| provider.to_owned());
    let (list, effects) = choose(purpose, wanted, Origin::Command);
    model.overlays.push(list);
    effects
}

/// What becomes of a step of a login: its end is told, and where there was no model, there is one.
pub(super) fn stepped(model: &mut Model, step: &LoginStep) -> Vec<Effect> {
    match step {
        LoginStep::Tell { .. } => Vec::new(),
        // The dialog tells it where it is still there.
        LoginStep::Failed(why) => {
            if model.overlays.is_empty() {
                model.transcript.notice(NoticeLevel::Error, why.clone());
            }
            Vec::new()
        }
        LoginStep::Done { text, model: wanted } => {
            model.transcript.notice(NoticeLevel::Info, text.clone());
            let select = |wanted: &crate::protocol::ModelRef| {
                Effect::Send(Command::SetModel(wanted.clone()), Purpose::Told(format!("Model: {wanted}")))
            };
            wanted.iter().map(select).collect()
        }
    }
}

/// Shows the first-run page where there is no model, and tells so where a text was to be sent.
pub fn without_model(model: &mut Model) -> Vec<Effect> {
    if first_run::is_needed(&model.facts) {
        let (page, effects) = first_run::open();
        model.overlays.push(page);
        return effects;
    }
    let text = "No model is selected: /model chooses one, /login logs in at a provider or stores an API key.";
    model.transcript.notice(NoticeLevel::Warning, text);
    Vec::new()
}
