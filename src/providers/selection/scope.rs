//! `--models` and `enabledModels`: the models to begin with and to cycle through.

use std::sync::Arc;

use globset::GlobBuilder;

use super::{
    matching::{best, provider_prefix},
    readings,
};
use crate::{
    protocol::{Model, ThinkingLevel},
    providers::catalogue::Catalogue,
};

/// A model of a scope.
#[derive(Clone, Debug, PartialEq)]
pub struct ScopedModel {
    /// The model.
    pub model: Arc<Model>,
    /// The level behind its pattern.
    pub thinking: Option<ThinkingLevel>,
}

/// The models of a scope in the order of their patterns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// Each model once.
    pub models: Vec<ScopedModel>,
    /// Patterns that match nothing or more than they should.
    pub warnings: Vec<String>,
}

/// Resolves patterns among the available models: an exact name, a glob over `provider/id` and `id`, or a part of a
/// name; each with an optional thinking level behind it (`pattern:high`). A scope never fails: what is odd is a warning.
#[must_use]
pub fn scope<S: AsRef<str>>(catalogue: &Catalogue, patterns: &[S]) -> Scope {
    let available = catalogue.available();
    let mut scope = Scope::default();
    for pattern in patterns.iter().map(|pattern| pattern.as_ref().trim()).filter(|pattern| !pattern.is_empty()) {
        let found = readings(pattern).find_map(|(text, thinking)| {
            let models = find(catalogue, &available, text);
            (!models.is_empty()).then_some((models, thinking, false))
        });
        // A suffix that is no level: the model is taken all the same, with the usual level.
        let lenient = || {
            let (text, _) = pattern.rsplit_once(':').filter(|_| !is_glob(pattern))?;
            let models = find(catalogue, &available, text);
            (!models.is_empty()).then_some((models, None, true))
        };
        let Some((models, thinking, odd_suffix)) = found.or_else(lenient) else {
            scope.warnings.push(format!("No available model matches \"{pattern}\""));
            continue;
        };
        if odd_suffix {
            scope.warnings.push(format!("\"{pattern}\" does not end in a thinking level; the usual level is used"));
        }
        if models.len() > 1 && !is_glob(pattern) {
            let names: Vec<_> = models.iter().map(|model| model.reference().to_string()).collect();
            scope.warnings.push(format!("\"{pattern}\" is ambiguous; all of {} are used", names.join(", ")));
        }
        for model in models {
            let known = scope.models.iter().any(|known| known.model.reference() == model.reference());
            if !known {
                scope.models.push(ScopedModel { model, thinking });
            }
        }
    }
    scope
}

fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?', '['])
}

fn find(catalogue: &Catalogue, available: &[Arc<Model>], text: &str) -> Vec<Arc<Model>> {
    let name = |model: &Model| model.reference().to_string();
    let keep =
        |fits: &dyn Fn(&Model) -> bool| -> Vec<_> { available.iter().filter(|model| fits(model)).cloned().collect() };
    let full = keep(&|model| name(model).eq_ignore_ascii_case(text));
    if !full.is_empty() {
        return full;
    }
    let raw = keep(&|model| model.id.eq_ignore_ascii_case(text));
    if !raw.is_empty() {
        return raw;
    }
    if is_glob(text) {
        let glob = GlobBuilder::new(text).case_insensitive(true).literal_separator(true).build();
        let Ok(glob) = glob.map(|glob| glob.compile_matcher()) else { return Vec::new() };
        return keep(&|model| glob.is_match(name(model)) || glob.is_match(&model.id));
    }
    let (provider, part) = provider_prefix(catalogue, text).map_or((None, text), |(p, id)| (Some(p), id));
    let part = part.to_lowercase();
    let parts = keep(&|model| {
        !part.is_empty()
            && provider.is_none_or(|provider| model.provider == provider)
            && (model.id.to_lowercase().contains(&part) || model.name.to_lowercase().contains(&part))
    });
    let Some(best) = best(&parts) else { return Vec::new() };
    parts.into_iter().filter(|model| model.id.eq_ignore_ascii_case(&best.id)).collect()
}
