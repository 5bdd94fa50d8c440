//! What is known without any configuration: the providers of `builtin.jsonc` and the two models inside this program.

use std::{path::Path, sync::Arc};

use crate::{
    protocol::{
        Model,
        model::{InputKind, ModelCost},
    },
    providers::models_json::{self, ProviderEntry},
    store::document::{Document, Syntax},
};

/// The provider of the models inside the program; also the prefix of their wire APIs' names.
pub const TROUPE: &str = "troupe";
/// The deterministic example model.
pub const OFFLINE: &str = "offline";
/// The model that plays a script.
pub const SCRIPT: &str = "script";

const DATA: &str = include_str!("builtin.jsonc");

/// The built-in providers in order of preference.
#[must_use]
pub fn providers() -> Vec<ProviderEntry> {
    // The file is part of the program: a fault in it is found by the test below, not by users.
    let document = Document::parse(Path::new("builtin.jsonc"), DATA.to_owned(), Syntax::Comments).ok();
    document.and_then(|document| models_json::compose(Vec::new(), &document.root()).ok()).unwrap_or_default()
}

/// Variables with keys of providers that are not built in.
#[must_use]
pub fn other_key_variables() -> Vec<String> {
    let document = Document::parse(Path::new("builtin.jsonc"), DATA.to_owned(), Syntax::Comments).ok();
    let names = document.and_then(|document| document.into_value().get_mut("otherKeyVariables").map(std::mem::take));
    names.and_then(|names| serde_json::from_value(names).ok()).unwrap_or_default()
}

/// The models inside the program.
#[must_use]
pub fn inside() -> Vec<Arc<Model>> {
    let model = |id: &str, name: &str, input: &[InputKind], reasoning| {
        Arc::new(Model {
            id: id.to_owned(),
            name: name.to_owned(),
            api: format!("{TROUPE}-{id}"),
            provider: TROUPE.to_owned(),
            base_url: String::new(),
            reasoning,
            thinking_level_map: None,
            input: input.to_vec(),
            input_limits: None,
            cost: ModelCost::default(),
            prompt_cache: None,
            context_window: 200_000,
            max_tokens: 16_384,
            sampling_params: None,
            sampling_params_by_thinking_level: None,
            headers: None,
            compat: None,
        })
    };
    vec![
        model(OFFLINE, "Troupe offline example", &[InputKind::Text], false),
        model(SCRIPT, "Troupe script", &[InputKind::Text, InputKind::Image], true),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_provider_has_a_key_variable_and_its_default_model() {
        let document = Document::parse(Path::new("builtin.jsonc"), DATA.to_owned(), Syntax::Comments).unwrap();
        models_json::compose(Vec::new(), &document.root()).unwrap();
        let providers = providers();
        assert!(providers.len() > 20);
        for provider in &providers {
            let default = provider.default_model.as_ref().expect("a default");
            assert!(provider.models.iter().any(|model| model.id == *default), "{}", provider.id);
            assert!(!provider.keys.env.is_empty() && !provider.keys.keyless, "{}", provider.id);
            for model in &provider.models {
                assert!(["openai-completions", "anthropic-messages"].contains(&model.api.as_str()));
                assert!(model.base_url.starts_with("https://"), "{}", model.id);
                assert!(model.max_tokens < model.context_window, "{}", model.id);
            }
        }
        assert!(other_key_variables().contains(&"GEMINI_API_KEY".to_owned()));
    }
}
