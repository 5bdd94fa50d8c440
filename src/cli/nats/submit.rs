//! `troupe run --on`: gives a run to the server, or goes on with one that it has.

use super::{
    address::{Client, with_client},
    error::OnError,
    follow::follow,
    record::{Ended, Submitted},
    request::{Requested, requested},
};
use crate::{
    cli::{
        env::Environment,
        exit::Exit,
        nats::args::POOL,
        run::print,
        runs::{
            args::{OutputForm, RunLine},
            output::print_result,
            request,
            spec::RunSpec,
        },
    },
    protocol::{command::Input, time::now_ms},
};

/// Gives the run that these words mean to the server, and follows it to its end.
///
/// # Errors
/// The words make no sense, or the server cannot be used.
pub fn run(environment: &Environment, words: &[String], line: &RunLine) -> Result<Exit, OnError> {
    let id = line.run.run_id.clone().unwrap_or_else(request::fresh_id);
    let schema = request::schema_of(environment, &line.run).map_err(OnError::Usage)?;
    let prompts = request::prompts(environment, line, schema.as_ref()).map_err(OnError::Usage)?;
    let form = line.run.output_form.unwrap_or_default();
    let detach = line.run.detach;
    with_client(environment, &line.run.nats, async |client| {
        let spec = request::new_run(environment, id, words, line, prompts.clone(), schema);
        let spec = RunSpec { on: Some(client.typed.clone()), ..spec };
        let requested = submit(&client, line, &prompts, &spec).await?;
        let run = &spec.id;
        match &requested.ended {
            _ if detach => Ok(print(&format!("{run}\n"))),
            Some(ended) => tell_again(&client, run, ended, form).await,
            None => follow(&client, requested, form).await,
        }
    })
}

/// The request that is to be followed, or has its end for good.
async fn submit(client: &Client, line: &RunLine, prompts: &[Input], spec: &RunSpec) -> Result<Requested, OnError> {
    let run = &spec.id;
    let first = || {
        if prompts.is_empty() {
            let known = line.run.run_id.as_ref().map(|id| format!("there is no run {id} yet, and "));
            return Err(OnError::Usage(format!("{}no prompt was given.", known.unwrap_or_default())));
        }
        let pool = line.run.pool.clone().unwrap_or_else(|| POOL.to_owned());
        Ok(Submitted { number: 1, pool, at: now_ms(), spec: spec.clone() })
    };
    let next = |known: &Submitted, ended: Option<&Ended>| {
        if !prompts.is_empty() && !request::is_same(&known.spec, prompts) {
            return Err(OnError::Usage(format!(
                "the run {run} exists, and its prompts are others. Choose another --run-id, or go on with it by `{}`.",
                known.spec.resume()
            )));
        }
        let goes_on = ended.is_some_and(|ended| ended.result.outcome.can_go_on());
        Ok(goes_on.then(|| next_request(known.clone(), line)))
    };
    requested(&client.hub, run, first, next)
        .await?
        .ok_or_else(|| OnError::System(format!("others ask for the run {run} at the same time; try again")))
}

/// The request that goes on with a run.
fn next_request(before: Submitted, line: &RunLine) -> Submitted {
    let mut spec = before.spec;
    request::change_limits(&mut spec, &line.run);
    let pool = line.run.pool.clone().unwrap_or(before.pool);
    Submitted { number: before.number + 1, pool, at: now_ms(), spec }
}

/// Tells the result of a run that has it for good.
async fn tell_again(client: &Client, run: &str, ended: &Ended, form: OutputForm) -> Result<Exit, OnError> {
    if form == OutputForm::Events {
        super::follow::print_stored(&mut client.hub.events(run, true).await?).await?;
    }
    Ok(print_result(&ended.result, form))
}
