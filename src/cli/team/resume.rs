//! `troupe team run --resume`: goes on with a run whose process is gone.

use std::{path::Path, sync::Arc};

use super::{
    args::ResumeArgs,
    away::Away,
    check,
    record::RunRecord,
    results,
    run::{Prepared, Refusal, Runs, ended, flags, report, report_all},
};
use crate::{
    actors::team::{file::TeamFile, result::TeamResult},
    cli::{env::Environment, exit::Exit, paths::absolute, start},
    extensions::ExtensionRegistry,
    store::regular_file,
};

pub(super) fn run(environment: &Environment, args: &ResumeArgs, extensions: &ExtensionRegistry) -> Exit {
    ended(go_on(environment, args, extensions))
}

fn go_on(environment: &Environment, args: &ResumeArgs, extensions: &ExtensionRegistry) -> Result<Exit, Refusal> {
    let folder = absolute(&args.folder, &environment.cwd, environment.home.as_deref());
    let record = RunRecord::read(&folder).map_err(Refusal::Usage)?;
    let folder = record.folder.clone();
    // Agents go on where they were, wherever the user is now.
    let mut environment = environment.clone();
    environment.cwd.clone_from(&record.cwd);
    let copy = folder.join("team.toml");
    let text = regular_file::read_to_string(&copy)
        .map_err(|error| Refusal::Usage(format!("{} cannot be read: {error}", copy.display())))?;
    let team = TeamFile::parse(&record.file, text.clone()).map_err(|error| Refusal::Usage(error.to_string()))?;
    check::tools(&team, &record.file, extensions).map_err(Refusal::Usage)?;
    let (away, words) = Away::take(&[&record.flags[..], &args.key, &args.on].concat()).map_err(Refusal::Usage)?;
    if record.is_away && away.is_none() {
        let told = "the agents of this run work on a NATS server's workers: say --on URL again";
        return Err(Refusal::Usage(told.to_owned()));
    }
    if away.is_some() && !record.is_away {
        let told = "the agents of this run work in its own process: --on is for a run that began with it";
        return Err(Refusal::Usage(told.to_owned()));
    }
    let flags = flags(&environment, &words, extensions)?;
    start::prepare(&environment, &flags)?;
    let prepared = Prepared {
        file: record.file.clone(),
        text,
        team: Arc::new(team),
        inputs: record.inputs.clone(),
        words,
        flags,
        away,
    };
    let runs = Runs { environment: &environment, extensions, prepared: &prepared, is_told: !args.json };
    match record.repeat {
        None => {
            let (result, exit) = resumed(&runs, &record)?;
            report(&result, &folder, args.json)?;
            Ok(exit)
        }
        Some(times) => {
            let play = |own: &Path, seed| match RunRecord::read(own) {
                Ok(record) => resumed(&runs, &record),
                // It was broken off before this one began.
                Err(_) => runs.begun(own, seed),
            };
            report_all(&folder, times, record.seed, args.json, play)
        }
    }
}

/// Goes on with one run. One that came to its end tells its result again.
fn resumed(runs: &Runs<'_>, record: &RunRecord) -> Result<(TeamResult, Exit), Refusal> {
    let known = record.folder.join("result.json");
    if known.exists() {
        let result = results::read_result(&known).map_err(Refusal::Usage)?;
        if result.outcome != "stopped" {
            let exit = Exit::of_front(i32::from(result.exit));
            return Ok((result, exit));
        }
    }
    Ok(runs.play(record)?)
}
