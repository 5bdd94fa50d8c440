//! All rules and the mode: what becomes of a call.
//!
//! A call is taken apart (the commands of a script, the files that it opens, the paths of a file), and the strictest
//! answer to a part is the answer to the call. For each part: a rule that denies comes first, then remembered answers,
//! then rules that ask, then rules that allow, then the mode; the order in which rules are written does not matter.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{
    command_pattern::Fit,
    path_pattern::Places,
    rule::{Action, Pattern, Rule, SHELL, USER_SHELL},
    shell::{self, Access, Command, FileUse, Standing},
};
use crate::{protocol::permission::PermissionMode, tools::paths};

/// Tools whose `path` is a file or folder; those that only read come first.
const FILE_TOOLS: [&str; 6] = ["read", "grep", "find", "ls", "write", "edit"];
/// How many of them only read.
const READERS: usize = 4;

/// The tool that starts commands and goes on without them.
const JOBS: &str = crate::tools::jobs::NAME;

/// Files that are no files.
const STREAMS: [&str; 3] = ["/dev/null", "/dev/stdout", "/dev/stderr"];

/// Finds the path without links, for all names of a file.
pub type RealPath<'a> = &'a dyn Fn(&Path) -> PathBuf;

/// Rules and a mode.
#[derive(Clone, Debug)]
pub struct Policy {
    /// What becomes of calls that no rule is about.
    pub mode: PermissionMode,
    /// The rules.
    pub rules: Vec<Rule>,
    /// The folders that patterns start from; the first one is where relative paths of calls start.
    pub places: Places,
    /// Whether commands run in a shell whose language is known here.
    pub knows_shell: bool,
}

/// A call that may run, or not.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its arguments.
    pub input: &'a Map<String, Value>,
}

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It runs.
    Allow,
    /// A person has to say.
    Ask(Reason),
    /// It does not run.
    Deny(Reason),
}

/// Why a call does not simply run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The part that is not allowed, written like a rule where that can be.
    pub part: String,
    /// What stands against it.
    pub why: String,
    /// Rules that would allow the call, as texts; none when no pattern can.
    pub remedies: Vec<String>,
    /// A rule of the user's stands against it, not just the want of one.
    pub by_rule: bool,
}

/// The answer to one part.
enum Verdict {
    Allow,
    Ask(String, bool),
    Deny(String, bool),
}

/// A part of a call.
struct Part {
    verdict: Verdict,
    text: String,
    remedy: Option<String>,
}

impl Policy {
    /// What becomes of a call.
    #[must_use]
    pub fn decide(&self, call: &Call<'_>, real: RealPath<'_>) -> Decision {
        if self.mode == PermissionMode::Off {
            return Decision::Allow;
        }
        let text = |key| call.input.get(key).and_then(Value::as_str);
        let parts = match call.tool {
            SHELL => self.script(SHELL, text("command"), real),
            JOBS => self.job(call.input, real),
            tool if FILE_TOOLS.contains(&tool) => vec![self.file(tool, text("path").unwrap_or("."), real)],
            tool => vec![self.other(tool, text("path"), real)],
        };
        strictest(parts)
    }

    /// What becomes of a command that the user typed: only rules that name `user_bash` count.
    #[must_use]
    pub fn decide_user_command(&self, command: &str, real: RealPath<'_>) -> Decision {
        if self.mode == PermissionMode::Off || !self.guards_user_commands() {
            return Decision::Allow;
        }
        let own = Self { mode: PermissionMode::Allow, ..self.clone() };
        strictest(own.script(USER_SHELL, Some(command), real))
    }

    /// Whether any rule is about commands that the user types.
    #[must_use]
    pub fn guards_user_commands(&self) -> bool {
        self.rules.iter().any(|rule| rule.is_about(USER_SHELL))
    }

