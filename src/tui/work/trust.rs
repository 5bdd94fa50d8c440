//! What is known of the trust in a project.

use std::path::{Path, PathBuf};

use crate::{
    store::trust::{TrustFile, required_by},
    tui::surroundings::Surroundings,
};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustFacts {
    /// Resources that need trust.
    pub resources: Vec<PathBuf>,
    /// The saved answer.
    pub saved: Option<bool>,
}

impl TrustFacts {
    /// What is known of a folder. Blocks. A file of answers that cannot be read holds none.
    #[must_use]
    pub fn of(surroundings: &Surroundings, cwd: &Path) -> Self {
        let dir = surroundings.project_dir(cwd);
        let resources = required_by(cwd, dir.as_deref(), surroundings.home.as_deref());
        // Answers are for real folders.
        let folder = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let answers = TrustFile::read(&surroundings.user_dir.join("trust.json")).unwrap_or_default();
        Self { resources, saved: answers.answer(&folder) }
    }
}
