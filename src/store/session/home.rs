//! Where a session lives, and how its lines get there.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use crate::store::{
    StoreError, Syncer,
    jsonl::{Change, SessionFile, encode::encode_header},
    tree::Tree,
};

/// Where a session lives.
pub enum Home {
    /// In memory only.
    Memory,
    /// In a file that is not made yet: a session without conversation leaves none.
    Unborn { path: PathBuf, lines: Vec<u8> },
    /// In a file.
    File {
        file: SessionFile,
        /// Lines that the disk refused.
        unsaved: Vec<u8>,
        /// The version that the file still has; it is brought to ours before the first append.
        outdated: Option<u32>,
    },
    /// In a file that must not be written.
    ReadOnly { path: PathBuf, newer: Option<u32> },
}

/// What became of lines.
pub struct Placed {
    /// The offset of the first in the file; none while they are in memory only.
    pub offset: Option<u64>,
    /// Why they are not in the file, when the session goes on without it.
    pub refused: Option<StoreError>,
}

impl Home {
    /// The file, existing or planned.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Memory => None,
            Self::Unborn { path, .. } | Self::ReadOnly { path, .. } => Some(path),
            Self::File { file, .. } => Some(file.path()),
        }
    }

    /// Fails when entries cannot be added at all.
    pub fn writable(&self) -> Result<(), StoreError> {
        match self {
            Self::ReadOnly { path, newer: Some(found) } => Err(StoreError::Newer { path: path.clone(), found: *found }),
            Self::ReadOnly { path, newer: None } => Err(StoreError::ReadOnly(path.clone())),
            _ => Ok(()),
        }
    }

    /// Takes note of what other programs did to the file. Returns the number of entries that they added, and whether
    /// the file had to be made again.
    pub fn look(&mut self, tree: &mut Tree) -> Result<(usize, bool), StoreError> {
        let Self::File { file, .. } = self else { return Ok((0, false)) };
        match file.check()? {
            None => Ok((0, false)),
            Some(Change::Grew(tail)) => Ok((tree.merge(tail.lines), false)),
            Some(Change::Removed) => {
                file.restore()?;
                tree.set_source(file.source());
                Ok((0, true))
            }
        }
    }

    /// Writes lines; `conversation` says that one of them is worth a file. With `keep_going`, lines that the disk
    /// refuses are kept in memory and tried again with the next ones, or with none.
    pub fn store(
        &mut self,
        tree: &mut Tree,
        lines: &[u8],
        conversation: bool,
        keep_going: bool,
    ) -> Result<Placed, StoreError> {
        self.writable()?;
        let result = match self {
            Self::Memory | Self::ReadOnly { .. } => Ok(None),
            Self::Unborn { lines: head, .. } if !conversation => {
                head.extend_from_slice(lines);
                Ok(None)
            }
            Self::Unborn { .. } => self.bear(tree, lines),
            Self::File { .. } => self.append(tree, lines),
        };
        match result {
            Ok(offset) => Ok(Placed { offset, refused: None }),
            Err(error) if keep_going && error.is_refusal() => Ok(self.keep(lines, error)),
            Err(error) => Err(error),
        }
    }

    /// Keeps lines in memory because the disk refuses.
    pub fn keep(&mut self, lines: &[u8], refused: StoreError) -> Placed {
        if let Self::Unborn { lines: kept, .. } | Self::File { unsaved: kept, .. } = self {
            kept.extend_from_slice(lines);
        }
        Placed { offset: None, refused: Some(refused) }
    }

    /// What makes durable all that was written so far; none without a file.
    pub fn syncer(&self) -> Option<Syncer> {
        match self {
            Self::File { file, .. } => Some(file.syncer()),
            _ => None,
        }
    }

    /// Makes the file, with all lines so far and these.
    fn bear(&mut self, tree: &mut Tree, lines: &[u8]) -> Result<Option<u64>, StoreError> {
        let Self::Unborn { path, lines: head } = self else { return Ok(None) };
        let all = [head.as_slice(), lines].concat();
        let file = SessionFile::create(path, |writer| writer.write_all(&all))?;
        let offset = head.len() as u64;
        tree.set_source(file.source());
        *self = Self::File { file, unsaved: Vec::new(), outdated: None };
        Ok(Some(offset))
    }

    fn append(&mut self, tree: &mut Tree, lines: &[u8]) -> Result<Option<u64>, StoreError> {
        let Self::File { file, unsaved, outdated } = self else { return Ok(None) };
        if let Some(version) = *outdated {
            rewrite(file, tree, version)?;
            *outdated = None;
        }
        if unsaved.is_empty() {
            return file.append(lines).map(Some);
        }
        let offset = file.append(&[unsaved.as_slice(), lines].concat())?;
        let before = std::mem::take(unsaved).len() as u64;
        Ok(Some(offset + before))
    }
}

/// Brings a file of an older version to ours. The old file is kept beside it.
fn rewrite(file: &mut SessionFile, tree: &mut Tree, version: u32) -> Result<(), StoreError> {
    let mut header = Vec::new();
    encode_header(tree.view().header(), &mut header)?;
    let kept = PathBuf::from(format!("{}.v{version}", file.path().display()));
    file.replace(
        |writer: &mut dyn Write| {
            writer.write_all(&header)?;
            for line in tree.view().all_lines() {
                writer.write_all(line.map_err(std::io::Error::other)?.as_bytes())?;
                writer.write_all(b"\n")?;
            }
            Ok(())
        },
        &kept,
    )?;
    tree.set_source(file.source());
    Ok(())
}
