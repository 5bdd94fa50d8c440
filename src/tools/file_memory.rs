//! What an agent has seen of files, so that it does not overwrite what it has not.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hasher},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use super::{
    Failure,
    operations::{FileStat, Operations, read_all},
};

/// What one agent has seen of files, by real path: as it read or wrote them last. A file that it never read may be
/// overwritten; one that somebody else changed since may not.
#[derive(Debug, Default)]
pub struct FileMemory {
    seen: Mutex<HashMap<PathBuf, Seen>>,
}

/// A file's content when the agent saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    len: u64,
    modified: Option<SystemTime>,
    digest: u64,
}

/// Computes what [`FileMemory`] keeps of a content, piece by piece.
#[derive(Debug, Default)]
pub struct Digest(DefaultHasher);

impl Digest {
    /// Adds the next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// The value for all bytes so far; independent of how they were cut into pieces.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.0.finish()
    }

    /// The value for `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> u64 {
        let mut digest = Self::default();
        digest.add(bytes);
        digest.value()
    }
}

impl FileMemory {
    /// Notes that the agent has seen a content: the file's facts and the content's digest.
    pub fn note(&self, real_path: PathBuf, stat: FileStat, digest: u64) {
        let seen = Seen { len: stat.len, modified: stat.modified, digest };
        self.lock().insert(real_path, seen);
    }

    /// Whether `content` is not what the agent saw last in the file; false when it never saw it.
    #[must_use]
    pub fn differs(&self, real_path: &Path, content: &[u8]) -> bool {
        self.get(real_path).is_some_and(|seen| seen.len != content.len() as u64 || seen.digest != Digest::of(content))
    }

    /// Whether the file is not as the agent saw it last; false when it never saw it, and when it is gone. A file that
    /// was only touched counts as unchanged.
    ///
    /// # Errors
    /// What looking at the file gives.
    pub async fn is_stale(&self, operations: &dyn Operations, real_path: &Path) -> io::Result<bool> {
        let Some(seen) = self.get(real_path) else { return Ok(false) };
        let stat = match operations.stat(real_path).await {
            Ok(stat) => stat,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        if stat.len != seen.len {
            return Ok(true);
        }
        if stat.modified.is_some() && stat.modified == seen.modified {
            return Ok(false);
        }
        let content = read_all(operations.open(real_path).await?.as_mut()).await?;
        Ok(self.differs(real_path, &content))
    }

    fn get(&self, real_path: &Path) -> Option<Seen> {
        self.lock().get(real_path).copied()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a call tells about a file that somebody else changed.
#[must_use]
pub fn changed(path: &str) -> String {
    format!("{path} has changed on disk since you last read it: read it again before you rely on the rest of it.")
}

/// The failure of a call that would overwrite a change which the agent has not seen.
#[must_use]
pub fn stale(path: &str) -> Failure {
    Failure::new(format!(
        "{path} has changed on disk since you last read it, so nothing was written. Read the file again and base the \
         change on what it holds now."
    ))
}
