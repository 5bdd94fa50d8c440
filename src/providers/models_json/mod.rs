//! `models.json`: providers and models of the user's own, in pi's schema (JSON with comments).
//!
//! [`compose`] lays a file over the providers that are already there: it adds and replaces models, redirects a
//! provider, patches single models. The built-in providers are read by the same code from a file of the same form.
//! Models are built by merging JSON objects after every field was checked, so that one rule serves defaults, models and
//! overrides: objects merge by key, everything else is replaced.

mod fields;
mod review;
mod switches;
pub mod virtual_models;

use std::{collections::HashMap, sync::Arc};

use serde_json::{Map, Value, json};

use super::{
    catalogue::builtin::current_id,
    credentials::{KeySources, ambient::Ambient, key_text::KeyText},
    http,
    oauth::Flow,
};
use crate::{
    protocol::Model,
    store::document::{Fault, Field, Object},
};

pub use review::review;
pub use switches::compat_faults;

/// A provider and its models.
#[derive(Clone, Debug, Default)]
pub struct ProviderEntry {
    /// The id that model names begin with.
    pub id: String,
    /// The name that people see.
    pub name: String,
    /// Where requests go; models may have their own.
    pub base_url: Option<String>,
    /// The wire API; models may have their own.
    pub api: Option<String>,
    /// The model to begin with when nothing else chooses one.
    pub default_model: Option<String>,
    /// Where keys come from and which headers go out.
    pub keys: KeySources,
    /// The models in order.
    pub models: Vec<Arc<Model>>,
}

/// Lays a models file over `base`.
///
/// # Errors
/// A field is missing or of the wrong type. Nothing of the file counts then.
pub fn compose(base: Vec<ProviderEntry>, root: &Field<'_>) -> Result<Vec<ProviderEntry>, Fault> {
    let mut providers = base;
    if root.value().is_null() {
        return Ok(providers);
    }
    let Some(configured) = root.object()?.get("providers") else { return Ok(providers) };
    for (id, field) in configured.object()?.entries() {
        let id = current_id(id);
        let known = providers.iter().position(|provider| provider.id == id);
        let entry = match known {
            Some(at) => &mut providers[at],
            None => {
                providers.push(ProviderEntry { id: id.to_owned(), name: id.to_owned(), ..ProviderEntry::default() });
                let last = providers.len() - 1;
                &mut providers[last]
            }
        };
        configure(entry, &field.object()?)?;
    }
    Ok(providers)
}

fn configure(entry: &mut ProviderEntry, config: &Object<'_>) -> Result<(), Fault> {
    if let Some(name) = config.read("name", Field::text)? {
        name.clone_into(&mut entry.name);
    }
    let base_url = config.read("baseUrl", Field::text)?.map(str::to_owned);
    let compat = config.read("compat", Field::object)?;
    compat.iter().try_for_each(switches::check)?;
    let compat = compat.map(|compat| compat.map().clone());
    for model in entry.models.iter_mut().map(Arc::make_mut) {
        if let Some(url) = &base_url {
            url.clone_into(&mut model.base_url);
        }
        if let Some(compat) = &compat {
            model.compat.get_or_insert_default().extend(compat.clone());
        }
    }
    entry.base_url = base_url.or(entry.base_url.take());
    entry.api = config.read("api", Field::text)?.map(str::to_owned).or(entry.api.take());
    configure_keys(&mut entry.keys, config)?;
    entry.default_model = config.read("defaultModel", Field::text)?.map(str::to_owned).or(entry.default_model.take());
    for field in config.read("models", Field::items)?.unwrap_or_default() {
        add_model(entry, &field.object()?, compat.as_ref())?;
    }
    if let Some(overrides) = config.read("modelOverrides", Field::object)? {
        for (id, field) in overrides.entries() {
            override_model(entry, id, &field.object()?)?;
        }
    }
    // A server on this machine needs no key; one that wants one all the same has `apiKey` set.
    let local = entry.base_url.iter().chain(entry.models.iter().map(|model| &model.base_url)).any(|url| is_local(url));
    entry.keys.keyless = local && entry.keys.api_key.is_none() && entry.keys.env.is_empty();
    Ok(())
}

