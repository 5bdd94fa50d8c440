//! Which tools Claude's strict mode takes, and with which schemas.

use serde_json::Value;

use crate::{
    protocol::{Failure, ToolDeclaration},
    providers::sampling::strict_schema,
};

/// Strict tools that one request may declare.
const STRICT_TOOLS: usize = 20;

/// The tools, each with the schema to declare it strictly with, if it is to be. The first tools have what room there is.
pub(crate) fn with_strict_schemas(
    declared: &[ToolDeclaration],
    model_takes_it: bool,
) -> impl Iterator<Item = Result<(&ToolDeclaration, Option<Value>), Failure>> {
    let mut room = STRICT_TOOLS;
    declared.iter().map(move |tool| {
        let strict = strict_schema(tool, model_takes_it && room > 0, is_strict_keyword)?;
        room -= usize::from(strict.is_some());
        Ok((tool, strict))
    })
}

/// Whether strict mode takes a keyword with its value.
fn is_strict_keyword(key: &str, value: &Value) -> bool {
    const REFUSED: &[&str] = &[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "maxItems",
        "uniqueItems",
        "minContains",
        "maxContains",
        "minProperties",
        "maxProperties",
    ];
    const FORMATS: &[&str] =
        &["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];
    match key {
        "minItems" => matches!(value.as_u64(), Some(0 | 1)),
        "format" => value.as_str().is_some_and(|format| FORMATS.contains(&format)),
        key => !REFUSED.contains(&key),
    }
}
