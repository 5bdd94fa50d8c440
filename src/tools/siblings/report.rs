//! What models are told about siblings.

use serde_json::{Value, json};

use crate::{
    protocol::sibling::{Outcome, SiblingEnd, SiblingId, SiblingStatus, Spent},
    tools::truncate::cut_to_units,
};

/// Characters of an answer that a model is told; the rest is where the text says.
const ANSWER: usize = 8 * 1024;

/// Which ends a result or a notice tells of.
#[must_use]
pub fn ends_details(ends: &[SiblingEnd]) -> Value {
    let one = |end: &SiblingEnd| json!({"id": end.id, "task": end.task, "outcome": end.outcome.word()});
    ends.iter().map(one).collect()
}

/// The ends that details name.
pub fn ends_in(details: &Value) -> Vec<(SiblingId, u32)> {
    let one = |end: &Value| {
        let task = end.get("task")?.as_u64()?;
        Some((SiblingId::parse(end.get("id")?.as_str()?)?, u32::try_from(task).ok()?))
    };
    details.get("ends").and_then(Value::as_array).into_iter().flatten().filter_map(one).collect()
}

/// How a task ended, with what the agent said last.
#[must_use]
pub fn told(end: &SiblingEnd) -> String {
    let task = if end.task > 1 { format!(", task {}", end.task) } else { String::new() };
    let cost = cost(&Spent { tokens: end.usage.context_tokens(), cost: end.usage.cost.total, ..Spent::default() });
    let mut text = match &end.outcome {
        Outcome::Done => format!("{}{task} is done ({cost}).", end.id),
        Outcome::Budget { message, .. } => format!("{}{task} ran out of budget: {message}.", end.id),
        Outcome::Failed { message, may_pass: true } => {
            format!("{}{task} failed: {message}. It may work later: send it a message to go on.", end.id)
        }
        Outcome::Failed { message, may_pass: false } => format!("{}{task} failed: {message}.", end.id),
        Outcome::Refused { message } => format!("{}{task} refused: {message}.", end.id),
        Outcome::Stopped { message } => format!("{}{task} was stopped: {message}.", end.id),
    };
    let answer = end.text.trim();
    if !answer.is_empty() {
        let cut = cut_to_units(answer, ANSWER);
        text.push_str(if end.outcome.is_done() { " Its answer:\n" } else { " What it said last:\n" });
        text.push_str(cut.unwrap_or(answer));
        if cut.is_some() || end.truncated {
            let rest = end.session_file.as_ref().map_or_else(
                || "ask it for the rest with agent_send".to_owned(),
                |file| format!("the last message in {file} has all of it"),
            );
            text.push_str(&format!("\n[cut: {rest}]"));
        }
    }
    if let Some(patch) = &end.patch {
        text.push_str(&format!(
            "\nIts changes, in {} files: the patch {} and the branch {}.",
            patch.files, patch.file, patch.branch
        ));
    }
    text
}

/// A line about an agent.
pub(super) fn line(status: &SiblingStatus) -> String {
    let name = status.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let state = match &status.outcome {
        Some(outcome) => format!("{}, {}", status.state.word(), outcome.word()),
        None => status.state.word().to_owned(),
    };
    let tool = status.tool.as_ref().map(|tool| format!(", runs {tool}")).unwrap_or_default();
    format!("{}{name}: {state}{tool}, {}: {}", status.id, cost(&status.spent), status.title)
}

/// What something cost.
pub(super) fn cost(spent: &Spent) -> String {
    match spent.cost > 0.0 {
        true => format!("{} tokens, ${:.4}", spent.tokens, spent.cost),
        false => format!("{} tokens", spent.tokens),
    }
}
