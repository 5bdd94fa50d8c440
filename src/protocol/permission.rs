//! Permissions as front ends see and set them.

use serde::{Deserialize, Serialize};

/// What becomes of a call that no rule is about. Ordered from the loosest to the strictest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionMode {
    /// Rules do not count either: everything runs.
    #[default]
    Off,
    /// It runs.
    Allow,
    /// A person is asked; without one it is denied. Reading in the project runs.
    Ask,
    /// It is denied.
    Deny,
}

impl PermissionMode {
    /// All modes by their names.
    pub const NAMES: [(&'static str, Self); 4] =
        [("off", Self::Off), ("allow", Self::Allow), ("ask", Self::Ask), ("deny", Self::Deny)];

    /// The mode of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, mode)| *mode)
    }

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// What a rule does with the calls that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleAction {
    /// They run.
    Allow,
    /// A person is asked.
    Ask,
    /// They are denied.
    Deny,
}

impl RuleAction {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleSource {
    /// The command line.
    Flag,
    /// The user's settings.
    User,
    /// The project's settings.
    Project,
    /// Remembered for the project.
    Remembered,
    /// Remembered for all projects.
    Everywhere,
    /// An answer that holds while the program runs.
    Session,
}

impl RuleSource {
    /// Whether the rule is somebody's answer to a question, which rules that ask must not ask again.
    #[must_use]
    pub fn is_answer(self) -> bool {
        matches!(self, Self::Remembered | Self::Everywhere | Self::Session)
    }
}

/// A rule as front ends see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleInfo {
    /// What it does.
    pub action: RuleAction,
    /// How it is written.
    pub rule: String,
    /// Where it comes from.
    pub source: RuleSource,
}

/// What is allowed in an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionsInfo {
    /// The mode.
    pub mode: PermissionMode,
    /// The rules.
    pub rules: Vec<RuleInfo>,
    /// The agent only plans: nothing is changed.
    pub plan_mode: bool,
}
