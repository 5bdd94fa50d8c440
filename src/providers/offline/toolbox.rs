//! Which declared tool does what, and how to call it.

use serde_json::{Map, Value, json};

use super::plan::PlannedCall;
use crate::protocol::ToolDeclaration;

/// What a task needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// A file's text.
    Text(String),
    /// What is in a folder.
    Folder(String),
    /// The files below a folder whose names match a pattern; all of them without one.
    Files(Vec<String>, String),
    /// Those with their number of lines.
    Lines(Vec<String>, String),
    /// Lines, words and bytes of a file.
    Sizes(String),
    /// Where a text occurs below a folder.
    Matches(String, String),
}

/// Folders that hold nothing that people wrote.
pub(super) const SKIPPED: [&str; 3] = [".git", "node_modules", "target"];

/// The tools of a request.
#[derive(Clone, Debug)]
pub(super) struct Toolbox {
    names: Vec<String>,
}

impl Toolbox {
    /// Of the tools that a request declares.
    pub fn of(tools: &[ToolDeclaration]) -> Self {
        Self { names: tools.iter().map(|tool| tool.name.clone()).collect() }
    }

    /// True when nothing is declared that this program can use.
    pub fn is_empty(&self) -> bool {
        !["read", "bash", "grep", "find", "ls"].iter().any(|name| self.has(name))
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// The calls that bring what is needed; None when no declared tool can.
    pub fn calls(&self, need: &Need) -> Option<Vec<PlannedCall>> {
        let bash = |command: String| self.has("bash").then(|| call("bash", json!({ "command": command })));
        let own = |name: &'static str, arguments: Value| self.has(name).then(|| call(name, arguments));
        let one = match need {
            Need::Text(path) => {
                own("read", json!({ "path": path })).or_else(|| bash(format!("cat -- {}", operand(path))))
            }
            Need::Folder(path) => own("ls", json!({ "path": path }))
                .or_else(|| bash(format!("ls -Ap -- {}", operand(path))))
                .or_else(|| own("find", json!({ "pattern": "*", "path": path }))),
            Need::Files(globs, folder) => {
                if self.has("find") {
                    let patterns = if globs.is_empty() { vec!["*".to_owned()] } else { globs.clone() };
                    let calls = patterns.iter().map(|glob| call("find", json!({ "pattern": glob, "path": folder })));
                    return Some(calls.collect());
                }
                bash(format!("{} -print | LC_ALL=C sort", find(globs, folder)))
            }
            Need::Lines(globs, folder) => bash(format!("{} -exec wc -l {{}} +", find(globs, folder))),
            Need::Sizes(path) => bash(format!("wc -lwc -- {}", operand(path))),
            Need::Matches(text, folder) => {
                let arguments = json!({ "pattern": text, "path": folder, "literal": true, "limit": 200 });
                own("grep", arguments).or_else(|| bash(search(text, folder)))
            }
        };
        one.map(|call| vec![call])
    }
}

fn call(name: &str, arguments: Value) -> PlannedCall {
    let arguments = match arguments {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    PlannedCall { name: name.to_owned(), arguments }
}

/// The start of a command that finds files.
fn find(globs: &[String], folder: &str) -> String {
    let either = |names: &mut dyn Iterator<Item = String>| {
        format!("\\( {} \\)", names.map(|name| format!("-name {}", quote(&name))).collect::<Vec<_>>().join(" -o "))
    };
    let skipped = either(&mut SKIPPED.iter().map(|name| (*name).to_owned()));
    let mut command = format!("find {} -type d {skipped} -prune -o -type f", operand(folder));
    if !globs.is_empty() {
        command.push(' ');
        command.push_str(&either(&mut globs.iter().cloned()));
    }
    command
}

fn search(text: &str, folder: &str) -> String {
    let skipped: Vec<_> = SKIPPED.iter().map(|name| format!("--exclude-dir={name}")).collect();
    // grep ends with 1 when nothing matches, which is no failure here.
    format!("grep -rnHIF {} -e {} -- {} || test $? -eq 1", skipped.join(" "), quote(text), operand(folder))
}

/// A path as an operand: it begins with `.`, `/` or `~`, so that no program takes it for an option, and the paths that
/// programs print have one form.
fn operand(path: &str) -> String {
    if path == "." || path.starts_with(['/', '~']) || path.starts_with("./") || path.starts_with("../") {
        return quote_path(path);
    }
    quote_path(&format!("./{path}"))
}

/// Quotes a path; a leading `~/` stays open for the shell.
fn quote_path(path: &str) -> String {
    match path.strip_prefix("~/") {
        Some(rest) => format!("~/{}", quote(rest)),
        None => quote(path),
    }
}

/// Quotes a text so that a shell reads it as one word and nothing else.
pub(super) fn quote(text: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "_-./".contains(char);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toolbox(names: &[&str]) -> Toolbox {
        Toolbox { names: names.iter().map(|name| (*name).to_owned()).collect() }
    }

    #[test]
    fn only_declared_tools_are_called_and_the_fittest_first() {
        let read = Need::Text("a b".into());
        let shown = |names: &[&str], need: &Need| {
            let calls = toolbox(names).calls(need)?;
            Some(calls.iter().map(|c| format!("{} {}", c.name, Value::Object(c.arguments.clone()))).collect::<Vec<_>>())
        };
        assert_eq!(shown(&["read", "bash"], &read), Some(vec![r#"read {"path":"a b"}"#.to_owned()]));
        assert_eq!(shown(&["bash"], &read), Some(vec![r#"bash {"command":"cat -- './a b'"}"#.to_owned()]));
        assert_eq!(shown(&["edit", "write"], &read), None);
        let files = Need::Files(vec!["*.yml".into(), "*.yaml".into()], ".".into());
        assert_eq!(shown(&["find", "bash"], &files).map(|calls| calls.len()), Some(2));
    }

    #[test]
    fn names_never_become_commands_or_options() {
        let table =
            [("x", "x"), ("", "''"), ("a b", "'a b'"), ("$(id)", "'$(id)'"), ("it's", r"'it'\''s'"), ("é", "'é'")];
        for (text, quoted) in table {
            assert_eq!(quote(text), quoted);
        }
        let table = [("-rf", "./-rf"), ("~/a b", "~/'a b'"), ("/x", "/x"), ("..", "./.."), ("a;b", "'./a;b'")];
        for (path, expected) in table {
            assert_eq!(operand(path), expected);
        }
    }
}
