//! The flows that are known without any configuration.

use std::{collections::HashMap, path::Path, sync::LazyLock};

use serde_json::{Map, Value};

use crate::store::document::{Document, Syntax};

/// The flows' fields by provider; those of vendors that know registered programs only lack a client id.
static FLOWS: LazyLock<HashMap<String, Map<String, Value>>> = LazyLock::new(|| {
    let text = include_str!("builtin.jsonc").to_owned();
    // The file is part of the program: a fault in it is found by the test below, not by users.
    let document = Document::parse(Path::new("builtin.jsonc"), text, Syntax::Comments).ok();
    match document.map(Document::into_value) {
        Some(Value::Object(flows)) => flows.into_iter().filter_map(|(id, flow)| Some((id, object(flow)?))).collect(),
        _ => HashMap::new(),
    }
});

fn object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(map) => Some(map),
        _ => None,
    }
}

/// The fields of a provider's flow.
#[must_use]
pub fn flow(provider: &str) -> Option<&'static Map<String, Value>> {
    FLOWS.get(provider)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::oauth::Flow;

    #[test]
    fn every_flow_can_be_read_and_none_brings_an_id_of_another_program() {
        assert!(FLOWS.len() >= 7);
        for (provider, fields) in FLOWS.iter() {
            let flow = Flow::of_layers([fields]).unwrap_or_else(|fault| panic!("{provider}: {}", fault.describe()));
            assert_eq!(flow.client, None, "{provider}");
            assert_eq!(flow.is_complete(), provider == "openrouter", "{provider}");
        }
    }
}
