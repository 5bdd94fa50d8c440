//! Answers that must be JSON.

use serde_json::{Value, json};

use crate::actors::json_answer;

/// The value in an answer that `schema` accepts.
///
/// # Errors
/// What is wrong with it, in words for the model.
pub fn parse(text: &str, schema: &Value) -> Result<Value, String> {
    let validator = json_answer::compile(schema).map_err(|error| format!("The schema is wrong: {error}."))?;
    json_answer::check(&validator, text)
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
    fn a_verdict_names_one_of_the_candidates() {
        let schema = verdict_schema(&[1, 2, 3]);
        let table = [
            (r#"{"best": 3, "reason": "short"}"#, Ok(3)),
            (r#"{"best": 4}"#, Err("at /best: 4 is not one of 1, 2 or 3")),
            (r#"{"reason": "x"}"#, Err("\"best\" is a required property")),
            ("The best is 2.", Err("It is not JSON: ")),
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
