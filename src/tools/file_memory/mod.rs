//! What an agent has seen of files, so that it does not change what it has not.
//!
//! - `stale`: the refusal of a change to a file that is not as the agent saw it, with what became different.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hasher},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use super::operations::FileStat;

mod stale;
#[cfg(test)]
mod tests;

pub use stale::{Fresh, refuse_if_stale, refuse_if_touched};

/// Bytes of a file whose content is kept, to show a difference. Of a longer one only the digest is.
const CONTENT_AT_MOST: usize = 512 << 10;
/// Bytes of all contents that an agent's memory keeps; those that it saw first are let go.
const CONTENTS_AT_MOST: usize = 8 << 20;
/// Files that are remembered; those that were seen first are forgotten.
const FILES_AT_MOST: usize = 20_000;

/// What one agent has seen of files, by real path: as it read or wrote them last. A file that it never read may be
/// changed; one that is not as it was then may not.
#[derive(Debug, Default)]
pub struct FileMemory {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    files: HashMap<PathBuf, File>,
    /// Counts what was seen; a later sight has a higher number.
    clock: u64,
    /// Bytes of all kept contents.
    kept: usize,
}

#[derive(Clone, Debug)]
struct File {
    at: u64,
    len: u64,
    modified: Option<SystemTime>,
    sight: Sight,
}

impl File {
    fn kept(&self) -> usize {
        self.sight.content.as_ref().map_or(0, |content| content.len())
    }
}

/// A content that an agent saw: its digest, and itself where it is not long.
#[derive(Clone, Debug)]
pub struct Sight {
    digest: u64,
    content: Option<Arc<[u8]>>,
}

impl Sight {
    /// Of a whole content.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        let mut eye = Eye::default();
        eye.add(content);
        eye.sight()
    }
}

/// Looks at a content that comes in pieces.
#[derive(Debug)]
pub struct Eye {
    digest: DefaultHasher,
    /// None when it became too long.
    content: Option<Vec<u8>>,
}

impl Default for Eye {
    fn default() -> Self {
        Self { digest: DefaultHasher::new(), content: Some(Vec::new()) }
    }
}

impl Eye {
    /// Adds the next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.digest.write(bytes);
        match &mut self.content {
            Some(content) if content.len() + bytes.len() <= CONTENT_AT_MOST => content.extend_from_slice(bytes),
            content => *content = None,
        }
    }

    /// What it saw; independent of how the content was cut into pieces.
    #[must_use]
    pub fn sight(self) -> Sight {
        Sight { digest: self.digest.finish(), content: self.content.map(Into::into) }
    }
}

impl FileMemory {
    /// Notes that the agent has seen a file's content.
    pub fn note(&self, real_path: PathBuf, stat: FileStat, sight: Sight) {
        let mut seen = self.lock();
        seen.clock += 1;
        let file = File { at: seen.clock, len: stat.len, modified: stat.modified, sight };
        seen.kept += file.kept();
        if let Some(before) = seen.files.insert(real_path, file) {
            seen.kept -= before.kept();
        }
        seen.shrink();
    }

    /// Whether it is known without much work that the agent saw `content` last in the file, or nothing of it.
    fn is_surely_current(&self, real_path: &Path, content: &[u8]) -> bool {
        let Some(file) = self.get(real_path) else { return true };
        file.sight.content.is_some_and(|seen| *seen == *content)
    }

    /// What the agent saw last in the file, where `content` is not that; none also when it never saw the file.
    fn outdated(&self, real_path: &Path, content: &[u8]) -> Option<Sight> {
        let file = self.get(real_path)?;
        let same = match &file.sight.content {
            Some(seen) => **seen == *content,
            None => file.sight.digest == Sight::of(content).digest,
        };
        (!same).then_some(file.sight)
    }

    /// Whether size or time are not what they were when the agent saw the file; false when it never did.
    fn is_touched(&self, real_path: &Path, stat: FileStat) -> bool {
        self.get(real_path).is_some_and(|file| file.len != stat.len || file.modified != stat.modified)
    }

    fn get(&self, real_path: &Path) -> Option<File> {
        self.lock().files.get(real_path).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// Lets go what is too much, oldest first. Half as much again goes with it, so that this is rare.
    fn shrink(&mut self) {
        if self.kept > CONTENTS_AT_MOST {
            let mut oldest: Vec<&mut File> = self.files.values_mut().filter(|file| file.kept() > 0).collect();
            oldest.sort_unstable_by_key(|file| file.at);
            for file in oldest {
                if self.kept <= CONTENTS_AT_MOST / 2 {
                    break;
                }
                self.kept -= file.kept();
                file.sight.content = None;
            }
        }
        if self.files.len() > FILES_AT_MOST {
            let mut times: Vec<u64> = self.files.values().map(|file| file.at).collect();
            times.sort_unstable();
            let since = times[times.len() - FILES_AT_MOST / 2];
            self.files.retain(|_, file| file.at >= since);
            self.kept = self.files.values().map(File::kept).sum();
        }
    }
}
