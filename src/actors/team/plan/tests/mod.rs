//! Transcripts: what comes in (`> `), and what follows from it.

mod any_order;
mod failures;
mod patterns;

use std::path::Path;

use super::*;

/// A team file's plan, played by a transcript.
struct Play {
    plan: Plan,
    now: Duration,
}

/// Plays a transcript against a team: each line after `> ` is an input, the lines below it are the effects.
fn check(file: &str, transcript: &str) {
    let text = format!("[team]\nname = \"t\"\nmax_parallel = 3\n{file}");
    let team = TeamFile::parse(Path::new("t.toml"), text).unwrap_or_else(|error| panic!("{error}"));
    let given = Given { inputs: [("topic".to_owned(), "ants".to_owned())].into(), seed: 7 };
    let mut play = Play { plan: Plan::new(Arc::new(team), given), now: Duration::ZERO };
    let mut found = Vec::new();
    for line in transcript.lines().map(str::trim).filter(|line| line.starts_with("> ")) {
        found.push(line.to_owned());
        let input = play.input(&line[2..]);
        let effects = play.plan.on(play.now, input);
        found.extend(effects.iter().map(|effect| play.line(effect)));
    }
    let expected: Vec<_> = transcript.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(found, expected, "\nfound:\n{}\n", found.join("\n"));
}

impl Play {
    /// An input by its line: `NAME done: TEXT`, `NAME fails`, `NAME fails for good`, `NAME over budget`, `NAME passes`,
    /// `NAME fails the check`, `NAME merged`, `NAME conflicts`, `list a b`, `no list`, `wait SECONDS`, `stop`, `limit`,
    /// `begin`.
    fn input(&mut self, line: &str) -> Input {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        let listing = |play: &Self| play.plan.steps.iter().position(|step| step.state == StepState::Listing).unwrap();
        match first {
            "begin" => return Input::Begin,
            "stop" => return Input::Stop("asked to".to_owned()),
            "limit" => return Input::Limit { what: BudgetKind::Cost, message: "$1 used".to_owned() },
            "list" => {
                let items = rest.split_whitespace().map(|item| Value::String(item.to_owned())).collect();
                return Input::Listed { step: listing(self), items: Ok(items) };
            }
            "no" => return Input::Listed { step: listing(self), items: Err("it cannot be made".to_owned()) },
            _ => {}
        }
        let seat = self.plan.seats.iter().rposition(|seat| seat.agent() == first).expect(first);
        let life = self.plan.seats[seat].life;
        let failed = |may_pass| TaskOutcome::Failed { message: "it broke".to_owned(), may_pass };
        let ended = |outcome, text: &str| Input::Ended { seat, life, outcome, text: text.to_owned(), patch: None };
        match rest.split_once(": ").unwrap_or((rest, "")) {
            ("done", text) => ended(TaskOutcome::Done, text),
            ("fails", _) => ended(failed(true), ""),
            ("fails for good", _) => ended(failed(false), ""),
            ("over budget", _) => {
                ended(TaskOutcome::Budget { what: BudgetKind::Turns, message: "2 turns".to_owned() }, "")
            }
            ("passes", _) => Input::Ran { seat, life, passed: true, output: String::new() },
            ("fails the check", _) => Input::Ran { seat, life, passed: false, output: "boom\n".to_owned() },
            ("merged", _) => Input::Merged { seat, life, result: Ok(()) },
            ("conflicts", _) => Input::Merged { seat, life, result: Err("a.txt conflicts".to_owned()) },
            (other, _) => panic!("{other}"),
        }
    }

    /// An effect as a line; texts in one line, without what is said about JSON.
    fn line(&self, effect: &Effect) -> String {
        let short = |text: &str| {
            let text = text.split("\n\nAnswer at the end with JSON").next().unwrap_or_default();
            let text = text.split("\n\nAnswer again").next().unwrap_or_default();
            text.replace('\n', "|")
        };
        let agent = |seat: SeatId| self.plan.seats[seat].agent();
        match effect {
            Effect::List { step, source } => format!("list for {}: {source:?}", self.plan.step_name(*step)),
            Effect::Start { name, task, after, .. } if after.is_zero() => format!("start {name}: {}", short(task)),
            Effect::Start { name, task, after, .. } => format!("start {name} after {after:?}: {}", short(task)),
            Effect::Say { seat, text } => format!("say {}: {}", agent(*seat), short(text)),
            Effect::Run { seat, command, .. } => format!("run for {}: {command}", agent(*seat)),
            Effect::Merge { seat } => format!("merge {}", agent(*seat)),
            Effect::Stop { seat, life } => format!("stop {}", self.plan.seats[*seat].agent_of(*life)),
            Effect::Finish(Outcome::Done(value)) => format!("done: {value}"),
            Effect::Finish(Outcome::Failed { step, message }) => format!("failed in {step}: {message}"),
            Effect::Finish(Outcome::Limit { what, message }) => format!("limit of {}: {message}", what.word()),
            Effect::Finish(Outcome::Stopped(reason)) => format!("stopped: {reason}"),
        }
    }
}
