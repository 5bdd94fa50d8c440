//! The first model and the first thinking level of a run.

use std::sync::Arc;

use super::{Chosen, ScopedModel};
use crate::{
    protocol::{Model, ModelRef, ThinkingLevel},
    providers::catalogue::Catalogue,
};

/// The session that a run goes on with.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SessionState {
    /// A new one.
    #[default]
    New,
    /// One that is on disk.
    Existing {
        /// The model that its branch ends with.
        model: Option<ModelRef>,
        /// The level that its branch ends with; None when it has no entry of that kind.
        thinking: Option<ThinkingLevel>,
        /// Whether it has messages.
        has_messages: bool,
    },
}

/// What decides on the first model.
#[derive(Clone, Debug, Default)]
pub struct InitialInput<'a> {
    /// From the command line.
    pub cli: Option<&'a Chosen>,
    /// From `--models` or `enabledModels`.
    pub scope: &'a [ScopedModel],
    /// The session.
    pub session: SessionState,
    /// `defaultProvider` and `defaultModel` of the settings.
    pub default: Option<ModelRef>,
}

/// The first model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitialModel {
    /// The model; None when there is none at all.
    pub model: Option<Arc<Model>>,
    /// The level that came with its name.
    pub thinking: Option<ThinkingLevel>,
    /// What people should know.
    pub warning: Option<String>,
}

/// Chooses the first model: the command line's; for a new session the scope's (the saved default when it is in there);
/// for an existing one its own; the saved default; the first provider's default; any.
#[must_use]
pub fn initial(catalogue: &Catalogue, input: &InitialInput<'_>) -> InitialModel {
    if let Some(chosen) = input.cli {
        let model = Some(Arc::clone(&chosen.model));
        return InitialModel { model, thinking: chosen.thinking, warning: None };
    }
    if input.session == SessionState::New {
        let saved = input.scope.iter().find(|scoped| input.default.as_ref() == Some(&scoped.model.reference()));
        if let Some(scoped) = saved.or(input.scope.first()) {
            return InitialModel { model: Some(Arc::clone(&scoped.model)), thinking: scoped.thinking, warning: None };
        }
    }
    let usable = |name: &ModelRef| catalogue.find(name).filter(|model| catalogue.is_available(model));
    let mut lost = None;
    if let SessionState::Existing { model: Some(name), .. } = &input.session {
        match usable(name) {
            Some(model) => return InitialModel { model: Some(model), ..InitialModel::default() },
            None => lost = Some(name),
        }
    }
    let model = input.default.as_ref().and_then(usable).or_else(|| catalogue.default_model());
    let warning = lost.map(|name| match &model {
        Some(model) => format!("Could not restore model {name}. Using {}", model.reference()),
        None => format!("Could not restore model {name}."),
    });
    InitialModel { model, thinking: None, warning }
}

/// What decides on the first thinking level.
#[derive(Clone, Debug, Default)]
pub struct ThinkingInput {
    /// `--thinking`.
    pub flag: Option<ThinkingLevel>,
    /// The level that came with the model's name.
    pub with_model: Option<ThinkingLevel>,
    /// The session.
    pub session: SessionState,
    /// `modelThinkingLevels` of the settings for the model.
    pub of_model: Option<ThinkingLevel>,
    /// `defaultThinkingLevel` of the settings.
    pub default: Option<ThinkingLevel>,
}

/// Chooses the first thinking level, clamped to the model: the flag's; the one behind the model's name; for a session
/// with messages its own, or the saved default; the saved one of the model; the saved default; `medium`.
#[must_use]
pub fn initial_thinking(model: Option<&Model>, input: &ThinkingInput) -> ThinkingLevel {
    let Some(model) = model else { return ThinkingLevel::Off };
    let of_session = match input.session {
        SessionState::Existing { thinking, has_messages: true, .. } => thinking.or(input.default),
        _ => None,
    };
    let wanted = input.flag.or(input.with_model).or(of_session).or(input.of_model).or(input.default);
    model.clamp_thinking(wanted.unwrap_or_default())
}