    fn script(&self, tool: &str, script: Option<&str>, real: RealPath<'_>) -> Vec<Part> {
        let text = script.unwrap_or_default();
        let parsed = match (script, self.knows_shell) {
            (None, _) => Err("there is no command in the call".to_owned()),
            (_, false) => Err("the language of the shell that is set is not known here".to_owned()),
            (Some(script), true) => shell::parse(script).map_err(|why| why.to_string()),
        };
        let script = match parsed {
            Ok(script) => script,
            Err(why) => {
                let whole = Command { standing: Standing::Opaque(why), ..Command::default() };
                return vec![self.command(tool, &whole, text)];
            }
        };
        let moves = script.commands.iter().filter(|command| shell::changes_folder(command)).count();
        let mut parts = Vec::new();
        for command in &script.commands {
            let standing = self.standing_in(command, moves, real);
            let command = Command { standing, ..command.clone() };
            parts.push(self.command(tool, &command, &command.text()));
        }
        // The user's own redirections are the user's.
        let files = script.files.iter().filter(|_| tool == SHELL);
        parts.extend(files.filter_map(|file| self.redirection(file, moves > 0, real)));
        if parts.is_empty() {
            parts.push(Part { verdict: Verdict::Allow, text: text.to_owned(), remedy: None });
        }
        parts
    }

    /// A command's standing among others: one `cd` inside of the project is free, and after any a relative program may
    /// be another one.
    fn standing_in(&self, command: &Command, moves: usize, real: RealPath<'_>) -> Standing {
        if moves == 1
            && let Some(folder) = shell::plain_cd(command)
            && let paths = self.shell_paths(folder, real)
            && self.places.holds(&paths)
        {
            return Standing::Free;
        }
        let relative = command.name().is_some_and(|name| name.contains('/') && !name.starts_with('/'));
        if moves > 0 && relative {
            return Standing::Opaque("after a change of folder it may be another program".to_owned());
        }
        command.standing.clone()
    }

    fn command(&self, tool: &str, command: &Command, text: &str) -> Part {
        let opaque = matches!(command.standing, Standing::Opaque(_));
        let covers = |rule: &Rule| match rule.pattern() {
            Pattern::Any => true,
            Pattern::Command(pattern) => !opaque && pattern.covers(command),
            Pattern::Path(_) => false,
        };
        let touches = |rule: &Rule| match rule.pattern() {
            Pattern::Any => Fit::Yes,
            Pattern::Command(_) if opaque => Fit::Maybe,
            Pattern::Command(pattern) => pattern.touches(command),
            Pattern::Path(_) => Fit::No,
        };
        let free = command.standing == Standing::Free;
        let fallback = if free { PermissionMode::Allow } else { self.mode };
        let mut verdict = self.weigh(tool, covers, touches, fallback);
        if let (Standing::Opaque(why), Verdict::Ask(text, _) | Verdict::Deny(text, _)) =
            (&command.standing, &mut verdict)
        {
            text.push_str("; no pattern can allow it, because ");
            text.push_str(why);
        }
        let pattern = format!("{tool}({text})");
        Part { verdict, text: shorten(&pattern), remedy: (!opaque && is_fixed(command)).then_some(pattern) }
    }

    /// A file that a redirection opens; none for the streams that every command has.
    fn redirection(&self, file: &FileUse, moved: bool, real: RealPath<'_>) -> Option<Part> {
        let name = file.target.fixed();
        if name.is_some_and(|name| STREAMS.contains(&name)) {
            return None;
        }
        let tool = match file.access {
            Access::Read => "read",
            Access::Write => "write",
        };
        let is_known = |name: &&str| name.starts_with('/') || (!name.is_empty() && !moved);
        let known = name.filter(is_known);
        let paths = known.map(|name| self.shell_paths(name, real)).unwrap_or_default();
        // Whoever may run any command may redirect it.
        let any_command = self
            .rules
            .iter()
            .any(|rule| rule.action == Action::Allow && rule.is_about(SHELL) && matches!(rule.pattern(), Pattern::Any));
        let fallback = if any_command { PermissionMode::Allow } else { self.fallback(tool, &paths) };
        Some(self.weigh_paths(tool, &paths, &file.target.shown(), fallback))
    }

