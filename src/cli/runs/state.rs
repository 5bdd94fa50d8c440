//! `state.json`: where a run stands. The supervisor alone writes it, and always all of it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::ladder::{Attempt, Rung};
use crate::protocol::time::Millis;

/// Where a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Its worker runs, or is about to.
    #[default]
    Running,
    /// Its worker is dead, and another one follows.
    Restarting,
    /// It has its result for good.
    Finished,
    /// It ended and can be gone on with.
    Stopped,
}

/// A process, so that another one that got its number is not taken for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessId {
    /// Its number.
    pub pid: u32,
    /// When it began, in the system's clock ticks; 0 where that is not known.
    pub begun: u64,
}

/// A start of a worker, and its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Start {
    /// When.
    pub at: Millis,
    /// How it began.
    pub rung: Rung,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Millis>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Answers that the run had when it began; none when it did not come so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns_at_start: Option<u64>,
    /// Answers that it had when the worker was last heard of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns_at_end: Option<u64>,
}

impl Start {
    /// What the ladder needs to know of it.
    #[must_use]
    pub fn attempt(&self) -> Attempt {
        let moved = match (self.turns_at_start, self.turns_at_end) {
            (Some(before), Some(after)) => after > before,
            _ => false,
        };
        Attempt { rung: self.rung, moved }
    }
}

/// `state.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunState {
    /// Where the run stands.
    pub status: Status,
    /// Who supervises it.
    pub supervisor: Option<ProcessId>,
    /// Who works on it.
    pub worker: Option<ProcessId>,
    /// All starts of workers, in order.
    pub starts: Vec<Start>,
    /// The starts before this place belong to an earlier supervisor: they do not count against this one.
    pub counted_from: usize,
    /// Its sessions; it goes on in the last one.
    pub sessions: Vec<PathBuf>,
    /// It was gone on with so often after a stop.
    pub continued: u32,
    /// Milliseconds that it was supervised.
    pub elapsed_ms: u64,
    /// When this was written.
    pub updated: Millis,
}

impl RunState {
    /// Restarts of workers, over all supervisors.
    #[must_use]
    pub fn restarts(&self) -> usize {
        self.starts.iter().filter(|start| start.cause.is_some()).count().min(self.starts.len().saturating_sub(1))
    }
}
