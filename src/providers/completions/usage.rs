//! Usage as hosts of Chat Completions report it (rules U2 and U8).

use serde::Deserialize;

use crate::{
    protocol::Usage,
    providers::lax::{Count, Obj},
};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    prompt_tokens: Count,
    completion_tokens: Count,
    prompt_tokens_details: Obj<PromptDetails>,
    completion_tokens_details: Obj<CompletionDetails>,
    /// DeepSeek.
    prompt_cache_hit_tokens: Count,
    /// Kimi.
    cached_tokens: Count,
    reasoning_tokens: Count,
    cost: Money,
    is_byok: Flag,
    cost_details: Obj<CostDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Count,
    cache_write_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CostDetails {
    upstream_inference_cost: Money,
    upstream_inference_prompt_cost: Money,
    upstream_inference_completions_cost: Money,
}

/// An amount, or nothing.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(from = "serde_json::Value")]
struct Money(Option<f64>);

impl From<serde_json::Value> for Money {
    fn from(value: serde_json::Value) -> Self {
        Self(value.as_f64().filter(|amount| amount.is_finite() && *amount >= 0.0))
    }
}

/// A truth value, or nothing.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(from = "serde_json::Value")]
struct Flag(Option<bool>);

impl From<serde_json::Value> for Flag {
    fn from(value: serde_json::Value) -> Self {
        Self(value.as_bool())
    }
}

impl WireUsage {
    /// The tokens in our words.
    pub(super) fn tokens(&self) -> Usage {
        let details = self.prompt_tokens_details.0.as_ref();
        let cache_read = details
            .and_then(|details| details.cached_tokens.0)
            .or(self.prompt_cache_hit_tokens.0)
            .or(self.cached_tokens.0)
            .unwrap_or(0);
        let cache_write = details.and_then(|details| details.cache_write_tokens.0).unwrap_or(0);
        let prompt = self.prompt_tokens.0.unwrap_or(0);
        let reasoning = self.completion_tokens_details.0.as_ref().and_then(|details| details.reasoning_tokens.0);
        Usage {
            input: prompt.saturating_sub(cache_read.saturating_add(cache_write)),
            output: self.completion_tokens.0.unwrap_or(0),
            cache_read,
            cache_write,
            reasoning: reasoning.or(self.reasoning_tokens.0),
            ..Usage::default()
        }
    }

    /// What OpenRouter billed. It only says so together with whose key was used; with the user's own key the upstream's
    /// price comes on top.
    pub(super) fn billed(&self) -> Option<f64> {
        let cost = self.cost.0?;
        if !self.is_byok.0? {
            return Some(cost);
        }
        let details = self.cost_details.0.as_ref()?;
        let parts = || Some(details.upstream_inference_prompt_cost.0? + details.upstream_inference_completions_cost.0?);
        Some(cost + details.upstream_inference_cost.0.or_else(parts)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(json: &str) -> WireUsage {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn tokens_are_found_in_every_place() {
        let table = [
            (r#"{"prompt_tokens":9,"completion_tokens":2}"#, (9, 2, 0, 0, None)),
            (
                r#"{"prompt_tokens":900,"completion_tokens":40,"prompt_tokens_details":{"cached_tokens":500,"cache_write_tokens":300},
                    "completion_tokens_details":{"reasoning_tokens":25}}"#,
                (100, 40, 500, 300, Some(25)),
            ),
            (r#"{"prompt_tokens":10,"prompt_cache_hit_tokens":4,"reasoning_tokens":3}"#, (6, 0, 4, 0, Some(3))),
            (r#"{"prompt_tokens":10,"cached_tokens":4}"#, (6, 0, 4, 0, None)),
            (r#"{"prompt_tokens":10,"cached_tokens":40}"#, (0, 0, 40, 0, None)),
            (
                r#"{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":0},"cached_tokens":4}"#,
                (10, 0, 0, 0, None),
            ),
            (r#"{"prompt_tokens":null,"completion_tokens":"x","prompt_tokens_details":null}"#, (0, 0, 0, 0, None)),
        ];
        for (json, (input, output, cache_read, cache_write, reasoning)) in table {
            let expected = Usage { input, output, cache_read, cache_write, reasoning, ..Usage::default() };
            assert_eq!(usage(json).tokens(), expected, "{json}");
        }
    }

    #[test]
    fn a_billed_total_counts_only_with_the_word_on_whose_key_it_was() {
        let table = [
            (r#"{"cost":0.5}"#, None),
            (r#"{"cost":0.5,"is_byok":false}"#, Some(0.5)),
            (r#"{"cost":0.5,"is_byok":true}"#, None),
            (r#"{"cost":0.5,"is_byok":true,"cost_details":{"upstream_inference_cost":0.25}}"#, Some(0.75)),
            (
                r#"{"cost":0.5,"is_byok":true,"cost_details":{"upstream_inference_cost":null,"upstream_inference_prompt_cost":0.125,"upstream_inference_completions_cost":0.25}}"#,
                Some(0.875),
            ),
            (r#"{"cost":0.5,"is_byok":true,"cost_details":{"upstream_inference_prompt_cost":0.125}}"#, None),
            (r#"{"is_byok":false}"#, None),
        ];
        for (json, total) in table {
            assert_eq!(usage(json).billed(), total, "{json}");
        }
    }
}
