//! Models and how much they think.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How much a model should think before it answers, in rising order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingLevel {
    /// Not at all.
    Off,
    /// As little as it can.
    Minimal,
    /// A little.
    Low,
    /// The default.
    #[default]
    Medium,
    /// Much.
    High,
    /// More than much; only where the model maps it.
    Xhigh,
    /// As much as it can; only where the model maps it.
    Max,
}

impl ThinkingLevel {
    /// All levels in rising order.
    pub const ALL: [Self; 7] = [Self::Off, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// The level's name as flags, settings and files write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The level of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }
}

impl fmt::Display for ThinkingLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A model by name: `provider/id`. Ids may themselves hold slashes and colons.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelRef {
    /// The provider's id.
    pub provider: String,
    /// The model's id at that provider.
    pub model_id: String,
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model_id)
    }
}

/// Prices in US dollars per million tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelCost {
    /// Uncached input.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Cache reads.
    pub cache_read: f64,
    /// Cache writes.
    pub cache_write: f64,
    /// Prices for large requests: the highest tier whose threshold the whole input exceeds applies to all of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<CostTier>,
}

/// Prices above an input size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CostTier {
    /// Applies when input, cache reads and cache writes together are above this.
    pub input_tokens_above: u64,
    /// Uncached input.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Cache reads.
    pub cache_read: f64,
    /// Cache writes.
    pub cache_write: f64,
}

/// What a model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputKind {
    /// Text.
    Text,
    /// Pictures.
    Image,
}

/// A chat model: where it is, what it can do, what it costs. Field names are those of pi's `models.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// The id that requests name.
    pub id: String,
    /// The name that people see.
    pub name: String,
    /// The wire API, such as `anthropic-messages`.
    pub api: String,
    /// The provider's id.
    pub provider: String,
    /// Where requests go.
    pub base_url: String,
    /// Whether it can think.
    pub reasoning: bool,
    /// The provider's word for each level; null = not supported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_level_map: Option<Map<String, Value>>,
    /// What it takes.
    pub input: Vec<InputKind>,
    /// Limits on images and request size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_limits: Option<Value>,
    /// Prices.
    pub cost: ModelCost,
    /// How long prompt caches live, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache: Option<Value>,
    /// Tokens of input and output together.
    pub context_window: u64,
    /// Tokens of output at most.
    pub max_tokens: u64,
    /// Merged into the request last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling_params: Option<Map<String, Value>>,
    /// The same by thinking level; wins over `sampling_params`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling_params_by_thinking_level: Option<Map<String, Value>>,
    /// Extra request headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<Map<String, Value>>,
    /// Switches of the wire API for hosts that differ; each adapter names its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compat: Option<Map<String, Value>>,
}

impl Model {
    /// The model's name as `provider/id`.
    #[must_use]
    pub fn reference(&self) -> ModelRef {
        ModelRef { provider: self.provider.clone(), model_id: self.id.clone() }
    }

    /// Whether it takes pictures.
    #[must_use]
    pub fn takes_images(&self) -> bool {
        self.input.contains(&InputKind::Image)
    }

    /// The levels that it supports: `off` alone without reasoning; otherwise all up to `high` that the map does not
    /// rule out, and `xhigh` and `max` only where the map names them.
    #[must_use]
    pub fn thinking_levels(&self) -> Vec<ThinkingLevel> {
        if !self.reasoning {
            return vec![ThinkingLevel::Off];
        }
        let mapped = |level: ThinkingLevel| self.thinking_level_map.as_ref().and_then(|map| map.get(level.as_str()));
        ThinkingLevel::ALL
            .into_iter()
            .filter(|level| match mapped(*level) {
                Some(Value::Null) => false,
                Some(_) => true,
                None => *level <= ThinkingLevel::High,
            })
            .collect()
    }

    /// The supported level nearest to `wanted`: upwards first, then downwards.
    #[must_use]
    pub fn clamp_thinking(&self, wanted: ThinkingLevel) -> ThinkingLevel {
        let levels = self.thinking_levels();
        levels
            .iter()
            .find(|level| **level >= wanted)
            .or_else(|| levels.iter().rev().find(|level| **level < wanted))
            .copied()
            .unwrap_or(ThinkingLevel::Off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(reasoning: bool, map: &str) -> Model {
        Model {
            id: "m".into(),
            name: "M".into(),
            api: "a".into(),
            provider: "p".into(),
            base_url: String::new(),
            reasoning,
            thinking_level_map: serde_json::from_str(map).unwrap(),
            input: vec![InputKind::Text],
            input_limits: None,
            cost: ModelCost::default(),
            prompt_cache: None,
            context_window: 1,
            max_tokens: 1,
            sampling_params: None,
            sampling_params_by_thinking_level: None,
            headers: None,
            compat: None,
        }
    }

    #[test]
    fn levels_clamp_upwards_first_then_downwards() {
        use ThinkingLevel as L;
        let table = [
            (false, "null", L::High, L::Off),
            (true, "null", L::Max, L::High),
            (true, "null", L::Minimal, L::Minimal),
            (true, r#"{"max":"max"}"#, L::Xhigh, L::Max),
            (true, r#"{"off":null,"minimal":null}"#, L::Off, L::Low),
            (true, r#"{"low":null,"medium":null,"high":null}"#, L::Medium, L::Minimal),
        ];
        for (reasoning, map, wanted, got) in table {
            assert_eq!(model(reasoning, map).clamp_thinking(wanted), got, "{map} {wanted}");
        }
    }
}
