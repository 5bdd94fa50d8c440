//! The request by which an agent that is there gets a task. Pure.

use crate::{
    actors::{front::unattended::outcome::Outcome, team::driver::Assignment},
    cli::{
        nats::record::{Ended, Submitted},
        runs::spec::with_ids,
    },
    protocol::{command::Input, time::now_ms},
};

/// The request by which an agent gets a task; none when the latest one is it. `ended` is the end of the latest one.
///
/// # Errors
/// It cannot get this task now.
pub(super) fn next_request(
    known: &Submitted,
    ended: Option<&Ended>,
    task: &Assignment,
) -> Result<Option<Submitted>, String> {
    let next = |prompts: Vec<Input>| {
        let mut next = known.clone();
        next.spec.prompts = with_ids(prompts, &known.spec.stem);
        // Those of turns and time are its role's, and hold for the whole run.
        next.spec.limits.tokens = task.budget.tokens;
        next.spec.limits.cost = task.budget.cost;
        Ok(Some(Submitted { number: known.number + 1, at: now_ms(), ..next }))
    };
    let given = known.spec.prompts.len();
    let wanted = task.number as usize;
    if given + 1 == wanted {
        return match ended {
            Some(_) => next([known.spec.prompts.clone(), vec![super::words::prompt(&task.text)]].concat()),
            None => Err(format!("{} has not ended its task before", task.name)),
        };
    }
    if given != wanted {
        return Err(format!("{} has had {given} tasks, and this would be the {wanted}.", task.name));
    }
    let goes_on = ended.is_some_and(|ended| match ended.result.outcome {
        Outcome::Cancelled => task.is_taken_up,
        Outcome::TokenLimit | Outcome::CostLimit => task.is_continued,
        _ => false,
    });
    if goes_on { next(known.spec.prompts.clone()) } else { Ok(None) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{
        actors::front::unattended::limits::Limits,
        cli::runs::{result::RunResult, spec::RunSpec},
        protocol::{Usage, sibling::Budget},
    };

    fn submitted(number: u32, prompts: usize) -> Submitted {
        let prompts = with_ids((0..prompts).map(|n| Input::text(format!("t{n}"))).collect(), "s");
        let limits = Limits { turns: Some(9), tokens: Some(100), cost: Some(1.0) };
        Submitted { number, pool: "p".into(), at: 0, spec: RunSpec { prompts, limits, ..RunSpec::nothing("r") } }
    }

    fn task(number: u32, is_taken_up: bool) -> Assignment {
        let (spec, used, is_continued) = (None, Usage::default(), false);
        let budget = Budget { tokens: Some(250), ..Budget::default() };
        Assignment { name: "a".into(), number, text: "new".into(), spec, budget, used, is_taken_up, is_continued }
    }

    #[test]
    fn an_agent_gets_each_task_once_and_goes_on_with_one_that_was_stopped_or_has_a_new_limit() {
        let ended = |number, outcome| Some(Ended { number, epoch: 1, node: None, result: RunResult::nothing(outcome) });
        let (done, cancelled, limit) = (Outcome::Done, Outcome::Cancelled, Outcome::TokenLimit);
        let continued = || Assignment { is_continued: true, ..task(1, false) };
        let table = [
            ("it works on it", submitted(1, 1), None, task(1, false), "there"),
            ("it has done it", submitted(1, 1), ended(1, done), task(1, true), "there"),
            ("the next one", submitted(1, 1), ended(1, done), task(2, false), "request 2, 2 tasks"),
            ("the next one is given", submitted(2, 2), ended(1, done), task(2, false), "there"),
            ("the one before runs", submitted(2, 1), ended(1, done), task(2, false), "wrong"),
            ("one is left out", submitted(1, 1), ended(1, done), task(3, false), "wrong"),
            ("one that was stopped", submitted(1, 1), ended(1, cancelled), task(1, true), "request 2, 1 tasks"),
            ("the same, by this team", submitted(1, 1), ended(1, cancelled), task(1, false), "there"),
            ("it goes on", submitted(2, 1), ended(1, cancelled), task(1, true), "there"),
            ("its limit was reached", submitted(1, 1), ended(1, limit), task(1, true), "there"),
            ("it has another one", submitted(1, 1), ended(1, limit), continued(), "request 2, 1 tasks"),
            ("it is done with that", submitted(2, 1), ended(2, done), continued(), "there"),
        ];
        for (what, known, ended, task, wanted) in table {
            let found = match next_request(&known, known.end_in(ended).as_ref(), &task) {
                Ok(None) => "there".to_owned(),
                Err(_) => "wrong".to_owned(),
                Ok(Some(next)) => {
                    let ids: BTreeSet<_> = next.spec.prompts.iter().map(|prompt| prompt.op.clone()).collect();
                    assert_eq!(ids.len(), next.spec.prompts.len());
                    assert!(known.spec.prompts.iter().zip(&next.spec.prompts).all(|(a, b)| a == b), "{what}");
                    let limits = Limits { turns: Some(9), tokens: Some(250), cost: None };
                    assert_eq!(next.spec.limits, limits, "{what}: not those of the task before");
                    format!("request {}, {} tasks", next.number, ids.len())
                }
            };
            assert_eq!(found, wanted, "{what}");
        }
    }
}
