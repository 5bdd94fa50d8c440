//! The file that takes a command's whole output when a model gets only its end.

use std::{
    io,
    path::{Path, PathBuf},
};

use tokio::{fs::File, fs::OpenOptions, io::AsyncWriteExt, task::spawn_blocking};

use super::sweep;
use crate::tools::truncate;

/// A file is not made longer than this: nobody reads more, and the disk is not ours alone. Nor does it take more than
/// half of what is free when it is made.
const SPILL_AT_MOST: u64 = 1 << 30;

/// Takes an output as it was written, escape sequences and all. Held in memory until it is known that a file is
/// needed.
#[derive(Debug)]
pub struct Spill {
    state: State,
    /// Bytes that the file may have.
    limit: u64,
    /// Bytes that it may still take.
    left: u64,
}

#[derive(Debug)]
enum State {
    /// No file is needed so far.
    Held(Vec<u8>),
    /// The file that takes the output.
    Open { file: File, path: PathBuf },
    /// The file could not be made or written.
    Failed(String),
}

/// What became of the whole output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spilled {
    /// The file that holds it.
    pub path: Option<PathBuf>,
    /// What a reader must know about the file, or about why there is none.
    pub note: Option<String>,
}

impl Spilled {
    /// Adds that the file is not where commands run.
    pub fn note_other_machine(&mut self) {
        if self.path.is_some() {
            let text = "That file is on the user's machine, which your tools do not reach: write output that you need \
                        whole into a file";
            self.note = Some(self.note.take().map_or_else(|| text.to_owned(), |note| format!("{note}. {text}")));
        }
    }
}

impl Spill {
    pub fn new() -> Self {
        Self { state: State::Held(Vec::new()), limit: SPILL_AT_MOST, left: SPILL_AT_MOST }
    }

    /// Takes the next bytes. When this returns they are on their way to the file and reach it even if nobody waits.
    pub async fn push(&mut self, bytes: &[u8]) {
        match &mut self.state {
            State::Held(held) => held.extend_from_slice(bytes),
            State::Open { file, .. } => {
                let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
                self.left -= room as u64;
                if let Err(error) = file.write_all(&bytes[..room]).await {
                    self.fail(&error);
                }
            }
            State::Failed(_) => {}
        }
    }

    /// Makes the file, unless it is there already, and gives its path.
    pub async fn open(&mut self) -> Option<PathBuf> {
        if let State::Held(held) = &mut self.state {
            let held = std::mem::take(held);
            match create().await {
                Ok((file, path, free)) => {
                    self.limit = self.limit.min(free / 2);
                    self.left = self.limit;
                    self.state = State::Open { file, path };
                    self.push(&held).await;
                }
                Err(error) => self.fail(&error),
            }
        }
        self.path()
    }

    fn path(&self) -> Option<PathBuf> {
        match &self.state {
            State::Open { path, .. } => Some(path.clone()),
            State::Held(_) | State::Failed(_) => None,
        }
    }

    fn fail(&mut self, error: &io::Error) {
        self.discard();
        self.state = State::Failed(format!("The full output could not be kept: {error}"));
    }

    /// Removes the file, if there is one.
    pub fn discard(&mut self) {
        if let State::Open { path, .. } = &self.state {
            let _ = std::fs::remove_file(path);
            self.state = State::Held(Vec::new());
        }
    }

    /// Ends the file; removes it when it is not wanted after all.
    pub async fn finish(&mut self, wanted: bool) -> Spilled {
        if !wanted {
            self.discard();
            return Spilled::default();
        }
        if let State::Open { file, .. } = &mut self.state
            && let Err(error) = file.flush().await
        {
            self.fail(&error);
        }
        let note = match &self.state {
            State::Failed(reason) => Some(reason.clone()),
            State::Open { .. } if self.left == 0 => {
                let held = truncate::size(usize::try_from(self.limit).unwrap_or(usize::MAX));
                Some(format!("That file holds only its first {held}"))
            }
            State::Open { .. } | State::Held(_) => None,
        };
        Spilled { path: self.path(), note }
    }
}

/// A new private file with a name that nobody can foresee, and how many bytes are free where it is.
async fn create() -> io::Result<(File, PathBuf, u64)> {
    let folder = std::env::temp_dir();
    sweep::once(&folder);
    // The second half of a random UUID but for the two bits of its variant.
    let (_, random) = uuid::Uuid::new_v4().as_u64_pair();
    let path = folder.join(sweep::name(random));
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).await?;
    let free = spawn_blocking(move || free(&folder)).await.map_err(io::Error::other)?;
    Ok((file, path, free))
}

/// Bytes that are free for us in a folder; where nobody knows, as many as one may want.
fn free(folder: &Path) -> u64 {
    rustix::fs::statvfs(folder).map_or(u64::MAX, |stat| stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn the_file_is_private_and_holds_what_came_before_it() {
        let mut spill = Spill::new();
        spill.push(b"before ").await;
        let path = spill.open().await.unwrap();
        spill.push(b"after").await;
        assert_eq!(spill.open().await.as_ref(), Some(&path));
        let spilled = spill.finish(true).await;
        assert_eq!(spilled, Spilled { path: Some(path.clone()), note: None });
        assert_eq!(std::fs::read(&path).unwrap(), b"before after");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let name = path.file_name().unwrap().to_str().unwrap();
        let hex = name.strip_prefix("troupe-bash-").unwrap().strip_suffix(".log").unwrap();
        assert!(hex.len() == 16 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
        std::fs::remove_file(path).unwrap();
    }

    #[tokio::test]
    async fn a_file_that_is_not_wanted_is_removed_and_a_full_one_says_so() {
        let mut spill = Spill::new();
        let path = spill.open().await.unwrap();
        assert_eq!(spill.finish(false).await, Spilled::default());
        assert!(!path.exists());

        let mut spill = Spill::new();
        spill.limit = 3;
        let path = spill.open().await.unwrap();
        spill.push(b"12345").await;
        spill.push(b"678").await;
        assert_eq!(spill.finish(true).await.note.unwrap(), "That file holds only its first 3B");
        assert_eq!(std::fs::read(&path).unwrap(), b"123");
        std::fs::remove_file(path).unwrap();
    }
}
