//! Reading a model's `compat` object, and the switches that several APIs have.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// Reads the switches of an API. One that cannot be read counts as not made: it must not switch off the others.
pub(crate) fn read<T: DeserializeOwned + Default>(compat: Option<&Map<String, Value>>) -> T {
    let Some(compat) = compat else { return T::default() };
    let parse = |map: Map<String, Value>| serde_json::from_value::<T>(Value::Object(map));
    parse(compat.clone()).unwrap_or_else(|_| {
        let is_readable =
            |(name, value): &(&String, &Value)| parse(Map::from_iter([((*name).clone(), (*value).clone())])).is_ok();
        let good = compat.iter().filter(is_readable).map(|(name, value)| (name.clone(), value.clone()));
        parse(good.collect()).unwrap_or_default()
    })
}

/// Which headers keep the requests of a session on one server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionAffinity {
    /// `session_id`, `x-client-request-id`, `x-session-affinity` with Chat Completions; `session-id`,
    /// `x-client-request-id` with Responses.
    #[default]
    Openai,
    /// The same without the first.
    OpenaiNosession,
    /// `x-session-id`.
    Openrouter,
}

/// When `prompt_cache_key` is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheKeyMode {
    /// Where it is known to help: with Chat Completions to OpenAI itself and with long retention, else always.
    #[default]
    Auto,
    /// Always.
    Enabled,
    /// Never.
    Disabled,
}
