//! What a package brings: `package.json`, key `pi`.

use std::path::Path;

use crate::{
    resources::{Warning, kind::Kind},
    store::{
        document::{Document, Fault, Field, Syntax},
        regular_file,
    },
};

/// The lists of a manifest. Without any of them, the usual folders count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    skills: Option<Vec<String>>,
    prompts: Option<Vec<String>>,
    themes: Option<Vec<String>>,
    extensions: Option<Vec<String>>,
}

impl Manifest {
    /// The manifest of the package in `folder`; what is wrong with it is a warning, and then it says nothing.
    pub(super) fn read(folder: &Path, warnings: &mut Vec<Warning>) -> Self {
        let file = folder.join("package.json");
        if !file.is_file() {
            return Self::default();
        }
        let text = match regular_file::read_to_string(&file) {
            Ok(text) => text,
            Err(error) => {
                warnings.push(Warning::new(file, format!("cannot be read: {error}")));
                return Self::default();
            }
        };
        let read = Document::parse(&file, text, Syntax::Strict)
            .and_then(|document| lists(&document.root()).map_err(|fault| document.locate(&fault)));
        read.unwrap_or_else(|error| {
            let at = format!("line {}, column {}: {} {}", error.line, error.column, error.field, error.message);
            warnings.push(Warning::new(file, at));
            Self::default()
        })
    }

    /// Its list of a kind: none when it has no lists at all, an empty one when it has others.
    pub(super) fn list(&self, kind: Kind) -> Option<&[String]> {
        let own = match kind {
            Kind::Skills => &self.skills,
            Kind::Prompts => &self.prompts,
            Kind::Themes => &self.themes,
        };
        let lists = [&self.skills, &self.prompts, &self.themes, &self.extensions];
        own.as_deref().or_else(|| lists.iter().any(|list| list.is_some()).then_some(&[]))
    }
}

fn lists(root: &Field<'_>) -> Result<Manifest, Fault> {
    let Some(pi) = root.object()?.get("pi") else { return Ok(Manifest::default()) };
    let pi = pi.object()?;
    let list = |key: &str| {
        pi.read(key, |field| field.items()?.iter().map(|item| item.text().map(str::to_owned)).collect::<Result<_, _>>())
    };
    Ok(Manifest {
        skills: list("skills")?,
        prompts: list("prompts")?,
        themes: list("themes")?,
        extensions: list("extensions")?,
    })
}
