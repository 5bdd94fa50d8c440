//! The words behind `troupe run` and `troupe runs`.

use clap::{Args, Parser, ValueEnum, value_parser};

use super::{folder::RunFolder, span::Span};
use crate::cli::{
    args::{ApiKey, ArgError, LowArgs, parse_as},
    exit::Exit,
    nats::flags::{NatsFlags, word},
    subcommand::{Subcommand, SubcommandError},
};

/// How `troupe run` is used.
pub const RUN_USAGE: &str = "troupe run [FLAGS] [--] [@FILE…] [PROMPT…|-]

Runs prompts without anybody watching: a supervisor starts the agent, starts it again after a crash, and says with its
exit code how the run ended. `-` reads the first prompt from standard input.
  --run-id ID           the run's name: the same name goes on with a run, or tells its result again
  --max-turns N         at most N answers of the model
  --max-cost USD        stop when so much is spent
  --max-tokens N        stop when so many tokens are used
  --timeout TIME        time of the whole run: 90s, 10m, 2h
  --max-restarts N      restarts of the worker within ten minutes (3)
  --stall TIME          a worker from which nothing is heard for so long is ended (10m)
  --grace TIME          time to settle in order when the run is stopped (10s)
  --verify CMD          this shell command must succeed at the end; its failure goes back to the agent
  --verify-retries N    so often (2)
  --verify-timeout TIME its time (10m)
  --require-change      the run fails when no file changed
  --output-schema FILE  the answer must be JSON that fits this JSON schema
  --output FORM         text (the last answer), json (the result) or events (one event a line)
  --notify CMD          this shell command gets the result at the end, as JSON on standard input
  --on URL              give the run to the workers of this NATS server (docs/workers.md); with it:
    --pool NAME         to those of this pool (default)
    --detach            print the run's id and leave it to them
The other flags are those of the agent: --model, --tools, --thinking, --permissions, --sandbox, --session and so on;
`troupe --help` lists them. docs/headless.md has exit codes and examples.";

/// How `troupe runs` is used.
pub const RUNS_USAGE: &str = "troupe runs [list] [--json]
  troupe runs show ID [--json]
  troupe runs logs ID [--events] [-f]
  troupe runs stop ID
  troupe runs resume ID [--output FORM]
  troupe runs remove ID… | --ended
  troupe runs fetch ID DIR --on URL

ID is a run's id or the beginning of one. With --on URL: the runs that a NATS server has (docs/workers.md).
  list    all runs, the latest first
  show    everything about one
  logs    what its workers said; --events: its events; -f: go on until the run ends
  stop    end it in order; `resume` goes on with it
  resume  the same as `troupe run --run-id ID`
  remove  forget runs that nobody works on, with --ended all that have a result, also those that could be resumed;
          the session of a local run stays where sessions are
  fetch   bring the sessions of a run into a new folder";

/// What a run prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputForm {
    /// The last answer.
    #[default]
    Text,
    /// The result, one JSON object.
    Json,
    /// Every event as a JSON line.
    Events,
}

/// The flags that only a run has.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Run")]
#[allow(missing_docs, reason = "the usage explains each flag")]
pub struct RunFlags {
    #[arg(long, value_name = "ID", value_parser = run_id)]
    pub run_id: Option<String>,
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub max_turns: Option<u64>,
    #[arg(long, value_name = "USD", value_parser = amount)]
    pub max_cost: Option<f64>,
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub max_tokens: Option<u64>,
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<Span>,
    #[arg(long, value_name = "N")]
    pub max_restarts: Option<u32>,
    #[arg(long, value_name = "TIME")]
    pub stall: Option<Span>,
    #[arg(long, value_name = "TIME")]
    pub grace: Option<Span>,
    #[arg(long, value_name = "CMD")]
    pub verify: Option<String>,
    #[arg(long, value_name = "N")]
    pub verify_retries: Option<u32>,
    #[arg(long, value_name = "TIME")]
    pub verify_timeout: Option<Span>,
    #[arg(long)]
    pub require_change: bool,
    #[arg(long, value_name = "FILE")]
    pub output_schema: Option<String>,
    // `output` is the name of a group of the agent's flags.
    #[arg(id = "output_form", long = "output", value_name = "FORM", hide_possible_values = true)]
    pub output_form: Option<OutputForm>,
    #[arg(long, value_name = "CMD")]
    pub notify: Option<String>,
    #[command(flatten)]
    pub nats: NatsFlags,
    #[arg(long, value_name = "NAME", value_parser = word)]
    pub pool: Option<String>,
    #[arg(long)]
    pub detach: bool,
}

