//! From the words of `troupe run` to what is to be run.

use std::{fs, io};

use serde_json::Value;
use uuid::Uuid;

use super::{
    args::{RunFlags, RunLine, without_key},
    spec::{self, RunSpec, Supervision},
};
use crate::{
    actors::{
        front::unattended::{limits::Limits, task::Check},
        json_answer,
    },
    cli::{VERSION, env::Environment, files, first_message, nats::flags::without_address, paths, stdin},
    protocol::{
        command::Input,
        time::{iso, now_ms},
    },
    store::session::session_id,
};

/// The check's retries without `--verify-retries`.
const CHECK_RETRIES: u32 = 2;
/// The check's time without `--verify-timeout`.
const CHECK_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(600);

/// An id for a run that was given none: such ids sort by time.
#[must_use]
pub fn fresh_id() -> String {
    let time: String = iso(now_ms()).chars().filter(char::is_ascii_digit).take(14).collect();
    let (day, clock) = time.split_at(8);
    let random = Uuid::new_v4().simple().to_string();
    format!("{day}-{clock}-{}", &random[..6])
}

/// The prompts of the line, with what they must say about the form of the answer.
///
/// # Errors
/// A file or standard input cannot be read, or there is no prompt.
pub fn prompts(environment: &Environment, line: &RunLine, schema: Option<&Value>) -> Result<Vec<Input>, String> {
    let attachments = files::attach(&line.agent.files, &environment.cwd, environment.home.as_deref())
        .map_err(|error| error.to_string())?;
    let piped = match line.from_stdin {
        true => stdin::read(io::stdin().lock()).map_err(|error| format!("standard input cannot be read: {error}"))?,
        false => None,
    };
    let mut prompts = first_message::prompts(piped, attachments, line.agent.messages.clone());
    if let (Some(last), Some(schema)) = (prompts.last_mut(), schema) {
        last.text = format!("{}\n\n{}", last.text, form_of_answer(schema));
    }
    Ok(prompts)
}

/// What the last prompt says about the form of the answer.
fn form_of_answer(schema: &Value) -> String {
    format!(
        "When everything is done, answer with one JSON value and nothing else. It must fit this JSON schema:\n{schema}"
    )
}

/// The schema that the line names.
///
/// # Errors
/// It cannot be read, or is none.
pub fn schema_of(environment: &Environment, flags: &RunFlags) -> Result<Option<Value>, String> {
    let Some(file) = &flags.output_schema else { return Ok(None) };
    let path = paths::absolute(file, &environment.cwd, environment.home.as_deref());
    let refused = |error: &dyn std::fmt::Display| format!("--output-schema {}: {error}", path.display());
    let text = fs::read_to_string(&path).map_err(|error| refused(&error))?;
    let schema: Value = serde_json::from_str(&text).map_err(|error| refused(&error))?;
    json_answer::compile(&schema).map_err(|error| refused(&error))?;
    Ok(Some(schema))
}

/// A new run.
#[must_use]
pub fn new_run(
    environment: &Environment,
    id: String,
    words: &[String],
    line: &RunLine,
    prompts: Vec<Input>,
    schema: Option<Value>,
) -> RunSpec {
    let flags = &line.run;
    let stem = Uuid::new_v4().simple().to_string()[..12].to_owned();
    let usual = Supervision::default();
    let check = flags.verify.as_ref().map(|command| Check {
        command: command.clone(),
        timeout: flags.verify_timeout.map_or(CHECK_TIMEOUT, |span| span.0),
        retries: flags.verify_retries.unwrap_or(CHECK_RETRIES),
    });
    RunSpec {
        id,
        version: VERSION.to_owned(),
        created: now_ms(),
        cwd: environment.cwd.clone(),
        words: without_address(&without_key(words)),
        prompts: spec::with_ids(prompts, &stem),
        stem,
        session_id: line.agent.session.session_id.clone().unwrap_or_else(session_id),
        limits: Limits { turns: flags.max_turns, cost: flags.max_cost, tokens: flags.max_tokens },
        timeout: flags.timeout.map(|span| span.0),
        supervision: Supervision {
            max_restarts: flags.max_restarts.unwrap_or(usual.max_restarts),
            stall: flags.stall.map_or(usual.stall, |span| span.0),
            grace: flags.grace.map_or(usual.grace, |span| span.0),
        },
        check,
        schema,
        require_change: flags.require_change,
        notify: flags.notify.clone(),
        on: None,
        node: None,
    }
}

/// The limits of a run that is gone on with: those that the line names take the place of those that it had.
pub fn change_limits(spec: &mut RunSpec, flags: &RunFlags) {
    let limits = &mut spec.limits;
    limits.turns = flags.max_turns.or(limits.turns);
    limits.cost = flags.max_cost.or(limits.cost);
    limits.tokens = flags.max_tokens.or(limits.tokens);
    spec.timeout = flags.timeout.map(|span| span.0).or(spec.timeout);
    let supervision = &mut spec.supervision;
    supervision.max_restarts = flags.max_restarts.unwrap_or(supervision.max_restarts);
    supervision.stall = flags.stall.map_or(supervision.stall, |span| span.0);
    supervision.grace = flags.grace.map_or(supervision.grace, |span| span.0);
    spec.notify = flags.notify.clone().or(spec.notify.take());
}

/// Whether these are the prompts of the run.
#[must_use]
pub fn is_same(spec: &RunSpec, prompts: &[Input]) -> bool {
    let words = |prompts: &[Input]| {
        prompts.iter().map(|prompt| (prompt.text.clone(), prompt.images.clone())).collect::<Vec<_>>()
    };
    words(&spec.prompts) == words(prompts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_runs_sort_by_time_and_name_folders() {
        let id = fresh_id();
        assert!(crate::store::session::check_session_id(&id).is_ok() && id.len() == 22, "{id}");
        assert!(id.starts_with("20") && id.chars().nth(8) == Some('-'), "{id}");
    }
}
