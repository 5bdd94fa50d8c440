//! Telling a host of Chat Completions how much to think: eleven ways.

use serde_json::{Map, Value, json};

use super::compat::{Compat, ThinkingFormat};
use crate::{
    protocol::{Model, ThinkingLevel},
    providers::thinking::{active, budget, cannot_stop, clamp_budget, effort, mapped},
};

/// Adds the thinking controls for `level` to a request's fields. `ceiling` is the output cap of the request.
pub(super) fn add_thinking(
    fields: &mut Map<String, Value>,
    model: &Model,
    compat: &Compat,
    level: ThinkingLevel,
    budgets: &Map<String, Value>,
    ceiling: u64,
) {
    if !model.reasoning {
        return;
    }
    let wanted = active(model, level);
    let on = wanted.is_some();
    let budget = wanted.map_or(0, |level| clamp_budget(budget(level, budgets), ceiling));
    let word = wanted.map(|level| effort(model, level));
    let off_word = mapped(model, ThinkingLevel::Off).and_then(Value::as_str);
    let stoppable = !cannot_stop(model);
    let mut set = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    match compat.thinking_format {
        ThinkingFormat::Openai => {
            if let Some(word) = word.or(off_word).filter(|_| compat.reasoning_effort) {
                set("reasoning_effort", word.into());
            }
        }
        ThinkingFormat::Openrouter => {
            if on || stoppable {
                set("reasoning", json!({ "effort": word.or(off_word).unwrap_or("none") }));
            }
        }
        ThinkingFormat::Deepseek => {
            if on || stoppable {
                set("thinking", json!({ "type": if on { "enabled" } else { "disabled" } }));
            }
            set_effort(&mut set, compat, word);
        }
        ThinkingFormat::Zai => {
            set(
                "thinking",
                if on { json!({"type": "enabled", "clear_thinking": false}) } else { json!({"type": "disabled"}) },
            );
            set_effort(&mut set, compat, word);
        }
        ThinkingFormat::Qwen => {
            set("enable_thinking", on.into());
            set_effort(&mut set, compat, word);
        }
        ThinkingFormat::QwenChatTemplate => {
            set("chat_template_kwargs", json!({"enable_thinking": on, "preserve_thinking": true}));
        }
        ThinkingFormat::ChatTemplate => {
            let place = Placeholders { on, effort: word.or(off_word).unwrap_or("none"), budget };
            set("chat_template_kwargs", Value::Object(place.fill_map(&compat.chat_template_kwargs)));
        }
        ThinkingFormat::Baseten => {
            let place = Placeholders { on, effort: word.or(off_word).unwrap_or("none"), budget };
            set("chat_template_args", Value::Object(place.fill_map(&compat.chat_template_args)));
            set_effort(&mut set, compat, word.or(off_word));
        }
        ThinkingFormat::Together => {
            set("reasoning", json!({ "enabled": on }));
            set_effort(&mut set, compat, word);
        }
        ThinkingFormat::StringThinking => {
            if on || stoppable {
                set("thinking", word.or(off_word).unwrap_or("none").into());
            }
        }
        ThinkingFormat::AntLing => {
            if let Some(word) = wanted.and_then(|level| mapped(model, level)).and_then(Value::as_str) {
                set("reasoning", json!({ "effort": word }));
            }
        }
    }
    if let Some(field) = compat.thinking_budget_field.as_deref().filter(|_| budget > 0) {
        set(field, budget.into());
    }
}

fn set_effort(set: &mut impl FnMut(&str, Value), compat: &Compat, word: Option<&str>) {
    if let Some(word) = word.filter(|_| compat.reasoning_effort) {
        set("reasoning_effort", word.into());
    }
}

/// Values for the `{"$var": …}` places of a chat template's arguments.
struct Placeholders<'a> {
    on: bool,
    effort: &'a str,
    budget: u64,
}

