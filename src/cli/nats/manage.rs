//! `troupe runs … --on`.

use std::path::Path;

use serde_json::{Map, json};

use super::{
    address::{Client, with_client},
    error::OnError,
    flags::NatsFlags,
    followed::Followed,
    record::{Ended, Note, RESULT, SPEC, Submitted, Term, standing},
    stop::{Stopping, stop},
};
use crate::{
    actors::{
        front::complain,
        nats::{Events, SessionLog},
    },
    cli::{
        env::Environment,
        exit::Exit,
        paths,
        run::{fail, print, write_out},
        runs::{
            args::{Removal, RunsCommand},
            begin,
            folder::{FolderError, pick},
            list::{self, Told},
            manage::told,
        },
    },
    extensions::ExtensionRegistry,
    protocol::time::iso,
    store::paths::create_private_dir,
};

/// Carries the command out.
pub fn run(environment: &Environment, flags: &NatsFlags, command: RunsCommand, extensions: &ExtensionRegistry) -> Exit {
    manage(environment, flags, command, extensions).unwrap_or_else(|error| {
        fail(&error.to_string());
        error.exit()
    })
}

fn manage(
    environment: &Environment,
    flags: &NatsFlags,
    command: RunsCommand,
    extensions: &ExtensionRegistry,
) -> Result<Exit, OnError> {
    if let RunsCommand::Resume { id, more } = command {
        let id = with_client(environment, flags, async |client| find(&client, &id).await)?;
        let words: Vec<String> = ["--run-id".to_owned(), id].into_iter().chain(more).collect();
        return Ok(begin::supervise_on(environment, &words, flags, extensions));
    }
    with_client(environment, flags, async |client| match command {
        RunsCommand::List { json } => {
            let mut told = Vec::new();
            for run in client.hub.runs(SPEC).await? {
                told.extend(told_of(&client, &run).await?);
            }
            Ok(print(&list::list(told, json)))
        }
        RunsCommand::Show { id, json } => {
            let run = find(&client, &id).await?;
            match told_of(&client, &run).await? {
                Some(told) => Ok(print(&list::show(&told, json))),
                None => Err(OnError::Usage(format!("the run {run} was removed meanwhile"))),
            }
        }
        RunsCommand::Logs { id, events, follow } => {
            let run = find(&client, &id).await?;
            logs(&client, &run, events, follow).await
        }
        RunsCommand::Stop { id } => {
            let run = find(&client, &id).await?;
            stop_run(&client, &run).await
        }
        RunsCommand::Remove(removal) => remove(&client, removal).await,
        RunsCommand::Fetch { id, dir } => {
            let run = find(&client, &id).await?;
            let dir = paths::absolute(&dir, &environment.cwd, environment.home.as_deref());
            fetch(&client, &run, &dir).await
        }
        // Above.
        RunsCommand::Resume { .. } => Ok(Exit::Done),
    })
}

/// The run that is meant by its id or the beginning of one.
///
/// # Errors
/// There is none, or there are several.
pub async fn find(client: &Client, id: &str) -> Result<String, OnError> {
    pick(&client.hub.runs(SPEC).await?, id).map_err(|error| match error {
        FolderError::Unknown(id) => {
            OnError::Usage(format!("There is no run {id} there. `troupe runs list --on {}` shows all.", client.typed))
        }
        error => error.into(),
    })
}

/// A run with what the server knows of it; none when it is gone.
async fn told_of(client: &Client, run: &str) -> Result<Option<Told>, OnError> {
    let hub = &client.hub;
    let Some(submitted) = hub.get::<Submitted>(run, SPEC).await? else { return Ok(None) };
    let submitted = submitted.value;
    let standing = standing(hub, run).await?;
    let result = submitted.end(hub).await?.map(|ended| ended.result);
    let is_owned = hub.owner(run).await?.is_some();
    let now = standing.terms.last().filter(|_| is_owned);
    let mut json = Map::new();
    json.insert("pool".to_owned(), json!(submitted.pool));
    json.insert("request".to_owned(), json!(submitted.number));
    json.insert("worker".to_owned(), json!(now.map(|term| &term.node)));
    json.insert("since".to_owned(), json!(now.map(|term| term.since)));
    json.insert("terms".to_owned(), json!(standing.terms));
    json.insert("refusals".to_owned(), json!(standing.refusals));
    let mut lines = vec![("pool", submitted.pool.clone())];
    lines.extend(standing.terms.iter().map(|term| ("worker", words_of(term))));
    let refused = |refusal: &super::record::Refusal| format!("{}: {}", refusal.node, refusal.reason);
    lines.extend(standing.refusals.iter().map(|refusal| ("refused", refused(refusal))));
    let spec = submitted.spec;
    Ok(Some(Told { spec, state: standing.state, result, is_owned, idle: "waiting", json, lines }))
}

fn words_of(term: &Term) -> String {
    let end = match term.end {
        Some(end) => format!(" to {} ({})", iso(end.at), end.how.told()),
        None => String::new(),
    };
    format!("{}, since {}{end}, in {}", term.node, iso(term.since), term.folder.display())
}

