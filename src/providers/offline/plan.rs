//! From a history to the next step: text, or calls.

use serde_json::{Map, Value};

use super::{
    answer,
    conversation::Conversation,
    digest,
    findings::Finding,
    task::{self, Kind, Task},
    toolbox::{Need, Toolbox},
};
use crate::protocol::{Message, ToolDeclaration};

/// The next step.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// The answer.
    Say(String),
    /// Calls of tools, to be run as one batch.
    Call {
        /// What the calls are for.
        text: String,
        /// The calls.
        calls: Vec<PlannedCall>,
    },
}

/// A call to make.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedCall {
    /// The tool's name.
    pub name: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}

/// How many files are read at most for one answer.
const MANY: usize = 6;

/// The next step for a history with these tools. The same history always gives the same step.
#[must_use]
pub fn reply(messages: &[Message], tools: &[ToolDeclaration]) -> Plan {
    let conversation = Conversation::of(messages);
    if let Some(summary) = digest::of_conversation(&conversation.task) {
        return Plan::Say(summary);
    }
    if task::unknown_word(&conversation.task).is_some() {
        return Plan::Say(answer::help(&conversation.task));
    }
    if !conversation.attachments.is_empty() {
        return Plan::Say(answer::attachments(&conversation.attachments));
    }
    let toolbox = Toolbox::of(tools);
    let task = task::read(&conversation.task);
    if task == Task::Unknown {
        return Plan::Say(answer::help(&conversation.task));
    }
    if toolbox.is_empty() {
        return Plan::Say(answer::no_tools());
    }
    let plan = Planner { toolbox, rounds: &conversation.rounds }.step(&task);
    match (plan, task::also_asks_for_change(&conversation.task)) {
        (None, _) => Plan::Say(answer::no_tools()),
        (Some(Plan::Say(text)), Some(verb)) => Plan::Say(format!("{}\n\n{text}", answer::only_looks(&verb))),
        (Some(plan), _) => plan,
    }
}

/// Decides by what the rounds so far brought. None = no declared tool can do it.
struct Planner<'a> {
    toolbox: Toolbox,
    rounds: &'a [Vec<Finding>],
}

