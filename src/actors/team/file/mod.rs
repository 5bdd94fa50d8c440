//! The team file: roles, and how work flows between them.
//!
//! [`TeamFile::read`] gives values that make sense: every name that is mentioned is there, every template can be filled,
//! nothing waits for itself. [`read`] takes the file apart, [`check`] looks at it as a whole. `docs/teams.md` describes
//! the file for users.

mod check;
mod graph;
mod read;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;

use super::template::{OutputPath, Template};
pub use crate::actors::fleet::strategy::Strategy;
use crate::{
    protocol::ThinkingLevel,
    store::{
        document::{Document, DocumentError, Syntax},
        regular_file,
    },
};

/// A whole file.
#[derive(Clone, Debug, PartialEq)]
pub struct TeamFile {
    /// The team's name: part of the name of its results.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Agents that work at once, at most.
    pub max_parallel: usize,
    /// What all of it may use.
    pub budget: TeamBudget,
    /// What happens when an agent fails.
    pub supervision: Supervision,
    /// The step whose output is the result; without, that of the only step that no other needs, or of all of these.
    pub output: Option<String>,
    /// What the user gives.
    pub inputs: Vec<InputField>,
    /// Who works.
    pub roles: Vec<Role>,
    /// How roles work together.
    pub patterns: Vec<Pattern>,
}

/// What a team may use, all agents together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TeamBudget {
    /// Tokens.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost: Option<f64>,
    /// Wall time.
    pub time: Option<Duration>,
    /// Agents that are started, restarts included.
    pub agents: Option<usize>,
}

/// How often agents that failed are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supervision {
    /// Replacements at most within `within`, over the whole team.
    pub restarts: u32,
    /// The window in which they are counted.
    pub within: Duration,
}

/// What a user gives with `--input`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputField {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// What holds when it is not given; without one it must be.
    pub default: Option<String>,
}

/// Who does a kind of work.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// The model, as `--model` takes it; without one, that of the command line or the settings.
    pub model: Option<String>,
    /// The thinking level.
    pub thinking: Option<ThinkingLevel>,
    /// Active tools; without them the usual ones.
    pub tools: Option<Vec<String>>,
    /// What stands in its system prompt.
    pub system: Option<String>,
    /// The first message.
    pub prompt: Template,
    /// It works in a git worktree of its own.
    pub worktree: bool,
    /// Its changes go into the team's folder when it is done; only with `worktree`.
    pub merge: bool,
    /// What each of its agents may use.
    pub budget: RoleBudget,
    /// Its answer is JSON that this schema accepts.
    pub output_schema: Option<Value>,
    /// The file that has the schema, when the team file only names it.
    pub schema_file: Option<PathBuf>,
    /// A command that says whether it did what it should.
    pub verify: Option<Verify>,
    /// How many agents work at it.
    pub spread: Spread,
    /// Steps that come first although no template mentions them.
    pub needs: Vec<String>,
    /// What the failure of one of several agents means.
    pub on_failure: OnFailure,
    /// Whom the failure of one of several agents concerns.
    pub strategy: Strategy,
    /// The file that `troupe/script` plays.
    pub script: Option<PathBuf>,
}

/// What an agent may use.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoleBudget {
    /// Tokens.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost: Option<f64>,
    /// Wall time.
    pub time: Option<Duration>,
    /// Model calls.
    pub turns: Option<u64>,
}

/// A command that judges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verify {
    /// The shell command; it succeeds with exit code 0.
    pub command: String,
    /// How long it may take.
    pub time: Duration,
    /// How often its failure goes back to the agent before the agent has failed.
    pub attempts: u32,
}

/// How many agents work at a role.
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// One.
    One,
    /// So many, all with the same task.
    Count(usize),
    /// One for each element of a list.
    Each(Items),
}

/// Where the list comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Items {
    /// Its source.
    pub source: ItemSource,
    /// Elements at most; more are an error.
    pub at_most: usize,
}

/// A source of elements.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemSource {
    /// Paths of files below the folder that match one of these globs.
    Files(Vec<String>),
    /// Lines of a file that are not empty; the path begins at the folder.
    Lines(String),
    /// Lines that a shell command prints.
    Command(String),
    /// A list that a step made.
    Output(OutputPath),
    /// As they stand in the file.
    List(Vec<Value>),
}

/// What the failure of one of several agents means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The team has failed.
    #[default]
    Stop,
    /// Its output is missing, as long as one of them succeeds.
    Skip,
}

/// How roles work together. A role that is part of a pattern does not work by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Its name, which stands for what comes of it.
    pub name: String,
    /// What it is.
    pub kind: PatternKind,
}

