//! What `grep` and `find` ask for and get.

use std::path::PathBuf;

use crate::tools::Failure;

/// A search in file contents.
#[derive(Clone, Debug, Default)]
pub struct GrepQuery {
    /// A regular expression, or plain text.
    pub pattern: String,
    /// The folder or file to search.
    pub root: PathBuf,
    /// Only files that match this glob (none that match it when it begins with `!`).
    pub glob: Option<String>,
    /// Upper and lower case are the same.
    pub ignore_case: bool,
    /// The pattern is plain text.
    pub literal: bool,
    /// Lines to show before and after each match.
    pub context: usize,
    /// Matching lines at most.
    pub limit: usize,
    /// UTF-16 units of a line at most.
    pub line_units: usize,
}

/// What a search in contents found, in the order of paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepHits {
    /// Matching lines and their context.
    pub lines: Vec<GrepLine>,
    /// There is at least one more match than the limit.
    pub more: bool,
    /// Files that were left out since a line of theirs is too long to be searched.
    pub unsearched: usize,
}

/// A line of a search's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepLine {
    /// The file: relative to the searched folder, or the name of the searched file.
    pub path: std::sync::Arc<str>,
    /// Counted from 1.
    pub number: u64,
    /// False for context.
    pub is_match: bool,
    /// The line without its end.
    pub text: String,
    /// The text was cut to the limit of units.
    pub cut: bool,
}

/// A search in file names.
#[derive(Clone, Debug, Default)]
pub struct FindQuery {
    /// A glob: for names when it has no slash, else for paths below the root.
    pub pattern: String,
    /// The folder to search.
    pub root: PathBuf,
    /// Results at most.
    pub limit: usize,
}

/// What a search in names found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindHits {
    /// Paths relative to the root, in order; folders end in a slash.
    pub paths: Vec<String>,
    /// There are more than the limit.
    pub more: bool,
}

/// Why a search failed.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The pattern is no regular expression.
    #[error("Invalid regular expression {pattern:?}: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The glob is none.
    #[error("Invalid glob pattern {pattern:?}: {reason}")]
    Glob {
        /// The glob.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Nothing is at the path.
    #[error("Path not found: {}", .0.display())]
    NotFound(PathBuf),
    /// The path is a pipe, a socket or a device.
    #[error("Not a file or folder: {}", .0.display())]
    Special(PathBuf),
    /// The path is no folder.
    #[error("Not a directory: {}", .0.display())]
    NotAFolder(PathBuf),
    /// The root cannot be read.
    #[error("Cannot read {}: {error}", path.display())]
    Unreadable {
        /// The root.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The search was cancelled.
    #[error("Operation aborted")]
    Cancelled,
    /// The search's own thread failed.
    #[error("The search failed: {0}")]
    Failed(String),
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Self {
        Self::new(error.to_string())
    }
}
