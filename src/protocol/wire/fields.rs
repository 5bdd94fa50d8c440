//! Taking typed fields out of a request, with errors that name them.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A field that is not what the command needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FieldError {
    /// It is not there.
    #[error("Field `{name}` of {command} is missing: expected {expected}")]
    Missing { command: String, name: &'static str, expected: &'static str },
    /// It is something else.
    #[error("Field `{name}` of {command} must be {expected}, not {got}")]
    Mistyped { command: String, name: &'static str, expected: &'static str, got: &'static str },
    /// The fields together are not what the command needs.
    #[error("{command}: {cause}")]
    Unfit { command: String, cause: String },
}

/// The fields of a request. Null counts as absent; what is not asked for is ignored.
pub(super) struct Fields<'a> {
    command: &'a str,
    map: Map<String, Value>,
}

impl<'a> Fields<'a> {
    /// The fields of a request of that type.
    pub fn new(command: &'a str, map: Map<String, Value>) -> Self {
        Self { command, map }
    }

    /// All fields as one value.
    pub fn all<T: DeserializeOwned>(&self) -> Result<T, FieldError> {
        serde_json::from_value(Value::Object(self.map.clone()))
            .map_err(|error| FieldError::Unfit { command: self.command.to_owned(), cause: error.to_string() })
    }

    /// A text that must be there.
    pub fn text(&mut self, name: &'static str) -> Result<String, FieldError> {
        self.required(name, "text")
    }

    /// A text that may be left out.
    pub fn optional_text(&mut self, name: &'static str) -> Result<Option<String>, FieldError> {
        self.optional(name, "text")
    }

    /// A text or null, one of which must be there.
    pub fn nullable_text(&mut self, name: &'static str, expected: &'static str) -> Result<Option<String>, FieldError> {
        match self.map.get(name) {
            Some(Value::Null) => Ok(None),
            _ => self.required(name, expected).map(Some),
        }
    }

    /// A switch that must be there.
    pub fn switch(&mut self, name: &'static str) -> Result<bool, FieldError> {
        self.required(name, "true or false")
    }

    /// A switch that is off when it is left out.
    pub fn optional_switch(&mut self, name: &'static str) -> Result<bool, FieldError> {
        Ok(self.optional(name, "true or false")?.unwrap_or(false))
    }

    /// A value that must be there; `expected` says what it can be.
    pub fn required<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<T, FieldError> {
        self.optional(name, expected)?.ok_or_else(|| FieldError::Missing {
            command: self.command.to_owned(),
            name,
            expected,
        })
    }

    /// A value that may be left out; `expected` says what it can be.
    pub fn optional<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<Option<T>, FieldError> {
        let Some(value) = self.map.remove(name).filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        let got = kind_of(&value);
        serde_json::from_value(value).map(Some).map_err(|_| FieldError::Mistyped {
            command: self.command.to_owned(),
            name,
            expected,
            got,
        })
    }
}

/// What a JSON value is, in words.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "this text",
        Value::Array(_) => "this list",
        Value::Object(_) => "this object",
    }
}
