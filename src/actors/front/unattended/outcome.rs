//! How a run ends.

use serde::{Deserialize, Serialize};

use crate::protocol::sibling::BudgetKind;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All that was asked for is done.
    Done,
    /// The last answer failed or was cut off, or the run could not begin.
    Failed,
    /// It is done, but calls were denied, and that was to be a failure.
    Denied,
    /// The session or the run's files could not be saved.
    NotSaved,
    /// The check failed, also after the last retry.
    VerificationFailed,
    /// The answer does not have the form that was asked for.
    SchemaNotMet,
    /// No file changed, and one was to change.
    NoChange,
    /// It needed more turns than it had.
    TurnLimit,
    /// It needed more money than it had.
    CostLimit,
    /// It needed more tokens than it had.
    TokenLimit,
    /// It needed more time than it had.
    TimeLimit,
    /// Its worker crashed too often.
    GaveUp,
    /// Somebody stopped it.
    Cancelled,
    /// It goes on elsewhere: this process does not own it any more.
    TakenOver,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Done,
        Self::Failed,
        Self::Denied,
        Self::NotSaved,
        Self::VerificationFailed,
        Self::SchemaNotMet,
        Self::NoChange,
        Self::TurnLimit,
        Self::CostLimit,
        Self::TokenLimit,
        Self::TimeLimit,
        Self::GaveUp,
        Self::Cancelled,
        Self::TakenOver,
    ];

    /// How a run ends whose agent has used up this of its budget.
    #[must_use]
    pub const fn of_limit(what: BudgetKind) -> Self {
        match what {
            BudgetKind::Tokens => Self::TokenLimit,
            BudgetKind::Cost => Self::CostLimit,
            BudgetKind::Turns => Self::TurnLimit,
            BudgetKind::Seconds => Self::TimeLimit,
            // These limit what an agent may begin, not what it may ask.
            BudgetKind::Spawns | BudgetKind::Depth => Self::Failed,
        }
    }

    /// Whether the same run can go on from here. Others have their result for good.
    #[must_use]
    pub const fn can_go_on(self) -> bool {
        match self {
            Self::Failed
            | Self::NotSaved
            | Self::TurnLimit
            | Self::CostLimit
            | Self::TokenLimit
            | Self::TimeLimit
            | Self::GaveUp
            | Self::Cancelled
            | Self::TakenOver => true,
            Self::Done | Self::Denied | Self::VerificationFailed | Self::SchemaNotMet | Self::NoChange => false,
        }
    }

    /// What happened, for people.
    #[must_use]
    pub const fn told(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Denied => "done, but calls were denied",
            Self::NotSaved => "the session could not be saved",
            Self::VerificationFailed => "the check failed",
            Self::SchemaNotMet => "the answer does not fit the schema",
            Self::NoChange => "no file changed",
            Self::TurnLimit => "the limit of turns is reached",
            Self::CostLimit => "the limit of cost is reached",
            Self::TokenLimit => "the limit of tokens is reached",
            Self::TimeLimit => "the limit of time is reached",
            Self::GaveUp => "given up after too many crashes",
            Self::Cancelled => "stopped",
            Self::TakenOver => "it goes on elsewhere",
        }
    }
}
