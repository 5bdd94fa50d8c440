//! `result.json`: what came of a run.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{spec::RunSpec, state::RunState};
use crate::{
    actors::front::unattended::{outcome::Outcome, words::Report},
    cli::exit::Exit,
    protocol::{
        Usage,
        time::{Millis, now_ms},
    },
};

/// What came of a run: what `--output json` prints and `--notify` gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunResult {
    /// How it ended.
    pub outcome: Outcome,
    /// The exit code.
    pub exit: u8,
    /// More about the end, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The run.
    pub run_id: String,
    /// The file of its session, the last one of several.
    #[serde(default)]
    pub session: Option<PathBuf>,
    /// Tokens and cost by kind.
    pub usage: Usage,
    /// US dollars.
    pub cost: f64,
    /// Answers of the model.
    pub turns: u64,
    /// Restarts of its worker.
    pub restarts: usize,
    /// What was denied.
    pub denied: Vec<String>,
    /// Files that it changed.
    pub changed_files: Vec<String>,
    /// The text of the last answer.
    #[serde(default)]
    pub answer: Option<String>,
    /// The answer as a value, with `--output-schema`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// How to go on with it; none when it has its result for good.
    #[serde(default)]
    pub resume: Option<String>,
    /// When it was begun.
    pub started: Millis,
    /// When it ended.
    pub finished: Millis,
}

impl RunResult {
    /// The result of a run that ended like this; `signal` is what stopped it.
    #[must_use]
    pub fn new(spec: &RunSpec, state: &RunState, report: Report, signal: Option<Exit>) -> Self {
        let outcome = report.outcome;
        Self {
            outcome,
            exit: exit(outcome, signal).code(),
            reason: report.reason,
            run_id: spec.id.clone(),
            session: state.sessions.last().cloned(),
            cost: report.spent.usage.cost.total,
            usage: report.spent.usage,
            turns: report.spent.turns,
            restarts: state.restarts(),
            denied: report.denied,
            changed_files: report.changed_files,
            answer: report.answer,
            value: report.value,
            resume: outcome.can_go_on().then(|| spec.resume()),
            started: spec.created,
            finished: now_ms(),
        }
    }

    /// The exit of a process that tells this result.
    #[must_use]
    pub fn exit(&self) -> Exit {
        let signal = Exit::from_signal(i32::from(self.exit) - 128);
        exit(self.outcome, signal)
    }
}

#[cfg(test)]
impl RunResult {
    /// The result of a run with nothing to do.
    pub fn nothing(outcome: Outcome) -> Self {
        Self::new(&RunSpec::nothing("r"), &RunState::default(), Report::bare(outcome, ""), None)
    }
}

/// The exit code of an outcome.
#[must_use]
pub fn exit(outcome: Outcome, signal: Option<Exit>) -> Exit {
    match outcome {
        Outcome::Done => Exit::Done,
        Outcome::Failed => Exit::Failed,
        Outcome::Denied => Exit::Denied,
        Outcome::NotSaved => Exit::NotSaved,
        Outcome::VerificationFailed => Exit::VerificationFailed,
        Outcome::SchemaNotMet => Exit::SchemaNotMet,
        Outcome::NoChange => Exit::NoChange,
        Outcome::TurnLimit => Exit::TurnLimit,
        Outcome::CostLimit | Outcome::TokenLimit => Exit::SpendingLimit,
        Outcome::TimeLimit => Exit::TimeLimit,
        Outcome::GaveUp => Exit::GaveUp,
        Outcome::Cancelled => signal.unwrap_or(Exit::Terminated),
        Outcome::TakenOver => Exit::TakenOver,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_its_exit_code_and_only_the_two_of_spending_share_one() {
        let codes = Outcome::ALL.map(|outcome| exit(outcome, None).code());
        assert_eq!(codes, [0, 1, 5, 6, 7, 8, 9, 10, 11, 11, 12, 14, 143, 16]);
        assert_eq!(exit(Outcome::Cancelled, Some(Exit::Interrupted)).code(), 130);
    }
}
