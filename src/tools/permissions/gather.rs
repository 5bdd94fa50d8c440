//! From settings, flags and remembered answers to the rules of a run.
//!
//! A project can only tighten: its mode counts where it is stricter, and its rules that allow count only when the user's
//! settings say `projectAllow`. What cannot be understood is an error: nothing is guessed about permissions.

use std::{path::Path, time::Duration};

use serde_json::Value;

use super::rule::{Action, Rule, RuleError, Source};
use crate::{
    protocol::permission::PermissionMode,
    store::{
        permissions::{PermissionsFile, Reach, RuleLists},
        settings::{Scope, Settings},
    },
};

/// How long a question waits for an answer, unless the settings say otherwise.
const ASK_TIMEOUT: Duration = Duration::from_secs(300);

/// What the command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionFlags {
    /// `--permissions`.
    pub mode: Option<PermissionMode>,
    /// `--allow`, in order.
    pub allow: Vec<String>,
    /// `--deny`, in order.
    pub deny: Vec<String>,
}

/// What a run begins with.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// The mode.
    pub mode: PermissionMode,
    /// The rules.
    pub rules: Vec<Rule>,
    /// How long a question waits; none: for ever.
    pub ask_timeout: Option<Duration>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Permissions that cannot be understood; the run does not start.
#[derive(Debug, thiserror::Error)]
pub enum PermissionsError {
    /// A rule.
    #[error("{place}: {error}")]
    Rule {
        /// Where it stands.
        place: String,
        /// What is wrong.
        error: RuleError,
    },
    /// A setting of the wrong kind.
    #[error("{place}: permissions.{key}: expected {expected}")]
    Setting {
        /// The file.
        place: String,
        /// The key below `permissions`.
        key: &'static str,
        /// What it may be.
        expected: &'static str,
    },
    /// A settings file that is broken and speaks of permissions.
    #[error(
        "{0}. It speaks of permissions, and nothing is guessed about them: mend the file, or start with --permissions"
    )]
    Broken(String),
}

/// Gathers them. `project` is the project's folder without links. When they are off for this run, what cannot be
/// understood is a warning.
///
/// # Errors
/// A rule or a setting cannot be understood.
pub fn gather(
    settings: &Settings,
    flags: &PermissionFlags,
    remembered: &PermissionsFile,
    project: &Path,
    home: Option<&Path>,
) -> Result<Gathered, PermissionsError> {
    match gather_all(settings, flags, remembered, project, home) {
        Err(error) if flags.mode == Some(PermissionMode::Off) => {
            let warnings = vec![format!("{error}. Permissions are off, and no rule counts when they are turned on")];
            Ok(Gathered { ask_timeout: Some(ASK_TIMEOUT), warnings, ..Gathered::default() })
        }
        gathered => gathered,
    }
}

fn gather_all(
    settings: &Settings,
    flags: &PermissionFlags,
    remembered: &PermissionsFile,
    project: &Path,
    home: Option<&Path>,
) -> Result<Gathered, PermissionsError> {
    let user = Layer { settings, scope: Scope::Global };
    let own = Layer { settings, scope: Scope::Project };
    if flags.mode.is_none() {
        user.is_whole()?;
        own.is_whole()?;
    }
    let mut gathered = Gathered { ask_timeout: user.timeout()?, ..Gathered::default() };
    let project_allows = user.flag("projectAllow")?;
    let mut sources = vec![
        (Action::Allow, Source::Flag, flags.allow.clone(), "--allow".to_owned()),
        (Action::Deny, Source::Flag, flags.deny.clone(), "--deny".to_owned()),
    ];
    for (layer, source) in [(&user, Source::User), (&own, Source::Project)] {
        for action in [Action::Deny, Action::Ask, Action::Allow] {
            let texts = layer.rules(action)?;
            if source == Source::Project && action == Action::Allow && !project_allows {
                gathered.warnings.extend((!texts.is_empty()).then(|| only_tightens(&layer.place())));
            } else {
                sources.push((action, source, texts, format!("{}: permissions.{}", layer.place(), action.as_str())));
            }
        }
    }
    for (action, source, texts, place) in sources {
        for text in texts {
            let rule = Rule::parse(action, source, &text, home);
            gathered.rules.push(rule.map_err(|error| PermissionsError::Rule { place: place.clone(), error })?);
        }
    }
    gathered.rules.extend(from_file(remembered, project, home)?);
    gathered.mode = mode(&gathered.rules, flags.mode, user.mode()?, own.mode()?);
    Ok(gathered)
}

