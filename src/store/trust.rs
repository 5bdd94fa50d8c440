//! Which projects may bring resources that run or steer: settings, extensions, skills, prompts, MCP servers.
//!
//! `trust.json` in the user's folder maps folders to answers. Looking and deciding are pure; only [`TrustFile::read`]
//! and [`required_by`] touch the disk.

use std::{
    collections::BTreeMap,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    StoreError,
    lock_folder::{LockFolder, Patience},
    paths::create_private_dir,
    regular_file, replace,
};

/// Resources in a project's own folder that need trust. The bare folder does not.
const IN_PROJECT_DIR: [&str; 8] =
    ["settings.json", "mcp.json", "extensions", "skills", "prompts", "themes", "SYSTEM.md", "APPEND_SYSTEM.md"];

/// Saved answers by folder, absolute and without links.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TrustFile(BTreeMap<PathBuf, Option<bool>>);

/// What happens with projects that nobody decided about (setting `defaultProjectTrust`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DefaultTrust {
    /// They are trusted.
    Always,
    /// They are not.
    Never,
    /// A person is asked; without one they are not.
    #[default]
    Ask,
}

/// Whether a project's resources are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// They are.
    Trusted,
    /// They are not.
    Untrusted,
    /// A person has to be asked; without one they are not.
    Ask,
}

/// A decision about the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustAnswer {
    /// It may bring settings and resources.
    pub trusted: bool,
    /// For how long, and for what.
    pub reach: TrustReach,
}

/// How far a decision about trust reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustReach {
    /// For as long as the program runs.
    Session,
    /// It is remembered for the folder.
    Folder,
    /// It is remembered for the folder around it.
    Parent,
}

/// All that decides about a project.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrustQuestion {
    /// `--approve` or `--no-approve`.
    pub flag: Option<bool>,
    /// The answer of an extension of the user.
    pub extension: Option<bool>,
    /// The saved answer.
    pub saved: Option<bool>,
    /// The project has resources that need trust.
    pub required: bool,
    /// The setting.
    pub default: DefaultTrust,
}

impl TrustQuestion {
    /// The decision: the flag, an extension, the saved answer, nothing that needs trust, the setting; in this order.
    #[must_use]
    pub fn decide(self) -> Trust {
        let answer = self.flag.or(self.extension).or(self.saved).or((!self.required).then_some(true));
        match (answer, self.default) {
            (Some(true), _) | (None, DefaultTrust::Always) => Trust::Trusted,
            (Some(false), _) | (None, DefaultTrust::Never) => Trust::Untrusted,
            (None, DefaultTrust::Ask) => Trust::Ask,
        }
    }
}

