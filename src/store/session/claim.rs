//! The right to begin a session of a certain id.
//!
//! A session's file is made with its first message. Until then, a lock on an empty file beside it keeps other processes
//! from beginning another session of the same id.

use std::{
    fs::{self, File, OpenOptions},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use crate::store::{StoreError, lock::lock, paths::create_private_dir};

/// The right to begin a session of a certain id in a folder. It ends when this is dropped, and with the process.
#[derive(Debug)]
pub struct Claim {
    file: File,
    path: PathBuf,
}

impl Claim {
    /// Claims `id` in `folder`. Whoever looks for a session of that id afterwards finds it, or nobody else begins one.
    ///
    /// # Errors
    /// When another process has the claim.
    pub fn take(folder: &Path, id: &str) -> Result<Option<Self>, StoreError> {
        let path = folder.join(format!(".{id}.begin"));
        loop {
            let mut options = OpenOptions::new();
            let file = create_private_dir(folder).and_then(|()| {
                let opened = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
                opened.map_err(StoreError::io("create", &path))
            });
            // Where no file can be made there will be no second session either: its first message will tell.
            let Ok(file) = file else { return Ok(None) };
            match lock(&file, &path) {
                Err(StoreError::Locked { holder, .. }) => {
                    return Err(StoreError::Claimed { id: id.to_owned(), holder });
                }
                Err(_) => return Ok(None),
                Ok(_) if is_at(&file, &path) => return Ok(Some(Self { file, path })),
                // Its holder removed it between the two steps.
                Ok(_) => {}
            }
        }
    }
}

/// True when `path` still names this file.
fn is_at(file: &File, path: &Path) -> bool {
    let place = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (ours, there) = (file.metadata().map(place), fs::metadata(path).map(place));
    matches!((ours, there), (Ok(ours), Ok(there)) if ours == there)
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Removed while it is locked: whoever waits for it sees that it is no longer the one at its path.
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_claimed_once_and_free_again_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("sessions");
        let first = Claim::take(&folder, "mine").unwrap().unwrap();
        let refused = Claim::take(&folder, "mine").unwrap_err().to_string();
        assert!(refused.contains("\"mine\" is being begun by another Troupe process"), "{refused}");
        assert!(Claim::take(&folder, "other").unwrap().is_some());
        drop(first);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        assert!(Claim::take(&folder, "mine").unwrap().is_some());
    }

    #[test]
    fn of_many_threads_that_claim_an_id_one_at_a_time_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let held = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let Ok(claim) = Claim::take(dir.path(), "id") else { continue };
                        assert_eq!(held.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        held.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        drop(claim);
                    }
                });
            }
        });
    }

    #[test]
    fn where_nothing_can_be_written_there_is_nothing_to_claim() {
        let dir = tempfile::tempdir().unwrap();
        let blocker = dir.path().join("file");
        fs::write(&blocker, "").unwrap();
        assert!(Claim::take(&blocker, "id").unwrap().is_none());
    }
}
