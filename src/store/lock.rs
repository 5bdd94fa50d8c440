//! One writing process for a session.
//!
//! The lock is an advisory one of the operating system on the session file itself: it ends with the process that
//! holds it, so that no stale lock can be left behind. Programs that do not know of it are noticed by
//! [`super::jsonl::SessionFile`].

use std::{
    fs::{File, TryLockError},
    path::Path,
};

use super::StoreError;

/// Takes the lock on `file`; it is held until the file is closed.
///
/// # Errors
/// When another process, or another session of this one, holds it. A file system without locks is no error.
pub fn lock(file: &File, path: &Path) -> Result<(), StoreError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked { path: path.to_owned(), pid: holder(file) }),
        // Some network file systems have no locks. The check before each append is what is left there.
        Err(TryLockError::Error(_)) | Ok(()) => Ok(()),
    }
}

/// The process that holds the lock, as far as the system tells.
#[cfg(target_os = "linux")]
fn holder(file: &File) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let inode = file.metadata().ok()?.ino();
    holder_in(&std::fs::read_to_string("/proc/locks").ok()?, inode)
}

#[cfg(not(target_os = "linux"))]
fn holder(_: &File) -> Option<u32> {
    None
}

/// A line of `/proc/locks` is `1: FLOCK  ADVISORY  WRITE 4711 fd:00:262150 0 EOF`.
#[cfg(target_os = "linux")]
fn holder_in(locks: &str, inode: u64) -> Option<u32> {
    let of_file = |place: &str| place.rsplit(':').next().and_then(|number| number.parse().ok()) == Some(inode);
    locks
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .find(|words| words.get(1) == Some(&"FLOCK") && words.get(5).is_some_and(|place| of_file(place)))
        .and_then(|words| words[4].parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_lock_is_refused_until_the_first_file_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let first = File::create(&path).unwrap();
        lock(&first, &path).unwrap();
        let second = File::open(&path).unwrap();
        let refused = lock(&second, &path).unwrap_err().to_string();
        assert!(refused.contains("is open in another Troupe process") && refused.contains("--fork"), "{refused}");
        drop(first);
        lock(&second, &path).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_holder_is_found_by_the_files_inode() {
        let locks =
            "1: POSIX  ADVISORY  WRITE 11 fd:00:262150 0 EOF\n2: FLOCK  ADVISORY  WRITE 22 fd:00:262150 0 EOF\n";
        assert_eq!(holder_in(locks, 262_150), Some(22));
        assert_eq!(holder_in(locks, 1), None);
    }
}
