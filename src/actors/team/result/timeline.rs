//! Who did what when.

use serde::{Deserialize, Serialize};

use super::Break;
use crate::protocol::Usage;

/// What was done in a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpanKind {
    /// An agent worked at a task.
    #[default]
    Work,
    /// A command looked at an agent's work.
    Command,
    /// Changes were merged.
    Merge,
    /// A list was made.
    List,
}

impl SpanKind {
    /// The kind as texts call it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Command => "command",
            Self::Merge => "merge",
            Self::List => "list",
        }
    }
}

/// Something that took time. Times are milliseconds since the team began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Span {
    /// The agent; for a list, the step.
    pub agent: String,
    /// The step.
    pub step: String,
    /// What was done.
    pub kind: SpanKind,
    /// Which task of the agent it was, from 1; 0 for anything else.
    pub task: u32,
    /// When it began.
    pub from_ms: u64,
    /// When it ended; none when it was cut off by the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_ms: Option<u64>,
    /// How it ended.
    pub outcome: String,
    /// What it used.
    pub usage: Usage,
}

/// `timeline.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Timeline {
    /// The team's name.
    pub team: String,
    /// When it began, ISO-8601.
    pub started_at: String,
    /// How long it took.
    pub wall_ms: u64,
    /// When it was broken off and gone on with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<Break>,
    /// The spans in the order of their beginnings.
    pub spans: Vec<Span>,
}
