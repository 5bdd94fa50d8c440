//! Old names of settings, replaced on reading. A new name that is already there wins.

use serde_json::{Map, Value, json};

/// Replaces old names. The file itself keeps them until the setting is changed.
pub(super) fn migrate(mut values: Map<String, Value>) -> Map<String, Value> {
    if let Some(mode) = values.shift_remove("queueMode") {
        values.entry("steeringMode").or_insert(mode);
    }
    if let Some(Value::Bool(websocket)) = values.get("websockets") {
        let transport = if *websocket { "websocket" } else { "sse" };
        values.shift_remove("websockets");
        values.entry("transport").or_insert_with(|| transport.into());
    }
    if let Some(Value::Object(skills)) = values.get("skills").cloned() {
        values.shift_remove("skills");
        if let Some(flag) = skills.get("enableSkillCommands") {
            values.entry("enableSkillCommands").or_insert_with(|| flag.clone());
        }
        if let Some(Value::Array(folders)) = skills.get("customDirectories").filter(|list| **list != json!([])) {
            values.insert("skills".to_owned(), Value::Array(folders.clone()));
        }
    }
    if let Some(Value::Object(retry)) = values.get_mut("retry")
        && let Some(delay) = retry.shift_remove("maxDelayMs")
    {
        let provider = retry.entry("provider").or_insert_with(|| json!({}));
        if let Value::Object(provider) = provider {
            provider.entry("maxRetryDelayMs").or_insert(delay);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_are_replaced_and_new_ones_win() {
        let table = [
            (json!({"queueMode": "all"}), json!({"steeringMode": "all"})),
            (json!({"queueMode": "all", "steeringMode": "one-at-a-time"}), json!({"steeringMode": "one-at-a-time"})),
            (json!({"websockets": true}), json!({"transport": "websocket"})),
            (json!({"websockets": false}), json!({"transport": "sse"})),
            (
                json!({"skills": {"enableSkillCommands": false, "customDirectories": ["a"]}}),
                json!({"enableSkillCommands": false, "skills": ["a"]}),
            ),
            (json!({"skills": ["kept"]}), json!({"skills": ["kept"]})),
            (
                json!({"retry": {"maxDelayMs": 5, "enabled": true}}),
                json!({"retry": {"enabled": true, "provider": {"maxRetryDelayMs": 5}}}),
            ),
        ];
        for (old, new) in table {
            let Value::Object(values) = old else { panic!() };
            assert_eq!(Value::Object(migrate(values)), new);
        }
    }
}
