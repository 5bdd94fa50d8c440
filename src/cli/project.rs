//! The project of a run, and whether it is trusted: decided before anything of it is read that runs or steers.

use std::path::{Path, PathBuf};

use super::{env::Environment, patience, start::StartError};
use crate::{
    extensions::ExtensionRegistry,
    resources::project::project_dir,
    store::{
        settings::Settings,
        trust::{self, Trust, TrustFile, TrustQuestion},
    },
};

/// The project around a session's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Its own folder (`.troupe`, or `.pi`), where there is one.
    pub dir: Option<PathBuf>,
    /// Whether it may bring settings and resources.
    pub trusted: bool,
    /// What is left alone because nobody decided.
    left_out: Vec<PathBuf>,
}

impl Project {
    /// Decides about the project of a session in `cwd`: `flag` is `--approve` or `--no-approve`.
    ///
    /// # Errors
    /// `trust.json` would decide and cannot be understood: nothing is guessed about trust.
    pub fn of(environment: &Environment, flag: Option<bool>, user: &Settings, cwd: &Path) -> Result<Self, StartError> {
        Self::judged(environment, flag, user, cwd, &ExtensionRegistry::default())
    }

    /// The same when extensions may decide.
    ///
    /// # Errors
    /// See [`Self::of`].
    pub fn judged(
        environment: &Environment,
        flag: Option<bool>,
        user: &Settings,
        cwd: &Path,
        extensions: &ExtensionRegistry,
    ) -> Result<Self, StartError> {
        let (place, user_dir, home) = (cwd.to_owned(), environment.user_dir.clone(), environment.home.clone());
        let look = patience::begin(move || {
            let dir = project_dir(&place, &user_dir);
            let required = trust::required_by(&place, dir.as_deref(), home.as_deref());
            (dir, required)
        });
        // Folders that do not answer may hold anything.
        let (dir, required) = look.within(patience::FOR_FILES).unwrap_or_else(|| (None, vec![cwd.to_owned()]));
        let saved = if required.is_empty() || flag.is_some() {
            None
        } else {
            let file = TrustFile::read(&environment.user_dir.join("trust.json")).map_err(StartError::of)?;
            // Answers are for real folders: a link must not borrow the trust of where it lies.
            file.answer(&std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned()))
        };
        let question = TrustQuestion {
            flag,
            extension: if required.is_empty() { None } else { judged(extensions, cwd) },
            saved,
            required: !required.is_empty(),
            default: user.default_project_trust(),
        };
        let decision = question.decide();
        // Without a person to ask, no answer means no. Whoever said no need not hear of it.
        let left_out = if decision == Trust::Ask { required } else { Vec::new() };
        Ok(Self { dir, trusted: decision == Trust::Trusted, left_out })
    }

    /// What is left alone because nobody decided.
    #[must_use]
    pub fn left_out(&self) -> &[PathBuf] {
        &self.left_out
    }

    /// What to tell the user when something of the project is left alone.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        let (first, more) = self.left_out.split_first()?;
        let (more, are, them) = match more.len() {
            0 => (String::new(), "is", "it"),
            more => (format!(" and {more} more"), "are", "them"),
        };
        Some(format!(
            "The project is not trusted, so {}{more} {are} not used. Look at {them}; --approve uses {them} for one \
             run, --no-approve leaves {them} without this notice.",
            first.display()
        ))
    }

    /// The settings of the user and, when it is trusted, of the project.
    #[must_use]
    pub fn settings(&self, environment: &Environment, user: Settings) -> Settings {
        match &self.dir {
            Some(dir) if self.trusted => {
                Settings::load(&environment.user_dir.join("settings.json"), Some(&dir.join("settings.json")))
            }
            _ => user,
        }
    }
}

/// What extensions say; one that fails or does not answer in time says no.
fn judged(extensions: &ExtensionRegistry, cwd: &Path) -> Option<bool> {
    if extensions.is_empty() {
        return None;
    }
    let (extensions, cwd) = (extensions.clone(), cwd.to_owned());
    patience::begin(move || extensions.trusts(&cwd)).within(patience::FOR_FILES).unwrap_or(Some(false))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::extensions::Extension;

    /// An extension that judges so.
    struct Judge(&'static str, fn() -> Option<bool>);

    impl Extension for Judge {
        fn name(&self) -> &str {
            self.0
        }

        fn trusts(&self, _: &Path) -> Option<bool> {
            (self.1)()
        }
    }

    #[test]
    fn the_first_extension_that_decides_counts_and_one_that_fails_says_no() {
        let silent = Judge("silent", || None);
        let table: [(Judge, Option<bool>); 4] = [
            (Judge("yes", || Some(true)), Some(true)),
            (Judge("no", || Some(false)), Some(false)),
            (Judge("none", || None), None),
            (Judge("fails", || std::panic::resume_unwind(Box::new("boom"))), Some(false)),
        ];
        assert_eq!(judged(&ExtensionRegistry::default(), Path::new("/")), None);
        let silent: Arc<dyn Extension> = Arc::new(silent);
        for (judge, wanted) in table {
            let name = judge.0;
            let mut extensions = ExtensionRegistry::default();
            extensions.register(silent.clone()).unwrap();
            extensions.register(Arc::new(judge)).unwrap();
            extensions.register(Arc::new(Judge("late", || None))).unwrap();
            assert_eq!(judged(&extensions, Path::new("/")), wanted, "{name}");
        }
    }
}
