//! What a server keeps of a run, beside its sessions and events.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    actors::nats::{Hub, NatsError},
    cli::runs::{result::RunResult, spec::RunSpec, state::RunState},
    protocol::time::{Millis, now_ms},
};

/// The kind of [`Submitted`].
pub const SPEC: &str = "spec";
/// The kind of [`Standing`].
pub const STATE: &str = "state";
/// The kind of [`Ended`].
pub const RESULT: &str = "result";
/// The kind of [`StopWish`].
pub const STOP: &str = "stop";

/// Terms that are kept of a run.
const TERMS: usize = 50;
/// Refusals that are kept of a run, and characters of the reason of each: the record is one message.
const REFUSALS: (usize, usize) = (20, 1000);

/// What is to be run, and as which request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Submitted {
    /// The number of the latest request, from 1: the first one, then each that goes on with the run.
    pub number: u32,
    /// Whose nodes take it.
    pub pool: String,
    /// When the latest request was made.
    pub at: Millis,
    /// The run.
    pub spec: RunSpec,
}

impl Submitted {
    /// How the latest request ended, when it has.
    ///
    /// # Errors
    /// The server cannot be used.
    pub async fn end(&self, hub: &Hub) -> Result<Option<Ended>, NatsError> {
        Ok(self.end_in(hub.get(&self.spec.id, RESULT).await?.map(|record| record.value)))
    }

    /// The end of the latest request, if what is known of the run's ends is that.
    #[must_use]
    pub fn end_in(&self, known: Option<Ended>) -> Option<Ended> {
        known.filter(|ended| ended.number >= self.number)
    }
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// The number of the request.
    pub number: u32,
    /// The epoch of the lease of whoever says so; 0 for a client.
    #[serde(default)]
    pub epoch: u64,
    /// The node that says so; none when the run was stopped while no node had it.
    pub node: Option<String>,
    /// The result.
    pub result: RunResult,
}

/// Somebody wants a request stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StopWish {
    /// The number of the request.
    pub number: u32,
    /// The exit code that stands for the wish: that of a signal.
    pub exit: u8,
}

/// Where a run stands, and who had it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Standing {
    /// The times that nodes had it, the latest last.
    pub terms: Vec<Term>,
    /// Nodes that could not take it, since one could.
    pub refusals: Vec<Refusal>,
    /// Where it stood when that was last told: numbers of processes and paths are those of the last node.
    pub state: RunState,
}

/// The time that a node had a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Term {
    /// The number of the request.
    pub number: u32,
    /// The node's name.
    pub node: String,
    /// The epoch of its lease.
    pub epoch: u64,
    /// Where the run worked.
    pub folder: PathBuf,
    /// Since when.
    pub since: Millis,
    /// Its end; none while it lasts, or while nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<TermEnd>,
}

/// How a term ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TermEnd {
    /// When, or when somebody noticed.
    pub at: Millis,
    /// How.
    pub how: Leaving,
}

/// How a node leaves a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leaving {
    /// With its result.
    Ended,
    /// In order: another node goes on.
    HandedOn,
    /// Its supervisor ended without a result.
    Broke,
    /// It was not heard of any more.
    Lost,
}

impl Leaving {
    /// The same for people.
    #[must_use]
    pub const fn told(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::HandedOn => "handed on",
            Self::Broke => "its supervisor died",
            Self::Lost => "not heard of any more",
        }
    }
}

/// A node could not take a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// The number of the request.
    pub number: u32,
    /// The node's name.
    pub node: String,
    /// Why not.
    pub reason: String,
}

/// Where a run stands.
///
/// # Errors
/// The server cannot be used.
pub async fn standing(hub: &Hub, run: &str) -> Result<Standing, NatsError> {
    Ok(hub.get(run, STATE).await?.map(|record| record.value).unwrap_or_default())
}

impl Standing {
    /// Begins a term. One that seems to last is over: its node was not heard of.
    pub fn begin(&mut self, term: Term) {
        self.leave(Leaving::Lost);
        self.refusals.clear();
        self.terms.push(term);
        let surplus = self.terms.len().saturating_sub(TERMS);
        self.terms.drain(..surplus);
    }

    /// Notes that a node cannot take a request.
    pub fn refuse(&mut self, number: u32, node: &str, reason: &str) {
        let (most, length) = REFUSALS;
        self.refusals.push(Refusal { number, node: node.to_owned(), reason: reason.chars().take(length).collect() });
        let surplus = self.refusals.len().saturating_sub(most);
        self.refusals.drain(..surplus);
    }

    /// Ends the term that lasts, if one does.
    pub fn leave(&mut self, how: Leaving) {
        if let Some(term) = self.terms.last_mut() {
            term.end.get_or_insert(TermEnd { at: now_ms(), how });
        }
    }

