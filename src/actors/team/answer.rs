//! Answers that must be JSON.

use serde_json::{Value, json};

/// The value in an answer that `schema` accepts.
///
/// # Errors
/// What is wrong with it, in words for the model.
pub fn parse(text: &str, schema: &Value) -> Result<Value, String> {
    let value = found(text)?;
    let validator =
        jsonschema::options().offline().build(schema).map_err(|error| format!("the schema is wrong: {error}"))?;
    let problems: Vec<String> = validator
        .iter_errors(&value)
        .take(10)
        .map(|error| match error.instance_path().to_string() {
            path if path.is_empty() => error.to_string(),
            path => format!("{path}: {error}"),
        })
        .collect();
    if problems.is_empty() { Ok(value) } else { Err(problems.join("\n")) }
}

/// The JSON of an answer: all of it, or what stands in its last code fence.
fn found(text: &str) -> Result<Value, String> {
    let whole = serde_json::from_str(text.trim());
    whole
        .or_else(|error| fenced(text).and_then(|inside| serde_json::from_str(inside.trim()).ok()).ok_or(error))
        .map_err(|error| format!("it is not JSON: {error}"))
}

fn fenced(text: &str) -> Option<&str> {
    let before_end = &text[..text.rfind("```")?];
    let begin = before_end.rfind("```")?;
    let inside = &before_end[begin + 3..];
    inside.find('\n').map(|end_of_line| &inside[end_of_line..])
}

/// What stands behind the first message of an agent whose answer must be JSON.
#[must_use]
pub fn request(schema: &Value) -> String {
    format!("\n\nAnswer at the end with JSON alone, no other words, that fits this JSON schema:\n{schema}")
}

/// What an agent is told whose answer is not what it should be.
#[must_use]
pub fn repair(problem: &str, schema: &Value) -> String {
    format!(
        "Your answer cannot be used:\n{problem}\n\nAnswer again with JSON alone, no other words, that fits this JSON \
         schema:\n{schema}"
    )
}

/// What a judge answers: the number of the best candidate, one of these.
#[must_use]
pub fn verdict_schema(numbers: &[usize]) -> Value {
    json!({
        "type": "object",
        "properties": {
            "best": {"type": "integer", "enum": numbers},
            "reason": {"type": "string"},
        },
        "required": ["best"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_alone_or_in_a_fence_and_held_against_the_schema() {
        let schema = verdict_schema(&[1, 2, 3]);
        let table = [
            (r#" {"best": 2} "#, Ok(2)),
            ("Here:\n```json\n{\"best\": 3, \"reason\": \"short\"}\n```\n", Ok(3)),
            ("```\n{\"best\": 9}\n```\n```json\n{\"best\": 1}\n```", Ok(1)),
            ("The best is 2.", Err("it is not JSON: ")),
            (r#"{"best": 4}"#, Err("/best: 4 is not one of 1, 2 or 3")),
            (r#"{"reason": "x"}"#, Err("\"best\" is a required property")),
            ("", Err("it is not JSON: ")),
        ];
        for (text, expected) in table {
            match (parse(text, &schema), expected) {
                (Ok(value), Ok(best)) => assert_eq!(value["best"], best, "{text}"),
                (Err(error), Err(begin)) => assert!(error.starts_with(begin), "{text}: {error}"),
                (other, _) => panic!("{text}: {other:?}"),
            }
        }
    }
}
