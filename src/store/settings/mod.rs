//! Settings: `settings.json` of the user and of the project, in pi's schema.
//!
//! [`Settings`] is a value: the two files as read, overrides of this run, and the merge of the three. Typed accessors
//! are in [`values`]; a value of the wrong type reads as the default and is told, so that an odd line never stops a run.
//! `table` has all settings with their kinds and defaults, `schema` compares a file with it. A change is made in memory by [`Settings::set`]; the [`Change`] that it returns writes the file, where blocking is allowed.

mod change;
pub mod checkpoints;
mod layer;
mod merge;
mod migrate;
pub mod sandbox;
mod schema;
pub mod session;
mod siblings;
pub mod table;
mod tools;
pub mod values;

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

pub use change::{Change, SettingsError};
pub use layer::Scope;
pub use schema::check_value;

use super::{document::DocumentError, regular_file};
use layer::Layer;

/// Keys that only the user's file may set: a repository must not choose them for whoever clones it.
pub const GLOBAL_ONLY: [&str; 6] =
    ["defaultProjectTrust", "httpProxy", "cacheWarming", "selfUpdateCommand", "deviceId", "oauth"];

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueSource {
    /// The user's file.
    User,
    /// The file of a trusted project.
    Project,
    /// This run: a flag, or the program that embeds the library.
    Run,
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    global: Layer,
    project: Option<Layer>,
    overrides: Map<String, Value>,
    effective: Map<String, Value>,
}

impl Settings {
    /// Reads the user's file and, when the project is trusted, the project's. A missing file is empty; a broken one
    /// too, and then [`Self::problems`] says what is wrong and nothing is ever written to it.
    #[must_use]
    pub fn load(global: &Path, project: Option<&Path>) -> Self {
        let mut settings = Self {
            global: Layer::read(global, Scope::Global),
            project: project.map(|file| Layer::read(file, Scope::Project)),
            overrides: Map::new(),
            effective: Map::new(),
        };
        settings.merge();
        settings
    }

    /// Settings that come from no file, for tests and embedding programs; they are saved nowhere.
    #[must_use]
    pub fn from_value(values: Map<String, Value>) -> Self {
        let mut settings =
            Self { global: Layer::default(), project: None, overrides: Map::new(), effective: Map::new() };
        settings.global.values = values;
        settings.merge();
        settings
    }

    /// Adds values of this run (flags, an embedding program): they win and are saved nowhere.
    pub fn override_with(&mut self, values: &Map<String, Value>) {
        merge::deep(&mut self.overrides, values);
        self.merge();
    }

    /// What is wrong with the files: one that cannot be used, and values of the wrong type.
    #[must_use]
    pub fn problems(&self) -> Vec<&DocumentError> {
        self.layers().flat_map(|(_, layer)| layer.problem.iter().chain(&layer.odd)).collect()
    }

    /// Why the file of a scope cannot be used at all: nobody knows what it wanted.
    #[must_use]
    pub fn broken(&self, scope: Scope) -> Option<&DocumentError> {
        match scope {
            Scope::Global => self.global.problem.as_ref(),
            Scope::Project => self.project.as_ref()?.problem.as_ref(),
        }
    }

    /// The same, when the file that cannot be used speaks of `key`: then its settings must not be taken for missing. The
    /// word alone counts, since quotes may be what is wrong; and a file that the system does not let read may hold it.
    #[must_use]
    pub fn broken_about(&self, scope: Scope, key: &str) -> Option<&DocumentError> {
        let problem = self.broken(scope)?;
        let may_hold_it = match regular_file::read(self.file(scope)?) {
            // Without zero bytes, since it may be UTF-16.
            Ok(text) => String::from_utf8_lossy(&text).replace('\0', "").contains(key),
            // A folder, a pipe or a device holds nothing.
            Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput),
        };
        may_hold_it.then_some(problem)
    }

    /// Sets the value at `path` (None removes it) in memory and returns the change for the file.
    ///
    /// Without a project file a project change goes to the user's.
    pub fn set(&mut self, scope: Scope, path: &[&str], value: Option<Value>) -> Change {
        let layer = match (scope, &mut self.project) {
            (Scope::Project, Some(project)) => project,
            _ => &mut self.global,
        };
        merge::set(&mut layer.values, path, value.clone());
        let change = Change::new(layer, path, value);
        self.merge();
        change
    }

    /// All merged values, a copy.
    #[must_use]
    pub fn effective(&self) -> Value {
        Value::Object(self.effective.clone())
    }

    /// The merged value at `path`.
    #[must_use]
    pub fn get(&self, path: &[&str]) -> Option<&Value> {
        merge::at(&self.effective, path)
    }

    /// The value at `path` in one file, for lists that are combined and not replaced (packages, extensions, skills,
    /// prompts, themes).
    #[must_use]
    pub fn get_in(&self, scope: Scope, path: &[&str]) -> Option<&Value> {
        let layer = match scope {
            Scope::Global => Some(&self.global),
            Scope::Project => self.project.as_ref(),
        };
        merge::at(&layer?.values, path)
    }

    /// Where the value that counts at `path` comes from; none when no file and no flag has one. For an object it is the
    /// last one that has a part in it: ask for what is inside.
    ///
    /// What a project must not loosen (permissions, the sandbox) is read with [`Self::get_in`] of the user's file, and
    /// the project's value is taken only where it is stricter.
    #[must_use]
    pub fn source_of(&self, path: &[&str]) -> Option<ValueSource> {
        let is_users_alone = path.first().is_some_and(|key| GLOBAL_ONLY.contains(key));
        let project = self.project.as_ref().filter(|_| !is_users_alone);
        if merge::at(&self.overrides, path).is_some() {
            Some(ValueSource::Run)
        } else if project.is_some_and(|project| merge::at(&project.values, path).is_some()) {
            Some(ValueSource::Project)
        } else {
            merge::at(&self.global.values, path).map(|_| ValueSource::User)
        }
    }

    /// Whether changes of a scope can be saved.
    ///
    /// # Errors
    /// Its file is broken: writing would lose what is in it.
    pub fn check_writable(&self, scope: Scope) -> Result<(), SettingsError> {
        let broken = self.layers().find(|(of, _)| *of == scope).and_then(|(_, layer)| layer.problem.clone());
        broken.map_or(Ok(()), |problem| Err(SettingsError::Broken(problem)))
    }

    /// The file of a scope.
    #[must_use]
    pub fn file(&self, scope: Scope) -> Option<&PathBuf> {
        match scope {
            Scope::Global => self.global.file.as_ref(),
            Scope::Project => self.project.as_ref()?.file.as_ref(),
        }
    }

    fn layers(&self) -> impl Iterator<Item = (Scope, &Layer)> {
        let project = self.project.iter().map(|layer| (Scope::Project, layer));
        std::iter::once((Scope::Global, &self.global)).chain(project)
    }

    fn merge(&mut self) {
        let mut all = self.global.values.clone();
        if let Some(project) = &self.project {
            let mut values = project.values.clone();
            values.retain(|key, _| !GLOBAL_ONLY.contains(&key.as_str()));
            merge::deep(&mut all, &values);
        }
        merge::deep(&mut all, &self.overrides);
        self.effective = all;
    }
}

/// The project's `sessionDir`, the one setting that counts before the project is trusted.
#[must_use]
pub fn session_dir_before_trust(project: &Path) -> Option<String> {
    Layer::read(project, Scope::Project).values.get("sessionDir")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests;