/// The kinds of patterns.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// A writer and a reviewer take turns until a condition holds. The output is the writer's last one.
    Review {
        /// Who writes.
        writer: String,
        /// Who reviews.
        reviewer: String,
        /// What the reviewer's output must be like.
        until: Condition,
        /// Reviews at most.
        rounds: u32,
        /// What the writer is told after a review that does not fulfil the condition.
        revise: Template,
        /// The last draft counts although no review accepted it.
        accept_last: bool,
        /// The reviewer remembers its earlier reviews; otherwise each is a fresh agent's.
        remembers: bool,
    },
    /// Several agents do the same, one result is chosen. The output is the chosen one's.
    Best {
        /// The role with several agents.
        of: String,
        /// Who chooses.
        judge: Judge,
        /// The chosen one's changes go into the team's folder.
        merge: bool,
    },
    /// Speakers answer each other. The output is the list of all that was said.
    Debate {
        /// Who speaks, in order.
        speakers: Vec<String>,
        /// How often each speaks.
        rounds: u32,
        /// What a speaker is told from the second round on.
        reply: Template,
    },
}

/// Who chooses the best.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judge {
    /// An agent of this role, which answers with a number.
    Role(String),
    /// A command, run where each candidate worked: the first candidate for which it succeeds is chosen.
    Command {
        /// The shell command.
        command: String,
        /// How long it may take.
        time: Duration,
    },
}

/// What an output must be like.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Its text contains this one.
    Contains(String),
    /// A field has a value.
    Field {
        /// The fields on the way.
        path: Vec<String>,
        /// The value.
        is: Value,
    },
}

impl TeamFile {
    /// Reads a file. Paths in it begin at its folder.
    ///
    /// # Errors
    /// It cannot be read, or something in it is not as it should be: the error names file, line and field.
    pub fn read(file: &Path) -> Result<Self, DocumentError> {
        let text = regular_file::read_to_string(file).map_err(|error| DocumentError {
            file: file.to_owned(),
            line: 1,
            column: 1,
            field: String::new(),
            message: format!("cannot be read: {error}"),
        })?;
        Self::parse(file, text)
    }

    /// The same for a text that was read already.
    ///
    /// # Errors
    /// As for [`Self::read`].
    pub fn parse(file: &Path, text: String) -> Result<Self, DocumentError> {
        Self::parse_in(file.parent().unwrap_or(Path::new("")), file, text)
    }

    /// The same for a copy of a file: paths in it begin at `folder`, and errors name the copy.
    ///
    /// # Errors
    /// As for [`Self::read`].
    pub fn parse_in(folder: &Path, file: &Path, text: String) -> Result<Self, DocumentError> {
        let document = Document::parse(file, text, Syntax::Toml)?;
        let read = read::team(&document.root(), folder).and_then(|team| {
            check::team(&team, &document.root())?;
            Ok(team)
        });
        read.map_err(|fault| document.locate(&fault))
    }

    /// An error of a field of a role that nobody can see from the file alone. The field may stand in the defaults, for all
    /// roles.
    #[must_use]
    pub fn fault(&self, file: &Path, text: &str, role: &str, key: &str, problem: &str) -> String {
        let unlocated = |_| format!("{}: role.{role}.{key}: {problem}", file.display());
        let located = Document::parse(file, text.to_owned(), Syntax::Toml).map(|document| {
            let root = document.root();
            let within = |keys: &[&str]| {
                keys.iter().try_fold(root.clone(), |field, key| field.object().ok().and_then(|object| object.get(key)))
            };
            let fault = match (within(&["role", role, key]), within(&["defaults", key]), within(&["role", role])) {
                (Some(own), ..) => own.fault(problem),
                (None, Some(all), _) => all.fault(format!("role {role}: {problem}")),
                (None, None, Some(whole)) => whole.fault(problem),
                (None, None, None) => root.fault(problem),
            };
            document.locate(&fault).to_string()
        });
        located.unwrap_or_else(unlocated)
    }

    /// The files that it names: what comes of a run depends on them as on its own text.
    #[must_use]
    pub fn files(&self) -> Vec<&Path> {
        let of_roles = self.roles.iter().flat_map(|role| [&role.script, &role.schema_file]);
        let mut files: Vec<&Path> = of_roles.flatten().map(PathBuf::as_path).collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// The role of that name.
    #[must_use]
    pub fn role(&self, name: &str) -> Option<&Role> {
        self.roles.iter().find(|role| role.name == name)
    }

    /// The pattern that a role is part of.
    #[must_use]
    pub fn pattern_of(&self, role: &str) -> Option<&Pattern> {
        self.patterns.iter().find(|pattern| pattern.members().contains(&role))
    }

    /// The names of the steps: patterns, and roles that are part of none; in the order of the file.
    #[must_use]
    pub fn steps(&self) -> Vec<&str> {
        let alone = self.roles.iter().filter(|role| self.pattern_of(&role.name).is_none());
        alone.map(|role| role.name.as_str()).chain(self.patterns.iter().map(|pattern| pattern.name.as_str())).collect()
    }
}

impl Pattern {
    /// The roles that are part of it.
    #[must_use]
    pub fn members(&self) -> Vec<&str> {
        match &self.kind {
            PatternKind::Review { writer, reviewer, .. } => vec![writer, reviewer],
            PatternKind::Best { of, judge: Judge::Role(judge), .. } => vec![of, judge],
            PatternKind::Best { of, .. } => vec![of],
            PatternKind::Debate { speakers, .. } => speakers.iter().map(String::as_str).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
