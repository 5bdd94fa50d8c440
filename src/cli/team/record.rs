//! `run.json` in the folder of a run: what is run there, so that another process can go on with it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use serde::{Deserialize, Serialize};

use super::{results, texts::Texts};
#[cfg(feature = "nats")]
use crate::{cli::start::StartError, store::replace};
use crate::{protocol::time::Millis, store::regular_file};

/// The file's name.
const NAME: &str = "run.json";

/// What is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunRecord {
    /// The program that began it.
    pub version: String,
    /// The team file. Its text is in the folder; paths in it begin where it was.
    pub file: PathBuf,
    /// The folder that it was started in.
    pub cwd: PathBuf,
    /// The folder that this is in: sessions name each other by their paths.
    pub folder: PathBuf,
    /// Flags for the agents, without keys.
    pub flags: Vec<String>,
    /// Agents work elsewhere: where has to be said again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_away: bool,
    /// What the user gave, with the file's defaults.
    pub inputs: BTreeMap<String, String>,
    /// The seed, of the first run when it is repeated.
    pub seed: u64,
    /// How often it is run, when this is the folder of several runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u64>,
    /// When it began, ISO-8601.
    pub started_at: String,
    /// The files that it depends on, as they were then.
    #[serde(default)]
    pub texts: Texts,
}

impl RunRecord {
    /// Writes it into its folder.
    pub fn write(&self) -> Result<(), String> {
        results::write_json(&self.folder.join(NAME), self)
    }

    /// Reads that of a folder.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let file = folder.join(NAME);
        let text = regular_file::read_to_string(&file).map_err(|error| {
            format!("{} cannot be read: {error}; name a folder that `troupe team run` wrote", file.display())
        })?;
        let record: Self = serde_json::from_str(&text)
            .map_err(|error| format!("{} is no record of a run: {error}", file.display()))?;
        let same = |one: &Path, other: &Path| fs::canonicalize(one).ok() == fs::canonicalize(other).ok();
        if !same(&record.folder, folder) {
            let (here, there) = (folder.display(), record.folder.display());
            return Err(format!("the run in {here} was begun in {there}: put its folder back there to go on with it"));
        }
        Ok(record)
    }
}

/// Notes in a file, at the first time, on which server the agents of a run work, and looks later whether it is the same:
/// another one would have them do all their tasks again.
#[cfg(feature = "nats")]
pub(super) fn check_store(file: &Path, id: &str) -> Result<(), StartError> {
    let failed = |error: std::io::Error| StartError::Failed(format!("{}: {error}", file.display()));
    match fs::read_to_string(file) {
        Ok(known) if known.trim_end() == id => Ok(()),
        Ok(_) => Err(StartError::Failed(
            "the agents of this run work on another server, or this one has lost what it knew of them: say --on with that \
             server, or begin the team anew"
                .to_owned(),
        )),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            replace::with(file, |out| writeln!(out, "{id}")).map_err(failed)
        }
        Err(error) => Err(failed(error)),
    }
}

/// When the process of a run last wrote something, by the clock; none when it wrote nothing.
pub(super) fn last_written(sessions: &Path) -> Option<Millis> {
    let entries = fs::read_dir(sessions).ok()?.flatten();
    let times = entries.filter_map(|entry| {
        let since = entry.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Millis::try_from(since.as_millis()).ok()
    });
    times.max()
}
