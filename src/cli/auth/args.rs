//! The commands behind `auth` and their arguments.

use std::time::Duration;

use clap::{Parser, error::ErrorKind};

use crate::{
    cli::{
        exit::Exit,
        subcommand::{Subcommand, SubcommandError},
    },
    protocol::time::{DurationFault, parse_duration},
};

/// A command behind `auth`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthCommand {
    /// Store a key or log in.
    Login(LoginArgs),
    /// Forget what is stored.
    Logout(LogoutArgs),
    /// Say whether a provider can be used.
    Check(CheckArgs),
    /// List what there is.
    List(ListArgs),
    /// Print a key.
    PrintApiKey(KeyArgs),
    /// Print a token.
    PrintBearerToken(TokenArgs),
}

impl AuthCommand {
    /// The provider and the model whose credential it asks for.
    #[must_use]
    pub fn names(&self) -> Option<(Option<&str>, Option<&str>)> {
        let (provider, model) = match self {
            Self::Check(args) => (&args.provider, &args.model),
            Self::PrintApiKey(args) => (&args.provider, &args.model),
            Self::PrintBearerToken(args) => (&args.provider, &args.model),
            Self::Login(_) | Self::Logout(_) | Self::List(_) => return None,
        };
        Some((provider.as_deref(), model.as_deref()))
    }
}

/// The arguments of `auth login`.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(no_binary_name = true, disable_version_flag = true, override_usage = LOGIN_USAGE)]
#[command(about = "Log in to a provider, or store its API key")]
pub struct LoginArgs {
    /// The provider
    pub provider: String,
    /// Store an API key: asked for in a terminal, else read from standard input
    #[arg(long)]
    pub api_key: bool,
    /// Don't open a browser; it may run on another machine
    #[arg(long)]
    pub no_browser: bool,
}

/// The arguments of `auth logout`.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(no_binary_name = true, disable_version_flag = true, override_usage = LOGOUT_USAGE)]
#[command(about = "Remove what is stored for a provider")]
pub struct LogoutArgs {
    /// The provider
    pub provider: String,
}

/// The arguments of `auth check`. Prints `ready`, `not_ready` or `invalid` and exits with 0, 1 or 2.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(no_binary_name = true, disable_version_flag = true, override_usage = CHECK_USAGE)]
#[command(about = "Say whether a provider can be used")]
pub struct CheckArgs {
    /// The provider
    #[arg(long, value_name = "NAME", required_unless_present = "model")]
    pub provider: Option<String>,
    /// A model of the provider
    #[arg(long, value_name = "PATTERN")]
    pub model: Option<String>,
    /// Print a JSON object
    #[arg(long)]
    pub json: bool,
    /// Print the secret, alone or in the JSON object
    #[arg(long)]
    pub credentials: bool,
    /// Don't renew a token that has expired
    #[arg(long)]
    pub no_refresh: bool,
}

/// The arguments of `auth list`.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(no_binary_name = true, disable_version_flag = true, override_usage = LIST_USAGE)]
#[command(about = "List the providers that can be used, and where their credentials are")]
pub struct ListArgs {
    /// Print a JSON list
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `auth print-api-key`.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(no_binary_name = true, disable_version_flag = true, override_usage = KEY_USAGE)]
#[command(about = "Print the API key that requests would use")]
pub struct KeyArgs {
    /// The provider
    #[arg(long, value_name = "NAME", required_unless_present = "model")]
    pub provider: Option<String>,
    /// A model of the provider
    #[arg(long, value_name = "PATTERN")]
    pub model: Option<String>,
}

/// The arguments of `auth print-bearer-token`.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(no_binary_name = true, disable_version_flag = true, override_usage = TOKEN_USAGE)]
#[command(about = "Print the token that requests would use; one that ends soon is renewed first")]
pub struct TokenArgs {
    /// The provider
    #[arg(long, value_name = "NAME", required_unless_present = "model")]
    pub provider: Option<String>,
    /// A model of the provider
    #[arg(long, value_name = "PATTERN")]
    pub model: Option<String>,
    /// How long the token must last
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = duration)]
    pub min_expiry: Duration,
}

const LOGIN_USAGE: &str = "troupe auth login PROVIDER [--api-key] [--no-browser]";
const LOGOUT_USAGE: &str = "troupe auth logout PROVIDER";
const CHECK_USAGE: &str = "troupe auth check --provider NAME | --model PATTERN [--json] [--credentials] [--no-refresh]";
const LIST_USAGE: &str = "troupe auth list [--json]";
const KEY_USAGE: &str = "troupe auth print-api-key --provider NAME | --model PATTERN";
const TOKEN_USAGE: &str = "troupe auth print-bearer-token --provider NAME | --model PATTERN [--min-expiry TIME]";
const USAGE: &str = "\
troupe auth login PROVIDER [--api-key] [--no-browser]
troupe auth logout PROVIDER
troupe auth check --provider NAME | --model PATTERN [--json] [--credentials] [--no-refresh]
troupe auth list [--json]
troupe auth print-api-key --provider NAME | --model PATTERN
troupe auth print-bearer-token --provider NAME | --model PATTERN [--min-expiry TIME]";

type Parsed = Result<Subcommand, SubcommandError>;

