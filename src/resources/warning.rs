//! What was wrong with a resource without being a reason to stop.

use std::{fmt, path::PathBuf};

/// Something that the user should know about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong and what was done about it.
    pub message: String,
}

impl Warning {
    /// A warning about `path`.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message)
    }
}

/// What was loaded, and what was wrong on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded<T> {
    /// What was loaded.
    pub value: T,
    /// In the order in which they came up.
    pub warnings: Vec<Warning>,
}
