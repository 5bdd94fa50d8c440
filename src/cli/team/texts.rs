//! The files that a run depends on, as they were when it began: whoever goes on with it goes on by the same ones.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use crate::{actors::team::file::TeamFile, store::regular_file};

/// The name of the copy of the team file in the folder of a run.
pub(super) const COPY: &str = "team.toml";

/// What a run depends on, by the SHA-256 of each. A run that an older program began has none of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Texts {
    /// Of the team file.
    #[serde(skip_serializing_if = "Option::is_none")]
    team: Option<String>,
    /// Of the files that it and the command line name: scripts and schemas.
    files: BTreeMap<PathBuf, String>,
}

impl Texts {
    /// Those of a run that begins.
    ///
    /// # Errors
    /// A file that is named cannot be read.
    pub fn of(text: &str, team: &TeamFile, script: Option<&Path>) -> Result<Self, String> {
        let files = team.files().into_iter().chain(script).map(|file| Ok((file.to_owned(), of_file(file)?)));
        Ok(Self { team: Some(of_bytes(text.as_bytes())), files: files.collect::<Result<_, String>>()? })
    }

    /// Whether a text is that of the team file; `copy` is where it is from.
    ///
    /// # Errors
    /// It is another one: what to do.
    pub fn check_team(&self, copy: &Path, text: &str) -> Result<(), String> {
        match &self.team {
            Some(known) if *known != of_bytes(text.as_bytes()) => Err(changed(copy)),
            _ => Ok(()),
        }
    }

    /// Whether the other files are as they were.
    ///
    /// # Errors
    /// One is not: what to do.
    pub fn check_files(&self) -> Result<(), String> {
        let other = self.files.iter().find(|(file, known)| of_file(file).as_ref() != Ok(*known));
        other.map_or(Ok(()), |(file, _)| Err(changed(file)))
    }
}

fn changed(file: &Path) -> String {
    let state = if file.exists() { "has changed" } else { "is gone" };
    format!(
        "{} {state} since the run began, and a run goes on by what it began with: put it back as it was, or begin \
         another run with --out",
        file.display()
    )
}

/// The team file of the run in `folder`, and where it is from: its copy, or what `file` has when the process ended before
/// the copy was written.
///
/// # Errors
/// It cannot be read.
pub(super) fn read_copy(folder: &Path, file: &Path) -> Result<(PathBuf, String), String> {
    let copy = folder.join(COPY);
    let from = match fs::symlink_metadata(&copy) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => file.to_owned(),
        _ => copy,
    };
    let text = read_text(&from)?;
    Ok((from, text))
}

/// The text of a file.
///
/// # Errors
/// It cannot be read, or is no text.
pub(super) fn read_text(file: &Path) -> Result<String, String> {
    regular_file::read_to_string(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))
}

fn of_file(file: &Path) -> Result<String, String> {
    let read = regular_file::read(file);
    read.map(|bytes| of_bytes(&bytes)).map_err(|error| format!("{} cannot be read: {error}", file.display()))
}

fn of_bytes(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_run_depends_on_must_be_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let (file, schema, script) = (dir.path().join("t.toml"), dir.path().join("s.json"), dir.path().join("p.json"));
        let text = "[team]\nname = \"t\"\n[role.a]\nprompt = \"x\"\noutput_schema = \"s.json\"\n";
        fs::write(&schema, "{}").unwrap();
        fs::write(&script, "{}").unwrap();
        let team = TeamFile::parse(&file, text.to_owned()).unwrap();
        let texts = Texts::of(text, &team, Some(&script)).unwrap();
        assert_eq!((texts.check_team(&file, text), texts.check_files()), (Ok(()), Ok(())));
        assert!(texts.check_team(&file, "[team]").unwrap_err().contains("put it back as it was"));
        for (named, word) in [(&schema, "s.json has changed since"), (&script, "p.json has changed since")] {
            fs::write(named, "{ }").unwrap();
            assert!(texts.check_files().unwrap_err().contains(word));
            fs::write(named, "{}").unwrap();
        }
        fs::remove_file(&schema).unwrap();
        assert!(texts.check_files().unwrap_err().contains("s.json is gone since"));
        assert_eq!((Texts::default().check_files(), Texts::default().check_team(&file, "x")), (Ok(()), Ok(())));
    }
}
