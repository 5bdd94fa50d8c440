//! `troupe team run --resume`: goes on with a run whose process is gone.

use std::{fs::File, path::Path, sync::Arc};

use super::{
    args::ResumeArgs,
    away::Away,
    models::Look,
    record::RunRecord,
    report::{Place, report, report_all},
    results,
    run::{Prepared, Refusal, Runs, ended, flags},
    source::Source,
    texts::read_copy,
};
use crate::{
    actors::team::result::TeamResult,
    cli::{
        env::Environment,
        exit::Exit,
        paths::absolute,
        start::{self, StartError},
    },
    extensions::ExtensionRegistry,
    store::{StoreError, lock::lock},
};

pub(super) fn run(environment: &Environment, args: &ResumeArgs, extensions: &ExtensionRegistry) -> Exit {
    ended(go_on(environment, args, extensions))
}

fn go_on(environment: &Environment, args: &ResumeArgs, extensions: &ExtensionRegistry) -> Result<Exit, Refusal> {
    let folder = absolute(&args.folder, &environment.cwd, environment.home.as_deref());
    let record = RunRecord::read(&folder).map_err(Refusal::Usage)?;
    let folder = record.folder.clone();
    let place = Place { folder: folder.clone(), json: args.json, is_away: record.is_away };
    if let Some(exit) = told_again(&record, &place)? {
        return Ok(exit);
    }
    // Agents go on where they were, wherever the user is now.
    let mut environment = environment.clone();
    environment.cwd.clone_from(&record.cwd);
    let (shown, text) = read_copy(&folder, &record.file).map_err(Refusal::Usage)?;
    record.texts.check_team(&shown, &text).map_err(Refusal::Usage)?;
    let source = Source { file: record.file.clone(), shown, text };
    let team = source.team().map_err(Refusal::Usage)?;
    record.texts.check_files().map_err(Refusal::Usage)?;
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
    source.check(&environment, &team, Look::Run(&flags, away.as_ref()), extensions).map_err(Refusal::Usage)?;
    let prepared = Prepared {
        source,
        team: Arc::new(team),
        inputs: record.inputs.clone(),
        texts: record.texts.clone(),
        words,
        flags,
        away,
    };
    let runs = Runs { environment: &environment, extensions, prepared: &prepared, is_told: !args.json };
    let place = runs.place(&folder);
    match record.repeat {
        None => {
            let (result, exit) = resumed(&runs, &record)?;
            report(&result, exit, &place)
        }
        Some(times) => {
            let play = |own: &Path, seed| match RunRecord::read(own) {
                Ok(record) => resumed(&runs, &record),
                // It was broken off before this one began.
                Err(_) => runs.begun(own, seed),
            };
            report_all(&place, times, record.seed, play)
        }
    }
}

/// Tells the result of a run that came to its end, or of all, which takes none of what they began with.
fn told_again(record: &RunRecord, place: &Place) -> Result<Option<Exit>, Refusal> {
    let Some(times) = record.repeat else {
        let known = finished(&record.folder)?;
        return known.map(|(result, exit)| report(&result, exit, place)).transpose();
    };
    for number in 1..=times {
        if finished(&record.folder.join(format!("run-{number}")))?.is_none() {
            return Ok(None);
        }
    }
    let missing = || Refusal::Usage("a result is gone".to_owned());
    report_all(place, times, record.seed, |own, _| finished(own)?.ok_or_else(missing)).map(Some)
}

/// The result of a run that came to its end.
fn finished(folder: &Path) -> Result<Option<(TeamResult, Exit)>, Refusal> {
    let known = folder.join("result.json");
    if !known.exists() {
        return Ok(None);
    }
    let result = results::read_result(&known).map_err(Refusal::Usage)?;
    let exit = Exit::of_front(i32::from(result.exit));
    Ok(Some((result, exit)).filter(|(result, _)| result.outcome != "stopped"))
}

/// Goes on with one run. One that came to its end tells its result again.
fn resumed(runs: &Runs<'_>, record: &RunRecord) -> Result<(TeamResult, Exit), Refusal> {
    if let Some(known) = finished(&record.folder)? {
        return Ok(known);
    }
    check_place(record)?;
    // The process may have ended before its copy of the file was written.
    runs.keep(record)?;
    Ok(runs.play(record)?)
}

/// Whether the folder of the agents is there, and nobody else carries the run out.
fn check_place(record: &RunRecord) -> Result<(), Refusal> {
    if !record.cwd.is_dir() {
        let text = "the folder that the agents of the run work in is gone: put it back to go on with the run";
        return Err(Refusal::Usage(format!("{}: {text}", record.cwd.display())));
    }
    let file = record.folder.join("sessions").join("team.jsonl");
    // Nothing was noted yet, or the start says what is wrong with it.
    let Ok(opened) = File::open(&file) else { return Ok(()) };
    match lock(&opened, &file) {
        Err(StoreError::Locked { holder, .. }) => {
            let who = holder.map_or(String::new(), |holder| format!(" ({holder})"));
            let folder = record.folder.display();
            let text = format!("another process{who} carries out the run in {folder}: wait until it ends, or stop it");
            Err(Refusal::Start(StartError::Failed(text)))
        }
        _ => Ok(()),
    }
}
