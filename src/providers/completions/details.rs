//! OpenRouter's `reasoning_details`: replay data that comes in pieces and goes back as one list (rule R2).

use serde_json::{Map, Value};

/// Keys that grow by joining, and those that a later piece sets.
const JOINED: [&str; 2] = ["text", "summary"];
const LATEST: [&str; 4] = ["signature", "id", "format", "index"];

/// The details of one answer.
#[derive(Debug, Default)]
pub(super) struct Details(Vec<Map<String, Value>>);

impl Details {
    /// Takes the details of one delta: consecutive texts and consecutive summaries become one, everything else stays
    /// by itself.
    pub(super) fn push(&mut self, pieces: Vec<Value>) {
        for piece in pieces {
            let Value::Object(piece) = piece else { continue };
            let joins =
                matches!(piece.get("type").and_then(Value::as_str), Some("reasoning.text" | "reasoning.summary"));
            match self.0.last_mut().filter(|last| joins && last.get("type") == piece.get("type")) {
                Some(last) => join(last, piece),
                None => self.0.push(piece),
            }
        }
    }

    /// The list as it goes back; `None` when nothing came.
    pub(super) fn to_json(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| serde_json::to_string(&self.0).unwrap_or_default())
    }
}

fn join(last: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (key, value) in piece {
        match (last.get_mut(&key), value) {
            (_, Value::Null) => {}
            (Some(Value::String(known)), Value::String(more)) if JOINED.contains(&key.as_str()) => {
                known.push_str(&more)
            }
            (Some(_), Value::String(empty)) if empty.is_empty() => {}
            (Some(known), value) if known.is_null() || LATEST.contains(&key.as_str()) => *known = value,
            (Some(_), _) => {}
            (None, value) => drop(last.insert(key, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_and_summaries_join_and_encrypted_ones_stay_apart() {
        let mut details = Details::default();
        assert_eq!(details.to_json(), None);
        let pieces = [
            json!([{"type": "reasoning.text", "text": "a", "signature": null, "index": 0}]),
            json!([{"type": "reasoning.text", "text": "b", "signature": "s", "format": "f"}, 7]),
            json!([{"type": "reasoning.text", "text": "", "signature": ""}]),
            json!([{"type": "reasoning.encrypted", "data": "x"}, {"type": "reasoning.encrypted", "data": "y"}]),
            json!([{"type": "reasoning.summary", "summary": "c"}, {"type": "reasoning.summary", "summary": "d"}]),
            json!([{"type": "reasoning.text", "text": "e"}]),
        ];
        for piece in pieces {
            let Value::Array(list) = piece else { panic!() };
            details.push(list);
        }
        let joined: Value = serde_json::from_str(&details.to_json().unwrap()).unwrap();
        assert_eq!(
            joined,
            json!([
                {"type": "reasoning.text", "text": "ab", "signature": "s", "index": 0, "format": "f"},
                {"type": "reasoning.encrypted", "data": "x"},
                {"type": "reasoning.encrypted", "data": "y"},
                {"type": "reasoning.summary", "summary": "cd"},
                {"type": "reasoning.text", "text": "e"},
            ])
        );
    }
}
