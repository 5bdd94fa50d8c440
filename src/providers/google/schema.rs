//! JSON schemas in the form that Gemini understands: it ignores `const`.

use serde_json::{Map, Value};

/// Keywords whose value is one schema, or a list of them.
const SCHEMAS: &[&str] = &[
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "allOf",
    "anyOf",
    "oneOf",
    "contentSchema",
];
/// Keywords whose value maps names to schemas. The names may be anything, `const` included.
const NAMED_SCHEMAS: &[&str] =
    &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// The schema with an `enum` of one value in the place of each `const` that is a text or a number. Literal data
/// (`default`, `examples`, `enum`, …) stays as it is.
pub(super) fn without_const(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => Value::Object(map.iter().filter_map(|(key, value)| keyword(map, key, value)).collect()),
        Value::Array(list) => list.iter().map(without_const).collect(),
        other => other.clone(),
    }
}

fn keyword(schema: &Map<String, Value>, key: &str, value: &Value) -> Option<(String, Value)> {
    let replaces = |value: &Value| value.is_string() || value.is_number();
    match (key, value) {
        ("const", value) if replaces(value) => Some(("enum".to_owned(), Value::Array(vec![value.clone()]))),
        // The constant says more.
        ("enum", _) if schema.get("const").is_some_and(replaces) => None,
        (key, Value::Object(named)) if NAMED_SCHEMAS.contains(&key) => {
            let named = named.iter().map(|(name, schema)| (name.clone(), without_const(schema)));
            Some((key.to_owned(), Value::Object(named.collect())))
        }
        (key, value) if SCHEMAS.contains(&key) => Some((key.to_owned(), without_const(value))),
        (key, value) => Some((key.to_owned(), value.clone())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn constants_become_enums_where_schemas_stand_and_nowhere_else() {
        let table = [
            (json!({"const": "a"}), json!({"enum": ["a"]})),
            (json!({"const": 1.5, "type": "number"}), json!({"enum": [1.5], "type": "number"})),
            (json!({"enum": ["a", "b"], "const": "b"}), json!({"enum": ["b"]})),
            (json!({"const": true}), json!({"const": true})),
            (json!({"const": null, "enum": [null]}), json!({"const": null, "enum": [null]})),
            (json!({"const": {"const": "x"}}), json!({"const": {"const": "x"}})),
            (
                json!({"properties": {"const": {"const": "k"}, "b": {"anyOf": [{"const": 1}, {"items": {"const": "z"}}]}}}),
                json!({"properties": {"const": {"enum": ["k"]}, "b": {"anyOf": [{"enum": [1]}, {"items": {"enum": ["z"]}}]}}}),
            ),
            (
                json!({"default": {"const": "d"}, "examples": [{"const": "e"}], "enum": [{"const": "f"}], "x-note": {"const": "g"}}),
                json!({"default": {"const": "d"}, "examples": [{"const": "e"}], "enum": [{"const": "f"}], "x-note": {"const": "g"}}),
            ),
            (
                json!({"$defs": {"T": {"const": "t"}}, "if": {"const": 1}, "then": true, "not": {"const": 2}, "prefixItems": [{"const": 3}], "additionalProperties": {"const": "v"}}),
                json!({"$defs": {"T": {"enum": ["t"]}}, "if": {"enum": [1]}, "then": true, "not": {"enum": [2]}, "prefixItems": [{"enum": [3]}], "additionalProperties": {"enum": ["v"]}}),
            ),
            (
                json!({"dependencies": {"a": ["b"], "c": {"const": 1}}, "properties": ["odd", {"const": 1}]}),
                json!({"dependencies": {"a": ["b"], "c": {"enum": [1]}}, "properties": ["odd", {"const": 1}]}),
            ),
            (json!(true), json!(true)),
        ];
        for (schema, expected) in table {
            assert_eq!(without_const(&schema), expected);
        }
    }
}
