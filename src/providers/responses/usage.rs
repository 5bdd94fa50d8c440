//! Usage as the Responses API reports it (rule U3), and what service tiers cost.

use serde::Deserialize;

use crate::{
    protocol::Usage,
    providers::lax::{Count, Obj},
};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    input_tokens: Count,
    input_tokens_details: Obj<InputDetails>,
    output_tokens: Count,
    output_tokens_details: Obj<OutputDetails>,
    total_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Count,
    cache_write_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Count,
}

impl WireUsage {
    /// The tokens in our words; the total is the provider's own.
    pub(super) fn tokens(&self) -> Usage {
        let details = self.input_tokens_details.0.as_ref();
        let cache_read = details.and_then(|details| details.cached_tokens.0).unwrap_or(0);
        let cache_write = details.and_then(|details| details.cache_write_tokens.0).unwrap_or(0);
        let input = self.input_tokens.0.unwrap_or(0);
        Usage {
            input: input.saturating_sub(cache_read.saturating_add(cache_write)),
            output: self.output_tokens.0.unwrap_or(0),
            cache_read,
            cache_write,
            reasoning: self.output_tokens_details.0.as_ref().and_then(|details| details.reasoning_tokens.0),
            total_tokens: self.total_tokens.0.unwrap_or(0),
            ..Usage::default()
        }
    }
}

/// What the model's rates are multiplied with in a service tier.
pub(super) fn tier_factor(model: &str, tier: Option<&str>) -> f64 {
    match tier {
        Some("flex") => 0.5,
        Some("priority" | "fast") if model == "gpt-5.5" => 2.5,
        Some("priority" | "fast") => 2.0,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_are_no_input_and_the_total_is_as_given() {
        let table = [
            (r#"{"input_tokens":9,"output_tokens":2,"total_tokens":11}"#, (9, 2, 0, 0, None, 11)),
            (
                r#"{"input_tokens":900,"output_tokens":40,"total_tokens":941,
                    "input_tokens_details":{"cached_tokens":500,"cache_write_tokens":300},
                    "output_tokens_details":{"reasoning_tokens":25}}"#,
                (100, 40, 500, 300, Some(25), 941),
            ),
            (r#"{"input_tokens":10,"input_tokens_details":{"cached_tokens":40}}"#, (0, 0, 40, 0, None, 0)),
            (r#"{"input_tokens":null,"output_tokens":"x","input_tokens_details":[]}"#, (0, 0, 0, 0, None, 0)),
        ];
        for (json, (input, output, cache_read, cache_write, reasoning, total_tokens)) in table {
            let usage: WireUsage = serde_json::from_str(json).unwrap();
            let expected =
                Usage { input, output, cache_read, cache_write, reasoning, total_tokens, ..Usage::default() };
            assert_eq!(usage.tokens(), expected, "{json}");
        }
    }

    #[test]
    fn service_tiers_have_their_factors() {
        let table = [
            ("m", None, 1.0),
            ("m", Some("default"), 1.0),
            ("m", Some("flex"), 0.5),
            ("m", Some("priority"), 2.0),
            ("gpt-5.5", Some("fast"), 2.5),
            ("gpt-5.5", Some("flex"), 0.5),
        ];
        for (model, tier, factor) in table {
            assert_eq!(tier_factor(model, tier), factor, "{model} {tier:?}");
        }
    }
}
