//! TOML as a document: the same values and the same errors as for JSON.

use ::toml::de::{DeTable, DeValue};
use serde_json::{Map, Number, Value};

use super::field::Step;

/// The text as a value; the error says what was expected and at which byte. A date is its text.
pub(super) fn parse(text: &str) -> Result<Value, (usize, String)> {
    let parsed = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        (at, format!("expected TOML: {}", error.message()))
    })?;
    object(parsed.get_ref())
}

fn object(table: &DeTable<'_>) -> Result<Value, (usize, String)> {
    let fields = table.iter().map(|(key, item)| {
        let value = value(item.get_ref()).map_err(|(_, text)| (item.span().start, text))?;
        Ok((key.get_ref().to_string(), value))
    });
    fields.collect::<Result<Map<_, _>, _>>().map(Value::Object)
}

fn value(value: &DeValue<'_>) -> Result<Value, (usize, String)> {
    Ok(match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => number.into(),
            Err(_) => return Err((0, format!("expected a whole number of 64 bits, found {number}"))),
        },
        DeValue::Float(number) => {
            let finite = number.as_str().parse().ok().and_then(Number::from_f64);
            Value::Number(finite.ok_or_else(|| (0, format!("expected a finite number, found {number}")))?)
        }
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(date) => Value::String(date.to_string()),
        DeValue::Array(items) => {
            let items =
                items.iter().map(|item| self::value(item.get_ref()).map_err(|(_, text)| (item.span().start, text)));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => object(table)?,
    })
}

/// Where a field begins in the text; for a missing one, where its parent does.
pub(super) fn offset_of(text: &str, path: &[Step]) -> usize {
    DeTable::parse(text).ok().and_then(|root| offset_in_table(root.get_ref(), path)).unwrap_or(0)
}

fn offset_in_table(table: &DeTable<'_>, path: &[Step]) -> Option<usize> {
    let (Step::Key(name), rest) = path.split_first()? else { return None };
    let (key, inner) = table.get_key_value(name.as_str())?;
    Some(offset_in(inner.get_ref(), rest).unwrap_or(key.span().start))
}

fn offset_in(value: &DeValue<'_>, path: &[Step]) -> Option<usize> {
    match (value, path.split_first()?) {
        (DeValue::Table(table), _) => offset_in_table(table, path),
        (DeValue::Array(items), (Step::Index(index), rest)) => {
            let item = items.get(*index)?;
            Some(offset_in(item.get_ref(), rest).unwrap_or(item.span().start))
        }
        _ => None,
    }
}