/// Parses the words behind `auth`.
///
/// # Errors
/// The command is unknown or its arguments are wrong.
pub fn parse(words: &[&str]) -> Parsed {
    match words {
        [] | ["-h" | "--help", ..] => Ok(Subcommand::Usage(format!("Usage:\n{USAGE}\n"))),
        ["login", rest @ ..] => command(rest, AuthCommand::Login, LOGIN_USAGE, Exit::Failed),
        ["logout", rest @ ..] => command(rest, AuthCommand::Logout, LOGOUT_USAGE, Exit::Failed),
        // 1 means "not ready".
        ["check", rest @ ..] => command(rest, AuthCommand::Check, CHECK_USAGE, Exit::InvalidState),
        ["list", rest @ ..] => command(rest, AuthCommand::List, LIST_USAGE, Exit::Failed),
        ["print-api-key", rest @ ..] => command(rest, AuthCommand::PrintApiKey, KEY_USAGE, Exit::Failed),
        ["print-bearer-token", rest @ ..] => command(rest, AuthCommand::PrintBearerToken, TOKEN_USAGE, Exit::Failed),
        [verb, ..] => Err(SubcommandError::Unknown { group: "auth", command: (*verb).to_owned(), usage: USAGE }),
    }
}

fn command<T: Parser>(words: &[&str], make: fn(T) -> AuthCommand, usage: &'static str, exit: Exit) -> Parsed {
    match T::try_parse_from(words) {
        Ok(args) => Ok(Subcommand::Auth(make(args))),
        Err(error) if error.kind() == ErrorKind::DisplayHelp => Ok(Subcommand::Usage(error.to_string())),
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => {
            let reason = match usage {
                LOGIN_USAGE | LOGOUT_USAGE => "name the provider.",
                _ => "name the provider with --provider NAME or --model PATTERN.",
            };
            Err(SubcommandError::Arguments { reason: reason.to_owned(), usage, exit })
        }
        Err(error) => {
            // clap's first line says what is wrong; the rest repeats the usage.
            let text = error.to_string();
            let reason = text.lines().next().unwrap_or_default();
            let reason = reason.strip_prefix("error: ").unwrap_or(reason).to_owned();
            Err(SubcommandError::Arguments { reason, usage, exit })
        }
    }
}

/// A time such as `500ms`, `90s`, `30m` or `2h`.
fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|fault| match fault {
        DurationFault::Unit => "expected a number with ms, s, m, h or d, such as 30m".to_owned(),
        DurationFault::Number => "expected a number in front of the unit, such as 30m".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Parsed {
        parse(&line.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn commands_are_parsed() {
        let check = |provider: Option<&str>, model: Option<&str>, json| {
            AuthCommand::Check(CheckArgs {
                provider: provider.map(str::to_owned),
                model: model.map(str::to_owned),
                json,
                credentials: false,
                no_refresh: false,
            })
        };
        let token = |seconds| {
            let min_expiry = Duration::from_secs(seconds);
            AuthCommand::PrintBearerToken(TokenArgs { provider: Some("p".into()), model: None, min_expiry })
        };
        let login = LoginArgs { provider: "p".into(), api_key: true, no_browser: false };
        let table = [
            ("check --provider mock", check(Some("mock"), None, false)),
            ("check --model m1 --json", check(None, Some("m1"), true)),
            ("check --provider=mock --json", check(Some("mock"), None, true)),
            ("logout mock", AuthCommand::Logout(LogoutArgs { provider: "mock".into() })),
            ("login p --api-key", AuthCommand::Login(login)),
            ("list", AuthCommand::List(ListArgs { json: false })),
            (
                "print-api-key --provider p",
                AuthCommand::PrintApiKey(KeyArgs { provider: Some("p".into()), model: None }),
            ),
            ("print-bearer-token --provider p", token(1800)),
            ("print-bearer-token --provider p --min-expiry 2h", token(7200)),
        ];
        for (line, command) in table {
            assert_eq!(words(line), Ok(Subcommand::Auth(command)), "{line}");
        }
        for line in ["", "--help", "check --help", "logout -h", "login -h", "list -h", "print-api-key -h"] {
            assert!(matches!(words(line), Ok(Subcommand::Usage(text)) if text.contains("troupe auth")), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_and_has_its_exit_code() {
        let table = [
            ("foo", "Unknown auth command \"foo\". Usage:", 1),
            ("logout", "name the provider.", 1),
            ("login --api-key", "name the provider.", 1),
            ("login a b", "unexpected argument 'b' found", 1),
            ("check", "name the provider with --provider NAME or --model PATTERN.", 2),
            ("check --provider", "a value is required for '--provider <NAME>'", 2),
            ("check --nosuch", "unexpected argument '--nosuch' found", 2),
            ("print-bearer-token --model m --min-expiry 5x", "invalid value '5x' for '--min-expiry <TIME>'", 1),
        ];
        for (line, text, code) in table {
            let error = words(line).unwrap_err();
            assert!(error.to_string().starts_with(text), "{line}: {error}");
            assert_eq!(error.exit().code(), code, "{line}");
        }
    }

    #[test]
    fn times_have_a_unit() {
        for (text, milliseconds) in [("500ms", 500), ("0s", 0), ("90s", 90_000), ("2h", 7_200_000)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)));
        }
        for text in ["", "5", "m", "-1s", "1.5.5h", "5 m"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
