//! How answers are sampled: the model's own parameters, and constraints on a tool's arguments by strict JSON schemas
//! and grammars.
//!
//! A declaration's `constrainedSampling` is `false`, `{"type":"json_schema","strict":"prefer"|"require"}` or
//! `{"type":"grammar","variants":{"openai_lark"|"openai_regex": text}}`.

use std::{borrow::Cow, collections::HashMap};

use serde_json::{Map, Value, json};

use super::Request;
use crate::protocol::{Failure, FailureClass, ToolDeclaration};

/// Keywords that strict mode does not take anywhere.
const NOT_STRICT: &[&str] = &[
    "$ref",
    "$defs",
    "definitions",
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "patternProperties",
    "propertyNames",
    "dependentSchemas",
    "dependentRequired",
    "unevaluatedProperties",
    "prefixItems",
    "contains",
];

/// The layers of sampling parameters of a request; a later one overrules what it names.
fn layers(request: &Request) -> impl DoubleEndedIterator<Item = &Map<String, Value>> {
    let by_level = request.model.sampling_params_by_thinking_level.as_ref();
    let of_level = by_level.and_then(|levels| levels.get(request.thinking.as_str())?.as_object());
    [request.model.sampling_params.as_ref(), of_level].into_iter().flatten()
}

/// Puts the sampling parameters over a request's fields. The field `conversation` is not theirs to set.
pub(crate) fn add_sampling(fields: &mut Map<String, Value>, request: &Request, conversation: &str) {
    for layer in layers(request) {
        fields.extend(layer.iter().filter(|(name, _)| *name != conversation).map(|(n, v)| (n.clone(), v.clone())));
    }
}

/// A sampling parameter of a request.
pub(crate) fn sampling_param<'a>(request: &'a Request, name: &str) -> Option<&'a Value> {
    layers(request).rev().find_map(|layer| layer.get(name))
}

/// A grammar that the text of a call must follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grammar<'a> {
    /// `lark` or `regex`.
    pub syntax: &'static str,
    /// The grammar.
    pub definition: &'a str,
    /// The argument that the text becomes.
    pub property: &'a str,
}

/// The grammar to declare a tool with, when it asks for one and its schema has exactly one argument, a text.
#[must_use]
pub fn grammar(tool: &ToolDeclaration) -> Option<Grammar<'_>> {
    let asked = tool.constrained_sampling.as_ref().filter(|asked| asked["type"] == "grammar")?;
    let variant = |name: &str| asked["variants"][name].as_str().filter(|text| !text.is_empty());
    let (syntax, definition) = variant("openai_lark")
        .map(|text| ("lark", text))
        .or_else(|| variant("openai_regex").map(|text| ("regex", text)))?;
    let properties = tool.parameters["properties"].as_object()?;
    let mut names = properties.iter();
    match (names.next(), names.next()) {
        (Some((property, schema)), None) if schema["type"] == "string" => {
            Some(Grammar { syntax, definition, property })
        }
        _ => None,
    }
}

/// Tools that take free text, with the argument that the text becomes.
pub(crate) type FreeText<'a> = HashMap<&'a str, &'a str>;

/// The tools of `declared` that are sent with a grammar, to a host that takes grammars.
pub(crate) fn free_text_tools<'a>(
    declared: impl IntoIterator<Item = &'a ToolDeclaration>,
    host_takes_it: bool,
) -> FreeText<'a> {
    let tools = declared.into_iter().filter(|_| host_takes_it);
    tools.filter_map(|tool| Some((tool.name.as_str(), grammar(tool)?.property))).collect()
}

/// The schema to declare: the strict form where there is one, else the tool's own.
pub(crate) fn parameters(tool: &ToolDeclaration, strict: Option<Value>) -> Cow<'_, Value> {
    match strict {
        Some(schema) => Cow::Owned(schema),
        None if tool.parameters.is_object() => Cow::Borrowed(&tool.parameters),
        None => Cow::Owned(json!({"type": "object", "properties": {}})),
    }
}

/// The schema to declare a tool strictly with: `None` when it does not ask, or only prefers what cannot be had.
/// `allowed` says whether the host takes a schema's keyword and value.
///
/// # Errors
/// When the tool requires strict sampling and the host or the schema does not allow it.
pub fn strict_schema(
    tool: &ToolDeclaration,
    host_takes_it: bool,
    allowed: impl Fn(&str, &Value) -> bool,
) -> Result<Option<Value>, Failure> {
    let asked = tool.constrained_sampling.as_ref().filter(|asked| asked["type"] == "json_schema");
    let Some(asked) = asked else { return Ok(None) };
    let schema = host_takes_it.then(|| strict(&tool.parameters, &allowed)).flatten();
    if schema.is_none() && asked["strict"] == "require" {
        return Err(refused(tool));
    }
    Ok(schema)
}

/// Whether a tool's arguments are to follow its schema, for hosts that take any schema then.
///
/// # Errors
/// When the tool requires it and the host cannot do it.
pub fn wants_strict(tool: &ToolDeclaration, host_can: bool) -> Result<bool, Failure> {
    match tool.constrained_sampling.as_ref().filter(|asked| asked["type"] == "json_schema") {
        Some(asked) if !host_can && asked["strict"] == "require" => Err(refused(tool)),
        asked => Ok(asked.is_some() && host_can),
    }
}

fn refused(tool: &ToolDeclaration) -> Failure {
    let text = format!(
        "The tool \"{}\" requires strict arguments, which this model or the tool's schema does not allow: choose another model or switch the tool off",
        tool.name
    );
    Failure::new(FailureClass::InvalidRequest, text)
}

