//! Compiled schemas of tool parameters.

use std::{
    collections::HashMap,
    fmt::Write as _,
    sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError},
};

use jsonschema::{
    ValidationError, Validator, ValidatorMap,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

/// Compiled schemas by their text. Agents share them.
static COMPILED: LazyLock<Mutex<HashMap<Value, Arc<Schema>>>> = LazyLock::new(Mutex::default);
/// A process that sees more schemas than this drops the old ones.
const KEPT_AT_MOST: usize = 1024;

/// A schema, compiled when it is first needed. One that cannot be compiled accepts everything: the tool then judges
/// its arguments itself.
#[derive(Debug)]
pub struct Schema {
    root: Value,
    validator: Option<Validator>,
    parts: OnceLock<Option<ValidatorMap>>,
}

/// What is wrong at one place of the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Property names and indexes joined by dots; `root` at the top.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl Problem {
    pub fn at_root(message: &str) -> Self {
        Self { path: "root".into(), message: message.into() }
    }
}

impl Schema {
    /// Whether the parameters are compiled already.
    pub fn is_known(parameters: &Value) -> bool {
        COMPILED.lock().unwrap_or_else(PoisonError::into_inner).contains_key(parameters)
    }

    /// The compiled form of a tool's parameters.
    pub fn of(parameters: &Value) -> Arc<Self> {
        if let Some(known) = COMPILED.lock().unwrap_or_else(PoisonError::into_inner).get(parameters) {
            return Arc::clone(known);
        }
        let schema = Arc::new(Self::compile(parameters));
        let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        if compiled.len() >= KEPT_AT_MOST {
            compiled.clear();
        }
        compiled.insert(parameters.clone(), Arc::clone(&schema));
        schema
    }

    fn compile(parameters: &Value) -> Self {
        let build = |root: &Value| jsonschema::options().offline().build(root);
        let (root, validator) = match build(parameters) {
            Ok(validator) => (parameters.clone(), Some(validator)),
            Err(_) => {
                // A reference to nothing spoils the place where it stands, not the whole tool.
                let mended = without_dangling_references(parameters);
                let validator = build(&mended).inspect_err(|error| {
                    tracing::warn!(%error, "a tool's parameter schema cannot be used; its arguments are not checked");
                });
                (mended, validator.ok())
            }
        };
        Self { root, validator, parts: OnceLock::new() }
    }

    /// The schema's text.
    pub fn root(&self) -> &Value {
        &self.root
    }

    pub fn is_valid(&self, value: &Value) -> bool {
        self.validator.as_ref().is_none_or(|validator| validator.is_valid(value))
    }

    /// Whether the part of the schema at a JSON pointer (`#/properties/x`) accepts the value; none when that part
    /// cannot be compiled by itself.
    pub fn part_accepts(&self, pointer: &str, value: &Value) -> Option<bool> {
        let parts = self.parts.get_or_init(|| jsonschema::options().offline().build_map(&self.root).ok());
        Some(parts.as_ref()?.get(pointer)?.is_valid(value))
    }

    /// All that is wrong with the value; empty when it is valid.
    pub fn problems(&self, value: &Value) -> Vec<Problem> {
        self.validator
            .iter()
            .flat_map(|validator| validator.iter_errors(value))
            .flat_map(|error| problems(&error))
            .collect()
    }
}

fn problems(error: &ValidationError<'_>) -> Vec<Problem> {
    let at = |name: Option<&str>, message: String| {
        let mut path = String::new();
        let segments = error.instance_path().iter().map(|segment| segment.to_string()).chain(name.map(str::to_owned));
        for segment in segments {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&segment);
        }
        if path.is_empty() {
            path.push_str("root");
        }
        Problem { path, message }
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => vec![at(property.as_str(), "missing".into())],
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            unexpected.iter().map(|name| at(Some(name), "unknown property".into())).collect()
        }
        kind => vec![at(None, message(error, kind))],
    }
}

fn message(error: &ValidationError<'_>, kind: &ValidationErrorKind) -> String {
    match kind {
        ValidationErrorKind::Type { kind } => {
            let expected = match kind {
                TypeKind::Single(one) => one.to_string(),
                TypeKind::Multiple(several) => {
                    several.iter().map(|one| one.to_string()).collect::<Vec<_>>().join(" or ")
                }
            };
            format!("expected {expected}, got {}", type_name(error.instance()))
        }
        ValidationErrorKind::Enum { options } => {
            let mut text = String::from("must be one of ");
            for (place, option) in options.as_array().into_iter().flatten().enumerate() {
                let _ = write!(text, "{}{option}", if place == 0 { "" } else { ", " });
            }
            text
        }
        ValidationErrorKind::Constant { expected_value } => format!("must be {expected_value}"),
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            "fits none of the allowed forms".into()
        }
        ValidationErrorKind::OneOfMultipleValid { .. } => "fits more than one of the allowed forms".into(),
        ValidationErrorKind::FalseSchema if error.schema_path().as_str().ends_with("/additionalProperties") => {
            "has properties, but none are allowed here".into()
        }
        ValidationErrorKind::FalseSchema => "no value is allowed here".into(),
        _ => error.masked().to_string(),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The schema with `false` in the places of references that lead nowhere. What is outside the document counts as
/// nowhere: nothing is fetched for a schema.
fn without_dangling_references(root: &Value) -> Value {
    fn mend(node: &Value, root: &Value) -> Value {
        match node {
            Value::Object(map) => match map.get("$ref") {
                Some(Value::String(reference)) if !resolves(root, reference) => Value::Bool(false),
                _ => map.iter().map(|(key, value)| (key.clone(), mend(value, root))).collect(),
            },
            Value::Array(items) => items.iter().map(|item| mend(item, root)).collect(),
            other => other.clone(),
        }
    }
    let mut mended = mend(root, root);
    if let Some(map) = mended.as_object_mut() {
        // The dialect may be one that nobody knows.
        map.shift_remove("$schema");
    }
    mended
}

fn resolves(root: &Value, reference: &str) -> bool {
    match reference.strip_prefix('#') {
        Some("") => true,
        Some(pointer) if pointer.starts_with('/') => root.pointer(pointer).is_some(),
        Some(anchor) => declares(root, &["$anchor", "$dynamicAnchor"], anchor),
        None => declares(root, &["$id", "id"], reference),
    }
}

fn declares(node: &Value, keywords: &[&str], name: &str) -> bool {
    match node {
        Value::Object(map) => map
            .iter()
            .any(|(key, value)| (keywords.contains(&key.as_str()) && value == name) || declares(value, keywords, name)),
        Value::Array(items) => items.iter().any(|item| declares(item, keywords, name)),
        _ => false,
    }
}
