//! What lists showed of sessions, kept for the next list.
//!
//! The index is a file of lines, one a session: a checksum, the folder and the file as numbers, and what to show as
//! JSON. It saves reading and nothing else. A line counts only as long as the file has the very stamp that it was made
//! with; a line that is damaged is none; a file of another version is none. It may be deleted at any time, and of two
//! processes that write it at once one wins.

use std::{
    collections::{HashMap, HashSet},
    io::Write,
    ops::Range,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use super::{
    files::{FoundFile, Stamp},
    info::SessionInfo,
};
use crate::store::{StoreError, paths::create_private_dir, regular_file};

/// The first line. Another one, another version.
const HEADER: &[u8] = b"troupe sessions index 1";
/// An index of more bytes is not read: something is wrong with it.
const LIMIT: u64 = 256 << 20;
/// From so many bytes on, folders that a list did not look at are left out.
const LARGE: usize = 32 << 20;
/// A file may change twice within one tick of the clock of its file system: one that changed just before it was looked
/// at is not noted.
const SETTLED_NS: i64 = 2_000_000_000;

/// Where the index lies below the user's folder.
#[must_use]
pub fn path_in(user_dir: &Path) -> PathBuf {
    user_dir.join("cache").join("sessions-index")
}

/// An index that was read, and what is to be added to it.
#[derive(Debug, Default)]
pub struct Index {
    /// None: nothing is kept.
    path: Option<PathBuf>,
    /// Nanoseconds from the Unix epoch to when files were looked for.
    now: i64,
    text: Vec<u8>,
    /// The JSON of each file's line, by the file's number.
    lines: HashMap<u64, Range<usize>>,
    fresh: Vec<Record>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    stamp: Stamp,
    #[serde(flatten)]
    info: SessionInfo,
}

impl Index {
    /// The index in the file `path`; an empty one when it cannot be read. `now` is when files were looked for.
    #[must_use]
    pub fn load(path: &Path, now: SystemTime) -> Self {
        let text = read(path).unwrap_or_default();
        let lines = lines(&text).map(|line| (line.file, line.json)).collect();
        let since = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let now = i64::try_from(since).unwrap_or(i64::MAX);
        Self { path: Some(path.to_owned()), now, text, lines, fresh: Vec::new() }
    }

    /// What was shown of the file, if it is the same file still.
    #[must_use]
    pub fn get(&self, file: &FoundFile) -> Option<SessionInfo> {
        let json = self.lines.get(&number_of(file))?;
        let record: Record = serde_json::from_slice(&self.text[json.clone()]).ok()?;
        (record.stamp == file.stamp && record.info.path == file.path).then_some(record.info)
    }

    /// Notes what is shown of a file that was read just now.
    pub fn note(&mut self, file: &FoundFile, info: &SessionInfo) {
        let age = self.now.saturating_sub(file.stamp.changed.max(file.stamp.modified));
        // A path that is no text cannot be written as JSON.
        if self.path.is_some() && age > SETTLED_NS && info.path.to_str().is_some() {
            self.fresh.push(Record { stamp: file.stamp, info: info.clone() });
        }
    }

    /// Writes the index with what was noted, when there is something. Of the `folders` that were looked at, only the
    /// `files` that are there stay in it.
    ///
    /// # Errors
    /// When it cannot be written: the next list reads the files again, that is all.
    pub fn save(&mut self, folders: &[PathBuf], files: &[FoundFile]) -> Result<(), StoreError> {
        let Some(path) = self.path.as_deref().filter(|_| !self.fresh.is_empty()) else { return Ok(()) };
        let folder = path.parent().unwrap_or(Path::new("."));
        create_private_dir(folder)?;
        let text = self.merged(path, folders, files)?;
        // Its owner's alone. Without a sync: half an index is a small one.
        let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
            file.write_all(&text)?;
            file.persist(path).map_err(|error| error.error)
        });
        written.map(drop).map_err(StoreError::io("write", path))?;
        self.fresh.clear();
        Ok(())
    }

    fn merged(&self, path: &Path, folders: &[PathBuf], files: &[FoundFile]) -> Result<Vec<u8>, StoreError> {
        // Another process may have written it meanwhile.
        let old = read(path).unwrap_or_default();
        let looked_at: HashSet<u64> =
            folders.iter().map(|folder| number(folder.as_os_str().as_encoded_bytes())).collect();
        let mut wanted: HashSet<u64> = files.iter().map(number_of).collect();
        let mut text = HEADER.to_vec();
        text.push(b'\n');
        for record in &self.fresh {
            let file = FoundFile { path: record.info.path.clone(), stamp: record.stamp };
            let number = number_of(&file);
            wanted.remove(&number);
            write_line(&mut text, folder_number(&file.path), number, &serde_json::to_vec(record)?);
        }
        let keeps_others = old.len() < LARGE;
        for line in lines(&old) {
            let stays = if looked_at.contains(&line.folder) { wanted.remove(&line.file) } else { keeps_others };
            if stays {
                write_line(&mut text, line.folder, line.file, &old[line.json]);
            }
        }
        Ok(text)
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let length = path.metadata().ok()?.len();
    if length <= LIMIT { regular_file::read(path).ok() } else { None }
}

/// A line of the index: checksum, folder and file as numbers of sixteen digits, a blank between them, and the JSON.
struct Line {
    folder: u64,
    file: u64,
    /// Where the JSON stands.
    json: Range<usize>,
}

/// The digits and blanks before the JSON.
const LEAD: usize = 8 + 1 + 16 + 1 + 16 + 1;

/// The lines of an index that are as they were written.
fn lines(text: &[u8]) -> impl Iterator<Item = Line> + '_ {
    let body = text.strip_prefix(HEADER).and_then(|rest| rest.strip_prefix(b"\n")).unwrap_or_default();
    let mut at = text.len() - body.len();
    body.split(|byte| *byte == b'\n').filter_map(move |line| {
        let start = at;
        at += line.len() + 1;
        let (lead, _) = line.split_at_checked(LEAD)?;
        let lead = std::str::from_utf8(lead).ok()?;
        let digits = |range: Range<usize>| u64::from_str_radix(lead.get(range)?, 16).ok();
        let intact = digits(0..8)? == u64::from(crc32fast::hash(&line[9..]));
        intact.then_some(Line { folder: digits(9..25)?, file: digits(26..42)?, json: start + LEAD..start + line.len() })
    })
}

fn write_line(text: &mut Vec<u8>, folder: u64, file: u64, json: &[u8]) {
    let mut rest = format!("{folder:016x} {file:016x} ").into_bytes();
    rest.extend_from_slice(json);
    text.extend_from_slice(format!("{:08x} ", crc32fast::hash(&rest)).as_bytes());
    text.extend_from_slice(&rest);
    text.push(b'\n');
}

fn folder_number(path: &Path) -> u64 {
    number(path.parent().unwrap_or(Path::new("")).as_os_str().as_encoded_bytes())
}

/// A file in one state. Two with the same number are told apart by what the line says.
fn number_of(file: &FoundFile) -> u64 {
    let Stamp { size, modified, changed, inode, device } = file.stamp;
    let mut bytes = file.path.as_os_str().as_encoded_bytes().to_vec();
    for part in [size, modified.cast_unsigned(), changed.cast_unsigned(), inode, device] {
        bytes.extend_from_slice(&part.to_le_bytes());
    }
    number(&bytes)
}

/// FNV-1a: the same on every machine and in every version.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