/// The schema in strict form: every property required, optional ones nullable, nothing additional.
fn strict(schema: &Value, allowed: &impl Fn(&str, &Value) -> bool) -> Option<Value> {
    let map = schema.as_object()?;
    if map.iter().any(|(key, value)| NOT_STRICT.contains(&key.as_str()) || !allowed(key, value)) {
        return None;
    }
    let mut out = Map::new();
    for (key, value) in map {
        let value = match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => Value::Object(strict_properties(map, properties, allowed)?),
            ("items", items) => strict(items, allowed)?,
            ("anyOf", Value::Array(list)) => {
                Value::Array(list.iter().map(|option| strict(option, allowed)).collect::<Option<_>>()?)
            }
            ("additionalProperties", Value::Bool(false)) => continue,
            // Free keys cannot be listed as required.
            ("additionalProperties", _) => return None,
            ("required", _) => continue,
            (_, value) => value.clone(),
        };
        out.insert(key.clone(), value);
    }
    if map.get("type").is_some_and(|kind| kind == "object") {
        let names: Vec<Value> = map
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::keys)
            .cloned()
            .map(Value::String)
            .collect();
        out.insert("required".into(), names.into());
        out.insert("additionalProperties".into(), false.into());
    }
    Some(Value::Object(out))
}

fn strict_properties(
    object: &Map<String, Value>,
    properties: &Map<String, Value>,
    allowed: &impl Fn(&str, &Value) -> bool,
) -> Option<Map<String, Value>> {
    let required = object.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|list| list.iter().any(|item| item == name));
    let mut out = Map::new();
    for (name, schema) in properties {
        let schema = strict(schema, allowed)?;
        out.insert(name.clone(), if is_required(name) { schema } else { nullable(schema) });
    }
    Some(out)
}

/// The schema, or null.
fn nullable(mut schema: Value) -> Value {
    let is_fixed = schema.get("enum").is_some() || schema.get("const").is_some();
    match schema.get_mut("type") {
        Some(Value::String(kind)) if !is_fixed => {
            let kind = std::mem::take(kind);
            schema["type"] = if kind == "null" { kind.into() } else { json!([kind, "null"]) };
            schema
        }
        Some(Value::Array(kinds)) if !is_fixed => {
            if !kinds.iter().any(|kind| kind == "null") {
                kinds.push("null".into());
            }
            schema
        }
        _ => json!({ "anyOf": [schema, {"type": "null"}] }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(sampling: Value, parameters: Value) -> ToolDeclaration {
        ToolDeclaration {
            name: "t".into(),
            parameters,
            constrained_sampling: Some(sampling),
            ..ToolDeclaration::default()
        }
    }

    #[test]
    fn strict_schemas_require_everything_and_make_the_optional_nullable() {
        let schema = json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "string"},
            "b": {"type": "integer", "description": "d"},
            "c": {"enum": ["x"]},
            "d": {"type": ["string", "null"]},
            "e": {"type": "array", "items": {"type": "object", "properties": {"f": {"anyOf": [{"type": "string"}]}}}},
        }});
        let strict =
            strict_schema(&tool(json!({"type": "json_schema", "strict": "prefer"}), schema), true, |_, _| true);
        assert_eq!(
            strict,
            Ok(Some(json!({"type": "object", "properties": {
                "a": {"type": "string"},
                "b": {"type": ["integer", "null"], "description": "d"},
                "c": {"anyOf": [{"enum": ["x"]}, {"type": "null"}]},
                "d": {"type": ["string", "null"]},
                "e": {"type": ["array", "null"], "items": {"type": "object",
                    "properties": {"f": {"anyOf": [{"anyOf": [{"type": "string"}]}, {"type": "null"}]}},
                    "required": ["f"], "additionalProperties": false}},
            }, "required": ["a", "b", "c", "d", "e"], "additionalProperties": false})))
        );
    }

    #[test]
    fn what_cannot_be_strict_is_left_alone_or_refused() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}}});
        let free = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let with_ref = json!({"type": "object", "properties": {"a": {"$ref": "#/x"}}});
        let prefer = || json!({"type": "json_schema", "strict": "prefer"});
        let require = || json!({"type": "json_schema", "strict": "require"});
        assert_eq!(strict_schema(&tool(json!(false), schema.clone()), true, |_, _| true), Ok(None));
        assert_eq!(strict_schema(&tool(prefer(), schema.clone()), false, |_, _| true), Ok(None));
        assert_eq!(strict_schema(&tool(prefer(), schema.clone()), true, |key, _| key != "pattern"), Ok(None));
        assert_eq!(strict_schema(&tool(prefer(), free), true, |_, _| true), Ok(None));
        assert_eq!(strict_schema(&tool(prefer(), with_ref), true, |_, _| true), Ok(None));
        let refused = strict_schema(&tool(require(), schema), false, |_, _| true).unwrap_err();
        assert!(refused.message.contains("\"t\""), "{refused}");
    }

    #[test]
    fn a_grammar_needs_exactly_one_text_argument() {
        let one = json!({"type": "object", "properties": {"code": {"type": "string"}}});
        let asked = |variants: Value| json!({"type": "grammar", "variants": variants});
        let lark = tool(asked(json!({"openai_regex": "r", "openai_lark": "l"})), one.clone());
        assert_eq!(grammar(&lark), Some(Grammar { syntax: "lark", definition: "l", property: "code" }));
        let regex = tool(asked(json!({"openai_regex": "r"})), one.clone());
        assert_eq!(grammar(&regex).map(|grammar| grammar.syntax), Some("regex"));
        assert_eq!(grammar(&tool(asked(json!({})), one)), None);
        let two = json!({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
        assert_eq!(grammar(&tool(asked(json!({"openai_lark": "l"})), two)), None);
    }
}
