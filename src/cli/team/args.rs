//! The words behind `troupe team`.

use std::collections::BTreeMap;

use crate::cli::{
    exit::Exit,
    subcommand::{Subcommand, SubcommandError, option},
};

/// How the command is used.
pub const USAGE: &str = "troupe team run FILE.toml [--input NAME=VALUE…] [--out DIR] [--repeat N] [--seed N] [--json] [flags]
  troupe team run --resume DIR [--json]
  troupe team check FILE.toml [--json]
  troupe team compare DIR… [--json]

run    has the agents of a team file work, and writes a folder with their sessions, result.json, timeline.json and
       timeline.html
  --input NAME=VALUE  what the file asks for; @PATH as the value takes a file's text
  --out DIR           the folder, which must not hold anything yet; by default one in the user's folder
  --repeat N          N runs, one after the other, with the seeds SEED, SEED+1, …; summary.json compares them
  --seed N            the number that {{seed}} stands for; 1 without this
  --json              print the result (or the summary) as JSON, and nothing on the way
  --on URL            agents work on the workers of a NATS server, in the same folder; those in git worktrees work here.
                      --pool NAME and --nats-… as with `troupe run`; docs/workers.md
  --resume DIR        go on with a run that was broken off, from its folder; one that has ended tells its result again
  The other flags are those of the agent: --model, --thinking, --sandbox, --permissions and so on; `troupe --help` lists
  them. --model and --thinking hold for all roles, whatever the file says. `troupe top` and `troupe attach` see
  the team unless --no-control says otherwise.
check  reads a file and says what is wrong with it, or how the work flows
compare  prints results beside each other: folders of runs or of repeated runs

Exit codes of run: 0 done, 1 a step failed, 2 wrong words or a wrong file, 10 limit of turns, 11 of tokens, cost or agents,
12 of time, 129, 130, 131 and 143 stopped by a signal. docs/teams.md describes the file.";

/// `troupe team` with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TeamCommand {
    /// Run a team.
    Run(RunArgs),
    /// Go on with a run that was broken off.
    Resume(ResumeArgs),
    /// Look at a file.
    Check {
        /// The file.
        file: String,
        /// As JSON.
        json: bool,
    },
    /// Compare results.
    Compare {
        /// Their folders.
        folders: Vec<String>,
        /// As JSON.
        json: bool,
    },
}

/// What `run` does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunArgs {
    /// The file.
    pub file: String,
    /// What the user gives, by name.
    pub inputs: BTreeMap<String, String>,
    /// Where results go.
    pub out: Option<String>,
    /// How often; none for once without a summary.
    pub repeat: Option<u64>,
    /// The seed of the first run.
    pub seed: u64,
    /// As JSON.
    pub json: bool,
    /// Flags for the agents.
    pub flags: Vec<String>,
}

/// What `run --resume` does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumeArgs {
    /// The folder of the run.
    pub folder: String,
    /// As JSON.
    pub json: bool,
    /// The words of `--api-key`, which is stored nowhere.
    pub key: Vec<String>,
    /// The words that say where the server is, and whose workers take its agents.
    pub on: Vec<String>,
}

/// Flags that say where agents work. They may hold secrets, and are not kept.
const PLACE: [&str; 8] =
    ["--on", "--pool", "--nats-prefix", "--nats-creds", "--nats-nkey", "--nats-ca", "--nats-cert", "--nats-key"];

/// Runs at most: a slip in a number must not spend money all night.
const MOST_RUNS: u64 = 1000;

fn wrong(reason: impl Into<String>) -> SubcommandError {
    SubcommandError::Arguments { reason: reason.into(), usage: USAGE, exit: Exit::InvalidState }
}

/// Reads the arguments.
///
/// # Errors
/// When they make no sense.
pub fn parse(rest: &[&str]) -> Result<Subcommand, SubcommandError> {
    let help = || Ok(Subcommand::Usage(format!("Usage:\n  {USAGE}\n")));
    let (verb, rest) = match rest {
        [] | ["-h" | "--help", ..] | [_, "-h" | "--help", ..] => return help(),
        [verb, rest @ ..] => (*verb, rest),
    };
    let command = match verb {
        "run" => match rest.iter().position(|word| option(word).0 == "--resume") {
            Some(at) => TeamCommand::Resume(resume(rest, at)?),
            None => TeamCommand::Run(run(rest)?),
        },
        "check" => {
            let (json, mut files) = plain("check", rest)?;
            match (files.pop(), files.is_empty()) {
                (Some(file), true) => TeamCommand::Check { file, json },
                _ => return Err(wrong("check needs one team file.")),
            }
        }
        "compare" => {
            let (json, folders) = plain("compare", rest)?;
            if folders.is_empty() {
                return Err(wrong("compare needs at least one folder with results."));
            }
            TeamCommand::Compare { folders, json }
        }
        other => return Err(wrong(format!("Unknown command \"team {other}\"; expected run, check or compare."))),
    };
    Ok(Subcommand::Team(command))
}

/// Words and `--json` alone.
fn plain(verb: &str, rest: &[&str]) -> Result<(bool, Vec<String>), SubcommandError> {
    let mut json = false;
    let mut words = Vec::new();
    for word in rest {
        match *word {
            "--json" => json = true,
            option if option.starts_with("--") => {
                return Err(wrong(format!("Unknown option {option} for \"team {verb}\".")));
            }
            word => words.push(word.to_owned()),
        }
    }
    Ok((json, words))
}

