//! Thinking by level: token budgets for Gemini 2.5, names of levels from Gemini 3 on.

use serde_json::{Map, Value, json};

use super::family::{Dial, Family, step};
use crate::{
    protocol::{Model, ThinkingLevel},
    providers::{
        Request,
        limits::{estimate_input, fit_output, output_cap},
        thinking::{active, cannot_stop, mapped, user_budget},
    },
};

const LEVELS: [&str; 4] = ["MINIMAL", "LOW", "MEDIUM", "HIGH"];
/// Asks the model to choose its budget.
const DYNAMIC: i64 = -1;

/// How a request asks for thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thinking {
    /// Nothing is said.
    Unsaid,
    /// As little as possible, and none of it is shown.
    Least(Amount),
    /// So much, and it is shown.
    Shown(Amount),
}

/// How much to think. Gemini refuses a request that names both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Amount {
    /// One of [`LEVELS`].
    Level(&'static str),
    /// Tokens at most; 0 = none, −1 = as many as the model likes.
    Budget(i64),
}

impl Thinking {
    /// How to ask, and the output cap, which the thinking counts against; 0 = no cap.
    pub(super) fn of(request: &Request, family: &Family) -> (Self, u64) {
        let model = &*request.model;
        let cap = output_cap(request);
        if !model.reasoning {
            return (Self::Unsaid, cap);
        }
        let wanted = active(model, request.thinking).map(|level| model.clamp_thinking(level));
        let Some(level) = wanted.filter(|level| *level != ThinkingLevel::Off) else {
            return (Self::Least(least(request, family)), cap);
        };
        let amount = amount(request, family, level);
        // A caller's cap is meant for the answer: the thinking comes on top.
        let cap = match (request.max_tokens, amount) {
            (Some(asked), Amount::Budget(budget)) if budget > 0 => {
                let both = asked.saturating_add(budget.unsigned_abs()).min(model.max_tokens);
                fit_output(both, model.context_window, estimate_input(&request.messages))
            }
            _ => cap,
        };
        (Self::Shown(amount), cap)
    }

    /// Adds the field to the generation's settings.
    pub(super) fn write(self, config: &mut Map<String, Value>) {
        let (amount, shown) = match self {
            Self::Unsaid => return,
            Self::Least(amount) => (amount, false),
            Self::Shown(amount) => (amount, true),
        };
        let mut thinking = Map::new();
        if shown {
            thinking.insert("includeThoughts".into(), true.into());
        }
        match amount {
            Amount::Level(level) => thinking.insert("thinkingLevel".into(), level.into()),
            Amount::Budget(tokens) => thinking.insert("thinkingBudget".into(), json!(tokens)),
        };
        config.insert("thinkingConfig".into(), Value::Object(thinking));
    }
}

/// What asks for as little thinking as the model can do: none, or its lowest level.
fn least(request: &Request, family: &Family) -> Amount {
    let model = &*request.model;
    let stops = !cannot_stop(model) && !matches!(family.dial, Dial::Budget { stops: false, .. });
    if stops {
        let word = mapped(model, ThinkingLevel::Off).and_then(Value::as_str).and_then(known);
        return match (family.dial, word) {
            (Dial::Level, Some(level)) => Amount::Level(level),
            _ => Amount::Budget(0),
        };
    }
    let lowest = model.thinking_levels().into_iter().find(|level| *level != ThinkingLevel::Off);
    amount(request, family, lowest.unwrap_or(ThinkingLevel::Minimal))
}

fn amount(request: &Request, family: &Family, level: ThinkingLevel) -> Amount {
    let users =
        || user_budget(level, &request.thinking_budgets).map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX));
    match family.dial {
        Dial::Level => Amount::Level(level_name(&request.model, level)),
        Dial::Budget { tokens, .. } => Amount::Budget(users().unwrap_or(tokens[step(level)].into())),
        Dial::Dynamic => Amount::Budget(users().unwrap_or(DYNAMIC)),
    }
}

/// The level map's word for a level when it is one of Gemini's, or Gemini's own word for it.
fn level_name(model: &Model, level: ThinkingLevel) -> &'static str {
    mapped(model, level).and_then(Value::as_str).and_then(known).unwrap_or(LEVELS[step(level)])
}

