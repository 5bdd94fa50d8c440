//! Where two requests differ first.

use std::fmt;

use serde_json::Value;

/// Characters of a value that are shown.
const SHOWN: usize = 80;
/// Characters of them that stand before the difference.
const LEAD: usize = 24;

/// The first place at which two values differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// Where, such as `messages[2].content`; empty for the whole.
    path: String,
    /// What was recorded there, shortened.
    recorded: String,
    /// What is there now, shortened.
    now: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "body" } else { self.path.as_str() };
        write!(f, "{path}: recorded {}, now {}", self.recorded, self.now)
    }
}

/// The first difference; none when the values are equal.
pub(super) fn first(recorded: &Value, now: &Value) -> Option<Difference> {
    between(Some(recorded), Some(now), &mut String::new())
}

fn between(recorded: Option<&Value>, now: Option<&Value>, path: &mut String) -> Option<Difference> {
    if recorded == now {
        return None;
    }
    let before = path.len();
    let mut step = |name: &str, recorded: Option<&Value>, now: Option<&Value>| {
        path.push_str(name);
        let found = between(recorded, now, path);
        path.truncate(before);
        found
    };
    match (recorded, now) {
        (Some(Value::Object(recorded)), Some(Value::Object(now))) => {
            let added = now.keys().filter(|name| !recorded.contains_key(*name));
            recorded.keys().chain(added).find_map(|name| {
                let dotted = if before == 0 { name.clone() } else { format!(".{name}") };
                step(&dotted, recorded.get(name), now.get(name))
            })
        }
        (Some(Value::Array(recorded)), Some(Value::Array(now))) => (0..recorded.len().max(now.len()))
            .find_map(|index| step(&format!("[{index}]"), recorded.get(index), now.get(index))),
        _ => {
            let texts = [recorded, now].map(|value| value.map_or_else(|| "nothing".to_owned(), Value::to_string));
            let common = texts[0].chars().zip(texts[1].chars()).take_while(|(a, b)| a == b).count();
            let [recorded, now] = texts.map(|text| shorten(&text, common));
            Some(Difference { path: path.clone(), recorded, now })
        }
    }
}

/// The part of a text around the character `at`.
fn shorten(text: &str, at: usize) -> String {
    let count = text.chars().count();
    let from = if count <= SHOWN { 0 } else { at.saturating_sub(LEAD).min(count - SHOWN) };
    let part: String = text.chars().skip(from).take(SHOWN).collect();
    let (before, after) = (if from > 0 { "…" } else { "" }, if from + SHOWN < count { "…" } else { "" });
    format!("{before}{part}{after}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_difference_is_named_with_both_sides() {
        let long = |middle: &str| format!("{}{middle}{}", "a".repeat(200), "z".repeat(200));
        let table = [
            (json!({"a": 1}), json!({"a": 1}), None),
            (json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}), None),
            (json!({"a": 1}), json!({"a": "1"}), Some("a: recorded 1, now \"1\"")),
            (json!(1), json!(2), Some("body: recorded 1, now 2")),
            (json!({"m": [1]}), json!({"m": [1, {"x": 2}]}), Some("m[1]: recorded nothing, now {\"x\":2}")),
            (json!({"m": [{"c": [5]}]}), json!({"m": [{"c": []}]}), Some("m[0].c[0]: recorded 5, now nothing")),
            (json!({}), json!({"n": null}), Some("n: recorded nothing, now null")),
        ];
        for (recorded, now, expected) in table {
            let found = first(&recorded, &now).map(|difference| difference.to_string());
            assert_eq!(found.as_deref(), expected, "{recorded} {now}");
        }
        let text = first(&json!({"t": long("ONE")}), &json!({"t": long("TWO")})).unwrap().to_string();
        let part = |middle: &str| format!("…{}{middle}{}…", "a".repeat(24), "z".repeat(53));
        assert_eq!(text, format!("t: recorded {}, now {}", part("ONE"), part("TWO")));
    }
}