impl TrustFile {
    /// Reads `trust.json`. A file that does not exist holds no answers.
    ///
    /// # Errors
    /// When it cannot be read or understood: nothing is guessed about trust.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        match regular_file::read_to_string(path) {
            Ok(text) => Self::parse(&text)
                .map_err(|error| StoreError::Malformed { path: path.to_owned(), reason: error.to_string() }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(StoreError::io("read", path)(error)),
        }
    }

    /// Reads the text of `trust.json`.
    ///
    /// # Errors
    /// When it is not an object of true, false and null.
    pub fn parse(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// The answer for a folder, given without links: its own, or that of the nearest folder above it that has one.
    #[must_use]
    pub fn answer(&self, folder: &Path) -> Option<bool> {
        folder.ancestors().find_map(|folder| self.0.get(folder).copied().flatten())
    }

    /// Saves an answer for a folder, given without links. With `parent`, the answer is for the folder above it, and
    /// the folder's own is deleted.
    pub fn set(&mut self, folder: &Path, answer: bool, parent: bool) {
        match folder.parent().filter(|_| parent) {
            Some(above) => {
                self.0.remove(folder);
                self.0.insert(above.to_owned(), Some(answer));
            }
            None => {
                self.0.insert(folder.to_owned(), Some(answer));
            }
        }
    }

    /// Saves an answer in the file `path`, see [`Self::set`]. The file is read again under its lock, so that answers
    /// of other processes stay. Blocks (up to a fifth of a second when the lock is held).
    ///
    /// # Errors
    /// When the file cannot be read, understood, locked or written; it is then as it was.
    pub fn save(path: &Path, folder: &Path, answer: bool, parent: bool) -> Result<(), StoreError> {
        if let Some(above) = path.parent() {
            create_private_dir(above)?;
        }
        let _lock = LockFolder::acquire(path, Patience::SHORT).map_err(StoreError::io("lock", path))?;
        let mut file = Self::read(path)?;
        file.set(folder, answer, parent);
        let malformed = |error: serde_json::Error| StoreError::io("write", path)(error.into());
        let answers = serde_json::to_value(&file).map_err(malformed)?;
        let answers = answers.as_object().cloned().unwrap_or_default();
        replace::with_json(path, &answers).map_err(StoreError::io("write", path))
    }

    /// The text of `trust.json`: sorted by folder, indented by two blanks.
    ///
    /// # Errors
    /// When a folder's name is no text.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

/// The resources of a project that need trust: those of its own folder `project_dir`, and `.agents/skills` in `cwd`
/// or a folder above it, except the user's own in `home`.
#[must_use]
pub fn required_by(cwd: &Path, project_dir: Option<&Path>, home: Option<&Path>) -> Vec<PathBuf> {
    let own = project_dir.into_iter().flat_map(|dir| IN_PROJECT_DIR.iter().map(|name| dir.join(name)));
    let real_home = home.and_then(|home| home.canonicalize().ok());
    // The home folder may be named by a link, while the working folder never is.
    let is_home = |folder: &Path| home == Some(folder) || real_home.as_deref() == Some(folder);
    let skills = cwd.ancestors().filter(|folder| !is_home(folder)).map(|folder| folder.join(".agents/skills"));
    // What cannot be looked at counts as there: no answer means no.
    own.chain(skills).filter(|path| path.try_exists().unwrap_or(true)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_knows_decides() {
        let open = TrustQuestion { required: true, ..TrustQuestion::default() };
        for (question, decision) in [
            (open, Trust::Ask),
            (TrustQuestion { required: false, ..open }, Trust::Trusted),
            (TrustQuestion { required: false, saved: Some(false), ..open }, Trust::Untrusted),
            (TrustQuestion { default: DefaultTrust::Always, ..open }, Trust::Trusted),
            (TrustQuestion { default: DefaultTrust::Never, ..open }, Trust::Untrusted),
            (TrustQuestion { saved: Some(true), default: DefaultTrust::Never, ..open }, Trust::Trusted),
            (TrustQuestion { extension: Some(false), saved: Some(true), ..open }, Trust::Untrusted),
            (TrustQuestion { flag: Some(true), extension: Some(false), saved: Some(false), ..open }, Trust::Trusted),
            (TrustQuestion { flag: Some(false), saved: Some(true), ..open }, Trust::Untrusted),
        ] {
            assert_eq!(question.decide(), decision, "{question:?}");
        }
    }

    #[test]
    fn the_nearest_folder_with_an_answer_counts() {
        let file = TrustFile::parse(r#"{"/a":true,"/a/b":false,"/a/b/c":null}"#).unwrap();
        for (folder, answer) in
            [("/a", Some(true)), ("/a/x/y", Some(true)), ("/a/b/c/d", Some(false)), ("/", None), ("/ab", None)]
        {
            assert_eq!(file.answer(Path::new(folder)), answer, "{folder}");
        }
    }

    #[test]
    fn answers_are_saved_sorted_and_trust_in_the_parent_replaces_the_childs_answer() {
        let mut file = TrustFile::default();
        file.set(Path::new("/p/z"), false, false);
        file.set(Path::new("/p/a"), true, false);
        assert_eq!(file.to_json().unwrap(), "{\n  \"/p/a\": true,\n  \"/p/z\": false\n}\n");
        file.set(Path::new("/p/z"), true, true);
        assert_eq!(file.to_json().unwrap(), "{\n  \"/p\": true,\n  \"/p/a\": true\n}\n");
    }

    #[test]
    fn a_file_that_cannot_be_understood_is_an_error_and_one_that_is_missing_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trust.json");
        assert_eq!(TrustFile::read(&path).unwrap(), TrustFile::default());
        for text in ["{", "[]", r#"{"/a":"yes"}"#] {
            std::fs::write(&path, text).unwrap();
            let error = TrustFile::read(&path).unwrap_err().to_string();
            assert!(error.contains("trust.json"), "{error}");
        }
    }

    #[test]
    fn saving_an_answer_keeps_those_of_others_and_never_writes_over_what_cannot_be_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/trust.json");
        TrustFile::save(&path, Path::new("/p/z"), true, false).unwrap();
        TrustFile::save(&path, Path::new("/p/a"), false, false).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\n  \"/p/a\": false,\n  \"/p/z\": true\n}\n");
        let lock = LockFolder::acquire(&path, Patience::SHORT).unwrap();
        let error = TrustFile::save(&path, Path::new("/p/b"), true, false).unwrap_err().to_string();
        assert!(error.contains("cannot lock"), "{error}");
        drop(lock);
        std::fs::write(&path, "{\"/p\":true,}").unwrap();
        assert!(TrustFile::save(&path, Path::new("/p/b"), true, false).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"/p\":true,}");
    }

    #[test]
    fn only_resources_need_trust_not_the_bare_folder() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let cwd = home.join("work/project");
        let own = cwd.join(".troupe");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::create_dir_all(home.join(".agents/skills")).unwrap();
        assert_eq!(required_by(&cwd, Some(&own), Some(&home)), Vec::<PathBuf>::new());
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&home, &link).unwrap();
        let real = cwd.canonicalize().unwrap();
        assert_eq!(required_by(&real, None, Some(&link)), Vec::<PathBuf>::new(), "the home behind a link");
        std::fs::create_dir_all(home.join("work/.agents/skills")).unwrap();
        std::fs::write(own.join("SYSTEM.md"), "x").unwrap();
        let found = required_by(&cwd, Some(&own), Some(&home));
        assert_eq!(found, [own.join("SYSTEM.md"), home.join("work/.agents/skills")]);
        assert_eq!(required_by(&cwd, None, Some(&home)), [home.join("work/.agents/skills")]);
    }
}
