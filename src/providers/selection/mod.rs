//! Which model and which thinking level a run begins with: pure functions over the catalogue.

mod initial;
mod matching;
mod scope;

use std::sync::Arc;

use super::catalogue::{Catalogue, builtin};
use crate::protocol::{Model, ThinkingLevel};

pub use super::catalogue::NO_MODEL;
pub use initial::{InitialInput, InitialModel, SessionState, ThinkingInput, initial, initial_thinking};
pub use scope::{Scope, ScopedModel, scope};

/// What the command line says about the model.
#[derive(Clone, Copy, Debug, Default)]
pub struct CliModel<'a> {
    /// `--provider`.
    pub provider: Option<&'a str>,
    /// `--model`.
    pub model: Option<&'a str>,
    /// `--thinking`, for models that are not in the catalogue.
    pub thinking: Option<ThinkingLevel>,
    /// Whether `--api-key` is given: then stored keys never break ties.
    pub has_api_key: bool,
}

/// A model that somebody asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The model.
    pub model: Arc<Model>,
    /// The level behind its name (`name:high`).
    pub thinking: Option<ThinkingLevel>,
    /// What is odd about the choice.
    pub warnings: Vec<String>,
}

/// Why no model was chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// No such model.
    #[error("Model \"{text}\" not found.{}{}", near(nearest), if nearest.is_empty() { " List the models with --list-models." } else { "" })]
    UnknownModel {
        /// What was asked for.
        text: String,
        /// Models with similar names.
        nearest: Vec<String>,
    },
    /// No such provider.
    #[error("Provider \"{text}\" not found.{} Providers are built in or come from models.json.", near(nearest))]
    UnknownProvider {
        /// What was asked for.
        text: String,
        /// Providers with similar names.
        nearest: Vec<String>,
    },
    /// Several providers have the model.
    #[error("Model \"{text}\" is ambiguous: name one of {}", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        text: String,
        /// All of them, sorted.
        candidates: Vec<String>,
    },
    /// `--provider` alone.
    #[error("--provider needs --model")]
    ProviderAlone,
}

fn near(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(" Did you mean {}?", names.join(" or ")) }
}

/// Resolves `--provider` and `--model`. None when neither is given.
///
/// # Errors
/// See [`SelectionError`].
pub fn resolve_cli(catalogue: &Catalogue, cli: &CliModel<'_>) -> Result<Option<Chosen>, SelectionError> {
    let Some(text) = cli.model else {
        return if cli.provider.is_some() { Err(SelectionError::ProviderAlone) } else { Ok(None) };
    };
    let pool = matching::Pool::new(catalogue, !cli.has_api_key);
    let provider = cli.provider.map(|name| known_provider(catalogue, name)).transpose()?;
    let inside = |id: &str| catalogue.inside().iter().find(|model| model.id.eq_ignore_ascii_case(id)).cloned();
    let chosen = |model, thinking| Ok(Some(Chosen { model, thinking, warnings: Vec::new() }));
    for (text, thinking) in readings(text) {
        // Models inside the program are found by their full name and by nothing else.
        let inside_id = match &provider {
            Some(provider) => (provider == builtin::TROUPE).then_some(text),
            None => text.split_once('/').filter(|(first, _)| *first == builtin::TROUPE).map(|(_, id)| id),
        };
        if let Some(model) = inside_id.and_then(inside) {
            return chosen(model, thinking);
        }
        if let Some(model) = pool.find(text, provider.as_deref())? {
            return chosen(model, thinking);
        }
    }
    custom(catalogue, text, provider.as_deref(), cli.thinking).map(Some)
}

/// The ways to read a name: as it stands, and without a thinking level at its end.
fn readings(text: &str) -> impl Iterator<Item = (&str, Option<ThinkingLevel>)> {
    let split = text.rsplit_once(':').and_then(|(name, level)| Some((name, Some(ThinkingLevel::parse(level)?))));
    std::iter::once((text, None)).chain(split)
}

/// The provider's id as the catalogue spells it.
fn known_provider(catalogue: &Catalogue, name: &str) -> Result<String, SelectionError> {
    let ids = || catalogue.providers().iter().map(|provider| provider.id.as_str()).chain([builtin::TROUPE]);
    let today = builtin::current_id(name);
    ids()
        .find(|id| id.eq_ignore_ascii_case(today))
        .map(str::to_owned)
        .ok_or_else(|| SelectionError::UnknownProvider { text: name.to_owned(), nearest: nearest(name, ids()) })
}

/// A model that the catalogue does not have, at a provider that it has: vendors add models faster than catalogues.
fn custom(
    catalogue: &Catalogue,
    text: &str,
    provider: Option<&str>,
    thinking: Option<ThinkingLevel>,
) -> Result<Chosen, SelectionError> {
    let unknown = || SelectionError::UnknownModel { text: text.to_owned(), nearest: nearest_models(catalogue, text) };
    let (name, suffix) = readings(text).last().unwrap_or((text, None));
    let prefix = matching::provider_prefix(catalogue, name);
    let (provider, id) = match (provider, prefix) {
        (Some(named), Some((prefix, id))) if named == prefix => (named, id),
        (Some(named), _) => (named, name),
        (None, Some(found)) => found,
        (None, None) => return Err(unknown()),
    };
    let entry = catalogue.provider(provider).filter(|_| !id.is_empty()).ok_or_else(unknown)?;
    let default = entry.models.iter().find(|model| Some(&model.id) == entry.default_model.as_ref());
    let pattern = default.or(entry.models.first()).ok_or_else(unknown)?;
    let reasoning = pattern.reasoning || suffix.or(thinking).is_some_and(|level| level != ThinkingLevel::Off);
    let model = Model { id: id.to_owned(), name: id.to_owned(), reasoning, ..(**pattern).clone() };
    let warning = format!("Model \"{id}\" not found for provider \"{provider}\". Using custom model id.");
    Ok(Chosen { model: Arc::new(model), thinking: suffix, warnings: vec![warning] })
}

fn nearest_models(catalogue: &Catalogue, text: &str) -> Vec<String> {
    let inside = catalogue.inside().iter().filter(|model| model.id.eq_ignore_ascii_case(text));
    let inside: Vec<_> = inside.map(|model| model.reference().to_string()).collect();
    if !inside.is_empty() {
        return inside;
    }
    let available = catalogue.available();
    let models = if available.is_empty() { catalogue.models() } else { &available };
    let name = |model: &Arc<Model>| model.reference().to_string();
    // People type the id, or provider/id: the better of the two counts.
    let mut scored: Vec<_> = models
        .iter()
        .map(|model| (similarity(text, &model.id).max(similarity(text, &name(model))), name(model)))
        .filter(|(score, _)| *score > 0.75)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

fn nearest<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut scored: Vec<_> = names.map(|name| (similarity(text, name), name)).filter(|(s, _)| *s > 0.75).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

fn similarity(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(&a.to_lowercase(), &b.to_lowercase())
}

#[cfg(test)]
mod tests;
