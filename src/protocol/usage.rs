//! Token counts and their price.

use serde::{Deserialize, Serialize};

/// Tokens of one request and what they cost.
///
/// `input` excludes cached tokens; `reasoning` is a part of `output`; `cache_write_1h` is a part of `cache_write`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to a cache.
    pub input: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// Input tokens read from the provider's prompt cache.
    pub cache_read: u64,
    /// Input tokens written to the provider's prompt cache.
    pub cache_write: u64,
    /// The part of `cache_write` that lives for an hour (priced at twice the input rate).
    #[serde(rename = "cacheWrite1h", skip_serializing_if = "Option::is_none")]
    pub cache_write_1h: Option<u64>,
    /// The part of `output` that was reasoning, when the provider says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// Sum of input, output, cache reads and cache writes, or the total that the provider reported.
    pub total_tokens: u64,
    /// The price.
    pub cost: Cost,
}

/// A price in US dollars, by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Cost {
    /// Of uncached input.
    pub input: f64,
    /// Of output.
    pub output: f64,
    /// Of cache reads.
    pub cache_read: f64,
    /// Of cache writes.
    pub cache_write: f64,
    /// Of the whole request.
    pub total: f64,
    /// True when `total` was reported by the provider instead of computed from the model's rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_from_provider: Option<bool>,
}

impl Usage {
    /// Recomputes `total_tokens` from its parts.
    #[must_use]
    pub fn summed(mut self) -> Self {
        let parts = [self.output, self.cache_read, self.cache_write];
        self.total_tokens = parts.into_iter().fold(self.input, u64::saturating_add);
        self
    }

    /// How long the conversation was after the request: the reported total, or the sum of the parts.
    #[must_use]
    pub fn context_tokens(&self) -> u64 {
        if self.total_tokens > 0 { self.total_tokens } else { self.summed().total_tokens }
    }

    /// Adds another request's numbers to these (totals of a session, a family, a run). Providers may report anything:
    /// sums stop at the largest number.
    pub fn add(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cache_write_1h = sum(self.cache_write_1h, other.cache_write_1h);
        self.reasoning = sum(self.reasoning, other.reasoning);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        self.cost.input += other.cost.input;
        self.cost.output += other.cost.output;
        self.cost.cache_read += other.cost.cache_read;
        self.cost.cache_write += other.cost.cache_write;
        self.cost.total += other.cost.total;
    }

    /// What is left of these numbers without those of a part of them.
    #[must_use]
    pub fn without(mut self, part: &Self) -> Self {
        self.input = self.input.saturating_sub(part.input);
        self.output = self.output.saturating_sub(part.output);
        self.cache_read = self.cache_read.saturating_sub(part.cache_read);
        self.cache_write = self.cache_write.saturating_sub(part.cache_write);
        self.cache_write_1h = self.cache_write_1h.map(|all| all.saturating_sub(part.cache_write_1h.unwrap_or(0)));
        self.reasoning = self.reasoning.map(|all| all.saturating_sub(part.reasoning.unwrap_or(0)));
        self.total_tokens = self.total_tokens.saturating_sub(part.total_tokens);
        self.cost.input = (self.cost.input - part.cost.input).max(0.0);
        self.cost.output = (self.cost.output - part.cost.output).max(0.0);
        self.cost.cache_read = (self.cost.cache_read - part.cost.cache_read).max(0.0);
        self.cost.cache_write = (self.cost.cache_write - part.cost.cache_write).max(0.0);
        self.cost.total = (self.cost.total - part.cost.total).max(0.0);
        self
    }
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
    }
}
