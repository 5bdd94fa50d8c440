//! What is to be spawned, and how many may be.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Budget, SiblingError, SiblingId};
use crate::protocol::ThinkingLevel;

/// What is to be spawned. Whatever is not said is the parent's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SiblingSpec {
    /// What it is to do: its first message, taken as it stands. Empty: it waits for one ([`SendMode`](super::mail::SendMode)).
    pub task: String,
    /// A name of its own in the family, for people and for messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is for, in a word; virtual models may choose by it. Default: `sibling`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Makes the spawn happen once: a parent that spawns the same key with the same spec again, also after a restart,
    /// gets the sibling that is there. The same key with another spec is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The model, as `--model` takes it: a full name, or a part of one that only one model has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The thinking level; clamped to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingLevel>,
    /// Names of its active tools, in order. One that the parent's program does not have is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// A section of its system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The prompt takes the place of the program's own sections instead of standing behind them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_prompt: bool,
    /// Where it works.
    pub isolation: Isolation,
    /// Another folder than its parent's, absolute; only with [`Isolation::Shared`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// What it and all below it may use.
    pub budget: Budget,
    /// Its ends are told to the model of its parent, who is woken for that when it is idle. Programs that wait for ends
    /// themselves leave it off.
    pub tells_parent: bool,
    /// The file of its session; without, one in a folder beside the parent's. A parent in memory has children in memory
    /// unless this is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_file: Option<PathBuf>,
    /// The file that its model `troupe/script` plays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<PathBuf>,
}

impl SiblingSpec {
    /// A sibling that is to do this, as its parent would.
    #[must_use]
    pub fn of_task(task: impl Into<String>) -> Self {
        Self { task: task.into(), ..Self::default() }
    }

    /// Whether it makes sense, as far as that can be said without looking at anything else.
    ///
    /// # Errors
    /// Its name is taken for an id, or its budget is less than nothing.
    pub fn check(&self) -> Result<(), SiblingError> {
        if let Some(name) = self.name.as_ref().filter(|name| SiblingId::parse(name).is_some()) {
            return Err(SiblingError::Refused(format!("the name {name} would be taken for an id: choose another one")));
        }
        for (what, amount) in [("cost", self.budget.cost), ("seconds", self.budget.seconds)] {
            if let Some(amount) = amount.filter(|amount| !(amount.is_finite() && *amount >= 0.0)) {
                return Err(SiblingError::Refused(format!("`budget.{what}` must be a number from 0, not {amount}")));
            }
        }
        Ok(())
    }
}

/// Where a sibling works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// In the folder of its parent. Changes of one file wait for each other, and so do git commands.
    #[default]
    Shared,
    /// In a git worktree on a branch of its own, made from the parent's commit. At each end its changes are saved as a
    /// patch; the worktree goes when the sibling is stopped. Refused where the folder is in no git repository.
    Worktree,
}

/// Limits of a family; settings `siblings.*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiblingLimits {
    /// How many run at once.
    pub running: usize,
    /// How many a family may have in all, over its life.
    pub total: usize,
    /// Generations below the root.
    pub depth: u32,
}

impl Default for SiblingLimits {
    fn default() -> Self {
        Self { running: 8, total: 64, depth: 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_written_as_briefly_as_it_can_be_and_read_back() {
        let spec = SiblingSpec { budget: Budget { turns: Some(3), ..Budget::default() }, ..SiblingSpec::of_task("x") };
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(text, r#"{"task":"x","isolation":"shared","budget":{"turns":3},"tellsParent":false}"#);
        assert_eq!(serde_json::from_str::<SiblingSpec>(&text).unwrap(), spec);
    }

    #[test]
    fn a_name_that_is_an_id_and_a_budget_below_nothing_are_refused() {
        let named = |name: &str| SiblingSpec { name: Some(name.into()), ..SiblingSpec::of_task("x") };
        let costs = |cost| SiblingSpec { budget: Budget { cost: Some(cost), ..Budget::default() }, ..named("a") };
        for (spec, refused) in [
            (named("reader"), None),
            (named("agent-x"), None),
            (named("main"), Some("the name main")),
            (named("agent-1.2"), Some("the name agent-1.2")),
            (costs(0.0), None),
            (costs(-1.0), Some("`budget.cost`")),
            (costs(f64::INFINITY), Some("`budget.cost`")),
        ] {
            let error = spec.check().err().map(|error| error.to_string());
            assert_eq!(error.is_some(), refused.is_some(), "{spec:?}: {error:?}");
            assert!(error.unwrap_or_default().contains(refused.unwrap_or_default()), "{spec:?}");
        }
    }
}