/// The id of a run.
fn run_id(text: &str) -> Result<String, String> {
    RunFolder::check_id(text).map(|()| text.to_owned()).map_err(|error| error.to_string())
}

/// An amount of money, in US dollars.
fn amount(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount > 0.0 => Ok(amount),
        _ => Err(format!("{text:?} is no amount of US dollars above 0, like 2.50")),
    }
}

/// The whole line: flags of the run, and those of its agent.
#[derive(Clone, Debug, Default, Parser)]
#[command(
    name = "troupe run",
    no_binary_name = true,
    disable_help_flag = true,
    disable_version_flag = true,
    args_override_self = true
)]
pub struct RunLine {
    /// Flags of the run.
    #[command(flatten)]
    pub run: RunFlags,
    /// Flags of the agent, messages and files.
    #[command(flatten)]
    pub agent: LowArgs,
    /// `-`: the first prompt comes on standard input.
    #[arg(skip)]
    pub from_stdin: bool,
}

/// `troupe run` or what is started by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunCommand {
    /// Supervise a run, with these words.
    Supervise(Vec<String>),
    /// Be the worker of the run in this folder.
    Work(String),
    /// Supervise the run in this folder for the node that made it.
    SuperviseFor(String),
}

/// `troupe runs` with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunsCommand {
    /// Tell which runs there are.
    List {
        /// As JSON.
        json: bool,
    },
    /// Tell everything about one.
    Show {
        /// Which.
        id: String,
        /// As JSON.
        json: bool,
    },
    /// Print what its workers said.
    Logs {
        /// Which.
        id: String,
        /// Its events instead.
        events: bool,
        /// Until it ends.
        follow: bool,
    },
    /// End it.
    Stop {
        /// Which.
        id: String,
    },
    /// Go on with it.
    Resume {
        /// Which.
        id: String,
        /// Further words for `troupe run`.
        more: Vec<String>,
    },
    /// Forget some.
    Remove(Removal),
    /// Bring the sessions of one here.
    Fetch {
        /// Which.
        id: String,
        /// Into which folder.
        dir: String,
    },
}

/// Which runs are to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removal {
    /// These.
    Named(Vec<String>),
    /// All that have a result.
    Ended,
}

/// The word by which a supervisor starts its worker.
pub const WORKER: &str = "--as-worker-of";
/// The word by which a node starts a supervisor.
pub const SUPERVISOR: &str = "--as-supervisor-of";

/// `troupe run …`.
///
/// # Errors
/// None: what is wrong with flags is found when the run begins.
pub fn parse_run(rest: &[&str]) -> Result<Subcommand, SubcommandError> {
    Ok(match rest {
        ["-h" | "--help", ..] => Subcommand::Usage(format!("Usage: {RUN_USAGE}\n")),
        [WORKER, folder] => Subcommand::Run(RunCommand::Work((*folder).to_owned())),
        [SUPERVISOR, folder] => Subcommand::Run(RunCommand::SuperviseFor((*folder).to_owned())),
        _ => Subcommand::Run(RunCommand::Supervise(rest.iter().map(|word| (*word).to_owned()).collect())),
    })
}

