//! Answers that are lists: files, folders, counts, matches.

use super::{counted, failure, failures, finish, path_of};
use crate::providers::offline::{
    findings::{Finding, LineCount, Match},
    task::Kind,
    toolbox::SKIPPED,
};

/// How many items of a list are shown.
const ITEMS: usize = 50;

/// What is in a folder.
pub(in super::super) fn folder(folder: &str, listed: &[Finding]) -> String {
    let Some(listing) = listed.first() else { return finish([]) };
    if listing.failed {
        return finish([format!("I could not look into `{folder}`; the tool says: {}", listing.failure())]);
    }
    if super::is_file(folder, listed) {
        return finish([format!("`{folder}` is a file, not a folder.")]);
    }
    let entries = listing.paths();
    let (folders, files): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry.ends_with('/'));
    let place = if folder == "." { "This folder".to_owned() } else { format!("`{folder}`") };
    let head = format!("{place} has {} and {}.", counted(folders.len(), "folder"), counted(files.len(), "file"));
    let list = |what: &str, names: &[&String]| {
        let shown: Vec<_> = names.iter().take(ITEMS).map(|name| format!("`{name}`")).collect();
        if shown.is_empty() { String::new() } else { format!("{what}: {}{}", shown.join(", "), more(names.len())) }
    };
    finish([head, list("Folders", &folders), list("Files", &files), remark(listed)])
}

/// The files of a kind.
pub(in super::super) fn files(kind: &Kind, listed: &[Finding]) -> String {
    if let Some(failed) = listed.iter().find(|finding| finding.failed) {
        return finish([format!("I could not look for {}; the tool says: {}", kind.label, failed.failure())]);
    }
    let mut paths: Vec<String> = listed.iter().flat_map(full_paths).filter(|path| !path.ends_with('/')).collect();
    paths.sort();
    paths.dedup();
    if paths.is_empty()
        && let Some(complaint) = complaint(listed)
    {
        return finish([format!("I could not look for {}; the tool says: {complaint}", kind.label)]);
    }
    if paths.is_empty() {
        return finish([format!("There are no {}. {}", kind.label, not_looked_into(listed))]);
    }
    let head = format!("I found {}: {}.", counted(paths.len(), "file"), kind.label);
    let list: Vec<_> = paths.iter().take(ITEMS).map(|path| format!("- `{path}`")).collect();
    finish([format!("{head}\n{}{}", list.join("\n"), more_below(paths.len())), remark(listed)])
}

/// The first error line among results that did not fail as a whole.
fn complaint(findings: &[Finding]) -> Option<String> {
    findings.iter().flat_map(Finding::complaints).next().map(str::to_owned)
}

/// Line counts from `wc`.
pub(in super::super) fn line_counts(kind: &Kind, counted_by: &[Finding]) -> String {
    let counts: Vec<LineCount> = counted_by.iter().flat_map(Finding::line_counts).collect();
    let failed: Vec<&Finding> = counted_by.iter().filter(|finding| finding.failed).collect();
    if counts.is_empty() {
        if failed.is_empty() {
            return files(kind, counted_by);
        }
        return finish(failures(&failed));
    }
    finish([lines_table(kind, counts), remark(counted_by)])
}

/// Line counts of files that were read, out of `found`.
pub(in super::super) fn read_line_counts(kind: &Kind, found: usize, read: &[Finding]) -> String {
    let (failed, good): (Vec<_>, Vec<_>) = read.iter().partition(|finding| finding.failed);
    let counts: Vec<_> = good
        .iter()
        .map(|finding| LineCount { path: path_of(finding), lines: finding.text.lines().count() as u64 })
        .collect();
    let part = match found - counts.len().min(found) {
        0 => String::new(),
        _ => format!("I found {found} {} and counted in the first {}.", kind.label, counts.len()),
    };
    finish([lines_table(kind, counts), part, remark(read)].into_iter().chain(failures(&failed)))
}

