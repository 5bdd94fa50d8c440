//! Looking at session files.

use std::{collections::HashSet, fs, path::Path};

use serde_json::Value;

/// The lines of a session file, header first. Every line must be JSON.
pub fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(text.ends_with('\n'), "{} ends in the middle of a line", path.display());
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("no JSON ({error}): {line}")))
        .collect()
}

/// What the entries after the header are: roles of messages, types of the others.
pub fn entry_roles(lines: &[Value]) -> Vec<&str> {
    lines[1..].iter().filter_map(|entry| entry["message"]["role"].as_str().or(entry["type"].as_str())).collect()
}

/// Panics unless ids are unique and each parent is an earlier entry.
pub fn linked(lines: &[Value]) {
    let mut seen = HashSet::new();
    for entry in &lines[1..] {
        let parent = &entry["parentId"];
        assert!(parent.is_null() || seen.contains(parent), "unknown parent: {entry}");
        assert!(seen.insert(&entry["id"]), "an id occurs twice: {entry}");
    }
}
