//! What the end of a worker means: the run is over, or another worker is started.

use crate::{
    actors::front::unattended::{outcome::Outcome, words::Report},
    cli::exit::Exit,
};

/// Why the supervisor killed a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killed {
    /// Nothing was heard of it for too long.
    Stalled,
    /// It did not settle in time when the run was stopped.
    Stopped,
    /// It did not settle in time when the run's time was over.
    TimeOver,
    /// It did not settle in time when the run was handed on, or had no time to.
    HandedOn,
}

/// How a worker ended.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkerEnd {
    /// It said how the run ended.
    Reported(Box<Report>),
    /// It said that it cannot go on, and that another one may.
    Broken(String),
    /// It exited without a last word.
    Exited(i32),
    /// A signal ended it.
    Signalled {
        /// Which.
        signal: i32,
        /// Why, when the supervisor sent it.
        by_us: Option<Killed>,
    },
    /// It could not be started.
    NotStarted(String),
}

/// What follows.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The run is over: never another worker.
    Over(Box<Report>),
    /// A crash, and its cause: another worker, if the policy allows.
    Crash(String),
}

/// Decides.
#[must_use]
pub fn classify(end: WorkerEnd) -> Verdict {
    const TAKEN_OVER: i32 = Exit::TakenOver.code() as i32;
    let over = |outcome, reason: &str| Verdict::Over(Box::new(Report::bare(outcome, reason)));
    match end {
        WorkerEnd::Reported(report) => Verdict::Over(report),
        WorkerEnd::Broken(cause) => Verdict::Crash(cause),
        WorkerEnd::Exited(TAKEN_OVER) => over(Outcome::TakenOver, "another owner writes the log of the run"),
        WorkerEnd::Exited(101) => Verdict::Crash("the worker panicked".to_owned()),
        WorkerEnd::Exited(code) => Verdict::Crash(format!("the worker ended with code {code} and without a word")),
        WorkerEnd::Signalled { by_us: Some(Killed::Stalled), .. } => {
            Verdict::Crash("the worker stalled and was killed".to_owned())
        }
        WorkerEnd::Signalled { by_us: Some(Killed::Stopped), .. } => {
            over(Outcome::Cancelled, "the worker did not settle in time and was killed")
        }
        WorkerEnd::Signalled { by_us: Some(Killed::TimeOver), .. } => {
            over(Outcome::TimeLimit, "the worker did not settle in time and was killed")
        }
        WorkerEnd::Signalled { by_us: Some(Killed::HandedOn), .. } => {
            over(Outcome::TakenOver, "the worker did not settle in time and was killed")
        }
        WorkerEnd::Signalled { signal: 9, by_us: None } => {
            Verdict::Crash("the worker was killed (signal 9): by somebody, or for want of memory".to_owned())
        }
        WorkerEnd::Signalled { signal, by_us: None } => Verdict::Crash(format!("the worker died of signal {signal}")),
        WorkerEnd::NotStarted(cause) => over(Outcome::Failed, &format!("the worker could not be started: {cause}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_reports_is_final_and_what_kills_it_without_a_word_is_a_crash() {
        let reported = |outcome| WorkerEnd::Reported(Box::new(Report::bare(outcome, "")));
        let signalled = |signal, by_us| WorkerEnd::Signalled { signal, by_us };
        // Never another worker: budget, credentials, refusal, abort, a failed check.
        let mut table: Vec<(WorkerEnd, Result<Outcome, &str>)> =
            Outcome::ALL.map(|outcome| (reported(outcome), Ok(outcome))).into();
        table.extend([
            (WorkerEnd::Broken("parked".into()), Err("parked")),
            (WorkerEnd::Exited(0), Err("without a word")),
            (WorkerEnd::Exited(1), Err("code 1")),
            (WorkerEnd::Exited(101), Err("panicked")),
            (WorkerEnd::Exited(143), Err("code 143")),
            (WorkerEnd::Exited(16), Ok(Outcome::TakenOver)),
            (signalled(9, None), Err("want of memory")),
            (signalled(11, None), Err("signal 11")),
            (signalled(6, None), Err("signal 6")),
            (signalled(9, Some(Killed::Stalled)), Err("stalled")),
            (signalled(9, Some(Killed::Stopped)), Ok(Outcome::Cancelled)),
            (signalled(9, Some(Killed::TimeOver)), Ok(Outcome::TimeLimit)),
            (signalled(9, Some(Killed::HandedOn)), Ok(Outcome::TakenOver)),
            (WorkerEnd::NotStarted("no memory".into()), Ok(Outcome::Failed)),
        ]);
        for (end, wanted) in table {
            match (classify(end.clone()), wanted) {
                (Verdict::Over(report), Ok(outcome)) => assert_eq!(report.outcome, outcome, "{end:?}"),
                (Verdict::Crash(cause), Err(words)) => assert!(cause.contains(words), "{end:?}: {cause}"),
                (got, wanted) => panic!("{end:?}: {got:?}, not {wanted:?}"),
            }
        }
    }
}
