//! The words that this program knows. A task with any other word is refused: `sort`, `not` and `except` change what is
//! asked for, and so may every word that nobody thought of.

use super::words::{Word, as_path};

/// What it can do, as people ask for it.
#[rustfmt::skip]
const VERBS: [&str; 33] = [
    "read", "show", "print", "cat", "open", "display", "view", "see", "list", "ls", "tree", "find", "search", "grep",
    "locate", "count", "counts", "describe", "explain", "outline", "review", "give", "tell", "is", "are", "be", "get",
    "look", "used", "defined", "mentioned", "contains", "want",
];
/// Words that ask or join.
#[rustfmt::skip]
const JOINTS: [&str; 61] = [
    "what", "what's", "whats", "which", "where", "how", "many", "much", "can", "could", "would", "will", "please",
    "you", "i", "me", "us", "my", "our", "your", "to", "at", "the", "a", "an", "all", "any", "every", "each", "of",
    "in", "inside", "under", "within", "across", "for", "from", "on", "and", "then", "also", "it", "its", "it's",
    "their", "they", "this", "that", "these", "those", "here", "there", "have", "has", "by", "about", "named", "called",
    "up", "into", "anywhere",
];
/// Things that it knows.
#[rustfmt::skip]
const THINGS: [&str; 48] = [
    "file", "files", "folder", "folders", "directory", "directories", "project", "repo", "repository", "codebase",
    "code", "script", "scripts", "source", "sources", "line", "lines", "word", "words", "loc", "number", "size",
    "total", "overview", "contents", "content", "text", "name", "names", "list", "summary", "current", "working",
    "occurrence", "occurrences", "use", "uses", "usages", "mentions", "comment", "comments", "marker", "markers",
    "string", "item", "items", "sentence", "short",
];
/// Options of `ls` and `grep` that ask for what is done anyway.
const OPTIONS: [&str; 8] = ["-r", "-R", "-n", "-rn", "-nr", "-a", "-A", "-1"];

/// Marks that people leave in code to be found again.
const MARKS: [&str; 4] = ["todo", "fixme", "xxx", "hack"];

/// The mark that a word names, also in the plural.
pub(super) fn mark(word: &Word) -> Option<String> {
    let plain = word.plain();
    let one = plain.strip_suffix('s').unwrap_or(&plain);
    MARKS.contains(&one).then(|| one.to_uppercase())
}

/// Drops the options of a task that is written as a command.
pub(super) fn without_options(mut words: Vec<Word>) -> Vec<Word> {
    if words.first().is_some_and(|first| ["ls", "grep"].contains(&first.plain().as_str())) {
        words.retain(|word| word.quoted || !OPTIONS.contains(&word.text.as_str()));
    }
    words
}

/// The first word that is not known. Paths, quotations and the words of `names` need not be known, and what stands
/// before a word like `files` is judged by `is_kind`.
pub(super) fn unknown(words: &[Word], names: &[String], is_kind: impl Fn(&Word) -> bool) -> Option<String> {
    let known = |word: &&Word| {
        let plain = word.plain();
        let plain = plain.as_str();
        word.quoted
            || VERBS.contains(&plain)
            || JOINTS.contains(&plain)
            || THINGS.contains(&plain)
            || plain.starts_with("summar")
            || names.contains(&word.text)
            || mark(word).is_some()
            || is_kind(word)
            || as_path(word).is_some()
    };
    words.iter().find(|word| !known(word)).map(|word| word.text.clone())
}
