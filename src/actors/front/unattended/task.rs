//! What a run is to do, as far as its worker is concerned.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    limits::{Limits, Spent},
    look::Look,
};
use crate::protocol::{EntryId, command::Input};

/// What a run is to do in one session.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// The prompts, in order. Each has an entry's id, by which it is found in the session.
    pub prompts: Vec<Input>,
    /// What the ids of the run's own messages begin with.
    pub stem: String,
    /// The run was gone on with so often after it had stopped.
    pub continued: u32,
    /// What it may spend.
    pub limits: Limits,
    /// What it had done in earlier sessions.
    pub before: Look,
    /// What it had spent when this worker began, also in this session.
    pub spent: Spent,
    /// How the work is checked.
    pub check: Option<Check>,
    /// The form of the answer: a JSON schema.
    pub schema: Option<Value>,
    /// A file must have changed.
    pub require_change: bool,
    /// A run in which calls were denied has failed.
    pub fail_when_denied: bool,
}

/// A command that tells whether the work is good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// The shell command.
    pub command: String,
    /// Its time.
    pub timeout: Duration,
    /// So often its failure goes back to the agent.
    pub retries: u32,
}

/// A message that the run itself sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// The prompt at this place.
    Prompt(usize),
    /// Go on after a stop, the n-th, from 1.
    GoOn(u32),
    /// The check failed, the n-th time, from 1.
    CheckFailed(u32),
    /// The answer does not have its form.
    Form,
    /// The first words of a session that takes the place of another one, the n-th, from 1.
    Anew(u32),
}

impl Message {
    /// The id of the entry that the message becomes.
    #[must_use]
    pub fn id(self, stem: &str) -> EntryId {
        let (kind, n) = match self {
            Self::Prompt(place) => ('p', u32::try_from(place).unwrap_or(u32::MAX)),
            Self::GoOn(n) => ('g', n),
            Self::CheckFailed(n) => ('c', n),
            Self::Form => ('f', 1),
            Self::Anew(n) => ('a', n),
        };
        format!("{stem}{kind}{n}").into()
    }

    /// The message with these words. Its operation is the entry: whoever sends it again changes nothing.
    #[must_use]
    pub fn input(self, stem: &str, text: impl Into<String>) -> Input {
        let id = self.id(stem);
        Input { op: id.to_string(), verbatim: true, entry_id: Some(id), ..Input::text(text) }
    }
}