fn run(rest: &[&str]) -> Result<RunArgs, SubcommandError> {
    let [file, rest @ ..] = rest else { return Err(wrong("run needs a team file.")) };
    if file.starts_with('-') {
        return Err(wrong(format!("the team file comes first: troupe team run FILE.toml {file} …")));
    }
    let mut args = RunArgs { file: (*file).to_owned(), seed: 1, ..RunArgs::default() };
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let (name, inline) = option(word);
        let mut value = || {
            let given = inline.or_else(|| words.next().copied()).filter(|value| !value.is_empty());
            given.ok_or_else(|| wrong(format!("{name} needs a value.")))
        };
        match name {
            "--input" => {
                let given = value()?;
                let (name, text) = given
                    .split_once('=')
                    .ok_or_else(|| wrong(format!("--input takes NAME=VALUE, not \"{given}\".")))?;
                args.inputs.insert(name.to_owned(), text.to_owned());
            }
            "--out" => args.out = Some(value()?.to_owned()),
            "--repeat" => {
                let number = number(name, value()?)?;
                if !(1..=MOST_RUNS).contains(&number) {
                    return Err(wrong(format!("--repeat takes 1 to {MOST_RUNS}, not {number}.")));
                }
                args.repeat = Some(number);
            }
            "--seed" => args.seed = number(name, value()?)?,
            "--json" => args.json = true,
            // All else is for the agents, with its values.
            _ => args.flags.push((*word).to_owned()),
        }
    }
    Ok(args)
}

/// The run has its own words: only what it does not keep can be said again.
fn resume(words: &[&str], at: usize) -> Result<ResumeArgs, SubcommandError> {
    let mut args = ResumeArgs::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (name, inline) = option(word);
        let mut value = || {
            let given = inline.or_else(|| rest.next().copied()).filter(|value| !value.is_empty());
            given.map(str::to_owned).ok_or_else(|| wrong(format!("{name} needs a value.")))
        };
        match name {
            "--resume" if args.folder.is_empty() => args.folder = value()?,
            "--api-key" => args.key = vec![name.to_owned(), value()?],
            "--json" => args.json = true,
            name if PLACE.contains(&name) => args.on.extend([name.to_owned(), value()?]),
            other => {
                let resume = words[at];
                return Err(wrong(format!("{resume} goes on with what the run began with, and takes no {other}.")));
            }
        }
    }
    Ok(args)
}

fn number(name: &str, text: &str) -> Result<u64, SubcommandError> {
    text.parse().map_err(|_| wrong(format!("{name} takes a whole number, not \"{text}\".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<TeamCommand, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match parse(&words).map_err(|error| error.to_string())? {
            Subcommand::Team(command) => Ok(command),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn words_say_what_is_to_be_done() {
        let run = |change: fn(&mut RunArgs)| {
            let mut args = RunArgs { file: "t.toml".into(), seed: 1, ..RunArgs::default() };
            change(&mut args);
            TeamCommand::Run(args)
        };
        let table = [
            ("run t.toml", run(|_| {})),
            (
                "run t.toml --input a=b=c --input=x=y",
                run(|args| args.inputs = [("a".into(), "b=c".into()), ("x".into(), "y".into())].into()),
            ),
            (
                "run t.toml --repeat 3 --seed=5 --json",
                run(|args| (args.repeat, args.seed, args.json) = (Some(3), 5, true)),
            ),
            (
                "run t.toml --model troupe/script --out o --sandbox",
                run(|args| {
                    args.out = Some("o".into());
                    args.flags = ["--model", "troupe/script", "--sandbox"].map(str::to_owned).to_vec();
                }),
            ),
            (
                "run --resume out --json",
                TeamCommand::Resume(ResumeArgs { folder: "out".into(), json: true, ..ResumeArgs::default() }),
            ),
            (
                "run --api-key=k --resume=out",
                TeamCommand::Resume(ResumeArgs {
                    folder: "out".into(),
                    json: false,
                    key: ["--api-key", "k"].map(str::to_owned).to_vec(),
                    on: Vec::new(),
                }),
            ),
            ("check t.toml", TeamCommand::Check { file: "t.toml".into(), json: false }),
            ("compare a b --json", TeamCommand::Compare { folders: vec!["a".into(), "b".into()], json: true }),
        ];
        for (line, command) in table {
            assert_eq!(parsed(line), Ok(command), "{line}");
        }
        for line in ["", "--help", "run --help"] {
            assert!(parsed(line).unwrap_err().contains("troupe team run FILE.toml"), "{line}");
        }
    }

    #[test]
    fn wrong_words_are_named() {
        let table = [
            ("run", "run needs a team file."),
            ("run --json t.toml", "the team file comes first: troupe team run FILE.toml --json …"),
            ("run t.toml --input a", "--input takes NAME=VALUE, not \"a\"."),
            ("run t.toml --repeat 0", "--repeat takes 1 to 1000, not 0."),
            ("run t.toml --seed x", "--seed takes a whole number, not \"x\"."),
            ("run t.toml --out", "--out needs a value."),
            ("run --resume", "--resume needs a value."),
            ("run t.toml --resume out", "--resume goes on with what the run began with, and takes no t.toml."),
            ("run --resume out --model x", "--resume goes on with what the run began with, and takes no --model."),
            ("check a b", "check needs one team file."),
            ("compare", "compare needs at least one folder with results."),
            ("play", "Unknown command \"team play\"; expected run, check or compare."),
        ];
        for (line, expected) in table {
            assert!(parsed(line).unwrap_err().starts_with(expected), "{line}: {:?}", parsed(line));
        }
    }
}
