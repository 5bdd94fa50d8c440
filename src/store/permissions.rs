//! Rules that were remembered: answers to questions, and what `troupe permissions` adds.
//!
//! `permissions.json` in the user's folder, for the user alone. What the rules mean is for others to say.

use std::{
    collections::BTreeMap,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    StoreError,
    lock_folder::{LockFolder, Patience},
    regular_file, replace,
};
use crate::protocol::permission::RuleAction;

/// What the file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionsFile {
    /// Rules by the project's folder, absolute and without links.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub projects: BTreeMap<PathBuf, RuleLists>,
    /// Rules for all projects.
    #[serde(default, skip_serializing_if = "RuleLists::is_empty")]
    pub everywhere: RuleLists,
    /// What newer versions keep here.
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// Rules by what they do, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleLists {
    /// Rules that allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Rules that ask.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
    /// Rules that deny.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

/// For whom a rule is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach<'a> {
    /// One project, by its folder without links.
    Project(&'a Path),
    /// All of them.
    Everywhere,
}

impl RuleLists {
    /// Whether there is no rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// All rules: those that deny first, those that allow last.
    pub fn iter(&self) -> impl Iterator<Item = (RuleAction, &str)> {
        [RuleAction::Deny, RuleAction::Ask, RuleAction::Allow]
            .into_iter()
            .flat_map(|action| self.list(action).iter().map(move |rule| (action, rule.as_str())))
    }

    fn list(&self, action: RuleAction) -> &Vec<String> {
        match action {
            RuleAction::Allow => &self.allow,
            RuleAction::Ask => &self.ask,
            RuleAction::Deny => &self.deny,
        }
    }

    fn list_mut(&mut self, action: RuleAction) -> &mut Vec<String> {
        match action {
            RuleAction::Allow => &mut self.allow,
            RuleAction::Ask => &mut self.ask,
            RuleAction::Deny => &mut self.deny,
        }
    }

    /// Adds a rule. What was said of it before no longer holds.
    pub fn add(&mut self, action: RuleAction, rule: &str) {
        self.remove(rule);
        self.list_mut(action).push(rule.to_owned());
    }

    /// Takes a rule out, whatever it did; whether it was there.
    pub fn remove(&mut self, rule: &str) -> bool {
        let before = self.iter().count();
        for action in [RuleAction::Allow, RuleAction::Ask, RuleAction::Deny] {
            self.list_mut(action).retain(|known| known != rule);
        }
        self.iter().count() < before
    }
}

impl PermissionsFile {
    /// Reads the file. One that does not exist holds no rules.
    ///
    /// # Errors
    /// When it cannot be read or understood: nothing is guessed about permissions.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        match regular_file::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| StoreError::Malformed { path: path.to_owned(), reason: error.to_string() }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(StoreError::io("read", path)(error)),
        }
    }

    /// Reads the file under its lock, changes it, and replaces it at once. Blocks (up to a fifth of a second when
    /// another program holds the lock).
    ///
    /// # Errors
    /// When it cannot be read, understood, locked or written; it is then as it was.
    pub fn change<T>(path: &Path, change: impl FnOnce(&mut Self) -> T) -> Result<T, StoreError> {
        // The lock folder alone would do, but agents of one process would wait for each other by polling.
        static WRITING: Mutex<()> = Mutex::new(());
        let _in_process = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = path.parent() {
            replace::create_private_folder(folder).map_err(StoreError::io("create", folder))?;
        }
        let _lock = LockFolder::acquire(path, Patience::SHORT).map_err(StoreError::io("lock", path))?;
        let mut file = Self::read(path)?;
        let result = change(&mut file);
        file.projects.retain(|_, rules| !rules.is_empty());
        let malformed =
            |error: serde_json::Error| StoreError::Malformed { path: path.to_owned(), reason: error.to_string() };
        let values = match serde_json::to_value(&file).map_err(malformed)? {
            Value::Object(values) => values,
            _ => Map::new(),
        };
        replace::with_json(path, &values).map_err(StoreError::io("write", path))?;
        Ok(result)
    }

    /// The rules of a reach; none when nothing was remembered.
    #[must_use]
    pub fn rules(&self, reach: Reach<'_>) -> Option<&RuleLists> {
        match reach {
            Reach::Project(folder) => self.projects.get(folder),
            Reach::Everywhere => Some(&self.everywhere),
        }
    }

    /// The rules of a reach, to be changed.
    pub fn rules_mut(&mut self, reach: Reach<'_>) -> &mut RuleLists {
        match reach {
            Reach::Project(folder) => self.projects.entry(folder.to_owned()).or_default(),
            Reach::Everywhere => &mut self.everywhere,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn rules_are_added_moved_and_taken_out_and_the_file_is_for_its_owner_fc_011() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("permissions.json");
        let project = Reach::Project(Path::new("/w/p"));
        PermissionsFile::change(&path, |file| {
            file.rules_mut(project).add(RuleAction::Allow, "bash(git status)");
            file.rules_mut(project).add(RuleAction::Deny, "bash(git status)");
            file.rules_mut(Reach::Everywhere).add(RuleAction::Allow, "read");
        })
        .unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let file = PermissionsFile::read(&path).unwrap();
        let rules: Vec<_> = file.rules(project).unwrap().iter().collect();
        assert_eq!(rules, [(RuleAction::Deny, "bash(git status)")]);
        assert!(PermissionsFile::change(&path, |file| file.rules_mut(project).remove("bash(git status)")).unwrap());
        assert!(!PermissionsFile::change(&path, |file| file.rules_mut(project).remove("bash(git status)")).unwrap());
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "{\n  \"everywhere\": {\n    \"allow\": [\n      \"read\"\n    ]\n  }\n}\n");
    }

    #[test]
    fn a_file_that_cannot_be_understood_is_an_error_and_fields_of_newer_versions_stay() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("permissions.json");
        assert_eq!(PermissionsFile::read(&path).unwrap(), PermissionsFile::default());
        for text in ["{", "[]", r#"{"everywhere":{"allow":"x"}}"#] {
            std::fs::write(&path, text).unwrap();
            assert!(PermissionsFile::read(&path).unwrap_err().to_string().contains("permissions.json"), "{text}");
            assert!(PermissionsFile::change(&path, |_| ()).is_err(), "{text}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        std::fs::write(&path, r#"{"future":[1]}"#).unwrap();
        PermissionsFile::change(&path, |file| file.everywhere.add(RuleAction::Ask, "write")).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().contains("\"future\""));
    }
}
