//! Answers that must be JSON of a certain form.

use jsonschema::Validator;
use serde_json::Value;

/// Faults of an answer that are told at most: the model mends one after the other anyway.
const TOLD: usize = 20;

/// Compiles a schema. Nothing is fetched for it.
///
/// # Errors
/// Why it is no schema.
pub fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::options().offline().build(schema).map_err(|error| error.to_string())
}

/// The value that an answer holds: all of it, or what stands in its last code fence.
///
/// # Errors
/// What is wrong with it, in words for the model.
pub fn check(validator: &Validator, answer: &str) -> Result<Value, String> {
    let value = found(answer)?;
    let faults: Vec<String> = validator
        .iter_errors(&value)
        .take(TOLD)
        .map(|error| match error.instance_path().to_string() {
            path if path.is_empty() => error.to_string(),
            path => format!("at {path}: {error}"),
        })
        .collect();
    match faults.as_slice() {
        [] => Ok(value),
        [one] => Err(one.clone()),
        several => Err(format!("- {}", several.join("\n- "))),
    }
}

fn found(answer: &str) -> Result<Value, String> {
    let whole = serde_json::from_str(answer.trim());
    whole
        .or_else(|error| fenced(answer).and_then(|inside| serde_json::from_str(inside.trim()).ok()).ok_or(error))
        .map_err(|error| format!("It is not JSON: {error}."))
}

/// What is between the last two fences.
fn fenced(text: &str) -> Option<&str> {
    let before_end = &text[..text.rfind("```")?];
    let begin = before_end.rfind("```")?;
    let inside = &before_end[begin + 3..];
    inside.find('\n').map(|end_of_line| &inside[end_of_line..])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_found_alone_or_in_the_last_fence_and_its_faults_are_told() {
        let schema = json!({
            "type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}, "m": {"type": "string"}},
        });
        let validator = compile(&schema).unwrap();
        let table = [
            (" {\"n\": 1} ", Ok(json!({"n": 1}))),
            ("\n```json\n{\"n\": 1}\n```\n", Ok(json!({"n": 1}))),
            ("```\n{\"n\": 1}```", Ok(json!({"n": 1}))),
            ("Here:\n```json\n{\"n\": 3}\n```\n", Ok(json!({"n": 3}))),
            ("```\n{\"n\": 9}\n```\n```json\n{\"n\": 1}\n```", Ok(json!({"n": 1}))),
            ("The answer: {\"n\": 1}", Err("It is not JSON: ")),
            ("{}", Err("\"n\" is a required property")),
            ("{\"n\": \"x\"}", Err("at /n: ")),
            ("{\"n\": \"x\", \"m\": 1}", Err("- at /n: ")),
            ("", Err("It is not JSON: ")),
        ];
        for (answer, wanted) in table {
            match (check(&validator, answer), wanted) {
                (Ok(value), Ok(wanted)) => assert_eq!(value, wanted, "{answer}"),
                (Err(fault), Err(begin)) => assert!(fault.starts_with(begin), "{answer}: {fault}"),
                (got, wanted) => panic!("{answer}: {got:?}, not {wanted:?}"),
            }
        }
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        assert!(compile(&json!({"type": "nothing"})).is_err());
        assert!(compile(&json!({"$ref": "https://example.com/x.json"})).is_err());
    }
}
