//! Tool-call arguments: from the joined argument text to an object (rules A1 to A5).

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::json_repair::repair;

/// Levels of objects and lists within each other at most. JSON is read to 127 levels, and sessions and requests put
/// some around the arguments: what cannot be read back must not be stored.
const DEPTH_LIMIT: usize = 100;

/// Reads the complete argument text of a call. No text at all, blank text and `null` mean "no arguments".
///
/// # Errors
/// The text for the call's `argumentsError` when it is no JSON object even after repair: what is wrong, a blank line,
/// and the text that came.
pub fn parse(raw: &str) -> Result<Map<String, Value>, String> {
    if raw.trim().is_empty() {
        return Ok(Map::new());
    }
    let parsed = serde_json::from_str(raw).or_else(|error| match repair(raw) {
        Cow::Owned(repaired) => serde_json::from_str(&repaired).map_err(|_| error),
        Cow::Borrowed(_) => Err(error),
    });
    match parsed {
        Ok(Value::Object(arguments)) if !arguments.values().all(|value| fits(value, DEPTH_LIMIT - 1)) => {
            Err(describe(&format!("more than {DEPTH_LIMIT} levels of objects and lists"), raw))
        }
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(other) => Err(describe(&format!("expected a JSON object, got {}", kind(&other)), raw)),
        Err(error) => Err(describe(&error.to_string(), raw)),
    }
}

/// Whether a value has at most `levels` levels of objects and lists.
fn fits(value: &Value, levels: usize) -> bool {
    match value {
        Value::Object(members) => levels > 0 && members.values().all(|value| fits(value, levels - 1)),
        Value::Array(elements) => levels > 0 && elements.iter().all(|value| fits(value, levels - 1)),
        _ => true,
    }
}

fn describe(problem: &str, raw: &str) -> String {
    format!("{problem}\n\nReceived arguments:\n{raw}")
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fc_024_no_text_and_null_are_no_arguments() {
        for raw in ["", "  \n", "{}", "null", " null "] {
            assert_eq!(parse(raw), Ok(Map::new()), "{raw:?}");
        }
    }

    #[test]
    fn complete_text_gives_the_object_repaired_where_models_are_known_to_slip() {
        let table = [
            (r#"{"path":"a","n":[1]}"#, json!({"path": "a", "n": [1]})),
            (r#"{"re":"\d+"}"#, json!({"re": "\\d+"})),
            ("{\"text\":\"a\tb\nc\"}", json!({"text": "a\tb\nc"})),
            (r#"{"a":"\ud83d\ude80"}"#, json!({"a": "🚀"})),
            (r#"{"a":1,"a":2}"#, json!({"a": 2})),
        ];
        for (raw, value) in table {
            assert_eq!(parse(raw).map(Value::Object), Ok(value), "{raw}");
        }
    }

    #[test]
    fn arguments_that_could_not_be_read_back_are_refused() {
        let nested = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
        assert!(parse(&nested(100)).is_ok());
        assert!(parse(&nested(101)).unwrap_err().starts_with("more than 100 levels"));
    }

    #[test]
    fn fc_023_what_is_no_object_is_described_with_the_text_that_came() {
        for raw in ["[1]", "3", "\"x\"", "{\"path\": \"a.txt\", \"content\": \"hi", "{\"a\":1}}", "{'a':1}"] {
            let error = parse(raw).unwrap_err();
            let (problem, received) = error.split_once("\n\n").unwrap();
            assert!(!problem.is_empty(), "{raw}");
            assert_eq!(received, format!("Received arguments:\n{raw}"));
        }
        assert!(parse("[1]").unwrap_err().starts_with("expected a JSON object, got an array"));
    }
}
