//! The words behind `troupe top` and `troupe attach`.

use std::time::Duration;

use crate::cli::{
    exit::Exit,
    nats::flags::NatsFlags,
    subcommand::{Parsed, Subcommand, SubcommandError, option, usage, wrong},
};

const TOP: &str = "troupe top [PID|RUN] [--once] [--json] [--interval SECONDS]

Shows the agents and actors of every Troupe of this user that is at work: what they do, what waits for them, how often they
were started again, tokens, cost.
  PID|RUN             only this process, or the worker of this run
  --once              once, instead of again and again; also when the output is no terminal
  --json              as JSON: one object a look
  --interval SECONDS  between two looks, 1 by default
  --on URL            the runs that a NATS server has, wherever they work (docs/workers.md)";

const ATTACH: &str = "troupe attach [PID|RUN]

Shows what another Troupe does, as lines, and sends it what is typed: it reads it at its next step.
  PID|RUN  the process, or the run; may be left out when there is only one
  /stop    stops what it does; /quit, ctrl+d and ctrl+c leave it at work
  --on URL a run that a NATS server has, wherever it works (docs/workers.md)
When standard input is no terminal, its lines are requests in JSON, as for --mode rpc, and the output has the records.";

/// The shortest time between two looks.
const SHORTEST: f64 = 0.1;

/// `troupe top`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopArgs {
    /// Only this process or run.
    pub which: Option<String>,
    /// Look once.
    pub once: bool,
    /// As JSON.
    pub json: bool,
    /// The time between two looks.
    pub interval: Duration,
    /// The server, when runs on one are meant.
    pub nats: NatsFlags,
}

/// `troupe attach`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttachArgs {
    /// This process or run.
    pub which: Option<String>,
    /// The server, when a run on one is meant.
    pub nats: NatsFlags,
}

/// Reads the words behind `top`.
pub fn top(rest: &[&str]) -> Parsed {
    let (nats, left) = taken(rest, TOP)?;
    let mut args = TopArgs { which: None, once: false, json: false, interval: Duration::from_secs(1), nats };
    let mut words = left.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let (name, inline) = option(word);
        match name {
            "-h" | "--help" => return usage(TOP),
            "--once" => args.once = true,
            "--json" => args.json = true,
            "--interval" => {
                let given = inline.or_else(|| words.next()).and_then(|text| text.parse::<f64>().ok());
                let Some(seconds) = given.filter(|seconds| (SHORTEST..=3_600.0).contains(seconds)) else {
                    return wrong(format!("--interval needs seconds from {SHORTEST} to 3600."), TOP);
                };
                args.interval = Duration::from_secs_f64(seconds);
            }
            other if other.starts_with('-') => return wrong(format!("Unknown option {other} for \"top\"."), TOP),
            other if args.which.is_none() => args.which = Some(other.to_owned()),
            other => return wrong(format!("top takes one process or run, not {other} too."), TOP),
        }
    }
    Ok(Subcommand::Top(args))
}

/// Reads the words behind `attach`.
pub fn attach(rest: &[&str]) -> Parsed {
    let (nats, left) = taken(rest, ATTACH)?;
    let left: Vec<&str> = left.iter().map(String::as_str).collect();
    match left.as_slice() {
        ["-h" | "--help", ..] => usage(ATTACH),
        [] => Ok(Subcommand::Attach(AttachArgs { which: None, nats })),
        [word, ..] if word.starts_with('-') => wrong(format!("Unknown option {word} for \"attach\"."), ATTACH),
        [which] => Ok(Subcommand::Attach(AttachArgs { which: Some((*which).to_owned()), nats })),
        [_, word, ..] => wrong(format!("attach takes one process or run, not {word} too."), ATTACH),
    }
}

/// The flags that say where the server is, and the other words.
fn taken(rest: &[&str], usage: &'static str) -> Result<(NatsFlags, Vec<String>), SubcommandError> {
    let words: Vec<String> = rest.iter().map(|word| (*word).to_owned()).collect();
    NatsFlags::take(&words).map_err(|reason| SubcommandError::Arguments { reason, usage, exit: Exit::Failed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_or_refused_with_the_usage() {
        let words = |line: &'static str| line.split_whitespace().collect::<Vec<_>>();
        let args = TopArgs {
            which: None,
            once: false,
            json: false,
            interval: Duration::from_secs(1),
            nats: NatsFlags::default(),
        };
        for (line, expected) in [
            ("", args.clone()),
            ("--once --json", TopArgs { once: true, json: true, ..args.clone() }),
            (
                "42 --interval=0.5",
                TopArgs { which: Some("42".into()), interval: Duration::from_millis(500), ..args.clone() },
            ),
            (
                "nightly --interval 2",
                TopArgs { which: Some("nightly".into()), interval: Duration::from_secs(2), ..args },
            ),
        ] {
            assert_eq!(top(&words(line)), Ok(Subcommand::Top(expected)), "{line}");
        }
        let which = Some("42".to_owned());
        assert_eq!(attach(&["42"]), Ok(Subcommand::Attach(AttachArgs { which, ..AttachArgs::default() })));
        let on = attach(&["42", "--on", "nats://h"]);
        assert!(matches!(on, Ok(Subcommand::Attach(args)) if args.nats.on.is_some() && args.which.is_some()));
        for parsed in [
            top(&["--interval", "0"]),
            top(&["--interval"]),
            top(&["-x"]),
            top(&["1", "2"]),
            attach(&["-x"]),
            attach(&["1", "2"]),
        ] {
            assert!(matches!(&parsed, Err(SubcommandError::Arguments { .. })), "{parsed:?}");
        }
        assert!(matches!(attach(&["--help"]), Ok(Subcommand::Usage(text)) if text.contains("/stop")));
    }
}