    /// The terms of a request that ended badly, or have no end yet.
    #[must_use]
    pub fn failures(&self, number: u32) -> usize {
        let is_bad = |term: &&Term| match term.end {
            None => true,
            Some(end) => matches!(end.how, Leaving::Broke | Leaving::Lost),
        };
        self.terms.iter().filter(|term| term.number == number).filter(is_bad).count()
    }

    /// The term that a node has now, if its request is this one or a later one.
    #[must_use]
    pub fn taken(&self, number: u32) -> Option<&Term> {
        self.terms.last().filter(|term| term.number >= number)
    }
}

/// Who has a request, as far as it was told.
#[derive(Debug, Default)]
pub struct Holder(Option<(String, u64)>);

impl Holder {
    /// The term that has begun since it was asked last, and whether there was one before.
    pub fn news<'a>(&mut self, standing: &'a Standing, number: u32) -> Option<(&'a Term, bool)> {
        let term = standing.taken(number).filter(|term| term.end.is_none())?;
        let now = (term.node.clone(), term.epoch);
        if self.0.as_ref() == Some(&now) {
            return None;
        }
        Some((term, self.0.replace(now).is_some()))
    }

    /// Whether a node had it at all.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.0.is_some()
    }
}

/// The type of lines among a run's events that no front would print.
const NOTE: &str = "node";

/// A line among a run's events about the nodes that have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Note {
    /// A node has taken it.
    Taken {
        /// The number of the request.
        number: u32,
        /// The node's name.
        node: String,
        /// When.
        at: Millis,
    },
    /// Its supervisor said something.
    Supervisor {
        /// The line.
        text: String,
    },
    /// The process of its agent said something.
    Worker {
        /// The line.
        text: String,
    },
    /// The request is over.
    Ended {
        /// The number of the request.
        number: u32,
    },
}

impl Note {
    /// The note as a line.
    #[must_use]
    pub fn line(&self) -> String {
        // Maps with keys that are no strings would fail: there are none.
        let mut value = serde_json::to_value(self).unwrap_or_default();
        let mut line = serde_json::Map::from_iter([("type".to_owned(), Value::from(NOTE))]);
        if let Some(fields) = value.as_object_mut() {
            line.append(fields);
        }
        Value::Object(line).to_string()
    }

    /// The note that a line is; none for events.
    #[must_use]
    pub fn of(line: &str) -> Option<Self> {
        const BEGINNING: &str = r#"{"type":"node","#;
        serde_json::from_str(line).ok().filter(|_| line.starts_with(BEGINNING))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(number: u32, end: Option<Leaving>) -> Term {
        let end = end.map(|how| TermEnd { at: 1, how });
        Term { number, node: "a".into(), epoch: 1, folder: "/w".into(), since: 0, end }
    }

    #[test]
    fn notes_stand_among_events_and_are_told_from_them() {
        for note in [
            Note::Taken { number: 2, node: "a".into(), at: 7 },
            Note::Supervisor { text: "x \"y\"".into() },
            Note::Worker { text: String::new() },
            Note::Ended { number: 1 },
        ] {
            let line = note.line();
            assert!(!line.contains('\n'));
            assert_eq!(Note::of(&line), Some(note));
        }
        for line in [r#"{"type":"agent_start"}"#, r#"{"type":"nodes","what":"ended","number":1}"#, "node"] {
            assert_eq!(Note::of(line), None, "{line}");
        }
    }

    #[test]
    fn terms_that_end_in_order_are_no_failures_and_one_without_an_end_was_lost() {
        let mut standing = Standing::default();
        for (end, failures) in [
            (Some(Leaving::HandedOn), 0),
            (Some(Leaving::Broke), 1),
            (None, 2),
            // Begins after the one without an end.
            (Some(Leaving::Ended), 2),
        ] {
            standing.begin(term(1, end));
            assert_eq!(standing.failures(1), failures, "{standing:?}");
        }
        assert_eq!(standing.terms[2].end.unwrap().how, Leaving::Lost);
        assert_eq!((standing.failures(2), standing.taken(1).is_some(), standing.taken(2).is_some()), (0, true, false));
        for _ in 0..100 {
            standing.begin(term(2, None));
            standing.refuse(2, "a", &"x".repeat(5000));
        }
        assert_eq!((standing.terms.len(), standing.refusals.len()), (TERMS, 1), "since one could take it");
        (0..100).for_each(|_| standing.refuse(2, "a", &"x".repeat(5000)));
        assert!(serde_json::to_vec(&standing).unwrap().len() < 64 << 10);
    }
}