/// `troupe runs …`.
///
/// # Errors
/// When the words make no sense.
pub fn parse_runs(rest: &[&str]) -> Result<Subcommand, SubcommandError> {
    let wrong = |reason: String| SubcommandError::Arguments { reason, usage: RUNS_USAGE, exit: Exit::Usage };
    let words: Vec<String> = rest.iter().map(|word| (*word).to_owned()).collect();
    let (flags, words) = NatsFlags::take(&words).map_err(wrong)?;
    let rest: Vec<&str> = words.iter().map(String::as_str).collect();
    let command = |command| match flags.on {
        Some(_) => Subcommand::RunsOn(flags, command),
        None => Subcommand::Runs(command),
    };
    let (verb, rest) = match rest.as_slice() {
        [] => ("list", &[][..]),
        ["-h" | "--help", ..] => return Ok(Subcommand::Usage(format!("Usage:\n  {RUNS_USAGE}\n"))),
        [verb @ ("list" | "show" | "logs" | "stop" | "resume" | "remove" | "fetch"), rest @ ..] => (*verb, rest),
        all @ ["--json"] => ("list", all),
        [other, ..] => {
            return Err(SubcommandError::Unknown { group: "runs", command: (*other).to_owned(), usage: RUNS_USAGE });
        }
    };
    if rest.iter().any(|word| matches!(*word, "-h" | "--help")) {
        return Ok(Subcommand::Usage(format!("Usage:\n  {RUNS_USAGE}\n")));
    }
    if verb == "resume" {
        let [id, more @ ..] = rest else { return Err(wrong("resume needs a run.".to_owned())) };
        let more = more.iter().map(|word| (*word).to_owned()).collect();
        return Ok(command(RunsCommand::Resume { id: (*id).to_owned(), more }));
    }
    let (mut json, mut events, mut follow, mut ended, mut ids) = (false, false, false, false, Vec::new());
    for word in rest {
        match (*word, verb) {
            ("--json", "list" | "show") => json = true,
            ("--events", "logs") => events = true,
            ("-f" | "--follow", "logs") => follow = true,
            ("--ended", "remove") => ended = true,
            (word, _) if word.starts_with('-') => {
                return Err(wrong(format!("Unknown option {word} for \"runs {verb}\".")));
            }
            (word, _) => ids.push(word.to_owned()),
        }
    }
    let read = match (verb, ids.as_slice()) {
        ("list", []) => RunsCommand::List { json },
        ("list", _) => return Err(wrong("list takes no run; show tells of one.".to_owned())),
        ("show", [id]) => RunsCommand::Show { id: id.clone(), json },
        ("logs", [id]) => RunsCommand::Logs { id: id.clone(), events, follow },
        ("stop", [id]) => RunsCommand::Stop { id: id.clone() },
        ("fetch", [id, dir]) => RunsCommand::Fetch { id: id.clone(), dir: dir.clone() },
        ("fetch", _) => return Err(wrong("fetch needs a run and a folder.".to_owned())),
        ("remove", []) if ended => RunsCommand::Remove(Removal::Ended),
        ("remove", [_, ..]) if !ended => RunsCommand::Remove(Removal::Named(ids)),
        ("remove", _) => return Err(wrong("remove needs runs, or --ended.".to_owned())),
        (verb, _) => return Err(wrong(format!("{verb} needs one run."))),
    };
    Ok(command(read))
}

impl RunLine {
    /// Reads the words behind `troupe run`.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn parse(words: &[String]) -> Result<Self, Vec<ArgError>> {
        // A word alone for clap's sake a flag, for everybody else standard input.
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        let is_stdin = |(at, word): &(usize, &String)| *at < end && word.as_str() == "-";
        let from_stdin = words.iter().enumerate().any(|word| is_stdin(&word));
        let rest: Vec<String> =
            words.iter().enumerate().filter(|word| !is_stdin(word)).map(|(_, word)| word.clone()).collect();
        let (line, sorted): (Self, _) = parse_as(&rest)?;
        let agent = LowArgs {
            messages: sorted.messages,
            files: sorted.files,
            extension_flags: sorted.extension_flags,
            ..line.agent
        };
        Ok(Self { agent, from_stdin, ..line })
    }

    /// Flags of the agent that make no sense in a run.
    #[must_use]
    pub fn refused(&self) -> Option<&'static str> {
        let (agent, output) = (&self.agent, &self.agent.output);
        let refused = [
            (output.mode.is_some(), "--mode: --output says what a run prints"),
            (output.print, "-p: a run prints its answer anyway"),
            (output.export.is_some(), "--export"),
            (output.version, "--version"),
            (output.tui_mode.is_some(), "--tui-mode"),
            (agent.model.list_models.is_some(), "--list-models"),
            (agent.session.resume, "--resume: --session names a session, --run-id a run"),
            (agent.session.no_session, "--no-session: a run survives in its session"),
            (agent.session.read_only, "--read-only"),
            (agent.diagnosis.record.is_some(), "--record: a recording has one writer, and a run may have several"),
        ];
        refused.into_iter().find_map(|(given, text)| given.then_some(text))
    }

    /// What makes no sense in a run that goes to another machine, or without one.
    #[must_use]
    pub fn refused_on(&self) -> Option<&'static str> {
        let (run, session) = (&self.run, &self.agent.session);
        let refused = match run.nats.on {
            None => [
                (run.pool.is_some(), "--pool without --on"),
                (run.detach, "--detach without --on"),
                (run.nats != NatsFlags::default(), "--nats-… without --on"),
                (false, ""),
                (false, ""),
                (false, ""),
                (false, ""),
            ],
            Some(_) => [
                (self.agent.model.api_key.is_some(), "--api-key with --on: each worker has keys of its own"),
                (session.continue_latest, "--continue with --on: the session begins on the worker"),
                (session.session.is_some(), "--session with --on: the session begins on the worker"),
                (session.fork.is_some(), "--fork with --on: the session begins on the worker"),
                (session.session_dir.is_some(), "--session-dir with --on: the worker says where sessions are"),
                (self.agent.diagnosis.log_file.is_some(), "--log-file with --on: `troupe runs logs` has what is said"),
                (self.agent.diagnosis.trace_file.is_some(), "--trace-file with --on"),
            ],
        };
        refused.into_iter().find_map(|(given, text)| given.then_some(text))
    }

    /// The key of `--api-key`: it is never stored.
    #[must_use]
    pub fn api_key(&self) -> Option<&ApiKey> {
        self.agent.model.api_key.as_ref()
    }
}

