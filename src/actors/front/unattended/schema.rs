//! Whether an answer is JSON of the wanted form.

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

/// What the prompt says about the form of the answer.
#[must_use]
pub fn request(schema: &Value) -> String {
    format!(
        "When everything is done, answer with one JSON value and nothing else. It must fit this JSON schema:\n{schema}"
    )
}

/// The value that an answer holds, alone or as the only fenced block.
///
/// # Errors
/// What is wrong with it, in words for the model.
pub fn check(validator: &Validator, answer: &str) -> Result<Value, String> {
    let text = without_fence(answer.trim());
    let value: Value = serde_json::from_str(text).map_err(|error| format!("It is not JSON: {error}."))?;
    let faults: Vec<String> = validator
        .iter_errors(&value)
        .take(TOLD)
        .map(|error| match error.instance_path().to_string() {
            path if path.is_empty() => format!("- {error}"),
            path => format!("- at {path}: {error}"),
        })
        .collect();
    if faults.is_empty() { Ok(value) } else { Err(faults.join("\n")) }
}

/// What is between the fences of a text that is one fenced block; any other text as it is.
fn without_fence(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    match inner.and_then(|inner| inner.split_once('\n')) {
        Some((_, body)) if !body.contains("```") => body.trim(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_taken_as_json_with_or_without_a_fence_and_its_faults_are_told() {
        let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
        let validator = compile(&schema).unwrap();
        let table = [
            ("{\"n\": 1}", Ok(json!({"n": 1}))),
            ("\n```json\n{\"n\": 1}\n```\n", Ok(json!({"n": 1}))),
            ("```\n{\"n\": 1}```", Ok(json!({"n": 1}))),
            ("The answer: {\"n\": 1}", Err("not JSON")),
            ("```json\n{\"n\": 1}\n```\n```json\n{}\n```", Err("not JSON")),
            ("{}", Err("n")),
            ("{\"n\": \"x\"}", Err("at /n")),
            ("", Err("not JSON")),
        ];
        for (answer, wanted) in table {
            match (check(&validator, answer), wanted) {
                (Ok(value), Ok(wanted)) => assert_eq!(value, wanted),
                (Err(fault), Err(words)) => assert!(fault.contains(words), "{answer}: {fault}"),
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
