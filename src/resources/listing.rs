//! What was loaded for a session, as people are told of it.

use std::path::PathBuf;

/// What was loaded. Names and paths are as they were found: they must be made safe before they are drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Files with instructions, in the order in which the model reads them.
    pub context_files: Vec<PathBuf>,
    /// Skills and their files.
    pub skills: Vec<(String, PathBuf)>,
    /// Prompt templates and their files.
    pub templates: Vec<(String, PathBuf)>,
    /// What is odd about them.
    pub warnings: Vec<String>,
}
