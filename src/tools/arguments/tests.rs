use serde_json::{Value, json};

use super::*;
use crate::tools::ToolSet;

fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall { name: name.into(), arguments: arguments.as_object().unwrap().clone(), ..ToolCall::default() }
}

fn checked(name: &str, arguments: Value) -> Result<Value, String> {
    let tools = ToolSet::builtin();
    validate(tools.get(name).unwrap().as_ref(), &call(name, arguments))
        .map(Value::Object)
        .map_err(|failure| failure.to_string())
}

/// What a property `x` with this schema becomes; none when it is dropped, an error when it does not fit.
fn fitted(schema: Value, value: Value) -> Result<Option<Value>, Vec<String>> {
    let parameters = json!({"type": "object", "properties": {"x": schema}, "$defs": {"n": {"type": "number"}}});
    fit(&parameters, Map::from_iter([("x".to_owned(), value)])).map(|mut arguments| arguments.remove("x")).map_err(
        |problems| problems.into_iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect(),
    )
}

#[test]
fn failures_name_each_place_and_show_what_was_received() {
    assert_eq!(
        checked("read", json!({})).unwrap_err(),
        "Validation failed for tool \"read\":\n  - path: missing\n\nReceived arguments:\n{}"
    );
    assert_eq!(
        checked("edit", json!({"path": "a", "edits": [{"oldText": "x"}]})).unwrap_err(),
        "Validation failed for tool \"edit\":\n  - edits.0.newText: missing\n\nReceived arguments:\n{\n  \"path\": \"a\",\n  \
         \"edits\": [\n    {\n      \"oldText\": \"x\"\n    }\n  ]\n}"
    );
    assert!(checked("read", json!({"path": {"a": 1}})).unwrap_err().contains("  - path: expected string, got object"));
}

#[test]
fn arguments_that_did_not_parse_say_how() {
    let tools = ToolSet::builtin();
    let mut call = call("bash", json!({}));
    call.arguments_error = Some("EOF\n\nReceived arguments:\n{\"command\":".into());
    assert_eq!(
        validate(tools.get("bash").unwrap().as_ref(), &call).unwrap_err().to_string(),
        "Invalid arguments for tool \"bash\": EOF\n\nReceived arguments:\n{\"command\":"
    );
}

#[test]
fn text_for_numbers_null_for_nothing_and_unknown_properties_are_accepted() {
    assert_eq!(
        checked("read", json!({"path": "a.txt", "offset": "1", "limit": null, "foo": 1})),
        Ok(json!({"path": "a.txt", "offset": 1, "foo": 1}))
    );
    assert_eq!(checked("bash", json!({"command": "x", "timeout": "5"})), Ok(json!({"command": "x", "timeout": 5})));
    assert_eq!(
        checked("grep", json!({"pattern": 42, "literal": "true"})),
        Ok(json!({"pattern": "42", "literal": true}))
    );
    assert!(checked("read", json!({"path": null})).is_err(), "a required null is not dropped");
}

#[test]
fn values_become_what_the_schema_wants() {
    let table = [
        (json!({"type": "number"}), json!("1.5"), json!(1.5)),
        (json!({"type": "number"}), json!(true), json!(1)),
        (json!({"type": "integer"}), json!("42.9"), json!(42)),
        (json!({"type": "integer"}), json!(-3.7), json!(-3)),
        (json!({"type": "integer"}), json!(4.0), json!(4.0)),
        (json!({"type": "string"}), json!(2.0), json!("2")),
        (json!({"type": "string"}), json!(2.5), json!("2.5")),
        (json!({"type": "string"}), json!(false), json!("false")),
        (json!({"type": "boolean"}), json!("false"), json!(false)),
        (json!({"type": "boolean"}), json!(1), json!(true)),
        (json!({"type": ["integer", "null"]}), json!(null), json!(null)),
        (json!({"type": ["integer", "null"]}), json!("7"), json!(7)),
        (json!({"type": "array", "items": {"type": "number"}}), json!("7"), json!([7])),
        (json!({"type": "array", "items": {"type": "number"}}), json!(["7", 8]), json!([7, 8])),
        (json!({"type": "array", "prefixItems": [{"type": "string"}]}), json!([1, 2]), json!(["1", 2])),
        (json!({"enum": ["a", 3]}), json!("3"), json!(3)),
        (json!({"const": "3"}), json!(3), json!("3")),
        (json!({"anyOf": [{"type": "number"}, {"type": "string"}]}), json!("3"), json!("3")),
        (json!({"anyOf": [{"type": "number"}, {"type": "null"}]}), json!("3"), json!(3)),
        (json!({"oneOf": [{"type": "boolean"}, {"type": "number"}]}), json!("true"), json!(true)),
        (json!({"allOf": [{"type": "number"}, {"minimum": 1}]}), json!("3"), json!(3)),
        (json!({"$ref": "#/$defs/n"}), json!("3"), json!(3)),
        (
            json!({"type": "object", "properties": {"a/b": {"type": "number"}}, "additionalProperties": {"type": "string"}}),
            json!({"a/b": "1", "c": 2}),
            json!({"a/b": 1, "c": "2"}),
        ),
    ];
    for (schema, value, wanted) in table {
        assert_eq!(fitted(schema.clone(), value.clone()), Ok(Some(wanted)), "{schema} {value}");
    }
}

