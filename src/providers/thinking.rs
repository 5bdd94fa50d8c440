//! Thinking levels in the words of wire APIs: efforts and token budgets.

use serde_json::{Map, Value};

use crate::protocol::{Model, ThinkingLevel};

/// Tokens that an answer keeps beside the thinking.
pub(crate) const ANSWER_RESERVE: u64 = 1024;

/// The level map's entry for a level: `None` when the model has none, null when the level is ruled out.
pub(crate) fn mapped(model: &Model, level: ThinkingLevel) -> Option<&Value> {
    model.thinking_level_map.as_ref()?.get(level.as_str())
}

/// The model's word for a level: the level map's text, or the level's own name.
pub(crate) fn effort(model: &Model, level: ThinkingLevel) -> &str {
    mapped(model, level).and_then(Value::as_str).unwrap_or(level.as_str())
}

/// True when the model cannot be told to stop thinking (`off: null`).
pub(crate) fn cannot_stop(model: &Model) -> bool {
    mapped(model, ThinkingLevel::Off).is_some_and(Value::is_null)
}

/// The level when the model is to think at all.
pub(crate) fn active(model: &Model, level: ThinkingLevel) -> Option<ThinkingLevel> {
    (model.reasoning && level != ThinkingLevel::Off).then_some(level)
}

/// Tokens for thinking at a level: the user's number, or the built-in one; 0 for `off`.
pub(crate) fn budget(level: ThinkingLevel, overrides: &Map<String, Value>) -> u64 {
    let built_in = match level {
        ThinkingLevel::Off => 0,
        ThinkingLevel::Minimal => 1024,
        ThinkingLevel::Low => 2048,
        ThinkingLevel::Medium => 8192,
        ThinkingLevel::High | ThinkingLevel::Xhigh | ThinkingLevel::Max => 16_384,
    };
    user_budget(level, overrides).unwrap_or(built_in)
}

/// The user's number of tokens for thinking at a level; the levels above `high` share its number unless they have one.
pub(crate) fn user_budget(level: ThinkingLevel, overrides: &Map<String, Value>) -> Option<u64> {
    let user = |level: ThinkingLevel| overrides.get(level.as_str()).and_then(Value::as_u64);
    match level {
        ThinkingLevel::Xhigh | ThinkingLevel::Max => user(level).or_else(|| user(ThinkingLevel::High)),
        _ => user(level),
    }
}

/// A budget that leaves [`ANSWER_RESERVE`] tokens of `ceiling` for the answer.
pub(crate) fn clamp_budget(budget: u64, ceiling: u64) -> u64 {
    budget.min(ceiling.saturating_sub(ANSWER_RESERVE))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn budgets_by_level_with_the_users_numbers_first() {
        let Value::Object(overrides) = json!({"low": 3000, "high": 20_000, "medium": "many"}) else { panic!() };
        let table = [
            (ThinkingLevel::Off, 0, 0),
            (ThinkingLevel::Minimal, 1024, 1024),
            (ThinkingLevel::Low, 2048, 3000),
            (ThinkingLevel::Medium, 8192, 8192),
            (ThinkingLevel::High, 16_384, 20_000),
            (ThinkingLevel::Max, 16_384, 20_000),
        ];
        for (level, built_in, with_overrides) in table {
            assert_eq!(budget(level, &Map::new()), built_in, "{level}");
            assert_eq!(budget(level, &overrides), with_overrides, "{level}");
        }
        assert_eq!((clamp_budget(8192, 4096), clamp_budget(8192, 500)), (3072, 0));
    }
}
