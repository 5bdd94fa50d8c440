//! What a run may spend, and what it has spent.
//!
//! Tokens and money are counted by the account of the run's agent, while answers stream and with all siblings below it.
//! Turns are the answers of that agent alone.

use serde::{Deserialize, Serialize};

use crate::{
    actors::account::Account,
    protocol::{
        AgentMessage, Entry, EntryBody, Usage,
        sibling::{self, Budget},
    },
};

/// What a run has spent, over all of its workers and sessions, as they tell: what its account begins with, and what its
/// result has.
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
    /// Limits the account of the run's agent, for whom `spent` was used before this process.
    pub fn hold(&self, account: &Account, spent: &Spent) {
        account.limit(Budget { tokens: self.tokens, cost: self.cost, ..Budget::default() });
        let tokens = spent.usage.summed().total_tokens;
        account.carry(sibling::Spent { tokens, cost: spent.usage.cost.total, ..sibling::Spent::default() });
    }

    /// Whether there may be no further answer.
    #[must_use]
    pub fn has_turns_over(&self, spent: &Spent) -> bool {
        self.turns.is_some_and(|limit| spent.turns >= limit)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::protocol::{AssistantMessage, Cost, sibling::BudgetKind};

    fn spent(turns: u64, input: u64, cost: f64) -> Spent {
        let usage = Usage { input, cost: Cost { total: cost, ..Cost::default() }, ..Usage::default() };
        Spent { turns, usage }
    }

    #[test]
    fn a_limit_is_reached_when_nothing_of_it_is_left_of_what_earlier_workers_spent() {
        use BudgetKind::{Cost, Tokens};
        let limits = |turns, cost, tokens| Limits { turns, cost, tokens };
        let table = [
            (limits(None, None, None), spent(1000, 1 << 40, 1e6), None),
            (limits(None, Some(0.5), None), spent(9, 9, 0.49), None),
            (limits(None, Some(0.5), None), spent(9, 9, 0.5), Some(Cost)),
            (limits(None, None, Some(100)), spent(9, 99, 0.5), None),
            (limits(None, None, Some(100)), spent(9, 100, 0.5), Some(Tokens)),
        ];
        for (limits, spent, wanted) in table {
            let account = Account::root("main");
            limits.hold(&account, &spent);
            assert_eq!(account.exhausted().map(|limit| limit.what), wanted, "{limits:?} {spent:?}");
        }
    }

    #[test]
    fn turns_are_over_when_there_were_as_many_as_there_may_be() {
        for (limit, turns, wanted) in
            [(None, 1000, false), (Some(2), 1, false), (Some(2), 2, true), (Some(2), 3, true), (Some(0), 0, true)]
        {
            let limits = Limits { turns: limit, ..Limits::default() };
            assert_eq!(limits.has_turns_over(&spent(turns, 0, 0.0)), wanted, "{limit:?} {turns}");
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
