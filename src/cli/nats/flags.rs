//! The flags that say where the server is. They are read in every build, so that one without NATS can say what it lacks.

use std::{convert::Infallible, fmt, str::FromStr};

use clap::Args;

use crate::cli::subcommand::option;

/// What the usages say of the flags beside `--on`.
pub const USAGE: &str = "  --nats-prefix NAME    what all names on the server begin with (troupe)
  --nats-creds FILE     credentials file; --nats-nkey FILE: seed of an nkey
  --nats-ca FILE        certificates of authorities; --nats-cert FILE, --nats-key FILE: our own, and its key
Variables in their place: TROUPE_NATS_URL (for `--on=` and `troupe worker`), TROUPE_NATS_PREFIX, TROUPE_NATS_CREDS,
TROUPE_NATS_NKEY, TROUPE_NATS_CA, TROUPE_NATS_CERT, TROUPE_NATS_KEY.";

/// The variable that says where the server is. It may hold a password.
pub const URL_VARIABLE: &str = "TROUPE_NATS_URL";

/// URLs of servers; they may hold passwords, and are not shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Servers(pub String);

impl FromStr for Servers {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Servers(…)")
    }
}

/// A name that becomes a part of names on the server, like that of a pool.
///
/// # Errors
/// It is not made of letters, digits, `-` and `_`.
pub fn word(text: &str) -> Result<String, String> {
    let fits = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    match fits {
        true => Ok(text.to_owned()),
        false => Err(format!("{text:?} is no such name: it has letters, digits, '-' and '_' only")),
    }
}

/// Where the server is, as it was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "NATS")]
#[allow(missing_docs, reason = "the usage explains each flag")]
pub struct NatsFlags {
    #[arg(long, value_name = "URL")]
    pub on: Option<Servers>,
    #[arg(long, value_name = "NAME", value_parser = word)]
    pub nats_prefix: Option<String>,
    #[arg(long, value_name = "FILE")]
    pub nats_creds: Option<String>,
    #[arg(long, value_name = "FILE")]
    pub nats_nkey: Option<String>,
    #[arg(long, value_name = "FILE")]
    pub nats_ca: Option<String>,
    #[arg(long, value_name = "FILE")]
    pub nats_cert: Option<String>,
    #[arg(long, value_name = "FILE")]
    pub nats_key: Option<String>,
}

impl NatsFlags {
    /// Takes the flags out of words, and gives what is left; what follows `--` stays as it is.
    ///
    /// # Errors
    /// A flag without its value.
    pub fn take(words: &[String]) -> Result<(Self, Vec<String>), String> {
        let (mut flags, mut left) = (Self::default(), Vec::new());
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if word == "--" {
                left.push(word.clone());
                left.extend(rest.by_ref().cloned());
                break;
            }
            let (name, inline) = option(word);
            let Some(place) = flags.place(name) else {
                left.push(word.clone());
                continue;
            };
            let value = inline.or_else(|| rest.next().map(String::as_str));
            place(&mut flags, value.ok_or_else(|| format!("{name} needs a value."))?.to_owned());
        }
        Ok((flags, left))
    }

    /// How the value of a flag is put in its place; none for flags of others.
    fn place(&self, name: &str) -> Option<fn(&mut Self, String)> {
        Some(match name {
            "--on" => |flags, value| flags.on = Some(Servers(value)),
            "--nats-prefix" => |flags, value| flags.nats_prefix = Some(value),
            "--nats-creds" => |flags, value| flags.nats_creds = Some(value),
            "--nats-nkey" => |flags, value| flags.nats_nkey = Some(value),
            "--nats-ca" => |flags, value| flags.nats_ca = Some(value),
            "--nats-cert" => |flags, value| flags.nats_cert = Some(value),
            "--nats-key" => |flags, value| flags.nats_key = Some(value),
            _ => return None,
        })
    }
}

/// The words without what says where the server is: a run does not keep that.
#[must_use]
pub fn without_address(words: &[String]) -> Vec<String> {
    NatsFlags::take(words).map_or_else(|_| words.to_vec(), |(_, left)| left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_address_is_taken_out_of_the_words_wherever_it_stands() {
        let on = |url: &str| NatsFlags { on: Some(Servers(url.into())), ..NatsFlags::default() };
        let table = [
            ("show ab", NatsFlags::default(), "show ab"),
            ("--on nats://h ab --json", on("nats://h"), "ab --json"),
            ("ab --on=nats://h", on("nats://h"), "ab"),
            ("--on= ab", on(""), "ab"),
            ("a -- --on x", NatsFlags::default(), "a -- --on x"),
            (
                "--nats-creds c --nats-ca=a --model m",
                NatsFlags { nats_creds: Some("c".into()), nats_ca: Some("a".into()), ..NatsFlags::default() },
                "--model m",
            ),
        ];
        for (line, flags, left) in table {
            assert_eq!(NatsFlags::take(&words(line)), Ok((flags, words(left))), "{line}");
        }
        assert!(NatsFlags::take(&words("ab --on")).is_err());
    }

    #[test]
    fn fc_106_a_password_in_a_url_is_not_shown() {
        assert!(!format!("{:?}", Servers("nats://u:secret@h".into())).contains("secret"));
        assert_eq!(without_address(&words("--on nats://u:secret@h x")), words("x"));
    }
}
