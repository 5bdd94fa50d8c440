//! Commands that come as the first word: `list`, `mcp …`, `auth …` and the package commands.

use clap::{Parser, error::ErrorKind};

use super::exit::Exit;

/// A command in place of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subcommand {
    /// `list`: print the installed packages.
    List,
    /// `mcp list`: print the MCP servers.
    McpList {
        /// As JSON.
        json: bool,
    },
    /// `auth check`: say whether a provider can be used.
    AuthCheck(AuthCheck),
    /// `auth logout`: forget a provider's key.
    AuthLogout {
        /// The provider.
        provider: String,
    },
    /// Print this text, exit 0: the usage of a command.
    Usage(String),
}

/// The arguments of `auth check`. Prints `ready`, `not_ready` or `invalid` and exits with 0, 1 or 2.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(no_binary_name = true, disable_version_flag = true)]
#[command(about = "Say whether a provider can be used", override_usage = AUTH_CHECK_USAGE)]
pub struct AuthCheck {
    /// The provider
    #[arg(long, value_name = "NAME", required_unless_present = "model")]
    pub provider: Option<String>,
    /// A model of the provider
    #[arg(long, value_name = "PATTERN")]
    pub model: Option<String>,
    /// Print a JSON object
    #[arg(long)]
    pub json: bool,
    /// Add the credentials to the JSON object
    #[arg(long)]
    pub credentials: bool,
    /// Don't renew a token that has expired
    #[arg(long)]
    pub no_refresh: bool,
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
        /// `auth` or `mcp`.
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
            Self::NotAvailable(_) | Self::Unknown { .. } => Exit::Failed,
        }
    }
}

const LIST_USAGE: &str = "troupe list [--approve|--no-approve]";
const MCP_USAGE: &str = "troupe mcp list [--json]";
const AUTH_CHECK_USAGE: &str = "troupe auth check --provider NAME | --model PATTERN [--json]";
const AUTH_LOGOUT_USAGE: &str = "troupe auth logout PROVIDER";
const AUTH_USAGE: &str = "troupe auth check --provider NAME | --model PATTERN [--json]\ntroupe auth logout PROVIDER";

/// The command that the words after the program's name begin with; `None` when they are flags and messages.
///
/// # Errors
/// The command is unknown, not in this version, or its arguments are wrong.
pub fn parse(argv: &[String]) -> Option<Result<Subcommand, SubcommandError>> {
    let (first, rest) = argv.split_first()?;
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    match first.as_str() {
        "list" => Some(list(&rest)),
        "mcp" => Some(mcp(&rest)),
        "auth" => Some(auth(&rest)),
        "install" | "remove" | "uninstall" | "update" | "config" => {
            Some(Err(SubcommandError::NotAvailable(first.clone())))
        }
        _ => None,
    }
}

type Parsed = Result<Subcommand, SubcommandError>;

fn usage(text: &str) -> Parsed {
    Ok(Subcommand::Usage(format!("Usage:\n{text}\n")))
}

fn wrong(reason: impl Into<String>, usage: &'static str) -> Parsed {
    Err(SubcommandError::Arguments { reason: reason.into(), usage, exit: Exit::Failed })
}

