//! Arguments of a call: mended, made to fit the tool's schema, checked against it.
//!
//! - `coerce`: making arguments fit that nearly do.
//! - `schema`: compiled schemas and what they say is wrong.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{Failure, Tool};
use crate::protocol::ToolCall;

mod coerce;
mod schema;
#[cfg(test)]
mod tests;

use schema::Schema;

/// The arguments that `tool` should run with.
///
/// # Errors
/// What is wrong at which place, and what was received.
pub fn validate(tool: &dyn Tool, call: &ToolCall) -> Result<Map<String, Value>, Failure> {
    let declaration = tool.declaration();
    if let Some(error) = &call.arguments_error {
        return Err(Failure::new(format!("Invalid arguments for tool \"{}\": {error}", declaration.name)));
    }
    let prepared = tool.prepare_arguments(call.arguments.clone());
    fit(&declaration.parameters, prepared).map_err(|problems| {
        let mut text = format!("Validation failed for tool \"{}\":", declaration.name);
        for problem in problems {
            let _ = write!(text, "\n  - {}: {}", problem.path, problem.message);
        }
        let received = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
        let _ = write!(text, "\n\nReceived arguments:\n{received}");
        Failure::new(text)
    })
}

/// Whether the tool's schema is compiled.
#[must_use]
pub fn is_compiled(tool: &dyn Tool) -> bool {
    Schema::is_known(&tool.declaration().parameters)
}

/// Compiles a tool's schema ahead of its first call: that takes a millisecond or more, and a model needs longer for its
/// answer anyway.
pub fn compile(tool: &dyn Tool) {
    Schema::of(&tool.declaration().parameters);
}

/// The arguments as the schema wants them, or all that is wrong with them.
fn fit(parameters: &Value, arguments: Map<String, Value>) -> Result<Map<String, Value>, Vec<schema::Problem>> {
    let schema = Schema::of(parameters);
    let mut value = Value::Object(arguments);
    if !schema.is_valid(&value) {
        value = coerce::coerce(&schema, value);
        let problems = schema.problems(&value);
        if !problems.is_empty() {
            return Err(problems);
        }
    }
    match value {
        Value::Object(arguments) => Ok(arguments),
        _ => Err(vec![schema::Problem::at_root("the schema wants no object, but arguments always are one")]),
    }
}