    /// The paths of a name in a script; none when `..` may lead anywhere.
    fn shell_paths(&self, name: &str, real: RealPath<'_>) -> Vec<PathBuf> {
        if name.split('/').any(|part| part == "..") {
            return Vec::new();
        }
        let Some(cwd) = self.places.project.first() else { return Vec::new() };
        let path = paths::normalize(&cwd.join(name));
        vec![real(&path), path]
    }

    /// A call of `jobs`: what it starts is a command like any other, and what it types into a running one may be. To
    /// look at jobs and to end them needs no rule. Rules about `jobs` itself that deny or ask count for all of it.
    fn job(&self, input: &Map<String, Value>, real: RealPath<'_>) -> Vec<Part> {
        let text = |key| input.get(key).and_then(Value::as_str);
        let mut parts = vec![self.named(JOBS, PermissionMode::Allow)];
        match text("action") {
            Some("start") => parts.extend(self.script(SHELL, text("command"), real)),
            Some("write") => {
                let why = "it is typed into a running program".to_owned();
                let typed = Command { standing: Standing::Opaque(why), ..Command::default() };
                parts.push(self.command(SHELL, &typed, text("text").unwrap_or_default()));
            }
            _ => {}
        }
        parts
    }

    fn file(&self, tool: &str, path: &str, real: RealPath<'_>) -> Part {
        let paths = self.tool_paths(path, real);
        let fallback = self.fallback(tool, &paths);
        self.weigh_paths(tool, &paths, path, fallback)
    }

    /// A tool that is not built in: its `path`, if it has one, is a path.
    fn other(&self, tool: &str, path: Option<&str>, real: RealPath<'_>) -> Part {
        let Some(path) = path else { return self.named(tool, self.mode) };
        let part = self.weigh_paths(tool, &self.tool_paths(path, real), path, self.mode);
        Part { remedy: Some(tool.to_owned()), ..part }
    }

    /// A call that is nothing but the tool's name.
    fn named(&self, tool: &str, fallback: PermissionMode) -> Part {
        let covers = |rule: &Rule| matches!(rule.pattern(), Pattern::Any);
        let touches = |rule: &Rule| if covers(rule) { Fit::Yes } else { Fit::Maybe };
        let verdict = self.weigh(tool, covers, touches, fallback);
        Part { verdict, text: tool.to_owned(), remedy: Some(tool.to_owned()) }
    }

    /// All paths that a tool may take a text for, with and without links.
    fn tool_paths(&self, path: &str, real: RealPath<'_>) -> Vec<PathBuf> {
        let Some(cwd) = self.places.project.first() else { return Vec::new() };
        paths::candidates(path, cwd, self.places.home.as_deref())
            .into_iter()
            .flat_map(|path| [real(&path), path])
            .collect()
    }

    fn fallback(&self, tool: &str, paths: &[PathBuf]) -> PermissionMode {
        let reads = FILE_TOOLS[..READERS].contains(&tool);
        match self.mode {
            PermissionMode::Ask if reads && self.places.holds(paths) => PermissionMode::Allow,
            mode => mode,
        }
    }

    fn weigh_paths(&self, tool: &str, paths: &[PathBuf], text: &str, fallback: PermissionMode) -> Part {
        let covers = |rule: &Rule| match rule.pattern() {
            Pattern::Any => true,
            Pattern::Path(pattern) => pattern.covers(paths, &self.places),
            Pattern::Command(_) => false,
        };
        let touches = |rule: &Rule| match rule.pattern() {
            Pattern::Any => Fit::Yes,
            Pattern::Path(pattern) => pattern.touches(paths, &self.places),
            Pattern::Command(_) => Fit::No,
        };
        let verdict = self.weigh(tool, covers, touches, fallback);
        // Behind a link no rule for one path covers the other.
        let exact = match paths {
            [real, named] if self.places.shown(real) == self.places.shown(named) => Some(self.places.shown(real)),
            _ => None,
        };
        let remedy = exact.filter(|path| !path.contains(char::is_control)).map(|path| format!("{tool}({path})"));
        Part { verdict, text: remedy.clone().unwrap_or_else(|| shorten(&format!("{tool}({text})"))), remedy }
    }

