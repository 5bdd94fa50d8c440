//! pi's lock: a folder `FILE.lock` beside the file. Creating a folder is atomic everywhere, and pi's own programs that
//! run beside ours on the same files respect it.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use uuid::Uuid;

/// How long to wait for a lock, and when one was left behind by a program that died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// In all.
    pub limit: Duration,
    /// Between the first two attempts; each further pause is twice as long, less up to a quarter by chance.
    pub pause: Duration,
    /// No pause is longer.
    pub longest_pause: Duration,
    /// An older lock is taken over.
    pub stale: Duration,
}

impl Patience {
    /// For files that are written in one go.
    pub const SHORT: Self = Self {
        limit: Duration::from_millis(200),
        pause: Duration::from_millis(20),
        longest_pause: Duration::from_millis(20),
        stale: Duration::from_secs(10),
    };
    /// For files that others keep locked while they wait for a server.
    pub const LONG: Self = Self {
        limit: Duration::from_secs(30),
        pause: Duration::from_millis(10),
        longest_pause: Duration::from_millis(500),
        stale: Duration::from_secs(30),
    };
}

/// A held lock; dropping it gives it back.
#[derive(Debug)]
pub struct LockFolder {
    folder: PathBuf,
    made: Made,
}

/// What tells one folder from a later one of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Made {
    inode: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Made {
    fn of(folder: &Path) -> io::Result<Self> {
        let meta = fs::metadata(folder)?;
        Ok(Self { inode: meta.ino(), seconds: meta.mtime(), nanoseconds: meta.mtime_nsec() })
    }
}

impl LockFolder {
    /// Takes the lock of `file`. Blocks for the limit at most.
    ///
    /// # Errors
    /// `WouldBlock` when another program holds it all that time; others when the folder cannot be created.
    pub fn acquire(file: &Path, patience: Patience) -> io::Result<Self> {
        let mut name = file.as_os_str().to_owned();
        name.push(".lock");
        let folder = PathBuf::from(name);
        let until = Instant::now() + patience.limit;
        let mut pause = patience.pause;
        loop {
            match fs::create_dir(&folder) {
                Ok(()) => {
                    let made = Made::of(&folder)?;
                    return Ok(Self { folder, made });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            if is_stale(&folder, patience.stale) && fs::remove_dir(&folder).is_ok() {
                continue;
            }
            if Instant::now() >= until {
                let text = format!("{} is held by another program; if none runs, remove that folder", folder.display());
                return Err(io::Error::new(io::ErrorKind::WouldBlock, text));
            }
            thread::sleep(with_jitter(pause));
            pause = (pause * 2).min(patience.longest_pause);
        }
    }

    /// Whether the lock is still ours. One that was held for longer than others wait (the machine slept) may have
    /// been taken over: then nothing may be written.
    #[must_use]
    pub fn is_held(&self) -> bool {
        Made::of(&self.folder).is_ok_and(|made| made == self.made)
    }
}

impl Drop for LockFolder {
    fn drop(&mut self) {
        if self.is_held() {
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

/// Waiters that began together do not try together for ever.
fn with_jitter(pause: Duration) -> Duration {
    let chance = u32::try_from(Uuid::new_v4().as_u128() % 256).unwrap_or_default();
    pause - pause * chance / 1024
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
        let folder = dir.path().join("settings.json.lock");
        let short = Patience { limit: Duration::from_millis(2), pause: Duration::from_millis(1), ..Patience::SHORT };
        let held = LockFolder::acquire(&file, short).unwrap();
        let refused = LockFolder::acquire(&file, short).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        assert!(refused.to_string().contains("settings.json.lock"));
        drop(held);
        fs::create_dir(&folder).unwrap();
        let patient = Patience { stale: Duration::ZERO, limit: Duration::from_secs(5), ..short };
        let taken_over = LockFolder::acquire(&file, patient).unwrap();
        assert!(taken_over.is_held());
        drop(taken_over);
        assert!(!folder.exists());
    }

    #[test]
    fn a_lock_that_was_taken_over_is_known_to_be_lost_and_is_left_to_its_new_holder() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("f.lock");
        let lost = LockFolder::acquire(&dir.path().join("f"), Patience::SHORT).unwrap();
        fs::rename(&folder, dir.path().join("old")).unwrap();
        fs::create_dir(&folder).unwrap();
        assert!(!lost.is_held());
        drop(lost);
        assert!(folder.exists());
    }
}
