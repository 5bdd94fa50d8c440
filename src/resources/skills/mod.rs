//! Skills: instructions that are loaded when a task needs them.

use std::{
    borrow::Cow,
    collections::HashSet,
    path::{Path, PathBuf},
};

use super::{
    frontmatter,
    roots::Root,
    source::SourceInfo,
    text_file,
    warning::{Loaded, Warning},
    xml,
};

mod call;
mod walk;

pub use call::{SkillCall, called};

/// The longest name that other programs take, in characters.
const MAX_NAME: usize = 64;
/// The longest description that other programs take, in characters.
const MAX_DESCRIPTION: usize = 1024;

/// A skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Its name; the command is `/skill:name`.
    pub name: String,
    /// What it is for, and so when to load it.
    pub description: String,
    /// Whether the model is told of it; if not, only the user can call it.
    pub for_model: bool,
    /// Where it comes from; `path` is the file with the instructions.
    pub source: SourceInfo,
}

impl Skill {
    /// The file with the instructions.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.source.path
    }

    /// The folder that the instructions' references start from.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.file().parent().unwrap_or(self.file())
    }
}

/// The skills of `roots`; of two with the same name the first. Names and descriptions that other programs would refuse
/// give a warning; a skill without a description, with a malformed head or with a name that could be a path is left
/// out.
#[must_use]
pub fn load(roots: &[Root]) -> Loaded<Vec<Skill>> {
    let mut skills: Vec<Skill> = Vec::new();
    let mut warnings = Vec::new();
    let mut seen = HashSet::new();
    for root in roots {
        for candidate in walk::candidates(root, &mut warnings) {
            // The same file by another way, over a link, is no second skill, and the first way decides whether it counts.
            let is_first = seen.insert(candidate.path.canonicalize().unwrap_or_else(|_| candidate.path.clone()));
            if !is_first || !root.admits(&candidate.path) {
                continue;
            }
            let mut own_warnings = Vec::new();
            let skill = read(&candidate.path, root, &mut own_warnings);
            // Any Markdown file may lie beside skills: that it is none is no fault.
            if skill.is_some() || candidate.is_meant {
                warnings.append(&mut own_warnings);
            }
            let Some(skill) = skill else { continue };
            match skills.iter().find(|known| known.name == skill.name) {
                Some(known) => {
                    let text = format!("is not loaded: the skill {} is already {}", known.name, known.file().display());
                    warnings.push(Warning::new(candidate.path, text));
                }
                None => skills.push(skill),
            }
        }
    }
    Loaded { value: skills, warnings }
}

fn read(path: &Path, root: &Root, warnings: &mut Vec<Warning>) -> Option<Skill> {
    let mut refuse = |reason: String| {
        warnings.push(Warning::new(path, format!("is not loaded: {reason}")));
        None
    };
    let text = match text_file::read(path) {
        Ok(text) => text,
        Err(error) => return refuse(error.to_string()),
    };
    let head = match frontmatter::split(&text.value) {
        Ok(document) => document.head,
        Err(error) => return refuse(error.to_string()),
    };
    let Some(description) = head.text("description") else {
        return refuse("its head has no description".to_owned());
    };
    let folder_name = || Some(path.parent()?.file_name()?.to_string_lossy());
    let name = head.text("name").map(Cow::Borrowed).or_else(folder_name).unwrap_or_default();
    if could_be_path(&name) {
        return refuse(format!("{name:?} is no name: letters, digits and single hyphens"));
    }
    warnings.extend(text.warnings);
    warnings.extend(faults(&name, description).into_iter().map(|fault| Warning::new(path, fault)));
    Some(Skill {
        name: name.into_owned(),
        description: description.to_owned(),
        for_model: !head.is_true("disable-model-invocation"),
        source: SourceInfo::new(path, root),
    })
}

/// Names end up in commands, reports and, sooner or later, in somebody's file names.
fn could_be_path(name: &str) -> bool {
    name.is_empty() || matches!(name, "." | "..") || name.contains(['/', '\\']) || name.contains(char::is_control)
}

/// What other programs would not take.
fn faults(name: &str, description: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let length = name.chars().count();
    if length > MAX_NAME {
        faults.push(format!("its name has {length} characters; at most {MAX_NAME} are portable"));
    }
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.chars().all(is_plain) || name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        faults.push(format!("its name {name:?} is not portable: a-z, 0-9 and single hyphens between them are"));
    }
    let length = description.chars().count();
    if length > MAX_DESCRIPTION {
        faults.push(format!("its description has {length} characters; at most {MAX_DESCRIPTION} are portable"));
    }
    faults
}

/// `text` with the instructions of the skill that it calls in its place; `None` when it calls none. A call is
/// `/skill:name` at the very beginning, alone or with white space and words for the skill behind it. The file is read
/// now, so that what was changed in it since the start counts; one that is gone gives `text` back, with a warning.
#[must_use]
pub fn expand(text: &str, skills: &[Skill]) -> Option<Loaded<String>> {
    let call = text.strip_prefix("/skill:")?;
    let (name, words) = call.split_once(char::is_whitespace).unwrap_or((call, ""));
    let skill = skills.iter().find(|skill| skill.name == name)?;
    Some(match text_file::read(skill.file()) {
        Ok(file) => Loaded { value: instructions(skill, &file.value, words.trim()), warnings: file.warnings },
        Err(error) => {
            let warning = Warning::new(skill.file(), format!("the skill {name} cannot be read: {error}"));
            Loaded { value: text.to_owned(), warnings: vec![warning] }
        }
    })
}

fn instructions(skill: &Skill, file: &str, words: &str) -> String {
    let document = frontmatter::split(file).ok();
    let body = document.as_ref().map_or(file, |document| &document.body).trim();
    let name = xml::escape(&skill.name);
    let (file, folder) = (skill.file().to_string_lossy(), skill.folder().display());
    let location = xml::escape(&file);
    let mut text = format!(
        "<skill name=\"{name}\" location=\"{location}\">\nReferences are relative to {folder}.\n\n{body}\n</skill>"
    );
    if !words.is_empty() {
        text.push_str("\n\n");
        text.push_str(words);
    }
    text
}

/// The file that holds a skill's instructions.
pub(super) const SKILL_FILE: &str = "SKILL.md";

/// A file that may be a skill.
#[derive(Debug)]
struct Candidate {
    path: PathBuf,
    /// It claims to be one, by its name or because somebody named it.
    is_meant: bool,
}

#[cfg(test)]
mod tests;