/// The words without a key.
#[must_use]
pub fn without_key(words: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--api-key" => drop(rest.next()),
            word if word.starts_with("--api-key=") => {}
            "--" => {
                kept.push(word.clone());
                kept.extend(rest.by_ref().cloned());
            }
            _ => kept.push(word.clone()),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn flags_of_the_run_and_of_its_agent_stand_side_by_side() {
        let line = RunLine::parse(&words(
            "--run-id n --model m:high --max-turns 3 --max-cost=0.5 --timeout 10m -t read,grep --output json fix @a.md - x",
        ))
        .unwrap();
        assert_eq!(line.run.run_id.as_deref(), Some("n"));
        assert_eq!((line.run.max_turns, line.run.max_cost), (Some(3), Some(0.5)));
        assert_eq!(line.run.timeout, Some(Span(std::time::Duration::from_secs(600))));
        assert_eq!(line.run.output_form, Some(OutputForm::Json));
        assert_eq!(line.agent.model.model.as_deref(), Some("m:high"));
        assert_eq!(line.agent.messages, ["fix", "x"]);
        assert_eq!(line.agent.files, ["a.md"]);
        assert!(line.from_stdin && line.refused().is_none());
        let line = RunLine::parse(&words("-- - --max-turns")).unwrap();
        assert_eq!((line.from_stdin, line.agent.messages), (false, words("- --max-turns")));
        for line in ["--max-turns many", "--stall never", "--output pdf"] {
            assert!(RunLine::parse(&words(line)).is_err(), "{line}");
        }
    }

    #[test]
    fn what_makes_no_sense_in_a_run_is_refused() {
        for line in ["--mode json", "-p x", "--resume", "--no-session", "--version"] {
            assert!(RunLine::parse(&words(line)).unwrap().refused().is_some(), "{line}");
        }
    }

    #[test]
    fn limits_names_and_pools_that_make_no_sense_are_refused() {
        let long = format!("--run-id {}", "x".repeat(129));
        for line in [
            "--max-cost nan",
            "--max-cost inf",
            "--max-cost=-1",
            "--max-cost 0",
            "--max-turns 0",
            "--max-tokens 0",
            "--pool a.b",
            "--pool=",
            "--run-id ../x",
            "--run-id a..b",
            &long,
        ] {
            let refused = RunLine::parse(&words(line)).unwrap_err();
            let flag = line.split(['=', ' ']).next().unwrap();
            assert!(refused.iter().any(|error| error.to_string().contains(flag)), "{line}: {refused:?}");
        }
    }

    #[test]
    fn fc_106_a_key_is_not_kept() {
        for line in ["--api-key k --model m x", "--model m --api-key=k x"] {
            assert_eq!(without_key(&words(line)), words("--model m x"));
        }
        assert_eq!(without_key(&words("a -- --api-key b")), words("a -- --api-key b"));
    }

    #[test]
    fn the_verbs_of_runs_are_read() {
        let parse = |line: &str| parse_runs(&line.split_whitespace().collect::<Vec<_>>());
        let id = || "ab".to_owned();
        let table = [
            ("", RunsCommand::List { json: false }),
            ("list --json", RunsCommand::List { json: true }),
            ("show ab", RunsCommand::Show { id: id(), json: false }),
            ("logs -f ab", RunsCommand::Logs { id: id(), events: false, follow: true }),
            ("logs ab --events", RunsCommand::Logs { id: id(), events: true, follow: false }),
            ("stop ab", RunsCommand::Stop { id: id() }),
            ("remove ab ab", RunsCommand::Remove(Removal::Named(vec![id(), id()]))),
            ("fetch ab d", RunsCommand::Fetch { id: id(), dir: "d".to_owned() }),
            ("remove --ended", RunsCommand::Remove(Removal::Ended)),
            ("resume ab --output json", RunsCommand::Resume { id: id(), more: words("--output json") }),
        ];
        for (line, command) in table {
            assert_eq!(parse(line), Ok(Subcommand::Runs(command)), "{line}");
        }
        for line in [
            "show",
            "show a b",
            "stop",
            "list a",
            "logs --json a",
            "resume",
            "kill a",
            "remove",
            "remove a --ended",
            "fetch a",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
