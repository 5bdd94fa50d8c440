//! The words behind `troupe worker`.

use std::time::Duration;

use clap::Parser;

use super::flags::NatsFlags;
use crate::cli::{
    args::{ArgError, parse_as},
    exit::Exit,
    runs::span::Span,
    subcommand::{Parsed, Subcommand, SubcommandError, usage},
};

/// How `troupe worker` is used.
const WORKER: &str = "troupe worker --on URL [FLAGS]

Works on runs that `troupe run --on URL` gives to a NATS server: as many at once as it has slots, until it gets SIGTERM,
which hands them on. Each run is supervised as `troupe run` does it. docs/workers.md tells how to set it up.
  --on URL              the NATS server, nats://host:4222; several with commas between them
  --pool NAME           take runs of this pool (default)
  --slots N             so many runs at once (2)
  --dir DIR             runs work in this folder, in place of the one that they were given in
  --name NAME           what this worker is called (the machine's name)
  --lease TIME          a worker that is not heard of for so long loses its runs (15s); counts when it is the first one
  --replicas N          copies that a cluster keeps (1); counts when it is the first one";

/// The pool of runs and workers that name none.
pub const POOL: &str = "default";
/// Runs at once without `--slots`.
const SLOTS: usize = 2;
/// The time of a lease without `--lease`.
pub const LEASE: Duration = Duration::from_secs(15);
/// The shortest lease: a busy server may take a second to answer.
const SHORTEST_LEASE: Duration = Duration::from_secs(2);

/// The line as clap reads it.
#[derive(Clone, Debug, Default, Parser)]
#[command(
    name = "troupe worker",
    no_binary_name = true,
    disable_help_flag = true,
    disable_version_flag = true,
    args_override_self = true
)]
struct Line {
    #[command(flatten)]
    nats: NatsFlags,
    #[arg(long, value_name = "NAME", value_parser = super::flags::word)]
    pool: Option<String>,
    #[arg(long, value_name = "N")]
    slots: Option<usize>,
    #[arg(long, value_name = "DIR")]
    dir: Option<String>,
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[arg(long, value_name = "TIME")]
    lease: Option<Span>,
    #[arg(long, value_name = "N")]
    replicas: Option<usize>,
}

/// `troupe worker`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerArgs {
    /// Where the server is.
    pub nats: NatsFlags,
    /// Whose runs it takes.
    pub pool: String,
    /// Runs at once.
    pub slots: usize,
    /// Where they work.
    pub dir: Option<String>,
    /// What it is called; none for the machine's name.
    pub name: Option<String>,
    /// The time of a lease, when this worker makes the bucket.
    pub lease: Duration,
    /// Copies in a cluster.
    pub replicas: usize,
}

/// Reads the words behind `worker`.
pub fn worker(rest: &[&str]) -> Parsed {
    if rest.iter().any(|word| matches!(*word, "-h" | "--help")) {
        return usage(&format!("{WORKER}\n{}", super::flags::USAGE));
    }
    let wrong = |reason: String| SubcommandError::Arguments { reason, usage: WORKER, exit: Exit::Usage };
    let words: Vec<String> = rest.iter().map(|word| (*word).to_owned()).collect();
    let told = |errors: Vec<ArgError>| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let (line, others): (Line, _) = parse_as(&words).map_err(|errors| wrong(told(errors)))?;
    let flag = others.extension_flags.first().map(|flag| format!("Unknown option --{} for \"worker\".", flag.name));
    let word = || others.messages.iter().chain(&others.files).next().map(|word| format!("worker takes no {word}."));
    if let Some(reason) = flag.or_else(word) {
        return Err(wrong(reason));
    }
    let lease = line.lease.map_or(LEASE, |span| span.0);
    if lease < SHORTEST_LEASE {
        return Err(wrong(format!("--lease needs {} s at least.", SHORTEST_LEASE.as_secs())));
    }
    let (slots, replicas) = (line.slots.unwrap_or(SLOTS), line.replicas.unwrap_or(1));
    if slots == 0 || replicas == 0 {
        return Err(wrong("--slots and --replicas need a number from 1.".to_owned()));
    }
    Ok(Subcommand::Worker(WorkerArgs {
        nats: line.nats,
        pool: line.pool.unwrap_or_else(|| POOL.to_owned()),
        slots,
        dir: line.dir,
        name: line.name,
        lease,
        replicas,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::nats::flags::Servers;

    #[test]
    fn the_words_of_a_worker_are_read_or_refused_with_the_usage() {
        let parse = |line: &str| worker(&line.split_whitespace().collect::<Vec<_>>());
        let usual = WorkerArgs {
            nats: NatsFlags { on: Some(Servers("nats://h".into())), ..NatsFlags::default() },
            pool: "default".into(),
            slots: 2,
            dir: None,
            name: None,
            lease: Duration::from_secs(15),
            replicas: 1,
        };
        let table = [
            ("--on nats://h", usual.clone()),
            (
                "--on nats://h --pool gpu --slots 4 --dir /w --name a --lease 30s",
                WorkerArgs {
                    pool: "gpu".into(),
                    slots: 4,
                    dir: Some("/w".into()),
                    name: Some("a".into()),
                    lease: Duration::from_secs(30),
                    ..usual
                },
            ),
        ];
        for (line, args) in table {
            assert_eq!(parse(line), Ok(Subcommand::Worker(args)), "{line}");
        }
        for line in ["--slots 0", "--slots many", "--lease 1s", "now", "--fast"] {
            assert!(matches!(parse(line), Err(SubcommandError::Arguments { .. })), "{line}");
        }
        assert!(matches!(parse("--help"), Ok(Subcommand::Usage(text)) if text.contains("TROUPE_NATS_URL")));
    }
}
