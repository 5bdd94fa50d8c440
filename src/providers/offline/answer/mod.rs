//! The answers: Markdown in which every name, number and quotation comes from the tools' results.

mod listing;

use std::collections::BTreeMap;

pub(super) use listing::{files, folder, full_paths, line_counts, matches, read_line_counts, sizes};

use super::{
    conversation::Attachment,
    describe::{counted, describe, is_binary},
    findings::Finding,
    task::{self, Kind},
};

/// What stands below every answer about files.
const NOTE: &str =
    "(I am troupe/offline, a small deterministic program and no AI: all of this is taken from the tools' results.)";
/// How many lines of a file are shown.
const SHOWN: usize = 60;

/// What this program is, what it can do and how to get a real model.
pub(super) fn help(task: &str) -> String {
    let mut out = String::from("I am troupe/offline: a small deterministic program, not an AI. ");
    match task::asks_for_change(task) {
        Some(verb) => out.push_str(&only_looks(&verb)),
        None if task.is_empty() => out.push_str("I got no task."),
        None => match task::unknown_word(task) {
            Some(word) => out.push_str(&format!("I do not understand that task: I do not know the word `{word}`.")),
            None => out.push_str("I do not understand that task."),
        },
    }
    out.push_str(
        "

What I understand:
- read README.md and summarise it
- list the Rust files and count their lines
- find TODO in src
- what files are here?
- show Cargo.toml
- count the words in README.md
- what is this project?

To work with a real model:
- set a provider's key in the environment, such as ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENROUTER_API_KEY, or
- describe a server, a local one without a key too, in models.json:
  {\"providers\": {\"local\": {\"baseUrl\": \"http://127.0.0.1:11434/v1\", \"api\": \"openai-completions\", \"models\": [{\"id\": \"NAME\"}]}}}
- then look at `troupe --list-models` and choose with --model PROVIDER/NAME.",
    );
    out
}

/// For tasks that ask for a change.
pub(super) fn only_looks(verb: &str) -> String {
    format!("I only look at files; I cannot {verb} anything.")
}

/// For requests without a tool that could do the task.
pub(super) fn no_tools() -> String {
    "I am troupe/offline: a small deterministic program, not an AI. I work with the tools read, bash, grep, find and ls, \
     and none of those that this task needs is switched on. Start with `--tools read,bash`, for example."
        .to_owned()
}

/// Summaries of files.
pub(super) fn summaries(read: &[&Finding], failed: &[&Finding]) -> String {
    let parts = read.iter().map(|finding| describe(&path_of(finding), &finding.text, finding.cut.as_deref()));
    finish(parts.chain(failures(failed)))
}

/// The texts of files.
pub(super) fn texts(read: &[&Finding], failed: &[&Finding]) -> String {
    finish(read.iter().map(|finding| shown(finding)).chain(failures(failed)))
}

fn shown(finding: &Finding) -> String {
    if is_binary(&finding.text) {
        return format!("**`{}`** is not text; I do not show it.", path_of(finding));
    }
    let lines = finding.text.lines().count();
    let text: Vec<_> = finding.text.lines().take(SHOWN).collect();
    let head = match (lines > SHOWN, &finding.cut) {
        (true, _) => format!("**`{}`**, the first {SHOWN} of the {lines} lines that I read:", path_of(finding)),
        (false, Some(remark)) => {
            format!("**`{}`**, {}; the tool says: {remark}", path_of(finding), counted(lines, "line"))
        }
        (false, None) => format!("**`{}`**, {}:", path_of(finding), counted(lines, "line")),
    };
    // A fence longer than any in the text.
    let longest = finding.text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{head}\n{fence}\n{}\n{fence}", text.join("\n"))
}

/// Summaries of the first files of a kind.
pub(super) fn some_of(kind: &Kind, found: usize, read: &[&Finding], failed: &[&Finding]) -> String {
    let head = match found - read.len().min(found) {
        0 => format!("I found {found} {} and read all of them.", kind.label),
        _ => format!("I found {found} {} and read the first {}.", kind.label, read.len()),
    };
    let parts = read.iter().map(|finding| describe(&path_of(finding), &finding.text, finding.cut.as_deref()));
    finish(std::iter::once(head).chain(parts).chain(failures(failed)))
}

/// Summaries of the files that came with the task.
pub(super) fn attachments(files: &[Attachment]) -> String {
    finish(files.iter().map(|file| describe(&file.name, &file.text, None)))
}

/// Files of a project that say what it is.
const DESCRIBING: [&str; 8] =
    ["README.md", "README", "README.txt", "AGENTS.md", "Cargo.toml", "package.json", "pyproject.toml", "go.mod"];

/// Those that are in the folder, at most four.
pub(super) fn describing_files(folder: &str, listed: &[Finding]) -> Vec<String> {
    let entries = listed.first().map(Finding::paths).unwrap_or_default();
    let there = DESCRIBING.iter().filter(|name| entries.iter().any(|entry| entry == *name)).take(4);
    there.map(|name| if folder == "." { (*name).to_owned() } else { format!("{folder}/{name}") }).collect()
}

/// True when what was listed as a folder is a file: programs give its own name back.
pub(super) fn is_file(place: &str, listed: &[Finding]) -> bool {
    let own = place.strip_prefix("./").unwrap_or(place);
    matches!(listed.first().map(Finding::paths).as_deref(), Some([only]) if only == own && !listed[0].failed)
}

/// A project: what is in it and what its own files say.
pub(super) fn overview(listed: &[Finding], read: &[Finding]) -> String {
    let (Some(entries), files) = (listed.first(), listed.get(1..).unwrap_or_default()) else {
        return finish([]);
    };
    let mut parts = Vec::new();
    let (failed, good): (Vec<_>, Vec<_>) = read.iter().partition(|finding| finding.failed);
    parts.extend(good.iter().map(|finding| describe(&path_of(finding), &finding.text, finding.cut.as_deref())));
    if entries.failed {
        parts.push(failure(entries));
    } else {
        let names: Vec<_> = entries.paths().iter().take(30).map(|name| format!("`{name}`")).collect();
        let count = entries.paths().len();
        let more = if count > names.len() { format!(" and {} more", count - names.len()) } else { String::new() };
        parts.push(format!("The folder has {}: {}{more}.", counted(count, "entry"), names.join(", ")));
    }
    let paths: Vec<_> = files
        .iter()
        .filter(|finding| !finding.failed)
        .flat_map(Finding::paths)
        .filter(|path| !path.ends_with('/'))
        .collect();
    if !paths.is_empty() {
        let cut = files.iter().any(|finding| finding.cut.is_some());
        let at_least = if cut { "at least " } else { "" };
        parts.push(format!("In all there are {at_least}{}: {}.", counted(paths.len(), "file"), endings(&paths)));
    }
    finish(parts.into_iter().chain(failures(&failed)))
}

/// The commonest endings with their numbers.
fn endings(paths: &[String]) -> String {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for path in paths {
        let name = path.rsplit('/').next().unwrap_or(path);
        let ending = name.rfind('.').filter(|at| *at > 0).map_or("", |at| &name[at..]);
        *numbers.entry(ending).or_default() += 1;
    }
    let mut numbers: Vec<_> = numbers.into_iter().collect();
    numbers.sort_by_key(|(ending, number)| (std::cmp::Reverse(*number), *ending));
    let shown = numbers.iter().take(8).map(|(ending, number)| match *ending {
        "" => format!("{number} without an ending"),
        ending => format!("{number} `{ending}`"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// The path that a call was about.
fn path_of(finding: &Finding) -> String {
    match finding.call.name.as_str() {
        "bash" => last_operand(finding.argument("command")).unwrap_or_default(),
        _ => finding.argument("path").to_owned(),
    }
}

/// The path behind the first `--` of our own commands for one file, without quotes. Other commands are about no one
/// file.
fn last_operand(command: &str) -> Option<String> {
    let (_, operand) = command.split_once(" -- ")?;
    let plain = operand.replace(r"'\''", "\u{0}").replace('\'', "").replace('\u{0}', "'");
    Some(plain.strip_prefix("./").unwrap_or(&plain).to_owned())
}

fn failures<'a>(failed: &'a [&'a Finding]) -> impl Iterator<Item = String> + 'a {
    failed.iter().map(|finding| failure(finding))
}

/// A failed call in the tool's own words.
fn failure(finding: &Finding) -> String {
    match path_of(finding).as_str() {
        "" => format!("That did not work; `{}` says: {}", finding.call.name, finding.failure()),
        path => format!("I could not read `{path}`; `{}` says: {}", finding.call.name, finding.failure()),
    }
}

/// Joins the parts and says who wrote this.
fn finish(parts: impl IntoIterator<Item = String>) -> String {
    let mut parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        parts.push("The tools gave me nothing to say.".to_owned());
    }
    parts.push(NOTE.to_owned());
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_from_a_command_even_when_it_looks_like_one() {
        let table = [
            ("cat -- ./README.md", "README.md"),
            (r"wc -lwc -- './it'\''s -- a.rs'", "it's -- a.rs"),
            ("ls -Ap -- /tmp/x", "/tmp/x"),
        ];
        assert_eq!(last_operand("find ./x -type f"), None);
        for (command, path) in table {
            assert_eq!(last_operand(command).as_deref(), Some(path));
        }
    }
}
