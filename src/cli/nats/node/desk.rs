//! The folder of a run on this machine: cleared of what an earlier term left, then laid out for a supervisor.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    actors::front::complain,
    cli::{
        nats::record::{Standing, Submitted},
        runs::{
            begin::outlive,
            descendants::{end_tagged, is_alive},
            folder::{FolderError, RunFolder},
            lease::{Lease, LeaseError},
            spec::RunSpec,
            state::RunState,
        },
    },
};

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// An earlier supervisor of this machine is not done with it.
    #[error(transparent)]
    Owned(#[from] LeaseError),
    /// The system refuses.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The same.
    #[error("cannot clear {}: {source}", .path.display())]
    Clear {
        /// The folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Clears the folder of a run: whatever an earlier term of this node left there is ended and removed. Takes as long as an
/// old worker takes to settle.
///
/// # Errors
/// A supervisor still works in it, or the system refuses.
pub fn clear(folder: &RunFolder) -> Result<(), DeskError> {
    if folder.is_run() {
        let _lease = Lease::take(folder)?;
        let spec = folder.spec()?;
        if let Some(worker) = folder.state()?.worker {
            outlive(worker, spec.supervision.grace);
        }
        end_tagged(&spec.tag());
    }
    remove(folder)?;
    Ok(folder.make()?)
}

/// Removes the folders of runs that an earlier life of this worker left below `folder`, where nobody works in them any more.
/// What else is there is cleared when the run comes here again, or with the next start.
pub fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder.join("runs")).into_iter().flatten().flatten() {
        let run = RunFolder { path: entry.path() };
        // Who holds it works in it.
        let Ok(_lease) = Lease::take(&run) else { continue };
        let settles = run.state().is_ok_and(|state| state.worker.is_some_and(is_alive));
        if settles {
            continue;
        }
        if let Ok(spec) = run.spec() {
            end_tagged(&spec.tag());
        }
        leave(&run);
    }
}

fn remove(folder: &RunFolder) -> Result<(), DeskError> {
    match fs::remove_dir_all(&folder.path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(DeskError::Clear { path: folder.path.clone(), source })
        }
        _ => Ok(()),
    }
}

/// Removes the folder of a run that is over for this node: the server has all of it.
pub fn leave(folder: &RunFolder) {
    if let Err(error) = remove(folder) {
        complain(&format!("Warning: {error}"));
    }
}

/// Writes what a supervisor begins with. The run's sessions are there already.
///
/// # Errors
/// The system refuses.
pub fn lay_out(
    folder: &RunFolder,
    submitted: &Submitted,
    standing: &Standing,
    place: PathBuf,
    node: &str,
) -> Result<(), FolderError> {
    folder.write_state(&state(standing, sessions(folder)))?;
    folder.write_spec(&RunSpec { cwd: place, node: Some(node.to_owned()), ..submitted.spec.clone() })
}

/// Where the run stands, for a machine on which none of its processes run.
fn state(standing: &Standing, sessions: Vec<PathBuf>) -> RunState {
    let before = &standing.state;
    let mut state = RunState { supervisor: None, worker: None, sessions, ..before.clone() };
    // What a node tells late may be lost with it: two that go on must not say the same words.
    if let [_, .., term] = standing.terms.as_slice() {
        state.continued = state.continued.max(u32::try_from(term.epoch).unwrap_or(u32::MAX - 1));
    }
    state
}