fn configure_keys(keys: &mut KeySources, config: &Object<'_>) -> Result<(), Fault> {
    if let Some(key) = config.get("apiKey") {
        let text = key.value().as_str().ok_or_else(|| key.fault("expected a text: the key, $VARIABLE or !command"))?;
        // An empty one would go out as an empty bearer token; it counts as none.
        keys.api_key = (!text.trim().is_empty()).then(|| KeyText::parse(text)).or(keys.api_key.take());
    }
    keys.auth_header = config.read("authHeader", Field::flag)?.unwrap_or(keys.auth_header);
    if let Some(headers) = config.get("headers") {
        keys.headers.extend(fields::headers(&headers)?.clone());
    }
    let texts = |field: &Field<'_>| {
        field.items()?.iter().map(|item| item.text().map(str::to_owned)).collect::<Result<Vec<_>, Fault>>()
    };
    // A text stands for a flow that only pi's own gateway speaks.
    if let Some(oauth) = config.get("oauth").filter(|oauth| !oauth.value().is_string()) {
        let oauth = oauth.object()?;
        Flow::read(&oauth)?;
        keys.oauth = Some(oauth.map().clone());
    }
    if let Some(ambient) = config.get("ambient") {
        let known = ambient.text().map(Ambient::parse)?;
        keys.ambient = Some(known.ok_or_else(|| ambient.expected("aws, google or anthropic-federation"))?);
    }
    keys.env = config.read("env", texts)?.unwrap_or(std::mem::take(&mut keys.env));
    keys.bearer_env = config.read("bearerEnv", texts)?.unwrap_or(std::mem::take(&mut keys.bearer_env));
    Ok(())
}

/// What a model has when its entry does not say.
fn defaults(entry: &ProviderEntry, id: &str) -> Map<String, Value> {
    let values = json!({
        "id": id, "name": id, "provider": entry.id, "api": entry.api, "baseUrl": entry.base_url, "reasoning": false,
        "input": ["text"], "contextWindow": 128_000, "maxTokens": 16_384,
        "cost": {"input": 0.0, "output": 0.0, "cacheRead": 0.0, "cacheWrite": 0.0},
    });
    match values {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn add_model(entry: &mut ProviderEntry, config: &Object<'_>, compat: Option<&Map<String, Value>>) -> Result<(), Fault> {
    // Other kinds (images, classifiers, what a newer version knows) are no chat models: dropped without a word.
    if config.get("type").is_some_and(|kind| kind.value().as_str() != Some("chat")) {
        return Ok(());
    }
    let id = config.require("id", "the model's id")?;
    if id.text()?.trim().is_empty() {
        return Err(id.expected("the model's id"));
    }
    let id = id.text()?;
    fields::check_model(config)?;
    fields::check_whole_price(config)?;
    let mut values = defaults(entry, id);
    for (needed, what) in [("api", "a wire API such as openai-completions"), ("baseUrl", "the server's address")] {
        if values[needed].is_null() && config.get(needed).is_none() {
            return Err(config.fault(format!("expected {needed} here or at its provider: {what}")));
        }
    }
    if let Some(compat) = compat {
        values.insert("compat".to_owned(), Value::Object(compat.clone()));
    }
    let model = Arc::new(patched(values, config, &mut entry.keys.model_headers)?);
    match entry.models.iter_mut().find(|known| known.id == id) {
        Some(known) => *known = model,
        None => entry.models.push(model),
    }
    Ok(())
}

fn override_model(entry: &mut ProviderEntry, id: &str, config: &Object<'_>) -> Result<(), Fault> {
    fields::check_model(config)?;
    let Some(model) = entry.models.iter_mut().find(|model| model.id == id) else { return Ok(()) };
    let patch = patched(as_map(model), config, &mut entry.keys.model_headers)?;
    *model = Arc::new(Model { id: id.to_owned(), ..patch });
    Ok(())
}

/// The model of `values` with `config` laid over it. Headers go aside: they may hold keys, and models are shown.
fn patched(
    mut values: Map<String, Value>,
    config: &Object<'_>,
    headers: &mut HashMap<String, Map<String, Value>>,
) -> Result<Model, Fault> {
    lay_over(&mut values, config.map());
    let own = values.shift_remove("headers");
    let model: Model =
        serde_json::from_value(Value::Object(values)).map_err(|error| config.fault(format!("no model: {error}")))?;
    if let Some(Value::Object(own)) = own {
        headers.entry(model.id.clone()).or_default().extend(own);
    }
    Ok(model)
}

/// A model with fields of an override laid over it (such as the `model` object of a script).
///
/// # Errors
/// A field is of the wrong type.
pub fn override_with(model: &Model, config: &Object<'_>) -> Result<Model, Fault> {
    fields::check_model(config)?;
    let patch = patched(as_map(model), config, &mut HashMap::new())?;
    Ok(Model { id: model.id.clone(), provider: model.provider.clone(), ..patch })
}

fn as_map(model: &Model) -> Map<String, Value> {
    match serde_json::to_value(model) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

fn lay_over(values: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (key, value) in patch.iter().filter(|(_, value)| !value.is_null()) {
        match (values.get_mut(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => old.extend(new.clone()),
            _ => {
                values.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Whether an address is this machine.
fn is_local(url: &str) -> bool {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((inner, _)) => inner,
        None => host.split(':').next().unwrap_or_default(),
    };
    http::is_this_machine(host)
}

#[cfg(test)]
mod tests;