fn only_tightens(place: &str) -> String {
    format!(
        "{place}: the rules in permissions.allow do not count: a project can only tighten. To let it loosen, set \
         \"projectAllow\": true below \"permissions\" in your own settings"
    )
}

/// The remembered rules of a project and of all projects.
///
/// # Errors
/// A rule cannot be understood.
pub fn from_file(file: &PermissionsFile, project: &Path, home: Option<&Path>) -> Result<Vec<Rule>, PermissionsError> {
    let mut rules = Vec::new();
    for (reach, source) in [(Reach::Project(project), Source::Remembered), (Reach::Everywhere, Source::Everywhere)] {
        for (action, text) in file.rules(reach).into_iter().flat_map(RuleLists::iter) {
            let place = "permissions.json".to_owned();
            rules.push(
                Rule::parse(action, source, text, home).map_err(|error| PermissionsError::Rule { place, error })?,
            );
        }
    }
    Ok(rules)
}

/// The mode in force. Without one, rules that deny or ask mean that everything else runs; a rule that allows means that
/// everything else asks. Remembered rules that allow are answers of other days and turn nothing on.
fn mode(
    rules: &[Rule],
    flag: Option<PermissionMode>,
    user: Option<PermissionMode>,
    project: Option<PermissionMode>,
) -> PermissionMode {
    if let Some(mode) = flag {
        return mode;
    }
    let allows = |rule: &Rule| rule.action == Action::Allow;
    let implied = if rules.iter().any(|rule| allows(rule) && !rule.source.is_answer()) {
        PermissionMode::Ask
    } else if rules.iter().any(|rule| !allows(rule)) {
        PermissionMode::Allow
    } else {
        PermissionMode::Off
    };
    // Off in the user's settings is off unless the project wants more.
    let user = user.unwrap_or(implied);
    project.map_or(user, |project| project.max(user))
}

/// One settings file.
struct Layer<'a> {
    settings: &'a Settings,
    scope: Scope,
}

impl Layer<'_> {
    fn place(&self) -> String {
        self.settings.file(self.scope).map_or_else(|| "settings".to_owned(), |file| file.display().to_string())
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.settings.get_in(self.scope, &["permissions", key]).filter(|value| !value.is_null())
    }

    fn wrong(&self, key: &'static str, expected: &'static str) -> PermissionsError {
        PermissionsError::Setting { place: self.place(), key, expected }
    }

    /// A file that cannot be read may hold rules that deny.
    fn is_whole(&self) -> Result<(), PermissionsError> {
        match self.settings.broken_about(self.scope, "permissions") {
            Some(problem) => Err(PermissionsError::Broken(problem.to_string())),
            None => Ok(()),
        }
    }

    fn mode(&self) -> Result<Option<PermissionMode>, PermissionsError> {
        let Some(value) = self.get("mode") else { return Ok(None) };
        let mode = value.as_str().and_then(PermissionMode::parse);
        mode.map(Some).ok_or_else(|| self.wrong("mode", "off, allow, ask or deny"))
    }

    fn flag(&self, key: &'static str) -> Result<bool, PermissionsError> {
        let Some(value) = self.get(key) else { return Ok(false) };
        value.as_bool().ok_or_else(|| self.wrong(key, "true or false"))
    }

    fn timeout(&self) -> Result<Option<Duration>, PermissionsError> {
        match self.get("askTimeoutMs") {
            None => Ok(Some(ASK_TIMEOUT)),
            Some(Value::String(word)) if word == "disabled" => Ok(None),
            Some(value) => match value.as_u64() {
                Some(ms) => Ok(Some(Duration::from_millis(ms))),
                None => Err(self.wrong("askTimeoutMs", "milliseconds or \"disabled\"")),
            },
        }
    }

    fn rules(&self, action: Action) -> Result<Vec<String>, PermissionsError> {
        let wrong = || self.wrong(action.as_str(), "a list of rules");
        if self
            .settings
            .get_in(self.scope, &["permissions"])
            .is_some_and(|value| !value.is_object() && !value.is_null())
        {
            return Err(wrong());
        }
        let Some(value) = self.get(action.as_str()) else { return Ok(Vec::new()) };
        let list = value.as_array().ok_or_else(wrong)?;
        list.iter().map(|text| text.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
    }
}

#[cfg(test)]
mod tests;