    fn weigh(
        &self,
        tool: &str,
        covers: impl Fn(&Rule) -> bool,
        touches: impl Fn(&Rule) -> Fit,
        fallback: PermissionMode,
    ) -> Verdict {
        let of = |action| self.rules.iter().filter(move |rule| rule.action == action && rule.is_about(tool));
        let against = |rule: &Rule| format!("the rule `{rule}` ({}) stands against it", place(rule));
        if let Some(rule) = of(Action::Deny).find(|rule| touches(rule) == Fit::Yes) {
            return Verdict::Deny(against(rule), true);
        }
        if let Some(rule) = of(Action::Deny).find(|rule| touches(rule) == Fit::Maybe) {
            return Verdict::Ask(format!("the rule `{rule}` ({}) may be about it", place(rule)), true);
        }
        if of(Action::Allow).any(|rule| rule.source.is_answer() && covers(rule)) {
            return Verdict::Allow;
        }
        if let Some(rule) = of(Action::Ask).find(|rule| touches(rule) != Fit::No) {
            return Verdict::Ask(against(rule), true);
        }
        if of(Action::Allow).any(covers) {
            return Verdict::Allow;
        }
        match fallback {
            PermissionMode::Off | PermissionMode::Allow => Verdict::Allow,
            PermissionMode::Ask => Verdict::Ask("no rule allows it (mode `ask`)".to_owned(), false),
            PermissionMode::Deny => Verdict::Deny("no rule allows it (mode `deny`)".to_owned(), false),
        }
    }
}

/// Where a rule comes from, in words.
fn place(rule: &Rule) -> &'static str {
    use crate::protocol::permission::RuleSource;
    match rule.source {
        RuleSource::Flag => "command line",
        RuleSource::User => "user settings",
        RuleSource::Project => "project settings",
        RuleSource::Remembered => "remembered for this project",
        RuleSource::Everywhere => "remembered for all projects",
        RuleSource::Session => "this session",
    }
}

fn is_fixed(command: &Command) -> bool {
    let mut words = command.assignments.iter().chain(&command.words);
    words.all(|word| word.fixed().is_some_and(|text| !text.contains(char::is_control)))
}

/// A part of a message stays a line.
fn shorten(text: &str) -> String {
    const LONGEST: usize = 200;
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect();
    if line.chars().count() < text.chars().count() { line + "…" } else { line }
}

fn strictest(parts: Vec<Part>) -> Decision {
    let severity = |part: &Part| match part.verdict {
        Verdict::Allow => 0,
        Verdict::Ask(..) => 1,
        Verdict::Deny(..) => 2,
    };
    let refused: Vec<Part> = parts.into_iter().filter(|part| severity(part) > 0).collect();
    let remedies: Option<Vec<String>> = refused.iter().map(|part| part.remedy.clone()).collect();
    let mut remedies = remedies.unwrap_or_default();
    remedies.dedup();
    // Of several with the same weight the first one is told.
    let worst = refused.into_iter().rev().max_by_key(severity);
    match worst {
        None => Decision::Allow,
        Some(Part { verdict: Verdict::Allow, .. }) => Decision::Allow,
        Some(Part { verdict: Verdict::Ask(why, by_rule), text, .. }) => {
            Decision::Ask(Reason { part: text, why, remedies, by_rule })
        }
        Some(Part { verdict: Verdict::Deny(why, by_rule), text, .. }) => {
            Decision::Deny(Reason { part: text, why, remedies, by_rule })
        }
    }
}

#[cfg(test)]
mod tests;
