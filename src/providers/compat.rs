//! Reading a model's `compat` object.

use serde::de::DeserializeOwned;
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
