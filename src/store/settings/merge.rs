//! Merging and editing nested objects.

use serde_json::{Map, Value};

/// Merges `over` into `base`: objects recursively, everything else is replaced. `defaultTools` has a rule of its own.
pub(super) fn deep(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Object(inner)), Value::Object(over)) => deep(inner, over),
            (Some(Value::Array(list)), Value::Array(over))
                if key == "defaultTools" && super::tools::only_edits(over) =>
            {
                list.extend(over.iter().cloned());
            }
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

/// The value at `path`.
pub(super) fn at<'a>(values: &'a Map<String, Value>, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let mut value = values.get(*first)?;
    for key in rest {
        value = value.as_object()?.get(*key)?;
    }
    Some(value)
}

/// Sets the value at `path`, making objects on the way; None removes it. Keys keep their order.
pub(super) fn set(values: &mut Map<String, Value>, path: &[&str], value: Option<Value>) {
    match (path, value) {
        ([], _) => {}
        ([last], Some(value)) => {
            values.insert((*last).to_owned(), value);
        }
        ([last], None) => {
            values.shift_remove(*last);
        }
        ([first, rest @ ..], value) => {
            let removes = value.is_none();
            if removes && !values.get(*first).is_some_and(Value::is_object) {
                return;
            }
            let inner = values.entry(*first).or_insert_with(|| Value::Object(Map::new()));
            if !inner.is_object() {
                *inner = Value::Object(Map::new());
            }
            if let Value::Object(inner) = inner {
                set(inner, rest, value);
            }
        }
    }
}
