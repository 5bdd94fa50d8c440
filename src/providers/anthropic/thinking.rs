//! Thinking by level: budgets for older models, efforts for newer ones.

use serde_json::{Map, Value, json};

use super::compat::Compat;
use crate::{
    protocol::{Model, ThinkingLevel},
    providers::{
        Request,
        limits::{estimate_input, fit_output},
        thinking::{active, budget, cannot_stop, clamp_budget, mapped},
    },
};

/// The smallest budget that the API takes.
const MIN_BUDGET: u64 = 1024;

/// Lets a model with a budget think between its calls too.
pub(crate) const BETA_INTERLEAVED: &str = "interleaved-thinking-2025-05-14";

/// How a request asks for thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thinking<'a> {
    /// Nothing is said.
    Unsaid,
    /// Not at all.
    Disabled,
    /// At most so many tokens.
    Budget(u64),
    /// As much as the effort suggests.
    Adaptive(&'a str),
    /// The same, with the effort set per message, so that changing it keeps the cache.
    Managed(&'a str),
}

impl<'a> Thinking<'a> {
    /// How to ask, and the output cap, which the thinking counts against.
    pub(crate) fn of(request: &'a Request, compat: &Compat) -> (Self, u64) {
        let model = &*request.model;
        let fit = |cap: u64| fit_output(cap, model.context_window, estimate_input(&request.messages)).max(1);
        let plain_cap = fit(request.max_tokens.unwrap_or(model.max_tokens));
        let off = if model.reasoning && !cannot_stop(model) { Self::Disabled } else { Self::Unsaid };
        let Some(level) = active(model, request.thinking) else { return (off, plain_cap) };
        if compat.managed_effort {
            return (Self::Managed(effort(model, level)), plain_cap);
        }
        if compat.adaptive_thinking {
            return (Self::Adaptive(effort(model, level)), plain_cap);
        }
        let wanted = budget(level, &request.thinking_budgets);
        // A caller's cap is meant for the answer: the thinking comes on top.
        let cap = match request.max_tokens {
            Some(asked) => fit(asked.saturating_add(wanted).min(model.max_tokens)),
            None => plain_cap,
        };
        match clamp_budget(wanted, cap) {
            budget if budget >= MIN_BUDGET => (Self::Budget(budget), cap),
            _ => (off, plain_cap),
        }
    }

    /// Adds the request's fields.
    pub(crate) fn write(self, fields: &mut Map<String, Value>) {
        let adaptive = json!({"type": "adaptive", "display": "summarized"});
        let (thinking, effort) = match self {
            Self::Unsaid => return,
            Self::Disabled => (json!({"type": "disabled"}), None),
            Self::Budget(tokens) => {
                (json!({"type": "enabled", "budget_tokens": tokens, "display": "summarized"}), None)
            }
            Self::Adaptive(effort) => (adaptive, Some(effort)),
            Self::Managed(_) => {
                let mut managed = adaptive;
                managed["block_binding"] = json!({"prefix_mismatch_behavior": "drop_block"});
                (managed, Some("low"))
            }
        };
        fields.insert("thinking".into(), thinking);
        if let Some(effort) = effort {
            fields.insert("output_config".into(), json!({ "effort": effort }));
        }
    }
}

fn effort(model: &Model, level: ThinkingLevel) -> &str {
    mapped(model, level).and_then(Value::as_str).unwrap_or(match level {
        ThinkingLevel::Off | ThinkingLevel::Minimal | ThinkingLevel::Low => "low",
        ThinkingLevel::Medium => "medium",
        ThinkingLevel::High | ThinkingLevel::Xhigh | ThinkingLevel::Max => "high",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::testing::{object, plain_model, request};

    fn ask(set: Value, map: &Value, level: ThinkingLevel, max_tokens: Option<u64>) -> (Value, u64) {
        let mut model = plain_model("anthropic-messages");
        (model.reasoning, model.max_tokens) = (true, 20_000);
        model.thinking_level_map = map.as_object().cloned();
        model.compat = Some(object(set));
        let mut request = request(model, vec![]);
        (request.thinking, request.max_tokens) = (level, max_tokens);
        let (thinking, cap) = Thinking::of(&request, &Compat::of(&request.model));
        let mut fields = Map::new();
        thinking.write(&mut fields);
        (Value::Object(fields), cap)
    }

    #[test]
    fn every_level_asks_in_the_models_way() {
        use ThinkingLevel::{High, Low, Max, Medium, Minimal, Off, Xhigh};
        let none = Value::Null;
        let maxed = json!({"max": "max", "off": null});
        let budget =
            |tokens: u64| json!({"thinking": {"type": "enabled", "budget_tokens": tokens, "display": "summarized"}});
        let adaptive = |effort: &str| json!({"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": effort}});
        let disabled = || json!({"thinking": {"type": "disabled"}});
        let own = || json!({});
        let force = || json!({"forceAdaptiveThinking": true});
        let table = [
            (own(), &none, Off, None, disabled(), 20_000),
            (own(), &maxed, Off, None, json!({}), 20_000),
            (own(), &none, Minimal, None, budget(1024), 20_000),
            (own(), &none, Low, None, budget(2048), 20_000),
            (own(), &none, Medium, None, budget(8192), 20_000),
            (own(), &none, High, None, budget(16_384), 20_000),
            (own(), &none, Xhigh, None, budget(16_384), 20_000),
            (own(), &none, High, Some(1000), budget(16_360), 17_384),
            (own(), &none, High, Some(9000), budget(16_384), 20_000),
            (own(), &none, Low, Some(1), budget(1025), 2049),
            (force(), &none, Minimal, None, adaptive("low"), 20_000),
            (force(), &none, Medium, None, adaptive("medium"), 20_000),
            (force(), &none, Max, None, adaptive("high"), 20_000),
            (force(), &maxed, Max, None, adaptive("max"), 20_000),
            (force(), &none, Off, Some(7), disabled(), 7),
        ];
        for (set, map, level, max_tokens, fields, cap) in table {
            assert_eq!(ask(set, map, level, max_tokens), (fields, cap), "{level} {max_tokens:?}");
        }
    }

    #[test]
    fn a_managed_effort_stays_out_of_the_top_of_the_request() {
        let (fields, _) = ask(json!({"supportsMidConvoEffort": true}), &Value::Null, ThinkingLevel::High, None);
        assert_eq!(fields["output_config"]["effort"], "low");
        assert_eq!(fields["thinking"]["block_binding"]["prefix_mismatch_behavior"], "drop_block");
    }

    #[test]
    fn a_budget_that_leaves_no_room_switches_thinking_off() {
        let mut model = plain_model("anthropic-messages");
        (model.reasoning, model.max_tokens) = (true, 1500);
        let mut request = request(model, vec![]);
        request.thinking = ThinkingLevel::High;
        let asked = Thinking::of(&request, &Compat::of(&request.model));
        assert_eq!(asked, (Thinking::Disabled, 1500));
    }
}
