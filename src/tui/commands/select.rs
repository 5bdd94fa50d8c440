//! Commands that open a list to choose from.

use serde_json::Value;

use super::SlashCommand;
use crate::{
    protocol::{Command, ModelRef, ThinkingLevel, event::NoticeLevel},
    tui::{
        effect::{Effect, Purpose},
        model::Model,
        overlay::{
            fork::ForkSelector,
            models::{ModelSelector, ScopedModels, ThinkingSelector},
            session::SessionSelector,
            tree::{Filter, TreeSelector},
            undo::UndoSelector,
        },
    },
};

/// See the module.
pub(super) const COMMANDS: &[SlashCommand] = &[
    SlashCommand { name: "model", argument: "[provider/model]", description: "Choose a model", run: model },
    SlashCommand {
        name: "thinking",
        argument: "[level]",
        description: "Choose how much the model thinks",
        run: thinking,
    },
    SlashCommand {
        name: "scoped-models",
        argument: "",
        description: "Choose which models there are to cycle through",
        run: scoped_models,
    },
    SlashCommand { name: "resume", argument: "", description: "Go on with another session", run: resume },
    SlashCommand { name: "tree", argument: "", description: "Go on at another place of the session", run: tree },
    SlashCommand { name: "fork", argument: "", description: "Fork the session before one of your messages", run: fork },
    SlashCommand { name: "undo", argument: "", description: "Take changes of files back", run: undo },
];

/// A name that means one model chooses it; anything else is looked for in the list.
fn model(model: &mut Model, argument: &str) -> Vec<Effect> {
    let catalogue = model.facts.catalogue.now();
    let all = catalogue.available();
    let named = argument.split_once('/').and_then(|(provider, id)| {
        catalogue.find(&ModelRef { provider: provider.to_owned(), model_id: id.to_owned() })
    });
    if let Some(named) = named {
        return vec![Effect::Send(Command::SetModel(named.reference()), Purpose::Plain)];
    }
    let scope = model.facts.scope.to_vec();
    let selector = ModelSelector::new(all, scope, model.facts.model.clone(), argument);
    model.overlays.push(Box::new(selector));
    Vec::new()
}

fn thinking(model: &mut Model, argument: &str) -> Vec<Effect> {
    if let Some(level) = ThinkingLevel::parse(argument) {
        return vec![Effect::Send(Command::SetThinkingLevel(level), Purpose::Plain)];
    }
    if !argument.is_empty() {
        let names = ThinkingLevel::ALL.map(ThinkingLevel::as_str).join(", ");
        model.transcript.notice(NoticeLevel::Error, format!("{argument} is no level of thinking. There are: {names}."));
        return Vec::new();
    }
    let selector = ThinkingSelector::new(model.facts.model.as_deref(), model.facts.thinking);
    model.overlays.push(Box::new(selector));
    Vec::new()
}

fn scoped_models(model: &mut Model, _: &str) -> Vec<Effect> {
    let all = model.facts.catalogue.now().available();
    model.overlays.push(Box::new(ScopedModels::new(&all, &model.facts.scope)));
    Vec::new()
}

fn resume(model: &mut Model, _: &str) -> Vec<Effect> {
    let (selector, effects) = SessionSelector::new();
    model.overlays.push(Box::new(selector));
    effects
}

fn tree(model: &mut Model, _: &str) -> Vec<Effect> {
    let Some(tree) = model.facts.tree.clone().filter(|tree| !tree.is_empty()) else {
        model.transcript.notice(NoticeLevel::Info, "The session is empty: there is no tree yet.".to_owned());
        return Vec::new();
    };
    let settings = &model.settings.all;
    let filter = settings["treeFilterMode"].as_str().and_then(Filter::parse).unwrap_or_default();
    let skips_question = settings["branchSummary"]["skipPrompt"] == Value::Bool(true);
    let (selector, effects) = TreeSelector::new(tree, filter, skips_question);
    model.overlays.push(Box::new(selector));
    effects
}

fn fork(model: &mut Model, _: &str) -> Vec<Effect> {
    let (selector, effects) = ForkSelector::new();
    model.overlays.push(Box::new(selector));
    effects
}

fn undo(model: &mut Model, _: &str) -> Vec<Effect> {
    let (selector, effects) = UndoSelector::new();
    model.overlays.push(Box::new(selector));
    effects
}