#[test]
fn what_cannot_be_made_to_fit_is_told() {
    let table = [
        (json!({"type": "number"}), json!("many"), "x: expected number, got string"),
        (json!({"type": "number"}), json!(""), "x: expected number, got string"),
        (json!({"type": "boolean"}), json!("yes"), "x: expected boolean, got string"),
        (json!({"enum": ["a", "b"]}), json!("c"), "x: must be one of \"a\", \"b\""),
        (json!({"const": 1}), json!("c"), "x: must be 1"),
        (json!({"anyOf": [{"type": "number"}, {"type": "null"}]}), json!("c"), "x: fits none of the allowed forms"),
        (
            json!({"type": "object", "properties": {"z": {}}, "additionalProperties": false}),
            json!({"y": 1}),
            "x.y: unknown property",
        ),
        (
            json!({"type": "object", "additionalProperties": false}),
            json!({"y": 1}),
            "x: has properties, but none are allowed here",
        ),
        (json!({"type": "string", "maxLength": 2}), json!("long"), "x: value is longer than 2 characters"),
        (json!({"$ref": "#/$defs/n"}), json!(null), "x: expected number, got null"),
        (json!({"$ref": "#/$defs/missing"}), json!(1), "x: no value is allowed here"),
    ];
    for (schema, value, wanted) in table {
        assert_eq!(fitted(schema.clone(), value.clone()), Err(vec![wanted.to_owned()]), "{schema} {value}");
    }
}

#[test]
fn optional_nulls_are_dropped_only_where_null_is_not_allowed() {
    assert_eq!(fitted(json!({"type": "number"}), json!(null)), Ok(None));
    assert_eq!(fitted(json!({"anyOf": [{"type": "number"}, {"type": "null"}]}), json!(null)), Ok(Some(json!(null))));
    assert_eq!(fitted(json!({}), json!(null)), Ok(Some(json!(null))));
}

#[test]
fn a_reference_to_nothing_spoils_only_its_own_place() {
    let parameters = json!({"type": "object", "properties": {"a": {"$ref": "https://example.invalid/x.json"}, "b": {"type": "number"}}});
    let arguments = |value: Value| value.as_object().unwrap().clone();
    assert_eq!(fit(&parameters, arguments(json!({"b": "2"}))).unwrap(), arguments(json!({"b": 2})));
    assert!(fit(&parameters, arguments(json!({"a": 2}))).is_err());
}

#[test]
fn a_schema_that_is_none_checks_nothing() {
    for parameters in
        [json!(null), json!({"type": 7}), json!({"type": "object", "properties": {"a": {"pattern": "("}}})]
    {
        assert!(fit(&parameters, Map::from_iter([("a".to_owned(), json!("x"))])).is_ok(), "{parameters}");
    }
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let parameters = json!({"$ref": "#"});
    let _ = fit(&parameters, Map::new());
    let tree = json!({"type": "object", "properties": {"n": {"type": "number"}, "next": {"$ref": "#"}}});
    let got = fit(&tree, json!({"next": {"next": {"n": "1"}}}).as_object().unwrap().clone()).unwrap();
    assert_eq!(Value::Object(got), json!({"next": {"next": {"n": 1}}}));
}
