//! Reading the built-in providers: typed, in one pass, because every start of the program does it.
//!
//! `providers.json` has the providers in order of preference; the other files have their models in groups. A field that
//! a group has counts for each of its models that does not say otherwise, and what neither says is the provider's.

use std::{collections::HashMap, sync::Arc};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    protocol::{
        Model,
        model::{InputKind, ModelCost},
    },
    providers::{
        credentials::{KeySources, ambient::Ambient},
        models_json::ProviderEntry,
    },
};

const PROVIDERS: &str = include_str!("providers.json");

const MODELS: [&str; 11] = [
    include_str!("models-anthropic.json"),
    include_str!("models-openai.json"),
    include_str!("models-google.json"),
    include_str!("models-amazon.json"),
    include_str!("models-copilot.json"),
    include_str!("models-labs.json"),
    include_str!("models-asia.json"),
    include_str!("models-hosts.json"),
    include_str!("models-routers.json"),
    include_str!("models-opencode.json"),
    include_str!("models-cloudflare.json"),
];

/// A provider of `providers.json`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Row {
    id: &'static str,
    name: &'static str,
    api: &'static str,
    /// Empty where the wire API finds the address itself (by region, by resource).
    base_url: &'static str,
    /// Variables that hold a key; the first one that is set counts.
    #[serde(default)]
    env: Vec<String>,
    /// Those of them whose key is sent as a bearer token.
    #[serde(default)]
    bearer_env: Vec<String>,
    /// Credentials of the surroundings that do in place of a key.
    ambient: Option<&'static str>,
    default_model: &'static str,
    /// The provider that has the same models.
    models_of: Option<&'static str>,
    /// Switches of the models of the provider's own API that have none.
    compat: Option<Map<String, Value>>,
}

/// What is known about a model or about all models of a group.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Facts {
    id: &'static str,
    name: &'static str,
    api: Option<&'static str>,
    base_url: Option<&'static str>,
    reasoning: bool,
    input: Vec<InputKind>,
    context_window: u64,
    max_tokens: u64,
    /// None where no vendor's price list was found: it then shows as no cost.
    cost: Option<ModelCost>,
    thinking_level_map: Option<Map<String, Value>>,
    prompt_cache: Option<Value>,
    compat: Option<Map<String, Value>>,
    models: Vec<Facts>,
}

/// The groups of each provider.
type Groups = HashMap<&'static str, Vec<Facts>>;

/// The providers with their models.
///
/// # Errors
/// A file does not have this form.
pub(super) fn read() -> serde_json::Result<Vec<ProviderEntry>> {
    let mut groups = Groups::new();
    for text in MODELS {
        groups.extend(serde_json::from_str::<Groups>(text)?);
    }
    let rows: Vec<Row> = serde_json::from_str(PROVIDERS)?;
    Ok(rows.into_iter().map(|row| entry(row, &groups)).collect())
}

fn entry(row: Row, groups: &Groups) -> ProviderEntry {
    let groups = groups.get(row.models_of.unwrap_or(row.id)).map(Vec::as_slice).unwrap_or_default();
    let of_group = |group: &Facts| group.models.iter().map(|facts| Arc::new(model(&row, group, facts))).collect();
    let models = groups.iter().flat_map::<Vec<_>, _>(of_group).collect();
    let ambient = row.ambient.and_then(Ambient::parse);
    ProviderEntry {
        models,
        id: row.id.to_owned(),
        name: row.name.to_owned(),
        base_url: Some(row.base_url.to_owned()),
        api: Some(row.api.to_owned()),
        default_model: Some(row.default_model.to_owned()),
        keys: KeySources { env: row.env, bearer_env: row.bearer_env, ambient, ..KeySources::default() },
    }
}

fn model(row: &Row, group: &Facts, own: &Facts) -> Model {
    let number = |own: u64, group: u64| if own == 0 { group } else { own };
    let api = own.api.or(group.api).unwrap_or(row.api);
    let of_provider = row.compat.as_ref().filter(|_| api == row.api);
    let input = if own.input.is_empty() { &group.input } else { &own.input };
    Model {
        id: own.id.to_owned(),
        name: own.name.to_owned(),
        api: api.to_owned(),
        provider: row.id.to_owned(),
        base_url: own.base_url.or(group.base_url).unwrap_or(row.base_url).to_owned(),
        reasoning: own.reasoning || group.reasoning,
        thinking_level_map: own.thinking_level_map.as_ref().or(group.thinking_level_map.as_ref()).cloned(),
        input: if input.is_empty() { vec![InputKind::Text] } else { input.clone() },
        input_limits: None,
        cost: own.cost.as_ref().or(group.cost.as_ref()).cloned().unwrap_or_default(),
        prompt_cache: own.prompt_cache.as_ref().or(group.prompt_cache.as_ref()).cloned(),
        context_window: number(own.context_window, group.context_window),
        max_tokens: number(own.max_tokens, group.max_tokens),
        sampling_params: None,
        sampling_params_by_thinking_level: None,
        headers: None,
        compat: own.compat.as_ref().or(group.compat.as_ref()).or(of_provider).cloned(),
    }
}

#[cfg(test)]
mod tests;
