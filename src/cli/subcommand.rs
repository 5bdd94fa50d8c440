//! Commands that come as the first word: `run …`, `runs …`, `worker …`, `team …`, `top`, `attach`, `acp …`, `mcp …`, `auth …`,
//! `undo …`, `permissions …`, `sessions …` and the package commands.

use super::{
    acp::{self, AcpArgs},
    auth::args::{self as auth, AuthCommand},
    exit::Exit,
    live::args::{self as live, AttachArgs, TopArgs},
    nats::{self, args::WorkerArgs, flags::NatsFlags},
    packages::args::{self as packages, PackagesCommand},
    permissions::{self, PermissionsCommand},
    runs::args::{self as runs, RunCommand, RunsCommand},
    sessions::args::{self as sessions, SessionsCommand},
    team::args::{self as team, TeamCommand},
    undo::{self, UndoCommand},
};

/// A command in place of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subcommand {
    /// `install`, `remove`, `list`: packages.
    Packages(PackagesCommand),
    /// `mcp list`: print the MCP servers.
    McpList {
        /// As JSON.
        json: bool,
    },
    /// `auth …`: keys and logins.
    Auth(AuthCommand),
    /// `permissions …`: rules that are remembered.
    Permissions(PermissionsCommand),
    /// `undo …`: restore files that a session changed.
    Undo(UndoCommand),
    /// `sessions …`: find, name, move and delete sessions.
    Sessions(SessionsCommand),
    /// `acp …`: serve an editor.
    Acp(AcpArgs),
    /// `run …`: run prompts under supervision.
    Run(RunCommand),
    /// `runs …`: look at such runs, and stop them.
    Runs(RunsCommand),
    /// The same for runs that a NATS server has.
    RunsOn(NatsFlags, RunsCommand),
    /// `worker …`: work on runs that a NATS server has.
    Worker(WorkerArgs),
    /// `team …`: run a team file, look at one, compare results.
    Team(TeamCommand),
    /// `top …`: the live supervision tree.
    Top(TopArgs),
    /// `attach …`: look at another process, and steer it.
    Attach(AttachArgs),
    /// Print this text, exit 0: the usage of a command.
    Usage(String),
}

/// A subcommand that cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubcommandError {
    /// It exists in the product's command line, but this version does not have it.
    #[error("`troupe {0}` is not available yet in this version")]
    NotAvailable(String),
    /// There is no such command.
    #[error("Unknown {group} command \"{command}\". Usage:\n{usage}")]
    Unknown {
        /// `auth`, `mcp`, `permissions` or `runs`.
        group: &'static str,
        /// What was typed.
        command: String,
        /// What there is.
        usage: &'static str,
    },
    /// Its arguments are wrong.
    #[error("{reason}\nUsage: {usage}")]
    Arguments {
        /// What is wrong.
        reason: String,
        /// How it is used.
        usage: &'static str,
        /// 2 for `auth check`, whose 1 means "not ready"; else 1.
        exit: Exit,
    },
}

impl SubcommandError {
    /// The exit code that goes with it.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Arguments { exit, .. } => *exit,
            Self::Unknown { group: "runs", .. } => Exit::Usage,
            Self::NotAvailable(_) | Self::Unknown { .. } => Exit::Failed,
        }
    }
}

const MCP_USAGE: &str = "troupe mcp list [--json]";

/// The command that the words after the program's name begin with; `None` when they are flags and messages.
///
/// # Errors
/// The command is unknown, not in this version, or its arguments are wrong.
pub fn parse(argv: &[String]) -> Option<Result<Subcommand, SubcommandError>> {
    let (first, rest) = argv.split_first()?;
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    match first.as_str() {
        "install" | "remove" | "uninstall" | "list" => Some(packages::parse(first, &rest)),
        "mcp" => Some(mcp(&rest)),
        "auth" => Some(auth::parse(&rest)),
        "permissions" => Some(permissions::parse(&rest).map(Subcommand::Permissions)),
        "undo" => Some(undo::parse(&rest)),
        "sessions" => Some(sessions::parse(&rest)),
        "acp" => Some(acp::parse(&rest)),
        "run" => Some(runs::parse_run(&rest)),
        "runs" => Some(runs::parse_runs(&rest)),
        "worker" => Some(nats::args::worker(&rest)),
        "team" => Some(team::parse(&rest)),
        "top" => Some(live::top(&rest)),
        "attach" => Some(live::attach(&rest)),
        "update" | "config" => Some(Err(SubcommandError::NotAvailable(first.clone()))),
        _ => None,
    }
}