impl Placeholders<'_> {
    fn fill_map(&self, template: &Map<String, Value>) -> Map<String, Value> {
        template.iter().filter_map(|(name, value)| Some((name.clone(), self.fill(value)?))).collect()
    }

    /// The value with its places filled; `None` leaves it out.
    fn fill(&self, value: &Value) -> Option<Value> {
        Some(match value {
            Value::Object(map) => match map.get("$var").and_then(Value::as_str) {
                None => Value::Object(self.fill_map(map)),
                Some(_) if !self.on && map.get("omitWhenOff") == Some(&Value::Bool(true)) => return None,
                Some("thinking.enabled") => self.on.into(),
                Some("thinking.effort") => self.effort.into(),
                Some("thinking.budget") => self.budget.into(),
                Some(_) => return None,
            },
            Value::Array(list) => list.iter().filter_map(|value| self.fill(value)).collect(),
            other => other.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::testing::{object, plain_model};

    fn fields(format: &str, map: &Value, level: ThinkingLevel, more: Value) -> Value {
        let mut model = plain_model("openai-completions");
        model.reasoning = true;
        model.thinking_level_map = map.as_object().cloned();
        let mut compat = object(json!({ "thinkingFormat": format }));
        compat.extend(object(more));
        model.compat = Some(compat);
        let mut fields = Map::new();
        add_thinking(&mut fields, &model, &Compat::of(&model), level, &Map::new(), 10_000);
        Value::Object(fields)
    }

    #[test]
    fn every_format_says_on_and_off_in_its_own_way() {
        use ThinkingLevel::{High, Off};
        let none = Value::Null;
        let never_off = json!({"off": null});
        let mapped = json!({"off": "zero", "high": "big"});
        let table = [
            ("openai", High, &none, json!({"reasoning_effort": "high"})),
            ("openai", Off, &none, json!({})),
            ("openai", Off, &mapped, json!({"reasoning_effort": "zero"})),
            ("openrouter", High, &mapped, json!({"reasoning": {"effort": "big"}})),
            ("openrouter", Off, &none, json!({"reasoning": {"effort": "none"}})),
            ("openrouter", Off, &never_off, json!({})),
            ("deepseek", High, &none, json!({"thinking": {"type": "enabled"}, "reasoning_effort": "high"})),
            ("deepseek", Off, &none, json!({"thinking": {"type": "disabled"}})),
            ("deepseek", Off, &never_off, json!({})),
            (
                "zai",
                High,
                &none,
                json!({"thinking": {"type": "enabled", "clear_thinking": false}, "reasoning_effort": "high"}),
            ),
            ("zai", Off, &none, json!({"thinking": {"type": "disabled"}})),
            ("qwen", High, &none, json!({"enable_thinking": true, "reasoning_effort": "high"})),
            ("qwen", Off, &none, json!({"enable_thinking": false})),
            (
                "qwen-chat-template",
                High,
                &none,
                json!({"chat_template_kwargs": {"enable_thinking": true, "preserve_thinking": true}}),
            ),
            (
                "qwen-chat-template",
                Off,
                &none,
                json!({"chat_template_kwargs": {"enable_thinking": false, "preserve_thinking": true}}),
            ),
            ("together", High, &none, json!({"reasoning": {"enabled": true}, "reasoning_effort": "high"})),
            ("together", Off, &none, json!({"reasoning": {"enabled": false}})),
            ("string-thinking", High, &mapped, json!({"thinking": "big"})),
            ("string-thinking", Off, &none, json!({"thinking": "none"})),
            ("string-thinking", Off, &never_off, json!({})),
            ("ant-ling", High, &mapped, json!({"reasoning": {"effort": "big"}})),
            ("ant-ling", High, &none, json!({})),
            ("ant-ling", Off, &mapped, json!({})),
        ];
        for (format, level, map, expected) in table {
            assert_eq!(fields(format, map, level, json!({})), expected, "{format} {level} {map}");
        }
    }

    #[test]
    fn templates_are_filled() {
        let template = json!({
            "think": {"$var": "thinking.enabled"},
            "deep": {"level": {"$var": "thinking.effort", "omitWhenOff": true}},
            "budget": {"$var": "thinking.budget"},
            "fixed": [1, {"$var": "no.such"}],
        });
        let kwargs = json!({ "chatTemplateKwargs": template, "chatTemplateArgs": {"e": {"$var": "thinking.effort"}} });
        assert_eq!(
            fields("chat-template", &Value::Null, ThinkingLevel::High, kwargs.clone()),
            json!({"chat_template_kwargs": {"think": true, "deep": {"level": "high"}, "budget": 8976, "fixed": [1]}})
        );
        assert_eq!(
            fields("chat-template", &Value::Null, ThinkingLevel::Off, kwargs.clone()),
            json!({"chat_template_kwargs": {"think": false, "deep": {}, "budget": 0, "fixed": [1]}})
        );
        assert_eq!(
            fields("baseten", &Value::Null, ThinkingLevel::Low, kwargs),
            json!({"chat_template_args": {"e": "low"}, "reasoning_effort": "low"})
        );
    }

    #[test]
    fn a_budget_field_leaves_room_for_the_answer_and_is_absent_when_off() {
        let with = json!({"thinkingTokenBudgetField": "thinking_budget"});
        assert_eq!(fields("qwen", &Value::Null, ThinkingLevel::High, with.clone())["thinking_budget"], 8976);
        assert_eq!(fields("qwen", &Value::Null, ThinkingLevel::Off, with).get("thinking_budget"), None);
    }

    #[test]
    fn a_model_without_reasoning_is_told_nothing() {
        let model = plain_model("openai-completions");
        let mut fields = Map::new();
        add_thinking(&mut fields, &model, &Compat::of(&model), ThinkingLevel::High, &Map::new(), 10_000);
        assert!(fields.is_empty());
    }
}
