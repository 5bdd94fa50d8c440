//! Refusing to change what somebody else changed.

use std::{path::Path, sync::Arc};

use tokio::task::spawn_blocking;

use super::{CONTENT_AT_MOST, FileMemory, Sight};
use crate::tools::{
    Failure,
    diff::diff,
    encoding::Decoded,
    operations::FileStat,
    truncate::{self, Limits},
};

/// As much of a difference as a refusal shows.
const SHOWN: Limits = Limits { lines: 200, bytes: 10 << 10 };

/// What became different in a file, in words for a model.
enum Difference {
    /// All of it, as a unified diff.
    Shown(String),
    /// Its beginning.
    Begun(String),
    /// Nothing that a line shows: line ends, a byte order mark, bytes that are no text.
    Invisible,
    /// What was there is not known any more.
    Unknown,
}

/// A file's content that may be changed.
#[derive(Debug)]
pub struct Fresh {
    /// What the file holds now.
    pub content: Vec<u8>,
    /// It is not what the agent saw, but the agent knows better.
    pub has_changed: bool,
}

/// Lets a change pass if `content`, which the file holds now, is what the agent saw last, or if the change is not based
/// on what it saw (`knows_better`, asked with that). Fails with the difference if not; one that is shown as a whole is
/// seen by that, so that the repeated call goes through.
///
/// # Errors
/// When the file has changed. One that was only touched has not, nor has one that the agent never saw.
pub async fn refuse_if_stale(
    memory: &Arc<FileMemory>,
    real_path: &Path,
    name: &str,
    now: (FileStat, Vec<u8>),
    knows_better: impl FnOnce(&[u8]) -> bool + Send + 'static,
) -> Result<Fresh, Failure> {
    let (stat, content) = now;
    if memory.is_surely_current(real_path, &content) {
        return Ok(Fresh { content, has_changed: false });
    }
    // Long contents are digested, and differences are looked for.
    let (memory, real_path, name) = (Arc::clone(memory), real_path.to_owned(), name.to_owned());
    let work = spawn_blocking(move || {
        let Some(seen) = memory.outdated(&real_path, &content) else {
            return Ok(Fresh { content, has_changed: false });
        };
        if seen.content.as_ref().is_some_and(|seen| knows_better(seen)) {
            return Ok(Fresh { content, has_changed: true });
        }
        let difference = match seen.content {
            Some(before) if content.len() <= CONTENT_AT_MOST => difference(&name, &before, &content),
            _ => Difference::Unknown,
        };
        if matches!(difference, Difference::Shown(_) | Difference::Invisible) {
            memory.note(real_path, stat, Sight::of(&content));
        }
        Err(refusal(&name, &difference))
    });
    work.await.unwrap_or_else(|error| Err(Failure::new(format!("Looking for changes failed: {error}"))))
}

/// As [`refuse_if_stale`], for a file whose content is too long to be looked at: its size and time count.
///
/// # Errors
/// When size or time of the file are others than when the agent saw it.
pub fn refuse_if_touched(memory: &FileMemory, real_path: &Path, name: &str, stat: FileStat) -> Result<(), Failure> {
    if memory.is_touched(real_path, stat) { Err(refusal(name, &Difference::Unknown)) } else { Ok(()) }
}

fn difference(name: &str, before: &[u8], now: &[u8]) -> Difference {
    let text = |bytes| String::from_utf8_lossy(&Decoded::new(bytes).utf8).replace("\r\n", "\n");
    let Some(diff) = diff(name, &text(before), &text(now)) else { return Difference::Invisible };
    let shown = truncate::head(diff.patch.trim_end(), SHOWN);
    if shown.truncated { Difference::Begun(shown.content) } else { Difference::Shown(shown.content) }
}

fn refusal(name: &str, difference: &Difference) -> Failure {
    let (what, next) = match difference {
        Difference::Shown(patch) => (
            format!(" The difference:\n\n{patch}\n\n"),
            "Check that your change still fits what the file holds now, and call again.",
        ),
        Difference::Begun(patch) => (
            format!(" The difference begins so:\n\n{patch}\n\n"),
            "Read the file again and base your change on what it holds now.",
        ),
        Difference::Invisible => (
            " Only line ends, the byte order mark or bytes that are no text are different. ".to_owned(),
            "If your change still fits, call again.",
        ),
        Difference::Unknown => (" ".to_owned(), "Read the file again and base your change on what it holds now."),
    };
    Failure::new(format!("{name} has changed on disk since you last read it, so nothing was written.{what}{next}"))
}
