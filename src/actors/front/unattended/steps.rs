//! What a run does next.

use serde_json::Value;

use super::{
    look::Look,
    outcome::Outcome,
    progress::{Answer, Progress},
    task::{Message, Task},
};
use crate::{actors::account::Exhausted, protocol::EntryId};

/// What comes next while no trace runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Say something to the agent.
    Say(Message, String),
    /// Find out what was done so far.
    Look,
    /// Run the check.
    Check,
    /// The run is over.
    End(Outcome, Option<String>),
}

impl Step {
    /// Whether it judges the work, which is not over while siblings have a part in it.
    #[must_use]
    pub fn judges(&self) -> bool {
        match self {
            Self::Check => true,
            Self::End(outcome, _) => !outcome.can_go_on(),
            Self::Say(..) | Self::Look => false,
        }
    }
}

/// What is known beside the session's end, as of an entry: it is found out anew when something was said since.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// What was done so far, over all sessions.
    pub look: Option<(Option<EntryId>, Look)>,
    /// What the check says: nothing when it is content.
    pub check: Option<(Option<EntryId>, Result<(), String>)>,
    /// Whether the answer has its form.
    pub form: Option<Result<Value, String>>,
    /// The limit that is reached, and more about it: nothing may be asked of the model.
    pub limit: Option<(Outcome, Option<String>)>,
    /// The run is to end like this.
    pub stopping: Option<(Outcome, Option<String>)>,
}

/// Decides. The order at the end is from the cheap to the dear: the answer, the files, the check, the form.
#[must_use]
pub fn next(task: &Task, progress: &Progress, found: &Findings) -> Step {
    if progress.prompts == 0 && found.stopping.is_none() && found.limit.is_none() {
        // Nothing was said, so nothing is spent; whatever the session ends with is not the run's.
        return Step::Say(Message::Prompt(0), String::new());
    }
    let Some((_, look)) = found.look.as_ref().filter(|(leaf, _)| *leaf == progress.leaf) else { return Step::Look };
    if let Some((outcome, reason)) = &found.stopping {
        return Step::End(*outcome, reason.clone());
    }
    let say = |message, text: String| match &found.limit {
        Some((limit, reason)) => Step::End(*limit, reason.clone()),
        None => Step::Say(message, text),
    };
    let failed = |reason: &str| Step::End(Outcome::Failed, Some(reason.to_owned()));
    if progress.prompts == 0 {
        return say(Message::Prompt(0), String::new());
    }
    match &progress.answer {
        Answer::Failed(_) | Answer::Owed if !progress.goes_on => {
            return say(Message::GoOn(task.continued), go_on(&progress.answer));
        }
        Answer::Failed(reason) => {
            return match Exhausted::parse(reason) {
                Some(limit) => Step::End(Outcome::of_limit(limit.what), Some(limit.message)),
                None => failed(reason),
            };
        }
        _ if progress.prompts < task.prompts.len() => return say(Message::Prompt(progress.prompts), String::new()),
        Answer::Owed => return failed("The model gave no answer."),
        Answer::CutOff(_) => return failed("The answer was cut off: it hit the output token limit."),
        Answer::Given(_) => {}
    }
    if task.require_change && look.files.is_empty() {
        return Step::End(Outcome::NoChange, None);
    }
    if let Some(check) = &task.check {
        match found.check.as_ref().filter(|(leaf, _)| *leaf == progress.leaf) {
            None => return Step::Check,
            Some((_, Ok(()))) => {}
            Some((_, Err(failure))) if progress.checks < check.retries => {
                return say(Message::CheckFailed(progress.checks + 1), failure.clone());
            }
            Some((_, Err(failure))) => return Step::End(Outcome::VerificationFailed, Some(failure.clone())),
        }
    }
    match &found.form {
        Some(Err(faults)) if !progress.form => return say(Message::Form, other_form(faults)),
        Some(Err(faults)) => return Step::End(Outcome::SchemaNotMet, Some(faults.clone())),
        Some(Ok(_)) | None => {}
    }
    match task.fail_when_denied && !look.denied.is_empty() {
        true => Step::End(Outcome::Denied, None),
        false => Step::End(Outcome::Done, None),
    }
}

fn go_on(answer: &Answer) -> String {
    let why = match answer {
        Answer::Failed(reason) => format!("The run was interrupted ({reason})."),
        _ => "The run was interrupted.".to_owned(),
    };
    format!("{why} Go on with the task where you stopped. Look at what is there before you repeat anything.")
}