/// A command, or what is wrong with it.
pub(super) type Parsed = Result<Subcommand, SubcommandError>;

/// An option, and the value that stands behind its `=`.
pub(super) fn option(word: &str) -> (&str, Option<&str>) {
    match word.split_once('=') {
        Some((name, value)) if name.starts_with("--") => (name, Some(value)),
        _ => (word, None),
    }
}

/// The usage of a command.
pub(super) fn usage(text: &str) -> Parsed {
    Ok(Subcommand::Usage(format!("Usage:\n{text}\n")))
}

/// A command with wrong arguments.
pub(super) fn wrong(reason: impl Into<String>, usage: &'static str) -> Parsed {
    Err(SubcommandError::Arguments { reason: reason.into(), usage, exit: Exit::Failed })
}

fn mcp(rest: &[&str]) -> Parsed {
    match rest {
        [] | ["-h" | "--help", ..] | ["list", "-h" | "--help"] => usage(MCP_USAGE),
        ["list"] => Ok(Subcommand::McpList { json: false }),
        ["list", "--json"] => Ok(Subcommand::McpList { json: true }),
        ["list", word, ..] => wrong(format!("Unknown option {word} for \"mcp list\"."), MCP_USAGE),
        [verb @ ("add" | "remove" | "login" | "logout"), ..] => {
            Err(SubcommandError::NotAvailable(format!("mcp {verb}")))
        }
        [verb, ..] => Err(SubcommandError::Unknown { group: "mcp", command: (*verb).to_owned(), usage: MCP_USAGE }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Option<Result<Subcommand, SubcommandError>> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_command_is_the_first_word_or_none() {
        for line in ["", "-p list", "hello list", "lists", "@list", "-- auth", "--model mcp"] {
            assert_eq!(parse_line(line), None, "{line}");
        }
    }

    #[test]
    fn commands_of_this_version_are_parsed() {
        let table = [
            ("list", Subcommand::Packages(PackagesCommand::List { trust: None })),
            ("mcp list", Subcommand::McpList { json: false }),
            ("mcp list --json", Subcommand::McpList { json: true }),
            ("auth list", Subcommand::Auth(AuthCommand::List(auth::ListArgs { json: false }))),
        ];
        for (line, command) in table {
            assert_eq!(parse_line(line), Some(Ok(command)), "{line}");
        }
        for line in ["list --help", "mcp", "mcp --help", "auth", "auth check --help"] {
            assert!(
                matches!(parse_line(line), Some(Ok(Subcommand::Usage(text))) if text.contains("troupe ")),
                "{line}"
            );
        }
    }

    #[test]
    fn what_cannot_be_done_is_said_and_has_its_exit_code() {
        let table = [
            ("update npm:x", "`troupe update` is not available yet in this version", 1),
            ("config", "`troupe config` is not available yet in this version", 1),
            ("mcp add x", "`troupe mcp add` is not available yet in this version", 1),
            ("auth foo", "Unknown auth command \"foo\". Usage:", 1),
            ("mcp foo", "Unknown mcp command \"foo\". Usage:", 1),
            ("list -l", "Unknown option -l for \"list\".", 1),
            ("mcp list -x", "Unknown option -x for \"mcp list\".", 1),
        ];
        for (line, text, code) in table {
            let error = parse_line(line).unwrap().unwrap_err();
            assert!(error.to_string().starts_with(text), "{line}: {error}");
            assert_eq!(error.exit().code(), code, "{line}");
        }
    }
}
