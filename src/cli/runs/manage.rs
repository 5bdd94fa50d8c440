//! `troupe runs`.

use super::{
    args::{Removal, RunsCommand},
    begin,
    folder::{FolderError, RunFolder},
    lease::{Lease, owner_of},
    list::{self, Told},
    logs,
};
use crate::{
    actors::front::complain,
    cli::{
        env::Environment,
        exit::Exit,
        run::{fail, print},
    },
    extensions::ExtensionRegistry,
};

/// Carries the command out.
pub fn run(environment: &Environment, command: RunsCommand, extensions: ExtensionRegistry) -> Exit {
    let find = |id: &str| RunFolder::find(&environment.user_dir, id);
    let done = match command {
        RunsCommand::List { json } => Ok(print(&list::list(list::told(&RunFolder::all(&environment.user_dir)), json))),
        RunsCommand::Show { id, json } => {
            find(&id).and_then(|run| Told::of(&run)).map(|run| print(&list::show(&run, json)))
        }
        RunsCommand::Logs { id, events, follow } => find(&id).map(|run| logs::print_log(&run, events, follow)),
        RunsCommand::Stop { id } => find(&id).map(|run| stop(&run)),
        RunsCommand::Resume { id, more } => find(&id).map(|run| {
            let words: Vec<String> = ["--run-id".to_owned(), run.id()].into_iter().chain(more).collect();
            begin::supervise(environment, &words, &extensions)
        }),
        RunsCommand::Fetch { id, .. } => find(&id).map(|run| {
            fail(&format!("the sessions of this machine's runs are here: `troupe runs show {}` says where.", run.id()));
            Exit::Usage
        }),
        RunsCommand::Remove(Removal::Named(ids)) => {
            ids.iter().map(|id| find(id)).collect::<Result<Vec<_>, _>>().map(remove)
        }
        RunsCommand::Remove(Removal::Ended) => {
            let has_ended = |run: &RunFolder| owner_of(run).is_none() && matches!(run.result(), Ok(Some(_)));
            Ok(remove(RunFolder::all(&environment.user_dir).into_iter().filter(has_ended).collect()))
        }
    };
    done.unwrap_or_else(|error: FolderError| {
        fail(&error.to_string());
        match error {
            FolderError::Io { .. } => Exit::Failed,
            _ => Exit::Usage,
        }
    })
}

/// Removes runs that nobody owns. Each is told; what cannot be removed keeps nothing else from it.
fn remove(mut runs: Vec<RunFolder>) -> Exit {
    runs.sort_by_key(RunFolder::id);
    runs.dedup();
    let removed = runs.iter().map(|run| match Lease::take(run) {
        Ok(_owned) => run.remove().map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    });
    told(runs.iter().map(RunFolder::id).zip(removed))
}

/// Tells which runs were removed, and why others were not.
pub fn told(removed: impl IntoIterator<Item = (String, Result<(), String>)>) -> Exit {
    let mut exit = Exit::Done;
    for (id, removed) in removed {
        match removed {
            Ok(()) => complain(&format!("The run {id} is removed.")),
            Err(cause) => exit = fail(&cause),
        }
    }
    exit
}

/// Asks the supervisor to stop.
fn stop(run: &RunFolder) -> Exit {
    let id = run.id();
    // A number that another process got meanwhile is not signalled.
    let Some(owner) = owner_of(run).filter(super::lease::Owner::is_alive) else {
        complain(&format!("The run {id} is not running. `troupe runs show {id}` tells how it ended."));
        return Exit::Done;
    };
    let pid = i32::try_from(owner.process.pid).ok().and_then(rustix::process::Pid::from_raw);
    match pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::TERM)) {
        Some(Ok(())) => {
            complain(&format!("The run {id} is settling. Go on with it: troupe runs resume {id}"));
            Exit::Done
        }
        Some(Err(error)) => fail(&format!("the supervisor of the run {id} cannot be signalled: {error}")),
        None => fail(&format!("the lease of the run {id} names no process")),
    }
}
