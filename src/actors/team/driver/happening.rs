//! What happened to a team, as its session notes it: from these notes, in their order, another process finds out where
//! the team stands.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, to_value};

use crate::{
    actors::team::plan::SeatId,
    protocol::{
        EntryBody,
        sibling::{BudgetKind, SiblingEnd},
        time::{Millis, now_ms},
    },
    store::{TreeView, jsonl::kind::TEAM_NOTE},
};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Happening {
    /// The team began.
    Begun,
    /// Another process goes on with it.
    GoesOn {
        /// Nobody worked for so long, in milliseconds.
        down_ms: u64,
    },
    /// A task has ended.
    Ended {
        /// The seat.
        seat: SeatId,
        /// Which of its agents.
        life: u32,
        /// The agent.
        name: String,
        /// How.
        end: Box<SiblingEnd>,
        /// What it changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        patch: Option<String>,
    },
    /// A command has ended.
    Ran {
        /// The seat.
        seat: SeatId,
        /// Which of its agents.
        life: u32,
        /// The agent.
        name: String,
        /// With exit code 0.
        passed: bool,
        /// What it printed.
        output: String,
    },
    /// Changes were merged, or not.
    Merged {
        /// The seat.
        seat: SeatId,
        /// Which of its agents.
        life: u32,
        /// The agent.
        name: String,
        /// Why not.
        result: Result<(), String>,
    },
    /// A list was made, or not.
    Listed {
        /// The step.
        step: usize,
        /// Its name.
        name: String,
        /// The list, or why there is none.
        items: Result<Vec<Value>, String>,
    },
    /// An agent was stopped, or all were.
    Stopped {
        /// Which; none for all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The last ends, by the agents' names.
        ends: Vec<(String, SiblingEnd)>,
    },
    /// The team's budget is used up.
    Limit {
        /// What ran out.
        what: BudgetKind,
        /// Which limit.
        message: String,
    },
}

/// A note of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// When, in milliseconds since the team began; the time in which nobody worked does not count.
    pub at: u64,
    /// The time of the day.
    pub clock: Millis,
    /// What.
    pub what: Happening,
}

impl Record {
    /// Something that happens now, `at` so long after the team began.
    #[must_use]
    pub fn now(at: Duration, what: Happening) -> Self {
        Self { at: super::millis(at), clock: now_ms(), what }
    }

    /// When it happened, after the team began.
    #[must_use]
    pub fn time(&self) -> Duration {
        Duration::from_millis(self.at)
    }

    /// The entry that it is in the session of the team's root.
    #[must_use]
    pub fn entry(&self) -> EntryBody {
        // Plain data, which is always JSON.
        EntryBody::Custom { custom_type: TEAM_NOTE.to_owned(), data: Some(to_value(self).unwrap_or(Value::Null)) }
    }

    /// All that a session tells, in order.
    ///
    /// # Errors
    /// A note cannot be read: another version of the program may have written it.
    pub fn all(session: &TreeView) -> Result<Vec<Self>, String> {
        let data = session.entries().filter_map(|entry| match &entry.entry().body {
            EntryBody::Custom { custom_type, data: Some(data) } if custom_type == TEAM_NOTE => Some(data.clone()),
            _ => None,
        });
        let read =
            |data| serde_json::from_value(data).map_err(|error| format!("a note of the team is unknown: {error}"));
        data.map(read).collect()
    }
}
