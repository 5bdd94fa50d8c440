//! One rule: `TOOL`, or `TOOL(PATTERN)`.

use std::{fmt, path::Path};

use super::{command_pattern::CommandPattern, path_pattern::PathPattern};
use crate::protocol::permission::{RuleAction, RuleSource};

/// What a rule does.
pub type Action = RuleAction;
/// Where a rule comes from.
pub type Source = RuleSource;

/// The tool that runs commands.
pub const SHELL: &str = "bash";
/// The name under which rules speak of commands that the user types.
pub const USER_SHELL: &str = "user_bash";

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What it does.
    pub action: Action,
    /// Where it comes from.
    pub source: Source,
    text: String,
    tool: Vec<String>,
    pattern: Pattern,
}

/// What a rule says about a call beside its tool.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// Nothing: any call.
    Any,
    /// Commands.
    Command(CommandPattern),
    /// Files.
    Path(PathPattern),
}

/// A text that is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the rule {text:?} cannot be understood: {reason}. A rule is TOOL or TOOL(PATTERN), for example: bash(git status *), \
         write(src/**), read"
)]
pub struct RuleError {
    /// The text.
    pub text: String,
    /// What is wrong.
    pub reason: String,
}

impl Rule {
    /// Reads a rule.
    ///
    /// # Errors
    /// The text is no rule.
    pub fn parse(action: Action, source: Source, text: &str, home: Option<&Path>) -> Result<Self, RuleError> {
        let text = text.trim();
        let wrong = |reason: String| RuleError { text: text.to_owned(), reason };
        let (tool, inner) = match text.split_once('(') {
            Some((tool, rest)) => {
                let inner = rest.strip_suffix(')').ok_or_else(|| wrong("the last character is not `)`".into()))?;
                (tool.trim(), Some(inner))
            }
            None => (text, None),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.*:/".contains(c);
        if tool.is_empty() || !tool.chars().all(is_name) {
            return Err(wrong("it does not begin with the name of a tool".into()));
        }
        let pattern = match inner {
            None => Pattern::Any,
            Some(inner) if matches!(tool, SHELL | USER_SHELL) => {
                Pattern::Command(CommandPattern::parse(inner).map_err(wrong)?)
            }
            Some(inner) => Pattern::Path(PathPattern::parse(inner, home).map_err(wrong)?),
        };
        let tool = tool.split('*').map(str::to_owned).collect();
        Ok(Self { action, source, text: text.to_owned(), tool, pattern })
    }

    /// The rule as it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it says about a call.
    #[must_use]
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Whether it is about a tool. `write` stands for all that writes files, `read` for all that reads them.
    #[must_use]
    pub fn is_about(&self, tool: &str) -> bool {
        let whole = match tool {
            // The user's own commands are only meant when they are named.
            USER_SHELL => return self.tool == [USER_SHELL],
            "edit" => "write",
            "grep" | "find" | "ls" => "read",
            other => other,
        };
        fits(&self.tool, tool) || self.tool == [whole]
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.action.as_str(), self.text)
    }
}

/// Whether a name consists of these pieces, with anything between them.
fn fits(pieces: &[String], name: &str) -> bool {
    let [first, middle @ .., last] = pieces else { return pieces.first().is_some_and(|only| only == name) };
    let Some(mut rest) = name.strip_prefix(first.as_str()) else { return false };
    for piece in middle {
        match rest.find(piece.as_str()) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> Result<Rule, RuleError> {
        Rule::parse(Action::Allow, Source::Flag, text, None)
    }

    #[test]
    fn a_rule_names_a_tool_and_write_and_read_stand_for_their_kind() {
        let table = [
            ("bash(git status *)", "bash", true),
            ("bash", "user_bash", false),
            ("*", "user_bash", false),
            ("user_bash(rm *)", "user_bash", true),
            ("*", "anything", true),
            ("write(src/**)", "edit", true),
            ("edit", "write", false),
            ("read", "grep", true),
            ("grep", "read", false),
            ("mcp__*", "mcp__git__push", true),
            ("mcp__*__push", "mcp__git__push", true),
            ("mcp__*__push", "mcp__git__pull", false),
            ("a*a", "a", false),
        ];
        for (text, tool, about) in table {
            assert_eq!(rule(text).unwrap().is_about(tool), about, "{text} {tool}");
        }
    }

    #[test]
    fn what_is_no_rule_is_named_with_the_reason() {
        for (text, part) in [
            ("", "name of a tool"),
            ("git status", "name of a tool"),
            ("bash(git", "not `)`"),
            ("bash(a; b)", "`;` has no meaning"),
            ("bash()", "no command"),
            ("write(../x)", "`..`"),
        ] {
            let error = rule(text).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("bash(git status *)"), "{text}: {error}");
        }
    }
}