/// Prints what was told of a run; with `follow` until nothing more comes.
async fn logs(client: &Client, run: &str, events: bool, follow: bool) -> Result<Exit, OnError> {
    let hub = &client.hub;
    let number = hub.get::<Submitted>(run, SPEC).await?.map_or(0, |submitted| submitted.value.number);
    let mut lines = hub.events(run, true).await?;
    if follow {
        let mut results: Followed<Ended> = Followed::of(hub, run, RESULT);
        loop {
            tokio::select! {
                line = lines.next() => {
                    if !log_line(&line?, events)? {
                        return Ok(Exit::Done);
                    }
                }
                ended = results.next() => {
                    if ended.is_some_and(|ended| ended.number >= number) {
                        break;
                    }
                }
            }
        }
        lines.to_end().await?;
    }
    rest(&mut lines, events).await
}

async fn rest(lines: &mut Events, events: bool) -> Result<Exit, OnError> {
    while let Some(line) = lines.next_stored().await? {
        if !log_line(&line, events)? {
            break;
        }
    }
    Ok(Exit::Done)
}

/// Prints a line; false when nobody reads any more.
fn log_line(line: &str, events: bool) -> Result<bool, OnError> {
    let text = match (Note::of(line), events) {
        (None, true) => line.to_owned(),
        (Some(Note::Taken { node, at, .. }), false) => format!("--- worker {node}, {} ---", iso(at)),
        (Some(Note::Supervisor { text } | Note::Worker { text }), false) => text,
        _ => return Ok(true),
    };
    match write_out(&format!("{text}\n")) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(OnError::System(format!("standard output cannot be written: {error}"))),
        Ok(()) => Ok(true),
    }
}

/// Forgets runs. Each is told; what cannot be removed keeps nothing else from it.
async fn remove(client: &Client, removal: Removal) -> Result<Exit, OnError> {
    let mut runs = Vec::new();
    match removal {
        Removal::Named(ids) => {
            for id in ids {
                runs.push(find(client, &id).await?);
            }
            runs.sort_unstable();
            runs.dedup();
        }
        Removal::Ended => {
            for run in client.hub.runs(SPEC).await? {
                if has_ended(client, &run).await? {
                    runs.push(run);
                }
            }
        }
    }
    let mut removed = Vec::new();
    for run in runs {
        let result = match has_ended(client, &run).await? {
            true => client.hub.forget(&run).await.map_err(|error| format!("the run {run} cannot be removed: {error}")),
            false => {
                let on = &client.typed;
                Err(format!("the run {run} has not ended: `troupe runs stop {run} --on {on}` ends it."))
            }
        };
        removed.push((run, result));
    }
    Ok(told(removed))
}

/// Brings the sessions of a run into a new folder, and prints where they are.
async fn fetch(client: &Client, run: &str, dir: &Path) -> Result<Exit, OnError> {
    let refused =
        |why: String| OnError::System(format!("the sessions cannot be brought into {}: {why}", dir.display()));
    if dir.read_dir().is_ok_and(|mut files| files.next().is_some()) {
        return Err(OnError::Usage(format!("{} holds files already: name a new folder", dir.display())));
    }
    create_private_dir(dir).map_err(|error| refused(error.to_string()))?;
    if !SessionLog::restore(&client.hub, run, dir).await? {
        return Err(OnError::System(format!("the run {run} has no session yet")));
    }
    let files = dir.read_dir().map_err(|error| refused(error.to_string()))?;
    let mut sessions: Vec<_> = files.flatten().map(|file| file.path()).collect();
    sessions.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    sessions.sort_unstable();
    Ok(print(&sessions.iter().map(|path| format!("{}\n", path.display())).collect::<String>()))
}

/// Whether a run has a result, and nobody works on it.
async fn has_ended(client: &Client, run: &str) -> Result<bool, OnError> {
    let hub = &client.hub;
    let Some(submitted) = hub.get::<Submitted>(run, SPEC).await? else { return Ok(false) };
    Ok(submitted.value.end(hub).await?.is_some() && hub.owner(run).await?.is_none())
}

async fn stop_run(client: &Client, run: &str) -> Result<Exit, OnError> {
    let Some(submitted) = client.hub.get::<Submitted>(run, SPEC).await? else {
        return Err(OnError::Usage(format!("the run {run} was removed meanwhile")));
    };
    let submitted = submitted.value;
    if submitted.end(&client.hub).await?.is_some() {
        let on = &client.typed;
        complain(&format!("The run {run} is not running. `troupe runs show {run} --on {on}` tells how it ended."));
        return Ok(Exit::Done);
    }
    let state = match stop(client, &submitted, Exit::Terminated).await? {
        Stopping::Settles => "is settling",
        Stopping::Over => "is stopped; no worker had it",
    };
    complain(&format!("The run {run} {state}. Go on with it: {}", submitted.spec.resume()));
    Ok(Exit::Done)
}
