//! Who owns a run: one supervisor at a time.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
};

use serde::{Deserialize, Serialize};

use super::{
    descendants::{is_alive, process_of},
    folder::RunFolder,
    state::ProcessId,
};
use crate::store::{
    StoreError,
    lock::{Lock, lock},
    regular_file,
};

/// The owner of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Its process.
    #[serde(flatten)]
    pub process: ProcessId,
    /// The start of the machine that it runs on; numbers of processes mean nothing after another one.
    pub boot: String,
}

impl Owner {
    fn this_process() -> Self {
        Self { process: process_of(std::process::id()), boot: boot_id() }
    }

    /// Whether the process lives.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.boot == boot_id() && is_alive(self.process)
    }
}

fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned()).unwrap_or_default()
}

/// The right to supervise a run, for as long as this lives.
#[derive(Debug)]
pub struct Lease(#[allow(dead_code, reason = "holds the lock")] File);

/// A run that this process may not supervise.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Another process does.
    #[error("the run {id} is supervised by {}. `troupe runs stop {id}` ends it, `troupe runs logs -f {id}` shows it.", told(.owner.as_ref()))]
    Owned {
        /// The run.
        id: String,
        /// Who, when it said so.
        owner: Option<Owner>,
    },
    /// The system refused.
    #[error("the lease of the run {id} cannot be taken: {source}")]
    Io {
        /// The run.
        id: String,
        /// Why not.
        source: io::Error,
    },
}

fn told(owner: Option<&Owner>) -> String {
    owner.map_or_else(|| "another process".to_owned(), |owner| format!("process {}", owner.process.pid))
}

impl Lease {
    /// Takes the lease.
    ///
    /// # Errors
    /// Somebody else has it, or the system refuses.
    pub fn take(folder: &RunFolder) -> Result<Self, LeaseError> {
        let (path, id) = (folder.file("lease"), folder.id());
        let io = |source| LeaseError::Io { id: id.clone(), source };
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).mode(0o600);
        let mut file = regular_file::open(&path, options).map_err(io)?;
        let known = owner_of(folder);
        match lock(&file, &path) {
            Ok(Lock::Held) => {}
            // Without locks, what is written there is all that there is.
            Ok(Lock::Unsupported(_)) if known.as_ref().is_some_and(Owner::is_alive) => {
                return Err(LeaseError::Owned { id, owner: known });
            }
            Ok(Lock::Unsupported(_)) => {}
            Err(StoreError::Locked { .. }) => return Err(LeaseError::Owned { id, owner: known }),
            Err(error) => return Err(io(io::Error::other(error))),
        }
        let text = serde_json::to_vec(&Owner::this_process()).map_err(|error| io(error.into()))?;
        file.set_len(0).and_then(|()| file.write_all(&text)).map_err(io)?;
        Ok(Self(file))
    }

    /// Gives it back: nobody owns the run now.
    pub fn give_back(self, folder: &RunFolder) {
        // Emptied, not removed: whoever waits for the lock has this file open. What is left says nothing about anybody.
        if let Err(error) = self.0.set_len(0) {
            tracing::debug!(%error, run = folder.id(), "the lease was not emptied");
        }
    }
}

/// Who owns a run, as its lease says; none when nobody does.
#[must_use]
pub fn owner_of(folder: &RunFolder) -> Option<Owner> {
    serde_json::from_slice(&regular_file::read(&folder.file("lease")).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_owner_is_told_who_the_first_one_is() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RunFolder::of(dir.path(), "r").unwrap();
        folder.make().unwrap();
        let lease = Lease::take(&folder).unwrap();
        let refused = Lease::take(&folder).unwrap_err().to_string();
        assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
        assert!(owner_of(&folder).unwrap().is_alive());
        lease.give_back(&folder);
        assert_eq!(owner_of(&folder), None);
        drop(Lease::take(&folder).unwrap());
        // A killed owner leaves its name there: the lock is what counts.
        drop(Lease::take(&folder).unwrap());
    }

    #[test]
    fn a_process_that_got_the_number_of_a_dead_one_is_not_taken_for_it() {
        let mut owner = Owner::this_process();
        assert!(owner.is_alive());
        owner.process.begun += u64::from(owner.process.begun > 0);
        assert_eq!(owner.is_alive(), cfg!(not(target_os = "linux")));
        owner.boot = "another".into();
        assert!(!owner.is_alive());
    }
}
