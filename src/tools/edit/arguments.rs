//! Arguments of `edit`, and the forms of them that models use instead.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::matching::Edit;

/// Arguments of a call.
#[derive(Debug, Deserialize)]
pub struct Arguments<'a> {
    #[serde(borrow)]
    pub path: Cow<'a, str>,
    #[serde(borrow)]
    edits: Vec<Pair<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pair<'a> {
    #[serde(borrow)]
    old_text: Cow<'a, str>,
    #[serde(borrow)]
    new_text: Cow<'a, str>,
}

impl<'a> Arguments<'a> {
    /// The edits in order.
    pub fn edits(&self) -> Vec<Edit<'_>> {
        self.edits
            .iter()
            .map(|pair| Edit { old: Cow::Borrowed(&pair.old_text), new: Cow::Borrowed(&pair.new_text) })
            .collect()
    }
}

/// Makes `edits` a list: of JSON in a string, of a single edit, of `oldText` and `newText` beside it.
pub fn prepare(mut arguments: Map<String, Value>) -> Map<String, Value> {
    let mut edits = match arguments.remove("edits") {
        Some(Value::String(text)) => match serde_json::from_str(&text) {
            Ok(Value::Array(list)) => Some(Value::Array(list)),
            Ok(Value::Object(single)) => Some(Value::Array(vec![single.into()])),
            _ => Some(Value::String(text)),
        },
        Some(Value::Object(single)) => Some(Value::Array(vec![single.into()])),
        other => other,
    };
    if arguments.get("oldText").is_some_and(Value::is_string) && arguments.get("newText").is_some_and(Value::is_string)
    {
        let list = edits.get_or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(list) = list {
            let pair = ["oldText", "newText"].into_iter().filter_map(|name| arguments.remove_entry(name));
            list.push(Value::Object(pair.collect()));
        }
    }
    if let Some(edits) = edits {
        arguments.insert("edits".to_owned(), edits);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn other_forms_of_edits_become_a_list() {
        let pair = json!({"oldText": "a", "newText": "b"});
        let other = json!({"oldText": "c", "newText": "d"});
        let table = [
            (json!({"path": "f", "edits": [pair]}), json!([pair])),
            (json!({"path": "f", "edits": pair}), json!([pair])),
            (json!({"path": "f", "edits": pair.to_string()}), json!([pair])),
            (json!({"path": "f", "edits": json!([pair, other]).to_string()}), json!([pair, other])),
            (json!({"path": "f", "oldText": "a", "newText": "b"}), json!([pair])),
            (json!({"path": "f", "edits": [pair], "oldText": "c", "newText": "d"}), json!([pair, other])),
            (json!({"path": "f", "edits": "no json"}), json!("no json")),
            (json!({"path": "f", "edits": []}), json!([])),
            (json!({"path": "f"}), json!(null)),
        ];
        for (arguments, wanted) in table {
            let got = prepare(arguments.as_object().unwrap().clone());
            assert_eq!(got.get("edits").cloned().unwrap_or_default(), wanted, "{arguments}");
            assert!(got.len() <= 2, "{got:?}");
        }
    }
}
