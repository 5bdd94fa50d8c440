//! What an agent and all below it may use, and have used.

use serde::{Deserialize, Serialize};

/// What an agent and all below it may use. None = without limit of its own; limits of agents above it count all the
/// same, and what is given here is set aside in theirs until the agent is stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Budget {
    /// Tokens of all requests, as providers count them: input, output, and what caches took and gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Model calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Seconds from the spawn on; the time that it is idle or paused counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Agents that may be spawned below it, all together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawns: Option<u64>,
    /// Generations below it: 0 = it cannot spawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
}

impl Budget {
    /// Whether nothing is limited.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }
}

/// A quantity that a budget limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BudgetKind {
    /// Tokens.
    Tokens,
    /// Money.
    Cost,
    /// Model calls.
    Turns,
    /// Wall time.
    Seconds,
    /// Agents below.
    Spawns,
    /// Generations below.
    Depth,
}

impl BudgetKind {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Tokens, Self::Cost, Self::Turns, Self::Seconds, Self::Spawns, Self::Depth];

    /// The quantity as texts call it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Turns => "turns",
            Self::Seconds => "time",
            Self::Spawns => "spawns",
            Self::Depth => "depth",
        }
    }
}

/// What an account has counted: an agent's own use with that of all below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spent {
    /// Tokens.
    pub tokens: u64,
    /// US dollars.
    pub cost: f64,
    /// Model calls.
    pub turns: u64,
    /// Seconds since the agent was made, in this process.
    pub seconds: f64,
    /// Agents that were spawned below it.
    pub spawns: u64,
}
