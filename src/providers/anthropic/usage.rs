//! Usage as the Messages API reports it (rule U1).

use serde::Deserialize;
use serde_json::Value;

use crate::{
    protocol::Usage,
    providers::lax::{Count, Obj},
};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    input_tokens: Count,
    output_tokens: Count,
    cache_read_input_tokens: Count,
    cache_creation_input_tokens: Count,
    cache_creation: Obj<CacheCreation>,
    output_tokens_details: Obj<OutputDetails>,
    /// OpenRouter's price.
    cost: Value,
    is_byok: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CacheCreation {
    ephemeral_1h_input_tokens: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    thinking_tokens: Count,
}

impl WireUsage {
    /// Replaces what this report says a number for.
    pub(super) fn update(&self, usage: &mut Usage) {
        usage.input = self.input_tokens.0.unwrap_or(usage.input);
        usage.output = self.output_tokens.0.unwrap_or(usage.output);
        usage.cache_read = self.cache_read_input_tokens.0.unwrap_or(usage.cache_read);
        usage.cache_write = self.cache_creation_input_tokens.0.unwrap_or(usage.cache_write);
        let hour = self.cache_creation.0.as_ref().and_then(|creation| creation.ephemeral_1h_input_tokens.0);
        usage.cache_write_1h = hour.or(usage.cache_write_1h);
        let thinking = self.output_tokens_details.0.as_ref().and_then(|details| details.thinking_tokens.0);
        usage.reasoning = thinking.or(usage.reasoning);
    }

    /// What OpenRouter billed on its own key.
    pub(super) fn billed(&self) -> Option<f64> {
        self.cost.as_f64().filter(|cost| cost.is_finite() && *cost >= 0.0 && self.is_byok == false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_replace_and_nulls_keep() {
        let mut usage = Usage::default();
        let reports = [
            r#"{"input_tokens":77,"cache_creation_input_tokens":50,"cache_read_input_tokens":500,"output_tokens":1,"cache_creation":{"ephemeral_1h_input_tokens":20}}"#,
            r#"{"input_tokens":null,"output_tokens":9,"cache_read_input_tokens":640,"cache_creation":null,"output_tokens_details":{"thinking_tokens":4}}"#,
            r#"{"output_tokens":12,"output_tokens_details":null}"#,
        ];
        for report in reports {
            serde_json::from_str::<WireUsage>(report).unwrap().update(&mut usage);
        }
        let expected = Usage {
            input: 77,
            output: 12,
            cache_read: 640,
            cache_write: 50,
            cache_write_1h: Some(20),
            reasoning: Some(4),
            ..Usage::default()
        };
        assert_eq!(usage, expected);
    }

    #[test]
    fn a_price_counts_only_on_the_routers_own_key() {
        for (report, billed) in
            [(r#"{"cost":0.5,"is_byok":false}"#, Some(0.5)), (r#"{"cost":0.5}"#, None), ("{}", None)]
        {
            assert_eq!(serde_json::from_str::<WireUsage>(report).unwrap().billed(), billed);
        }
    }
}