/// The sessions of a run, in the order in which they were begun, which their names begin with.
fn sessions(folder: &RunFolder) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.sessions()).into_iter().flatten().flatten();
    let mut sessions: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    sessions.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    sessions.sort();
    sessions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{
        nats::record::Term,
        runs::{
            descendants::process_of,
            state::{Start, Status},
        },
    };

    fn submitted() -> Submitted {
        Submitted { number: 1, pool: "p".into(), at: 0, spec: RunSpec::nothing("r") }
    }

    fn term(epoch: u64) -> Term {
        Term { number: 1, node: "a".into(), epoch, folder: "/w".into(), since: 0, end: None }
    }

    #[test]
    fn the_first_term_begins_and_a_later_one_goes_on_with_words_of_its_own() {
        let mut standing = Standing::default();
        standing.begin(term(57));
        assert_eq!(state(&standing, Vec::new()).continued, 0);
        standing.state.continued = 3;
        standing.begin(term(60));
        assert_eq!(state(&standing, Vec::new()).continued, 60);
        standing.state.continued = 61;
        standing.begin(term(61));
        assert_eq!(state(&standing, Vec::new()).continued, 61);
    }

    #[test]
    fn a_supervisor_finds_the_run_as_if_it_had_been_there_before() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RunFolder::of(dir.path(), "r").unwrap();
        clear(&folder).unwrap();
        fs::create_dir(folder.sessions()).unwrap();
        for name in ["2026-02_b.jsonl", "2026-01_a.jsonl", "2026-02_b.state"] {
            fs::write(folder.sessions().join(name), "").unwrap();
        }
        let start = Start {
            at: 1,
            rung: Default::default(),
            ended: None,
            cause: None,
            turns_at_start: Some(1),
            turns_at_end: Some(2),
        };
        let before = RunState {
            status: Status::Restarting,
            worker: Some(process_of(1)),
            starts: vec![start.clone()],
            sessions: vec!["/elsewhere/a.jsonl".into()],
            elapsed_ms: 9,
            ..RunState::default()
        };
        let standing = Standing { terms: vec![term(1)], state: before, ..Standing::default() };
        lay_out(&folder, &submitted(), &standing, "/here".into(), "n").unwrap();
        let spec = folder.spec().unwrap();
        assert_eq!((spec.cwd, spec.node.as_deref()), ("/here".into(), Some("n")));
        let state = folder.state().unwrap();
        assert_eq!((state.worker, state.starts, state.elapsed_ms), (None, vec![start], 9));
        assert_eq!(state.sessions, ["2026-01_a.jsonl", "2026-02_b.jsonl"].map(|name| folder.sessions().join(name)));
    }

    #[test]
    fn a_folder_in_which_a_supervisor_works_is_left_alone_and_any_other_is_cleared() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RunFolder::of(dir.path(), "r").unwrap();
        clear(&folder).unwrap();
        lay_out(&folder, &submitted(), &Standing::default(), "/w".into(), "n").unwrap();
        let lease = Lease::take(&folder).unwrap();
        assert!(matches!(clear(&folder), Err(DeskError::Owned(_))));
        assert!(folder.is_run());
        drop(lease);
        clear(&folder).unwrap();
        assert!(!folder.is_run() && folder.path.is_dir());
    }

    #[test]
    fn what_an_earlier_life_of_a_worker_left_goes_unless_somebody_works_in_it() {
        let dir = tempfile::tempdir().unwrap();
        sweep(dir.path());
        let make = |id: &str, worker: Option<u32>| {
            let folder = RunFolder::of(dir.path(), id).unwrap();
            clear(&folder).unwrap();
            let state = RunState { worker: worker.map(process_of), ..RunState::default() };
            lay_out(&folder, &submitted(), &Standing::default(), "/w".into(), id).unwrap();
            folder.write_state(&state).unwrap();
            folder
        };
        let (left, supervised, settles) =
            (make("left", None), make("supervised", None), make("settles", Some(std::process::id())));
        // Its node was killed before it laid the folder out.
        let begun = RunFolder::of(dir.path(), "begun").unwrap();
        clear(&begun).unwrap();
        fs::create_dir(begun.sessions()).unwrap();
        let lease = Lease::take(&supervised).unwrap();
        sweep(dir.path());
        let there = [&left, &supervised, &settles, &begun].map(|folder| folder.path.is_dir());
        assert_eq!(there, [false, true, true, false]);
        drop(lease);
        sweep(dir.path());
        assert!(!supervised.path.exists());
    }
}
