//! pi's lock: a folder `FILE.lock` beside the file. Creating a folder is atomic everywhere, and pi's own programs that
//! run beside ours on the same files respect it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

/// How long to wait for a lock, and when one was left behind by a program that died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Attempts in all.
    pub attempts: u32,
    /// Between two of them.
    pub pause: Duration,
    /// An older lock is taken over.
    pub stale: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { attempts: 10, pause: Duration::from_millis(20), stale: Duration::from_secs(10) }
    }
}

/// A held lock; dropping it gives it back.
#[derive(Debug)]
pub struct LockFolder {
    folder: PathBuf,
}

impl LockFolder {
    /// Takes the lock of `file`. Blocks for `attempts` pauses at most.
    ///
    /// # Errors
    /// `WouldBlock` when another program holds it all that time; others when the folder cannot be created.
    pub fn acquire(file: &Path, patience: Patience) -> io::Result<Self> {
        let mut name = file.as_os_str().to_owned();
        name.push(".lock");
        let folder = PathBuf::from(name);
        for attempt in 1..=patience.attempts.max(1) {
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(Self { folder }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if is_stale(&folder, patience.stale) {
                        // Whoever removes it first wins the next attempt; a failure only means that another did.
                        let _ = fs::remove_dir(&folder);
                    } else if attempt < patience.attempts {
                        thread::sleep(patience.pause);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        let holder = folder.display();
        let text = format!("{holder} is held by another program; if none runs, remove that folder");
        Err(io::Error::new(io::ErrorKind::WouldBlock, text))
    }
}

impl Drop for LockFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

fn is_stale(folder: &Path, age: Duration) -> bool {
    let modified = fs::metadata(folder).and_then(|meta| meta.modified());
    modified.is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|passed| passed > age))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_refuses_and_a_dropped_or_stale_one_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("settings.json");
        let short = Patience { attempts: 2, pause: Duration::from_millis(1), ..Patience::default() };
        let held = LockFolder::acquire(&file, short).unwrap();
        let refused = LockFolder::acquire(&file, short).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        assert!(refused.to_string().contains("settings.json.lock"));
        drop(held);
        fs::create_dir(dir.path().join("settings.json.lock")).unwrap();
        let taken_over = LockFolder::acquire(&file, Patience { stale: Duration::ZERO, attempts: 10, ..short });
        assert!(taken_over.is_ok());
        drop(taken_over);
        assert!(!dir.path().join("settings.json.lock").exists());
    }
}