fn known(word: &str) -> Option<&'static str> {
    LEVELS.into_iter().find(|level| level.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::testing::{object, plain_model, request};

    fn asked(id: &str, map: &Value, level: ThinkingLevel) -> Request {
        let mut model = plain_model("google-generative-ai");
        (model.id, model.reasoning, model.max_tokens) = (id.into(), true, 65_536);
        model.thinking_level_map = map.as_object().cloned();
        let mut request = request(model, vec![]);
        request.thinking = level;
        request
    }

    fn config(request: &Request) -> (Value, u64) {
        let (thinking, cap) = Thinking::of(request, &Family::of(&request.model.id));
        let mut config = Map::new();
        thinking.write(&mut config);
        (config.remove("thinkingConfig").unwrap_or_default(), cap)
    }

    #[test]
    fn every_level_asks_in_the_familys_way() {
        use ThinkingLevel::{High, Low, Max, Medium, Minimal, Off, Xhigh};
        let none = Value::Null;
        // Gemini 3 Pro thinks always, and not at every level.
        let pro = json!({"off": null, "minimal": null, "low": "LOW", "medium": null, "high": "HIGH"});
        let odd = json!({"low": "minimal", "high": "hyper", "off": "LOW", "max": "HIGH"});
        let always = json!({"off": null});
        let level = |name: &str| json!({"includeThoughts": true, "thinkingLevel": name});
        let budget = |tokens: i64| json!({"includeThoughts": true, "thinkingBudget": tokens});
        let table = [
            ("gemini-3.8-flash", &none, Off, json!({"thinkingBudget": 0})),
            ("gemini-3.8-flash", &none, Minimal, level("MINIMAL")),
            ("gemini-3.8-flash", &none, Low, level("LOW")),
            ("gemini-3.8-flash", &none, Medium, level("MEDIUM")),
            ("gemini-3.8-flash", &none, High, level("HIGH")),
            ("gemini-3.8-flash", &none, Xhigh, level("HIGH")),
            ("gemini-3.8-flash", &none, Max, level("HIGH")),
            ("gemma-4-31b-it", &none, Low, level("LOW")),
            ("gemini-flash-latest", &none, Medium, level("MEDIUM")),
            ("gemini-3-pro", &pro, Off, json!({"thinkingLevel": "LOW"})),
            ("gemini-3-pro", &pro, Minimal, level("LOW")),
            ("gemini-3-pro", &pro, Medium, level("HIGH")),
            ("gemini-3-pro", &pro, High, level("HIGH")),
            ("gemini-3.8-flash", &odd, Off, json!({"thinkingLevel": "LOW"})),
            ("gemini-3.8-flash", &odd, Low, level("MINIMAL")),
            ("gemini-3.8-flash", &odd, High, level("HIGH")),
            ("gemini-3.8-flash", &odd, Max, level("HIGH")),
            ("gemini-2.5-pro", &none, Off, json!({"thinkingBudget": 128})),
            ("gemini-2.5-pro", &none, Minimal, budget(128)),
            ("gemini-2.5-pro", &none, Low, budget(2048)),
            ("gemini-2.5-pro", &none, Medium, budget(8192)),
            ("gemini-2.5-pro", &none, High, budget(32_768)),
            ("gemini-2.5-pro", &none, Max, budget(32_768)),
            ("gemini-2.5-flash", &none, Off, json!({"thinkingBudget": 0})),
            ("gemini-2.5-flash", &none, Minimal, budget(128)),
            ("gemini-2.5-flash", &none, High, budget(24_576)),
            ("gemini-2.5-flash-lite", &none, Off, json!({"thinkingBudget": 0})),
            ("gemini-2.5-flash-lite", &none, Minimal, budget(512)),
            ("gemini-2.5-flash-lite", &none, Medium, budget(8192)),
            ("gemini-2.5-flash-lite", &none, High, budget(24_576)),
            ("gemini-2.5-flash", &always, Off, json!({"thinkingBudget": 128})),
            ("custom", &none, Off, json!({"thinkingBudget": 0})),
            ("custom", &none, Medium, budget(-1)),
        ];
        for (id, map, level, expected) in table {
            assert_eq!(config(&asked(id, map, level)), (expected, 65_536), "{id} {level}");
        }
    }

    #[test]
    fn a_model_that_does_not_think_is_told_nothing() {
        let mut request = asked("gemini-2.0-flash", &Value::Null, ThinkingLevel::Off);
        std::sync::Arc::make_mut(&mut request.model).reasoning = false;
        assert_eq!(config(&request).0, Value::Null);
    }

    #[test]
    fn the_users_budgets_win_and_a_callers_cap_is_for_the_answer() {
        let mut request = asked("gemini-2.5-flash", &Value::Null, ThinkingLevel::Low);
        request.max_tokens = Some(1000);
        assert_eq!(config(&request), (json!({"includeThoughts": true, "thinkingBudget": 2048}), 3048));
        request.thinking_budgets = object(json!({"low": 77, "high": 99}));
        assert_eq!(config(&request), (json!({"includeThoughts": true, "thinkingBudget": 77}), 1077));
        let mut by_level = asked("gemini-3-pro", &Value::Null, ThinkingLevel::Low);
        by_level.max_tokens = Some(1000);
        by_level.thinking_budgets = object(json!({"low": 77}));
        assert_eq!(config(&by_level), (json!({"includeThoughts": true, "thinkingLevel": "LOW"}), 1000));
    }
}
