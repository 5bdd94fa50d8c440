//! `troupe run --on`: gives a run to the server, or goes on with one that it has.

use super::{
    address::{Client, with_client},
    error::OnError,
    follow::{Follow, follow},
    record::{Ended, RESULT, SPEC, STATE, STOP, Standing, Submitted},
};
use crate::{
    actors::nats::{Job, Put, Versioned},
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

/// How often two clients may get into each other's way before one of them gives up.
const ATTEMPTS: usize = 5;

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
        let spec = RunSpec { on: Some(client.shown.clone()), ..spec };
        let wanted = Wanted { line, prompts, spec };
        let run = wanted.spec.id.clone();
        let followed = match submit(&client, wanted).await? {
            Submission::Over(ended) if detach => return Ok(print(&format!("{}\n", ended.result.run_id))),
            Submission::Over(ended) => return tell_again(&client, &run, &ended, form).await,
            Submission::Under(followed) => followed,
        };
        match detach {
            true => Ok(print(&format!("{run}\n"))),
            false => follow(&client, *followed, form).await,
        }
    })
}

/// What a line asks for.
struct Wanted<'a> {
    line: &'a RunLine,
    prompts: Vec<Input>,
    spec: RunSpec,
}

/// Where a run stands after it was asked for.
enum Submission {
    /// It has its result for good.
    Over(Box<Ended>),
    /// This request is to be followed.
    Under(Box<Follow>),
}

async fn submit(client: &Client, wanted: Wanted<'_>) -> Result<Submission, OnError> {
    let Wanted { line, prompts, spec } = wanted;
    let hub = &client.hub;
    let run = spec.id.clone();
    for _ in 0..ATTEMPTS {
        let known: Option<Versioned<Submitted>> = hub.get(&run, SPEC).await?;
        let (submitted, is_fresh) = match known {
            None => {
                if prompts.is_empty() {
                    let known = line.run.run_id.as_ref().map(|id| format!("there is no run {id} yet, and "));
                    return Err(OnError::Usage(format!("{}no prompt was given.", known.unwrap_or_default())));
                }
                let pool = line.run.pool.clone().unwrap_or_else(|| POOL.to_owned());
                let new = Submitted { number: 1, pool, at: now_ms(), spec: spec.clone() };
                match hub.put_new(&run, SPEC, &new).await? {
                    Put::New => (new, true),
                    Put::There(_) => continue,
                }
            }
            Some(Versioned { value, revision }) => {
                if !prompts.is_empty() && !request::is_same(&value.spec, &prompts) {
                    return Err(OnError::Usage(format!(
                        "the run {run} exists, and its prompts are others. Choose another --run-id, or go on with it by \
                         `{}`.",
                        value.spec.resume()
                    )));
                }
                let ended: Option<Ended> = hub.get(&run, RESULT).await?.map(|record| record.value);
                match ended.filter(|ended| ended.number >= value.number) {
                    None => (value, false),
                    Some(ended) if !ended.result.outcome.can_go_on() => {
                        return Ok(Submission::Over(Box::new(ended)));
                    }
                    Some(_) => {
                        let next = next_request(value, line);
                        match hub.update(&run, SPEC, revision, &next).await? {
                            Some(_) => {}
                            None => continue,
                        }
                        // The wish was for the request before.
                        hub.delete(&run, STOP).await?;
                        (next, true)
                    }
                }
            }
        };
        let standing: Option<Standing> = hub.get(&run, STATE).await?.map(|record| record.value);
        // Somebody may have made the request and died before it was queued.
        if is_fresh || standing.is_none_or(|standing| standing.taken(submitted.number).is_none()) {
            hub.submit(&submitted.pool, &Job { run: run.clone(), number: submitted.number }).await?;
        }
        return Ok(Submission::Under(Box::new(Follow { submitted, is_fresh })));
    }
    Err(OnError::System(format!("others ask for the run {run} at the same time; try again")))
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
    print_result(&ended.result, form);
    Ok(ended.result.exit())
}
