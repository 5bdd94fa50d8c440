//! A team file, as a command reads it: with all that can be known of it before anybody is paid.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{
    check,
    models::{self, Look},
    texts::read_text,
};
use crate::{
    actors::team::{
        file::TeamFile,
        template::{Place, message},
    },
    cli::env::Environment,
    extensions::ExtensionRegistry,
};

/// The text of a team file.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Where it was when it was run; paths in it begin at its folder.
    pub file: PathBuf,
    /// Where the text is from, and what errors name: the file, or a copy in the folder of a run.
    pub shown: PathBuf,
    /// The text.
    pub text: String,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(file: &Path) -> Result<Self, String> {
        Ok(Self { file: file.to_owned(), shown: file.to_owned(), text: read_text(file)? })
    }

    /// The team.
    ///
    /// # Errors
    /// Something in it is not as it should be.
    pub fn team(&self) -> Result<TeamFile, String> {
        let folder = self.file.parent().unwrap_or(Path::new(""));
        TeamFile::parse_in(folder, &self.shown, self.text.clone()).map_err(|error| error.to_string())
    }

    /// Looks at what the file names: tools, models, scripts.
    ///
    /// # Errors
    /// One of them is not there.
    pub fn check(
        &self,
        environment: &Environment,
        team: &TeamFile,
        look: Look<'_>,
        extensions: &ExtensionRegistry,
    ) -> Result<(), String> {
        check::tools(self, team, extensions)?;
        models::check(environment, self, team, look, extensions)
    }

    /// Looks at what the user gave, as far as it alone makes the first message of a role.
    ///
    /// # Errors
    /// Such a message is empty.
    pub fn check_inputs(&self, team: &TeamFile, inputs: &BTreeMap<String, String>) -> Result<(), String> {
        for role in &team.roles {
            let filled = role.prompt.fill(|place| match place {
                Place::Input(name) => inputs.get(name).map(|text| Value::from(text.as_str())),
                _ => Some(Value::from("there is something")),
            });
            filled
                .and_then(|filled| message(&role.prompt, filled))
                .map_err(|problem| self.fault(team, &role.name, "prompt", &format!("the first message {problem}")))?;
        }
        Ok(())
    }

    /// An error of a role's field.
    pub fn fault(&self, team: &TeamFile, role: &str, key: &str, problem: &str) -> String {
        team.fault(&self.shown, &self.text, role, key, problem)
    }
}