fn lines_table(kind: &Kind, mut counts: Vec<LineCount>) -> String {
    counts.sort_by(|a, b| (b.lines, &a.path).cmp(&(a.lines, &b.path)));
    let total: u64 = counts.iter().map(|count| count.lines).sum();
    let head = format!("{}: {}, {} in all.", capital(&kind.label), counted(counts.len(), "file"), lines(total));
    let list: Vec<_> = counts.iter().take(ITEMS).map(|c| format!("- `{}`: {}", c.path, lines(c.lines))).collect();
    format!("{head}\n{}{}", list.join("\n"), more_below(counts.len()))
}

fn lines(number: u64) -> String {
    counted(usize::try_from(number).unwrap_or(usize::MAX), "line")
}

/// Lines, words and bytes of files.
pub(in super::super) fn sizes(paths: &[String], counted_by: &[Finding]) -> String {
    let parts = paths.iter().zip(counted_by).map(|(path, finding)| match finding.sizes() {
        _ if finding.failed => failure(finding),
        Some([lines, words, bytes]) if finding.call.name == "bash" => {
            format!("`{path}` has {lines} lines, {words} words and {bytes} bytes.")
        }
        _ => {
            let (lines, words) = (finding.text.lines().count(), finding.text.split_whitespace().count());
            let part =
                finding.cut.as_ref().map(|remark| format!(" That is a part of it: {remark}")).unwrap_or_default();
            format!("`{path}` has {} and {}.{part}", counted(lines, "line"), counted(words, "word"))
        }
    });
    finish(parts)
}

/// Where a text occurs.
pub(in super::super) fn matches(text: &str, found: &[Finding]) -> String {
    if let Some(failed) = found.iter().find(|finding| finding.failed) {
        return finish([format!("I could not search for `{text}`; the tool says: {}", failed.failure())]);
    }
    let matches: Vec<Match> = found.iter().flat_map(Finding::matches).collect();
    if matches.is_empty() {
        return finish([format!("`{text}` occurs nowhere. {}", not_looked_into(found))]);
    }
    let mut files: Vec<&str> = matches.iter().map(|found| found.path.as_str()).collect();
    files.dedup();
    let at_least = if found.iter().any(|finding| finding.cut.is_some()) { "at least " } else { "" };
    let head =
        format!("`{text}` occurs in {at_least}{} of {}.", counted(matches.len(), "line"), counted(files.len(), "file"));
    let list: Vec<_> =
        matches.iter().take(ITEMS).map(|m| format!("- `{}:{}`: {}", m.path, m.line, short(&m.text))).collect();
    finish([format!("{head}\n{}{}", list.join("\n"), more_below(matches.len())), remark(found)])
}

fn short(text: &str) -> String {
    match text.char_indices().nth(160) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// Paths of a search, from the folder that the program works in.
pub(in super::super) fn full_paths(finding: &Finding) -> Vec<String> {
    let folder = match finding.call.name.as_str() {
        "find" => finding.argument("path"),
        _ => ".",
    };
    let paths = finding.paths().into_iter();
    paths.map(|path| if matches!(folder, "." | "") { path } else { format!("{folder}/{path}") }).collect()
}

/// What the tool says about a result that is not whole.
fn remark(findings: &[Finding]) -> String {
    let remark = findings.iter().find_map(|finding| finding.cut.as_ref());
    let more = remark.map(|remark| format!("There is more; the tool says: {remark}"));
    let complaint = complaint(findings).map(|complaint| format!("That may not be all; the tool says: {complaint}"));
    more.or(complaint).unwrap_or_default()
}

/// Our own shell commands leave folders out; the search tools say themselves what they leave out.
fn not_looked_into(findings: &[Finding]) -> String {
    if findings.iter().any(|finding| finding.call.name == "bash") {
        format!("(I did not look into {}.)", SKIPPED.map(|name| format!("`{name}`")).join(", "))
    } else {
        String::new()
    }
}

fn more(count: usize) -> String {
    if count > ITEMS { format!(" and {} more", count - ITEMS) } else { String::new() }
}

fn more_below(count: usize) -> String {
    if count > ITEMS { format!("\n- and {} more", count - ITEMS) } else { String::new() }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
