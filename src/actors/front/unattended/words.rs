//! What a worker tells its supervisor, and what that tells it: lines of JSON, on the worker's standard output and input.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{limits::Spent, outcome::Outcome};

/// What a worker tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Word {
    /// The session is open, and the run goes on in it.
    Open {
        /// The session's file.
        session: Option<PathBuf>,
        /// Its id.
        session_id: String,
        /// Answers that the run has: when there are no more at its end, the worker came no further.
        turns: u64,
    },
    /// Something happened.
    Beat {
        /// Answers that the run has.
        turns: u64,
        /// Nothing else need happen for so many milliseconds: a tool has that much time, or a person is asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quiet_ms: Option<u64>,
    },
    /// The run is over, as far as this worker goes. The last word.
    End(Box<Report>),
    /// The agent failed repeatedly: another worker may do better. The last word.
    Broken {
        /// Why.
        cause: String,
    },
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// More about that, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The text of the last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The same as a value, when it was to have a certain form and has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// What it spent.
    #[serde(default)]
    pub spent: Spent,
    /// What was denied, in order.
    #[serde(default)]
    pub denied: Vec<String>,
    /// Files that it changed, by path.
    #[serde(default)]
    pub changed_files: Vec<String>,
}

impl Report {
    /// A run that ended like this before there was anything to tell.
    #[must_use]
    pub fn bare(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self {
            outcome,
            reason: Some(reason.into()),
            answer: None,
            value: None,
            spent: Spent::default(),
            denied: Vec::new(),
            changed_files: Vec::new(),
        }
    }

    /// Whether it tells more than how the run ended.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.answer.is_some() || self.spent != Spent::default()
    }
}

/// Why a run is to be settled: its trace is aborted, its session can be gone on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settle {
    /// Somebody stopped the run.
    Stopped,
    /// Its time is over.
    TimeOver,
    /// The supervisor is gone.
    Orphaned,
    /// Another machine goes on with it.
    HandedOn,
}

impl Settle {
    /// How the run ends then.
    #[must_use]
    pub const fn outcome(self) -> Outcome {
        match self {
            Self::TimeOver => Outcome::TimeLimit,
            Self::Stopped | Self::Orphaned => Outcome::Cancelled,
            Self::HandedOn => Outcome::TakenOver,
        }
    }
}

/// A word as a line.
#[must_use]
pub fn line(word: &impl Serialize) -> Vec<u8> {
    // Fails for maps whose keys are no strings: there are none here.
    let mut line = serde_json::to_vec(word).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_the_way_through_a_line() {
        let words = [
            Word::Open { session: Some("/s.jsonl".into()), session_id: "s".into(), turns: 3 },
            Word::Beat { turns: 4, quiet_ms: None },
            Word::Beat { turns: 4, quiet_ms: Some(7) },
            Word::End(Box::new(Report::bare(Outcome::TokenLimit, "a\nb"))),
            Word::Broken { cause: "x".into() },
        ];
        for word in words {
            let line = line(&word);
            assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
            assert_eq!(serde_json::from_slice::<Word>(&line).unwrap(), word);
        }
    }
}