fn list(rest: &[&str]) -> Parsed {
    if rest.iter().any(|word| matches!(*word, "-h" | "--help")) {
        return usage(LIST_USAGE);
    }
    match rest.iter().find(|word| !matches!(**word, "-a" | "--approve" | "-na" | "--no-approve")) {
        Some(word) => wrong(format!("Unknown option {word} for \"list\"."), LIST_USAGE),
        None => Ok(Subcommand::List),
    }
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

fn auth(rest: &[&str]) -> Parsed {
    match rest {
        [] | ["-h" | "--help", ..] => usage(AUTH_USAGE),
        ["check", rest @ ..] => auth_check(rest),
        ["logout", "-h" | "--help"] => usage(AUTH_LOGOUT_USAGE),
        ["logout", provider] if !provider.starts_with('-') => {
            Ok(Subcommand::AuthLogout { provider: (*provider).to_owned() })
        }
        ["logout", ..] => wrong("auth logout takes the name of one provider.", AUTH_LOGOUT_USAGE),
        [verb @ ("login" | "print-api-key" | "print-bearer-token"), ..] => {
            Err(SubcommandError::NotAvailable(format!("auth {verb}")))
        }
        [verb, ..] => Err(SubcommandError::Unknown { group: "auth", command: (*verb).to_owned(), usage: AUTH_USAGE }),
    }
}

fn auth_check(rest: &[&str]) -> Parsed {
    match AuthCheck::try_parse_from(rest) {
        Ok(check) => Ok(Subcommand::AuthCheck(check)),
        Err(error) if error.kind() == ErrorKind::DisplayHelp => Ok(Subcommand::Usage(error.to_string())),
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => Err(SubcommandError::Arguments {
            reason: "auth check needs --provider NAME or --model PATTERN.".into(),
            usage: AUTH_CHECK_USAGE,
            exit: Exit::InvalidState,
        }),
        Err(error) => {
            // clap's first line says what is wrong; the rest repeats the usage.
            let text = error.to_string();
            let reason = text.lines().next().unwrap_or_default();
            let reason = reason.strip_prefix("error: ").unwrap_or(reason).to_owned();
            Err(SubcommandError::Arguments { reason, usage: AUTH_CHECK_USAGE, exit: Exit::InvalidState })
        }
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
        let check = |provider: Option<&str>, model: Option<&str>, json| {
            Subcommand::AuthCheck(AuthCheck {
                provider: provider.map(str::to_owned),
                model: model.map(str::to_owned),
                json,
                credentials: false,
                no_refresh: false,
            })
        };
        let table = [
            ("list", Subcommand::List),
            ("list -na", Subcommand::List),
            ("mcp list", Subcommand::McpList { json: false }),
            ("mcp list --json", Subcommand::McpList { json: true }),
            ("auth check --provider mock", check(Some("mock"), None, false)),
            ("auth check --model m1 --json", check(None, Some("m1"), true)),
            ("auth check --provider=mock --json", check(Some("mock"), None, true)),
            ("auth logout mock", Subcommand::AuthLogout { provider: "mock".into() }),
        ];
        for (line, command) in table {
            assert_eq!(parse_line(line), Some(Ok(command)), "{line}");
        }
        for line in ["list --help", "mcp", "mcp --help", "auth", "auth check --help", "auth logout -h"] {
            assert!(
                matches!(parse_line(line), Some(Ok(Subcommand::Usage(text))) if text.contains("troupe ")),
                "{line}"
            );
        }
    }

    #[test]
    fn what_cannot_be_done_is_said_and_has_its_exit_code() {
        let table = [
            ("install npm:x", "`troupe install` is not available yet in this version", 1),
            ("config", "`troupe config` is not available yet in this version", 1),
            ("mcp add x", "`troupe mcp add` is not available yet in this version", 1),
            ("auth login x", "`troupe auth login` is not available yet in this version", 1),
            ("auth foo", "Unknown auth command \"foo\". Usage:", 1),
            ("mcp foo", "Unknown mcp command \"foo\". Usage:", 1),
            ("list -l", "Unknown option -l for \"list\".", 1),
            ("mcp list -x", "Unknown option -x for \"mcp list\".", 1),
            ("auth logout", "auth logout takes the name of one provider.", 1),
            ("auth check", "auth check needs --provider NAME or --model PATTERN.", 2),
            ("auth check --provider", "a value is required for '--provider <NAME>'", 2),
            ("auth check --nosuch", "unexpected argument '--nosuch' found", 2),
        ];
        for (line, text, code) in table {
            let error = parse_line(line).unwrap().unwrap_err();
            assert!(error.to_string().starts_with(text), "{line}: {error}");
            assert_eq!(error.exit().code(), code, "{line}");
        }
    }
}
