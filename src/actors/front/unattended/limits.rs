//! What a run may spend, and what it has spent.

use serde::{Deserialize, Serialize};

use super::outcome::Outcome;
use crate::protocol::{AgentMessage, Entry, EntryBody, Usage};

/// What a run has spent, over all of its workers and sessions. This is the run's own count, taken from what is stored;
/// an account that is charged while an answer streams would take its place here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spent {
    /// Answers of the model, without failed attempts.
    pub turns: u64,
    /// Tokens and money, with those of summaries and tools.
    pub usage: Usage,
}

impl Spent {
    /// What these entries tell of.
    #[must_use]
    pub fn in_entries<'a>(entries: impl Iterator<Item = &'a Entry>) -> Self {
        let mut spent = Self::default();
        entries.for_each(|entry| spent.add_entry(entry));
        spent
    }

    /// Adds what an entry tells of.
    pub fn add_entry(&mut self, entry: &Entry) {
        match &entry.body {
            EntryBody::Message { message } => self.add_message(message),
            EntryBody::Usage { usage, .. }
            | EntryBody::Compaction { usage: Some(usage), .. }
            | EntryBody::BranchSummary { usage: Some(usage), .. } => self.usage.add(usage),
            _ => {}
        }
    }

    /// Adds what a message tells of.
    pub fn add_message(&mut self, message: &AgentMessage) {
        match message {
            AgentMessage::Assistant(message) => {
                self.turns += u64::from(!message.is_failed());
                self.usage.add(&message.usage);
            }
            AgentMessage::ToolResult(result) => {
                if let Some(usage) = &result.usage {
                    self.usage.add(usage);
                }
            }
            _ => {}
        }
    }

    /// Adds what another session of the run spent.
    pub fn add(&mut self, other: &Self) {
        self.turns += other.turns;
        self.usage.add(&other.usage);
    }
}

/// What a run may spend; none is without limit. Time is the supervisor's to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Answers of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Tokens: input, output, and what caches read and wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

impl Limits {
    /// The limit that is reached: nothing more may be asked of the model.
    #[must_use]
    pub fn reached(&self, spent: &Spent) -> Option<Outcome> {
        let tokens = spent.usage.summed().total_tokens;
        let reached = [
            (self.cost.is_some_and(|limit| spent.usage.cost.total >= limit), Outcome::CostLimit),
            (self.tokens.is_some_and(|limit| tokens >= limit), Outcome::TokenLimit),
            (self.turns.is_some_and(|limit| spent.turns >= limit), Outcome::TurnLimit),
        ];
        reached.into_iter().find_map(|(reached, outcome)| reached.then_some(outcome))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::protocol::{AssistantMessage, Cost};

    fn spent(turns: u64, input: u64, cost: f64) -> Spent {
        let usage = Usage { input, cost: Cost { total: cost, ..Cost::default() }, ..Usage::default() };
        Spent { turns, usage }
    }

    #[test]
    fn a_limit_is_reached_when_nothing_of_it_is_left() {
        let limits = |turns, cost, tokens| Limits { turns, cost, tokens };
        let table = [
            (limits(None, None, None), spent(1000, 1 << 40, 1e6), None),
            (limits(Some(2), None, None), spent(1, 0, 0.0), None),
            (limits(Some(2), None, None), spent(2, 0, 0.0), Some(Outcome::TurnLimit)),
            (limits(None, Some(0.5), None), spent(9, 9, 0.49), None),
            (limits(None, Some(0.5), None), spent(9, 9, 0.5), Some(Outcome::CostLimit)),
            (limits(None, None, Some(100)), spent(9, 99, 0.5), None),
            (limits(None, None, Some(100)), spent(9, 100, 0.5), Some(Outcome::TokenLimit)),
            (limits(Some(1), Some(0.1), Some(1)), spent(9, 100, 0.5), Some(Outcome::CostLimit)),
            (limits(Some(0), None, None), spent(0, 0, 0.0), Some(Outcome::TurnLimit)),
        ];
        for (limits, spent, wanted) in table {
            assert_eq!(limits.reached(&spent), wanted, "{limits:?} {spent:?}");
        }
    }

    #[test]
    fn answers_are_turns_and_everything_that_cost_something_counts() {
        let usage = |input| Usage { input, ..Usage::default() };
        let answer = AssistantMessage { usage: usage(5), ..AssistantMessage::default() };
        let bodies = [
            EntryBody::Message { message: AgentMessage::user("hi", 0) },
            EntryBody::Message { message: AgentMessage::Assistant(Arc::new(answer)) },
            EntryBody::BranchSummary {
                from_id: "x".into(),
                summary: String::new(),
                details: None,
                usage: Some(usage(7)),
                from_hook: None,
            },
        ];
        let entry = |body| Entry { body, id: "x".into(), parent_id: None, timestamp: String::new() };
        let entries: Vec<_> = bodies.into_iter().map(entry).collect();
        let spent = Spent::in_entries(entries.iter());
        assert_eq!((spent.turns, spent.usage.input), (1, 12));
    }
}
