//! Thinking by level, in the fields that the API hands on to the model: each family has its own.

use serde_json::{Map, Value, json};

use super::family::Family;
use crate::{
    protocol::{Model, ThinkingLevel},
    providers::{
        Request,
        anthropic::{
            compat::Compat,
            thinking::{BETA_INTERLEAVED, Thinking},
        },
        limits::output_cap,
        thinking::{active, mapped},
    },
};

/// The fields that ask for thinking, and the output cap, which it may count against. `is_government`: the endpoint is
/// one of a government region, which takes less.
pub(super) fn thinking(request: &Request, family: Family, is_government: bool) -> (Map<String, Value>, u64) {
    let model = &*request.model;
    let mut fields = Map::new();
    let level = active(model, request.thinking);
    match (family, level) {
        (Family::Claude(claude), _) => {
            let mut compat = Compat::of(model);
            compat.adaptive_thinking |= claude.is_adaptive();
            // A message cannot carry an effort in this wire.
            compat.managed_effort = false;
            let (thinking, cap) = Thinking::of(request, &compat);
            thinking.write(&mut fields);
            if matches!(thinking, Thinking::Budget(_)) {
                fields.insert("anthropic_beta".into(), json!([BETA_INTERLEAVED]));
            }
            if let Some(Value::Object(thinking)) = fields.get_mut("thinking").filter(|_| is_government) {
                thinking.shift_remove("display");
            }
            return (fields, cap);
        }
        (Family::GptOss, Some(level)) => {
            let effort = match effort(model, level) {
                "xhigh" | "max" => "high",
                effort => effort,
            };
            fields.insert("reasoning_effort".into(), effort.into());
        }
        (Family::OpenAi, Some(level)) => {
            fields.insert("reasoning".into(), json!({ "effort": effort(model, level) }));
        }
        (Family::GptOss | Family::OpenAi | Family::Other, _) => {}
    }
    (fields, output_cap(request).max(1))
}

/// The level map's word for a level, or its name; there is nothing below "low".
fn effort(model: &Model, level: ThinkingLevel) -> &str {
    mapped(model, level).and_then(Value::as_str).unwrap_or(match level {
        ThinkingLevel::Minimal => "low",
        other => other.as_str(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::testing::{plain_model, request};

    fn ask(id: &str, map: Value, level: ThinkingLevel, max_tokens: Option<u64>, government: bool) -> (Value, u64) {
        let mut model = plain_model("bedrock-converse-stream");
        (model.id, model.reasoning, model.max_tokens) = (id.into(), true, 20_000);
        model.thinking_level_map = map.as_object().cloned();
        let mut request = request(model, vec![]);
        (request.thinking, request.max_tokens) = (level, max_tokens);
        let (fields, cap) = thinking(&request, Family::of(&request.model), government);
        (Value::Object(fields), cap)
    }

    #[test]
    fn every_family_is_asked_in_its_own_way() {
        use ThinkingLevel::{High, Low, Max, Medium, Minimal, Off, Xhigh};
        let new = "us.anthropic.claude-sonnet-5-v1:0";
        let old = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
        let none = || Value::Null;
        let adaptive = |effort: &str| json!({"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": effort}});
        let budget = |tokens: u64| json!({"thinking": {"type": "enabled", "budget_tokens": tokens, "display": "summarized"}, "anthropic_beta": [BETA_INTERLEAVED]});
        let off = || json!({"thinking": {"type": "disabled"}});
        let table = [
            (new, none(), Minimal, None, adaptive("low"), 20_000),
            (new, none(), Medium, None, adaptive("medium"), 20_000),
            (new, none(), Max, None, adaptive("high"), 20_000),
            (new, json!({"max": "max"}), Max, Some(100), adaptive("max"), 100),
            (new, none(), Off, None, off(), 20_000),
            (new, json!({"off": null}), Off, None, json!({}), 20_000),
            (old, none(), Low, None, budget(2048), 20_000),
            (old, none(), Xhigh, None, budget(16_384), 20_000),
            (old, none(), High, Some(1000), budget(16_360), 17_384),
            (old, none(), Off, None, off(), 20_000),
            ("openai.gpt-oss-120b-1:0", none(), Minimal, None, json!({"reasoning_effort": "low"}), 20_000),
            ("openai.gpt-oss-120b-1:0", none(), Medium, None, json!({"reasoning_effort": "medium"}), 20_000),
            ("openai.gpt-oss-120b-1:0", none(), Xhigh, None, json!({"reasoning_effort": "high"}), 20_000),
            ("openai.gpt-oss-120b-1:0", none(), Off, None, json!({}), 20_000),
            ("openai.gpt-6", none(), Minimal, None, json!({"reasoning": {"effort": "low"}}), 20_000),
            ("openai.gpt-6", json!({"xhigh": "xhigh"}), Xhigh, None, json!({"reasoning": {"effort": "xhigh"}}), 20_000),
            ("openai.gpt-6", none(), Off, None, json!({}), 20_000),
            ("amazon.nova-premier-v1:0", none(), High, None, json!({}), 20_000),
        ];
        for (id, map, level, max_tokens, fields, cap) in table {
            assert_eq!(ask(id, map, level, max_tokens, false), (fields, cap), "{id} {level} {max_tokens:?}");
        }
    }

    #[test]
    fn a_government_region_is_not_asked_for_a_display() {
        let (fields, _) = ask("us-gov.anthropic.claude-sonnet-4-5", Value::Null, ThinkingLevel::Low, None, true);
        assert_eq!(fields["thinking"], json!({"type": "enabled", "budget_tokens": 2048}));
        let (fields, _) = ask("us-gov.anthropic.claude-opus-5", Value::Null, ThinkingLevel::Low, None, true);
        assert_eq!(fields["thinking"], json!({"type": "adaptive"}));
    }

    #[test]
    fn a_model_that_does_not_think_is_not_asked() {
        let mut model = plain_model("bedrock-converse-stream");
        model.id = "us.anthropic.claude-3-5-haiku".into();
        let mut request = request(model, vec![]);
        request.thinking = ThinkingLevel::High;
        assert!(thinking(&request, Family::of(&request.model), false).0.is_empty());
    }
}
