//! `--help`, made from the table of flags.

use std::fmt::Write as _;

use clap::{Arg, CommandFactory as _};

use super::args::{LowArgs, MULTI_LETTER};
use crate::extensions::flags::{FlagDeclaration, FlagKind};

const HEAD: &str = "troupe: a coding agent whose every part is a supervised actor

Usage: troupe [FLAGS] [--] [@FILE…] [MESSAGE…]
       troupe install SOURCE [--local]
       troupe remove SOURCE [--local]
       troupe list
       troupe undo [--session ID|PATH] [--prompt | --to ENTRY | --redo | --list]
       troupe sessions [list|search|show|rename|delete|export|import] …
       troupe run [FLAGS] [--] [@FILE…] [PROMPT…|-]
       troupe runs [list|show|logs|stop|resume] …
       troupe worker --on URL [FLAGS]
       troupe acp [flags]
       troupe team run|check FILE.toml | compare DIR…
       troupe top [PID|RUN] [--once] [--json]
       troupe attach [PID|RUN]
       troupe mcp list [--json]
       troupe auth login|logout PROVIDER
       troupe auth check|print-api-key|print-bearer-token --provider NAME | --model PATTERN
       troupe auth list
       troupe permissions list|allow|ask|deny|revoke [RULE] [--project|--global]

Without -p, and with a terminal on both sides, the messages begin an interactive session.
Text that is piped in goes in front of the first message, and so do the files named with @.
Flags take their value as the next word or behind =. Behind -- every word is a message or an @FILE.
`troupe COMMAND --help` explains a command: install, remove, list, undo, sessions, run, runs,
worker, acp, team, top, attach, auth, mcp, permissions.
";

const TAIL: &str = "
Examples:
  troupe \"Explain what this project does\"
  troupe -p @notes.md @screen.png \"What is missing?\"
  git diff | troupe -p \"Review this change\" -t read,grep
  troupe -c \"Now add a test for it\"
  troupe --model sonnet:high \"Find the race\"
  troupe --mode json \"Count the files\" > events.jsonl

Environment:
  TROUPE_DIR          The user's folder: settings, keys, sessions, skills (~/.troupe)
  TROUPE_SESSION_DIR  Where sessions are kept; --session-dir comes before it
  TROUPE_OFFLINE      1, true or yes: the same as --offline
";

/// Columns of the text at most.
const WIDTH: usize = 100;
/// Where the explanations begin.
const INDENT: usize = 36;

/// The help text: every flag of the table, in the table's groups and order, then those of extensions. Plain text, ends
/// with a line break.
#[must_use]
pub fn text(extensions: &[(String, FlagDeclaration)]) -> String {
    let command = LowArgs::command();
    let mut out = HEAD.to_owned();
    let mut group = None;
    for arg in command.get_arguments() {
        if group != arg.get_help_heading() {
            group = arg.get_help_heading();
            let _ = write!(out, "\n{}:\n", group.unwrap_or_default());
        }
        row(&mut out, &flag(arg), &arg.get_help().map(ToString::to_string).unwrap_or_default());
    }
    if !extensions.is_empty() {
        out.push_str("\nExtensions:\n");
    }
    for (extension, flag) in extensions {
        let value = match flag.kind {
            FlagKind::Switch => "",
            FlagKind::Text { .. } => " VALUE",
        };
        row(&mut out, &format!("--{}{value}", flag.name), &format!("{} (of {extension})", flag.description));
    }
    out + TAIL
}

/// The flag in its forms, such as `-t, --tools NAMES`.
fn flag(arg: &Arg) -> String {
    let long = arg.get_long().unwrap_or_default();
    let many = MULTI_LETTER.iter().find(|(_, name)| *name == long).map(|(short, _)| (*short).to_owned());
    let short = arg.get_short().map(|short| format!("-{short}")).or(many);
    let mut text = short.map(|short| format!("{short}, ")).unwrap_or_default() + "--" + long;
    if arg.get_action().takes_values() {
        let value = arg.get_value_names().and_then(|names| names.first()).map_or("VALUE", |name| name.as_str());
        let optional = arg.get_num_args().is_some_and(|count| count.min_values() == 0);
        text += &if optional { format!(" [{value}]") } else { format!(" {value}") };
    }
    text
}

/// One flag and its explanation, wrapped at words.
fn row(out: &mut String, flag: &str, help: &str) {
    let _ = write!(out, "  {flag:<width$}", width = INDENT - 2);
    let mut column = INDENT;
    for (i, word) in help.split_whitespace().enumerate() {
        let length = word.chars().count();
        if i > 0 && column + 1 + length > WIDTH {
            let _ = write!(out, "\n{:INDENT$}", "");
            column = INDENT;
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_flag_with_its_short_form_and_explains_it() {
        let help = text(&[("plans".to_owned(), FlagDeclaration::text("preset", "Which preset", None))]);
        assert!(help.contains("\nExtensions:\n  --preset VALUE") && help.contains("Which preset (of plans)"));
        let command = LowArgs::command();
        for arg in command.get_arguments() {
            let flag = flag(arg);
            let line = help.lines().find(|line| line.trim_start().starts_with(&flag)).expect(&flag);
            assert!(flag.len() + 4 <= INDENT && line.len() > INDENT + 10, "{line}");
            assert_ne!(arg.get_help_heading(), None, "{flag} is in no group");
        }
        for (short, long) in MULTI_LETTER {
            assert!(help.contains(&format!("  {short}, --{long}")), "{short}");
        }
        for command in [
            "install",
            "remove",
            "list",
            "undo",
            "sessions",
            "run",
            "runs",
            "acp",
            "team",
            "top",
            "attach",
            "auth",
            "mcp",
            "permissions",
        ] {
            assert!(help.lines().any(|line| line.contains(&format!("troupe {command}"))), "{command}");
        }
        for line in help.lines() {
            assert!(line.chars().count() <= WIDTH && line.trim_end() == line, "{line}");
        }
    }
}
