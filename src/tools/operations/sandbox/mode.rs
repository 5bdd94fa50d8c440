//! How far an agent is confined.

use std::{fmt, str::FromStr};

/// How far an agent is confined. Greater is tighter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SandboxMode {
    /// Not at all.
    #[default]
    Off,
    /// Only the session's folder, further folders that the user names and a private temporary folder can be written.
    Workspace,
    /// Only a private temporary folder can be written.
    ReadOnly,
}

impl SandboxMode {
    /// All of them, loosest first.
    pub const ALL: [Self; 3] = [Self::Off, Self::Workspace, Self::ReadOnly];

    /// The word in flags and settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Workspace => "workspace",
            Self::ReadOnly => "read-only",
        }
    }
}

impl fmt::Display for SandboxMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected off, workspace or read-only, found \"{0}\"")]
pub struct UnknownMode(String);

impl FromStr for SandboxMode {
    type Err = UnknownMode;

    fn from_str(word: &str) -> Result<Self, UnknownMode> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == word).ok_or_else(|| UnknownMode(word.to_owned()))
    }
}
