//! What is odd about a models file, without making it useless: misspelt fields, addresses that cannot be meant.

use reqwest::Url;

use super::{ProviderEntry, fields, switches};
use crate::{
    providers::{catalogue::builtin::current_id, oauth::flow},
    store::document::{Fault, Field, Object, nearest},
};

const ROOT: [&str; 3] = ["$schema", "providers", "virtualModels"];
const PROVIDER: [&str; 14] = [
    "name",
    "baseUrl",
    "apiKey",
    "api",
    "oauth",
    "headers",
    "authHeader",
    "compat",
    "models",
    "modelOverrides",
    "env",
    "bearerEnv",
    "ambient",
    "defaultModel",
];
const MODEL: [&str; 18] = [
    "id",
    "name",
    "type",
    "api",
    "baseUrl",
    "reasoning",
    "thinkingLevelMap",
    "input",
    "output",
    "inputLimits",
    "cost",
    "promptCache",
    "contextWindow",
    "maxTokens",
    "samplingParams",
    "samplingParamsByThinkingLevel",
    "headers",
    "compat",
];
const TIER: [&str; 5] = ["inputTokensAbove", "input", "output", "cacheRead", "cacheWrite"];
/// A name that is no API's, and so could be of any.
const ANY_API: &str = "";
/// Ends of addresses that each API adds by itself.
const PATHS: [&str; 4] = ["/chat/completions", "/responses", "/v1/messages", "/converse-stream"];

/// Looks through a file whose fields have the right types, `providers` being what came of it. Nothing that is found
/// stops anything.
#[must_use]
pub fn review(root: &Field<'_>, providers: &[ProviderEntry]) -> Vec<Fault> {
    let mut found = Vec::new();
    let Ok(root) = root.object() else { return found };
    strangers(&root, &ROOT, &mut found);
    let configured = root.get("providers").and_then(|field| field.object().ok());
    for (id, field) in configured.iter().flat_map(Object::entries) {
        let entry = providers.iter().find(|entry| entry.id == current_id(id));
        if let (Some(entry), Ok(config)) = (entry, field.object()) {
            provider(&config, entry, &mut found);
        }
    }
    found
}

fn provider(config: &Object<'_>, entry: &ProviderEntry, found: &mut Vec<Fault>) {
    strangers(config, &PROVIDER, found);
    place(config, found);
    if let Some(key) =
        config.get("apiKey").filter(|key| key.value().as_str().is_some_and(|text| text.trim().is_empty()))
    {
        found.push(key.fault("is empty and counts as not set: leave it out, or name a variable as \"$VARIABLE\""));
    }
    for oauth in objects(inner(config, "oauth")) {
        strangers(&oauth, &flow::FIELDS, found);
        objects(inner(&oauth, "exchange")).for_each(|exchange| strangers(&exchange, &flow::EXCHANGE_FIELDS, found));
    }
    let apis = || entry.models.iter().map(|model| model.api.as_str());
    compat(config, apis(), found);
    for model in objects(config.get("models").and_then(|models| models.items().ok()).unwrap_or_default()) {
        let api = model.get("api").or(config.get("api")).and_then(|api| api.value().as_str()).or(entry.api.as_deref());
        model_fields(&model, api, found);
    }
    let overrides = config.get("modelOverrides").and_then(|overrides| overrides.object().ok());
    for (id, field) in overrides.iter().flat_map(Object::entries) {
        let api = entry.models.iter().find(|model| model.id == id).map(|model| model.api.as_str());
        objects(vec![field]).for_each(|model| model_fields(&model, api, found));
    }
}

fn model_fields(config: &Object<'_>, api: Option<&str>, found: &mut Vec<Fault>) {
    if config.get("type").is_some_and(|kind| kind.value().as_str() != Some("chat")) {
        return;
    }
    strangers(config, &MODEL, found);
    place(config, found);
    compat(config, api, found);
    for cost in objects(inner(config, "cost")) {
        strangers(&cost, &[&fields::PRICES[..], &["tiers"]].concat(), found);
        for tier in objects(cost.get("tiers").and_then(|tiers| tiers.items().ok()).unwrap_or_default()) {
            strangers(&tier, &TIER, found);
        }
    }
    objects(inner(config, "promptCache")).for_each(|times| strangers(&times, &fields::CACHE_TIMES, found));
    for limits in objects(inner(config, "inputLimits")) {
        strangers(&limits, &["maxRequestBytes", "images"], found);
        for images in objects(inner(&limits, "images")) {
            strangers(&images, &fields::IMAGE_LIMITS, found);
            objects(inner(&images, "resize")).for_each(|size| strangers(&size, &fields::RESIZE_LIMITS, found));
        }
    }
}

/// The API and the address.
fn place(config: &Object<'_>, found: &mut Vec<Fault>) {
    let apis = switches::api_names();
    if let Some(field) = config.get("api")
        && let Some(api) = field.value().as_str().filter(|api| !apis.contains(api))
    {
        let hint = match nearest(api, &apis) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("known are {}", apis.join(", ")),
        };
        found.push(field.fault(format!("unknown wire API \"{api}\"; {hint} Its models work only with an extension")));
    }
    if let Some(field) = config.get("baseUrl")
        && let Some(url) = field.value().as_str().map(|url| url.trim().trim_end_matches('/'))
    {
        if !is_http(url) {
            let text = "is no address that requests can go to: write it as http://HOST:PORT/v1 or https://HOST/v1";
            found.push(field.fault(text));
        } else if url.contains('?') {
            found.push(field.fault("has a query, and paths are added behind it: end the address before the \"?\""));
        } else if let Some(path) = PATHS.iter().find(|path| url.ends_with(**path)) {
            found.push(field.fault(format!("ends in {path}, which is added to it again: leave that out")));
        }
    }
}

/// Whether an address is one of `http` or `https`; it may have placeholders.
fn is_http(url: &str) -> bool {
    // No host may have braces; what stands between them comes later.
    let sample = url.replace(['{', '}'], "");
    Url::parse(&sample).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// Switches that no API of the models knows.
fn compat<'a>(config: &Object<'_>, apis: impl IntoIterator<Item = &'a str>, found: &mut Vec<Fault>) {
    let Some(compat) = config.get("compat").and_then(|compat| compat.object().ok()) else { return };
    let mut apis: Vec<_> = apis.into_iter().collect();
    apis.sort_unstable();
    apis.dedup();
    let everywhere = switches::names([ANY_API]);
    // Without any model there is no API to go by.
    let names = if apis.is_empty() { everywhere.clone() } else { switches::names(apis.iter().copied()) };
    for (field, near) in compat.unknown(&names) {
        let name = field.name().unwrap_or_default();
        found.push(field.fault(match near {
            _ if everywhere.contains(&name) => format!("has no effect: {} knows no such switch", apis.join(" or ")),
            Some(near) => format!("unknown switch (did you mean {near}?); it is ignored"),
            None => "unknown switch; it is ignored".to_owned(),
        }));
    }
}

fn strangers(object: &Object<'_>, known: &[&str], found: &mut Vec<Fault>) {
    found.extend(object.unknown(known).into_iter().map(|(field, near)| {
        field.fault(match near {
            Some(near) => format!("unknown field (did you mean {near}?); it is ignored"),
            None => "unknown field; it is ignored".to_owned(),
        })
    }));
}

fn inner<'a>(object: &Object<'a>, key: &str) -> Vec<Field<'a>> {
    object.get(key).into_iter().collect()
}

fn objects<'a>(fields: Vec<Field<'a>>) -> impl Iterator<Item = Object<'a>> {
    fields.into_iter().filter_map(|field| field.object().ok())
}
