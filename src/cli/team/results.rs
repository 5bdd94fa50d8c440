//! The folder of a result: written when a run is over, read when results are compared.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::texts::read_text;
use crate::{
    actors::team::result::{
        TeamResult, page,
        summary::{Summary, comparison},
        timeline::Timeline,
    },
    cli::{
        exit::Exit,
        run::{fail, print},
    },
    store::{paths::create_private_dir, replace},
};

/// Makes the folder of a result, which must not hold anything yet. Files that were being written when a process was killed
/// are nothing.
pub(super) fn make(folder: &Path) -> Result<(), String> {
    match fs::read_dir(folder) {
        Ok(mut entries) => {
            if entries.any(|entry| !entry.is_ok_and(|entry| replace::is_unfinished(&entry.path()))) {
                return Err(format!("{} holds files already; name another folder with --out", folder.display()));
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(format!("{} cannot hold results: {error}", folder.display())),
    }
    create_private_dir(folder).map_err(|error| format!("{} cannot be made: {error}", folder.display()))
}

/// Writes what came of a run.
pub(super) fn write(folder: &Path, result: &TeamResult, timeline: &Timeline) -> Result<(), String> {
    write_json(&folder.join("result.json"), result)?;
    write_json(&folder.join("timeline.json"), timeline)?;
    write_text(&folder.join("timeline.html"), &page::write(result, timeline))
}

/// Writes a value as JSON for people and programs.
pub(super) fn write_json(file: &Path, value: &impl Serialize) -> Result<(), String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| format!("{}: {error}", file.display()))?;
    write_text(file, &(text + "\n"))
}

/// Writes a text, all of it or nothing.
pub(super) fn write_text(file: &Path, text: &str) -> Result<(), String> {
    replace::with(file, |out| out.write_all(text.as_bytes()))
        .map_err(|error| format!("{} cannot be written: {error}", file.display()))
}

/// `troupe team compare`.
pub(super) fn compare(folders: &[String], path: impl Fn(&str) -> PathBuf, json: bool) -> Exit {
    let mut groups = Vec::new();
    for name in folders {
        match read(&path(name)) {
            Ok(results) => groups.push((name.clone(), Summary::of(&results))),
            Err(problem) => {
                fail(&problem);
                return Exit::InvalidState;
            }
        }
    }
    if json {
        let value: Vec<_> =
            groups.iter().map(|(name, summary)| serde_json::json!({"results": name, "summary": summary})).collect();
        return print(&format!("{:#}\n", serde_json::Value::from(value)));
    }
    print(&comparison(&groups))
}

/// The results in a folder: its own, or those of its runs.
fn read(folder: &Path) -> Result<Vec<(String, TeamResult)>, String> {
    let own = folder.join("result.json");
    if own.is_file() {
        return Ok(vec![(folder.display().to_string(), read_result(&own)?)]);
    }
    let runs = (1..).map(|number| folder.join(format!("run-{number}"))).take_while(|run| run.is_dir());
    let results = runs.map(|run| Ok((run.display().to_string(), read_result(&run.join("result.json"))?)));
    let results = results.collect::<Result<Vec<_>, String>>()?;
    if results.is_empty() {
        return Err(format!(
            "{} has no result.json and no run-1: name a folder that `troupe team run` wrote",
            folder.display()
        ));
    }
    Ok(results)
}

/// Reads `result.json`.
pub(super) fn read_result(file: &Path) -> Result<TeamResult, String> {
    let text = read_text(file)?;
    serde_json::from_str(&text).map_err(|error| format!("{} is no result of a team: {error}", file.display()))
}
