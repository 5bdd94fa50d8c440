//! Prompt templates: Markdown files that become commands.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use super::{
    frontmatter,
    roots::{Root, RootKind},
    source::SourceInfo,
    text_file,
    warning::{Loaded, Warning},
};

mod arguments;

/// Files looked at in one place.
const MAX_ENTRIES: usize = 5000;

/// How much of a first line serves as a description, in characters.
const DESCRIPTION_LENGTH: usize = 60;

/// A prompt with places for arguments, called as `/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The file's name without `.md`.
    pub name: String,
    /// What it is for: its head's `description`, else the beginning of its first line.
    pub description: String,
    /// What it takes, for completion.
    pub argument_hint: Option<String>,
    /// The text.
    pub body: String,
    /// Where it comes from.
    pub source: SourceInfo,
}

/// The templates of `roots`; of two with the same name the first. A file whose head is malformed is left out, with a
/// warning.
#[must_use]
pub fn load(roots: &[Root]) -> Loaded<Vec<Template>> {
    let mut templates: Vec<Template> = Vec::new();
    let mut warnings = Vec::new();
    let mut seen = HashSet::new();
    for root in roots {
        for path in files(root, &mut warnings) {
            // The first place that a file is found at decides whether it counts.
            if !seen.insert(path.clone()) || !root.admits(&path) {
                continue;
            }
            let Some(template) = read(&path, root, &mut warnings) else { continue };
            match templates.iter().find(|known| known.name == template.name) {
                Some(known) => {
                    let text = format!("/{} is already {}", known.name, known.source.path.display());
                    warnings.push(Warning::new(path, text));
                }
                None => templates.push(template),
            }
        }
    }
    Loaded { value: templates, warnings }
}

/// The Markdown files directly at `root`, in the order of their names.
fn files(root: &Root, warnings: &mut Vec<Warning>) -> Vec<PathBuf> {
    if root.kind == RootKind::Named && !root.path.is_dir() {
        if root.path.is_file() {
            return vec![root.path.clone()];
        }
        warnings.push(Warning::new(&root.path, "there is no such prompt template"));
    }
    let Ok(entries) = root.path.read_dir() else { return Vec::new() };
    let mut entries = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut files: Vec<_> = entries.by_ref().take(MAX_ENTRIES).filter(|path| is_template(path)).collect();
    if entries.next().is_some() {
        let text = format!("has more than {MAX_ENTRIES} files; prompt templates among the others are not loaded");
        warnings.push(Warning::new(&root.path, text));
    }
    files.sort();
    files
}

fn is_template(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    !name.starts_with('.') && name.ends_with(".md") && path.is_file()
}

fn read(path: &Path, root: &Root, warnings: &mut Vec<Warning>) -> Option<Template> {
    let name = path.file_stem().and_then(|name| name.to_str())?.to_owned();
    let text = match text_file::read(path) {
        Ok(text) => text,
        Err(error) => {
            warnings.push(Warning::new(path, format!("cannot be read: {error}")));
            return None;
        }
    };
    warnings.extend(text.warnings);
    match frontmatter::split(&text.value) {
        Ok(document) => Some(Template {
            name,
            description: document.head.text("description").map_or_else(|| beginning(&document.body), str::to_owned),
            argument_hint: document.head.text_or_flow("argument-hint").map(str::to_owned),
            body: document.body.into_owned(),
            source: SourceInfo::new(path, root),
        }),
        Err(error) => {
            warnings.push(Warning::new(path, format!("is not loaded: {error}")));
            None
        }
    }
}

fn beginning(body: &str) -> String {
    let line = body.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(DESCRIPTION_LENGTH) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

/// `text` with the template that it calls in its place; `None` when it calls none. A call is `/name` at the very
/// beginning, alone or with white space behind it.
#[must_use]
pub fn expand(text: &str, templates: &[Template]) -> Option<String> {
    let call = text.strip_prefix('/')?;
    let (name, rest) = call.split_once(char::is_whitespace).unwrap_or((call, ""));
    let template = templates.iter().find(|template| template.name == name)?;
    Some(arguments::substitute(&template.body, &arguments::split(rest)))
}

#[cfg(test)]
mod tests;
