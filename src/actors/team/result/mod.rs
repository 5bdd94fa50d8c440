//! What a run of a team leaves behind: [`ledger`] collects while it runs, [`TeamResult`] is `result.json`, [`timeline`] is
//! `timeline.json` and [`page`] the same for people, [`summary`] compares several runs.

pub mod ledger;
pub mod page;
pub mod summary;
pub mod timeline;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::Outcome;
use crate::protocol::Usage;

/// The result of a run, as `result.json` has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TeamResult {
    /// The team's name.
    pub team: String,
    /// Its file.
    pub file: String,
    /// The seed of the run.
    pub seed: u64,
    /// What the user gave.
    pub inputs: BTreeMap<String, String>,
    /// How it ended: `done`, `failed`, `limit` or `stopped`.
    pub outcome: String,
    /// The step that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// What ran out: `tokens`, `cost`, `turns`, `time`, `spawns` or `depth`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// Why it did not come to its end.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The exit code that goes with it.
    pub exit: u8,
    /// What the team was for; null when it did not come to its end.
    pub output: Value,
    /// What the steps made that are done.
    pub steps: Vec<StepResult>,
    /// The agents in the order of their starts.
    pub agents: Vec<AgentResult>,
    /// Tokens and cost of all.
    pub usage: Usage,
    /// When it began, ISO-8601.
    pub started_at: String,
    /// How long it took, in milliseconds, without the time in which nobody worked.
    pub wall_ms: u64,
    /// When it was broken off and gone on with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<Break>,
}

/// A run that was broken off and gone on with by another process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Break {
    /// When, in milliseconds since the team began.
    pub at_ms: u64,
    /// How long nobody worked, in milliseconds.
    pub down_ms: u64,
}

/// What a step made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StepResult {
    /// Its name.
    pub name: String,
    /// Its output.
    pub output: Value,
    /// The number of the agent whose work was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<usize>,
}

/// What an agent did and used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentResult {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: String,
    /// The step that it worked for.
    pub step: String,
    /// How its last task ended: `done`, `failed`, `refused`, `budget` or `stopped`.
    pub outcome: String,
    /// Why it was not done.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The model that answered last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tasks that it was given.
    pub tasks: u32,
    /// Tokens and cost.
    pub usage: Usage,
    /// How long it worked, in milliseconds.
    pub ms: u64,
    /// The file of its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The file with what it changed in its worktree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}

impl TeamResult {
    /// Notes how the run ended, in the place of what was noted before.
    pub fn close(&mut self, outcome: Outcome) {
        (self.step, self.limit, self.message) = (None, None, String::new());
        match outcome {
            Outcome::Done(output) => {
                self.outcome = "done".to_owned();
                self.output = output;
            }
            Outcome::Failed { step, message } => {
                self.outcome = "failed".to_owned();
                self.step = Some(step);
                self.message = message;
            }
            Outcome::Limit { what, message } => {
                self.outcome = "limit".to_owned();
                self.limit = Some(what.word().to_owned());
                self.message = message;
            }
            Outcome::Stopped(reason) => {
                self.outcome = "stopped".to_owned();
                self.message = reason;
            }
        }
    }

    /// Whether all steps were done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.outcome == "done"
    }
}