fn other_form(faults: &str) -> String {
    format!(
        "Your answer does not have the form that was asked for:\n{faults}\nAnswer again with one JSON value that fits the \
         schema, and nothing else."
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::{actors::front::unattended::task::Check, protocol::command::Input};

    fn task() -> Task {
        Task { prompts: vec![Input::text("a"), Input::text("b")], stem: "s".into(), ..Task::default() }
    }

    fn with_check() -> Task {
        let check = Check { command: "c".into(), timeout: Duration::from_secs(1), retries: 1 };
        Task { check: Some(check), ..task() }
    }

    fn at(prompts: usize, answer: Answer) -> Progress {
        Progress { prompts, goes_on: true, answer, leaf: Some("l".into()), ..Progress::default() }
    }

    fn looked(files: &[&str]) -> Findings {
        let look = Look { files: files.iter().map(|file| (*file).to_owned()).collect(), ..Look::default() };
        Findings { look: Some((Some("l".into()), look)), ..Findings::default() }
    }

    fn describe(step: &Step) -> String {
        match step {
            Step::Say(message, _) => format!("say {message:?}"),
            Step::Look => "look".to_owned(),
            Step::Check => "check".to_owned(),
            Step::End(outcome, _) => format!("end {outcome:?}"),
        }
    }

    #[test]
    fn what_comes_next_follows_from_the_task_the_session_and_what_was_found_out() {
        let given = || Answer::Given("x".into());
        let failed = || Answer::Failed("busy".into());
        let nothing = Findings::default;
        let checked = |result: Result<(), String>| Findings { check: Some((Some("l".into()), result)), ..looked(&[]) };
        let form = |form: Result<Value, String>| Findings { form: Some(form), ..looked(&[]) };
        let stopped = |progress: Progress| Progress { goes_on: false, ..progress };
        let ending = |found: Findings| Findings { stopping: Some((Outcome::Cancelled, None)), ..found };
        let again = || Task { continued: 2, ..task() };
        let over = |found: Findings| Findings { limit: Some((Outcome::TurnLimit, None)), ..found };
        let out_of = |word: &str| Answer::Failed(format!("Out of budget ({word}): main has used 2 of 1"));
        let denied = || {
            let look = Look { denied: vec!["x".into()], ..Look::default() };
            Findings { look: Some((Some("l".into()), look)), ..Findings::default() }
        };
        let table: Vec<(Task, Progress, Findings, &str)> = vec![
            (task(), at(0, Answer::Owed), nothing(), "say Prompt(0)"),
            (task(), at(1, given()), nothing(), "look"),
            (task(), at(1, given()), looked(&[]), "say Prompt(1)"),
            (task(), at(2, given()), nothing(), "look"),
            (task(), at(2, given()), looked(&[]), "end Done"),
            (task(), at(1, failed()), nothing(), "look"),
            (task(), at(1, failed()), looked(&[]), "end Failed"),
            (task(), at(2, Answer::CutOff("x".into())), looked(&[]), "end Failed"),
            (task(), at(2, Answer::Owed), looked(&[]), "end Failed"),
            // An answer that failed before the run's first prompt is not the run's.
            (task(), at(0, failed()), nothing(), "say Prompt(0)"),
            // After a stop.
            (again(), stopped(at(1, failed())), looked(&[]), "say GoOn(2)"),
            (again(), stopped(at(1, Answer::Owed)), looked(&[]), "say GoOn(2)"),
            (again(), stopped(at(1, given())), looked(&[]), "say Prompt(1)"),
            (again(), stopped(at(2, given())), looked(&[]), "end Done"),
            (again(), stopped(at(0, Answer::Owed)), nothing(), "say Prompt(0)"),
            (again(), at(2, failed()), looked(&[]), "end Failed"),
            // Limits and stops.
            (task(), at(1, given()), over(looked(&[])), "end TurnLimit"),
            (task(), at(2, given()), over(looked(&[])), "end Done"),
            (task(), at(0, Answer::Owed), over(nothing()), "look"),
            (task(), at(0, Answer::Owed), over(looked(&[])), "end TurnLimit"),
            (again(), stopped(at(1, failed())), over(looked(&[])), "end TurnLimit"),
            (task(), at(1, out_of("tokens")), looked(&[]), "end TokenLimit"),
            (task(), at(2, out_of("cost")), over(looked(&[])), "end CostLimit"),
            (again(), stopped(at(1, out_of("tokens"))), looked(&[]), "say GoOn(2)"),
            (again(), at(1, out_of("tokens")), looked(&[]), "end TokenLimit"),
            (task(), at(0, Answer::Owed), ending(nothing()), "look"),
            (task(), at(1, Answer::Owed), ending(nothing()), "look"),
            (task(), at(1, Answer::Owed), ending(looked(&[])), "end Cancelled"),
            // What is asked of the result.
            (Task { require_change: true, ..task() }, at(2, given()), looked(&[]), "end NoChange"),
            (Task { require_change: true, ..task() }, at(2, given()), looked(&["f"]), "end Done"),
            (with_check(), at(2, given()), looked(&[]), "check"),
            (with_check(), at(2, given()), checked(Ok(())), "end Done"),
            (with_check(), at(2, given()), checked(Err("no".into())), "say CheckFailed(1)"),
            (with_check(), at(2, given()), over(checked(Err("no".into()))), "end TurnLimit"),
            (
                with_check(),
                Progress { checks: 1, ..at(2, given()) },
                checked(Err("no".into())),
                "end VerificationFailed",
            ),
            (task(), at(2, given()), form(Ok(json!(1))), "end Done"),
            (task(), at(2, given()), form(Err("no".into())), "say Form"),
            (task(), Progress { form: true, ..at(2, given()) }, form(Err("no".into())), "end SchemaNotMet"),
            (Task { fail_when_denied: true, ..task() }, at(2, given()), denied(), "end Denied"),
            (task(), at(2, given()), denied(), "end Done"),
        ];
        for (task, progress, found, wanted) in table {
            assert_eq!(describe(&next(&task, &progress, &found)), wanted, "{progress:?} {found:?}");
        }
    }

    #[test]
    fn what_was_found_out_before_the_last_word_is_found_out_again() {
        let old = Some(EntryId::from("old"));
        let found = Findings { check: Some((old.clone(), Ok(()))), ..looked(&[]) };
        let progress = at(2, Answer::Given("x".into()));
        assert_eq!(next(&with_check(), &progress, &found), Step::Check);
        let found = Findings { look: Some((old, Look::default())), ..found };
        assert_eq!(next(&with_check(), &progress, &found), Step::Look);
    }
}
