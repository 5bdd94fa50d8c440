//! Values of settings: as people read them, as Enter changes them, as they are written by hand.

use serde_json::{Value, json};

use crate::store::settings::{check_value, table::Kind};

/// A value as it is shown; none is the default.
#[must_use]
pub fn shown(value: Option<&Value>, default: &str) -> String {
    match value {
        None | Some(Value::Null) => default.replace('`', ""),
        Some(Value::String(text)) if text.trim().is_empty() => format!("\"{text}\""),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// The values that Enter goes through; none for those that are written by hand.
#[must_use]
pub fn choices(kind: Kind) -> Option<Vec<Value>> {
    match kind {
        Kind::Flag => Some(vec![json!(false), json!(true)]),
        Kind::FlagOr(words) => {
            Some([json!(false), json!(true)].into_iter().chain(words.iter().map(|word| json!(word))).collect())
        }
        Kind::Word(words) => Some(words.iter().map(|word| json!(word)).collect()),
        _ => None,
    }
}

/// The value that follows; after the last one comes the first.
#[must_use]
pub fn next(kind: Kind, current: Option<&Value>, default: &str) -> Option<Value> {
    let choices = choices(kind)?;
    let is_current = |choice: &Value| match current {
        Some(current) => choice == current,
        None => shown(Some(choice), "") == default,
    };
    let at = choices.iter().position(is_current).map_or(0, |at| (at + 1) % choices.len());
    choices.into_iter().nth(at)
}

/// The value of the setting `key` that a text means; null for an empty one: then the default counts.
///
/// # Errors
/// What is wrong with it.
pub fn written(key: &str, kind: Kind, text: &str) -> Result<Value, String> {
    let trimmed = text.trim();
    if text.is_empty() || (trimmed.is_empty() && !matches!(kind, Kind::Text)) {
        return Ok(Value::Null);
    }
    let value = match kind {
        Kind::Text => json!(text),
        _ => match trimmed.parse::<u64>() {
            Ok(whole) => json!(whole),
            Err(_) => trimmed.parse::<f64>().map_or_else(|_| json!(trimmed), |number| json!(number)),
        },
    };
    check_value(key, &value).map(|()| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_goes_through_the_values() {
        let words = Kind::Word(&["tree", "fork", "none"]);
        for (kind, current, default, expected) in [
            (Kind::Flag, None, "false", Some(json!(true))),
            (Kind::Flag, None, "true", Some(json!(false))),
            (Kind::Flag, Some(json!(true)), "false", Some(json!(false))),
            (Kind::FlagOr(&["header"]), Some(json!(true)), "false", Some(json!("header"))),
            (words, None, "tree", Some(json!("fork"))),
            (words, Some(json!("none")), "tree", Some(json!("tree"))),
            (words, Some(json!("odd")), "tree", Some(json!("tree"))),
            (Kind::Number, None, "3", None),
        ] {
            assert_eq!(next(kind, current.as_ref(), default), expected, "{current:?} {default}");
        }
    }

    #[test]
    fn what_is_written_is_checked() {
        for (key, kind, text, expected) in [
            ("retry.maxRetries", Kind::Number, "5", Ok(json!(5))),
            ("retry.maxRetries", Kind::Number, "", Ok(Value::Null)),
            ("retry.maxRetries", Kind::Number, "many", Err("expected a number")),
            ("editorPaddingX", Kind::Range(0, 3), "9", Err("from 0 to 3")),
            ("httpIdleTimeoutMs", Kind::Limit, "disabled", Ok(json!("disabled"))),
            ("checkpoints.maxSize", Kind::Size, "1 GB", Ok(json!("1 GB"))),
            ("markdown.codeBlockIndent", Kind::Text, "    ", Ok(json!("    "))),
            ("fullscreenWheelScrollLines", Kind::AutoOr(1, 100), "auto", Ok(json!("auto"))),
        ] {
            match (written(key, kind, text), expected) {
                (Ok(value), Ok(expected)) => assert_eq!(value, expected, "{key} {text}"),
                (Err(error), Err(expected)) => assert!(error.contains(expected), "{key} {text}: {error}"),
                (other, _) => panic!("{key} {text}: {other:?}"),
            }
        }
    }
}