impl Planner<'_> {
    fn step(&self, task: &Task) -> Option<Plan> {
        let first = self.rounds.first().map(Vec::as_slice);
        match (task, first) {
            (Task::Summarise(paths), _) => self.read_then(paths, answer::summaries),
            (Task::Show(paths), _) => self.read_then(paths, answer::texts),
            (Task::SummariseKind(kind, folder), None) => self.list(kind, folder),
            (Task::SummariseKind(kind, _), Some(listed)) => self.read_some(kind, listed),
            (Task::ListFolder(folder), None) => {
                self.call("I'll look into the folder.", &[Need::Folder(folder.clone())])
            }
            (Task::ListFolder(folder), Some(listed)) => say(answer::folder(folder, listed)),
            (Task::ListFiles(kind, folder), None) => self.list(kind, folder),
            (Task::ListFiles(kind, _), Some(listed)) => say(answer::files(kind, listed)),
            (Task::CountLines(kind, folder), _) => self.count_lines(kind, folder),
            (Task::CountFiles(paths), None) => {
                let sizes: Vec<_> = paths.iter().take(MANY).cloned().map(Need::Sizes).collect();
                let texts: Vec<_> = paths.iter().take(MANY).cloned().map(Need::Text).collect();
                let text = format!("I'll count in {}.", quoted_list(paths));
                self.call(&text, &sizes).or_else(|| self.call(&text, &texts))
            }
            (Task::CountFiles(paths), Some(counted)) => say(answer::sizes(paths, counted)),
            (Task::Search(text, folder), None) => {
                self.call(&format!("I'll search for `{text}`."), &[Need::Matches(text.clone(), folder.clone())])
            }
            (Task::Search(text, _), Some(found)) => say(answer::matches(text, found)),
            (Task::Overview(folder), _) => self.overview(folder),
            (Task::Unknown, _) => None,
        }
    }

    /// Calls for all needs as one batch.
    fn call(&self, text: &str, needs: &[Need]) -> Option<Plan> {
        let calls: Option<Vec<_>> = needs.iter().map(|need| self.toolbox.calls(need)).collect();
        let calls: Vec<_> = calls?.into_iter().flatten().collect();
        (!calls.is_empty()).then(|| Plan::Call { text: text.to_owned(), calls })
    }

    fn list(&self, kind: &Kind, folder: &str) -> Option<Plan> {
        let need = Need::Files(kind.globs.clone(), folder.to_owned());
        self.call(&format!("I'll look for {}.", kind.label), &[need])
    }

    /// Reads files; looks for those that are not where they should be, and reads what it finds.
    fn read_then(&self, paths: &[String], answer: fn(&[&Finding], &[&Finding]) -> String) -> Option<Plan> {
        let [first, later @ ..] = self.rounds else {
            let needs: Vec<_> = paths.iter().take(MANY).cloned().map(Need::Text).collect();
            return self.call(&format!("I'll read {}.", quoted_list(paths)), &needs);
        };
        let (failed, read): (Vec<_>, Vec<_>) = first.iter().partition(|finding| finding.failed);
        match later {
            [] if !failed.is_empty() && read.is_empty() => {
                let names = paths.iter().take(MANY).map(|path| path.rsplit('/').next().unwrap_or(path).to_owned());
                let needs = [Need::Files(names.collect(), ".".to_owned())];
                let found = self.call("That did not work; I'll look for files of that name.", &needs);
                found.or_else(|| say(answer(&read, &failed)))
            }
            [] => say(answer(&read, &failed)),
            [listed] => {
                let found: Vec<_> = found_paths(listed).into_iter().take(MANY).map(Need::Text).collect();
                if found.is_empty() {
                    return say(answer(&read, &failed));
                }
                self.call("I'll read what I found.", &found).or_else(|| say(answer(&read, &failed)))
            }
            [.., last] => {
                let (failed, read): (Vec<_>, Vec<_>) = last.iter().partition(|finding| finding.failed);
                say(answer(&read, &failed))
            }
        }
    }

    /// Reads the first files of a list and summarises them.
    fn read_some(&self, kind: &Kind, listed: &[Finding]) -> Option<Plan> {
        let found = found_paths(listed);
        match self.rounds.get(1) {
            None if found.is_empty() => say(answer::files(kind, listed)),
            None => {
                let needs: Vec<_> = found.iter().take(MANY).cloned().map(Need::Text).collect();
                self.call(&format!("I'll read {}.", quoted_list(&found)), &needs)
            }
            Some(read) => {
                let (failed, read): (Vec<_>, Vec<_>) = read.iter().partition(|finding| finding.failed);
                say(answer::some_of(kind, found.len(), &read, &failed))
            }
        }
    }

    /// Counts with a shell command, or else by reading the files.
    fn count_lines(&self, kind: &Kind, folder: &str) -> Option<Plan> {
        let [first, later @ ..] = self.rounds else {
            let need = Need::Lines(kind.globs.clone(), folder.to_owned());
            let counted = self.call(&format!("I'll list the {} with their lines.", kind.label), &[need]);
            return counted.or_else(|| self.list(kind, folder));
        };
        if first.iter().all(|finding| finding.call.name == "bash") {
            return say(answer::line_counts(kind, first));
        }
        let found = found_paths(first);
        match later.first() {
            None if found.is_empty() => say(answer::files(kind, first)),
            None => {
                let needs: Vec<_> = found.iter().take(MANY).cloned().map(Need::Text).collect();
                let read = self.call(&format!("I'll read {} to count.", quoted_list(&found)), &needs);
                read.or_else(|| say(answer::files(kind, first)))
            }
            Some(read) => say(answer::read_line_counts(kind, found.len(), read)),
        }
    }

    /// Lists a project, reads the files that describe it, and says what they hold.
    fn overview(&self, folder: &str) -> Option<Plan> {
        let [first, later @ ..] = self.rounds else {
            let needs = [Need::Folder(folder.to_owned()), Need::Files(Vec::new(), folder.to_owned())];
            return self.call("I'll look at the folder and at all files in it.", &needs);
        };
        if answer::is_file(folder, first) {
            let read = || self.call(&format!("It is a file; I'll read `{folder}`."), &[Need::Text(folder.to_owned())]);
            return match later.first() {
                None => read().or_else(|| say(answer::folder(folder, first))),
                Some(read) => {
                    let (failed, read): (Vec<_>, Vec<_>) = read.iter().partition(|finding| finding.failed);
                    say(answer::summaries(&read, &failed))
                }
            };
        }
        if first.first().is_some_and(|listing| listing.failed) {
            return say(answer::folder(folder, first));
        }
        let Some(read) = later.first() else {
            let described = answer::describing_files(folder, first);
            let needs: Vec<_> = described.into_iter().map(Need::Text).collect();
            let read = self.call("I'll read the files that describe it.", &needs);
            return read.or_else(|| say(answer::overview(first, &[])));
        };
        say(answer::overview(first, read))
    }
}

#[allow(clippy::unnecessary_wraps, reason = "every arm of the planner is an option")]
fn say(text: String) -> Option<Plan> {
    Some(Plan::Say(text))
}

/// Files in the results of searches, each once, in order.
fn found_paths(listed: &[Finding]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for path in listed.iter().filter(|finding| !finding.failed).flat_map(answer::full_paths) {
        if !path.ends_with('/') && !found.contains(&path) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn quoted_list(paths: &[String]) -> String {
    let names: Vec<_> = paths.iter().take(MANY).map(|path| format!("`{path}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
