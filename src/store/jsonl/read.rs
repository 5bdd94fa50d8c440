//! A whole session file to its lines.
//!
//! The reader never gives up on a line: what cannot be read is counted and stepped over. It holds one block of the
//! file at a time; the lines that it returns say where their text lies.

use std::{
    collections::HashMap,
    io::{self, Read},
    path::Path,
};

use super::{
    VERSION,
    damage::Damage,
    header,
    kind::EntryKind,
    migrate::migrate,
    scan::{Scan, scan},
};
use crate::protocol::{EntryId, entry::SessionHeader};

/// Bytes that are read at once.
const BLOCK: usize = 256 << 10;
/// Bytes of damaged first lines that are looked through for a header.
const HEADER_FRAGMENT: usize = 1 << 16;

/// What may stand around an entry on its line: blanks, the NUL bytes of a power cut, a byte order mark.
const PADDING: [char; 5] = [' ', '\t', '\r', '\0', '\u{feff}'];

/// Where a line's text lies in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Bytes before it.
    pub offset: u64,
    /// Its length in bytes, without the newline.
    pub length: u32,
}

/// The text of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineText {
    /// It stands in the file like this.
    Stored(Span),
    /// The file holds something else: an older version, bytes that are no text.
    Own(Box<str>),
}

/// A readable entry of a session file.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its id.
    pub id: EntryId,
    /// The id of the entry before it on its branch, as the line gives it.
    pub parent: Option<EntryId>,
    /// Its kind.
    pub kind: EntryKind,
    /// It is a result of a tool that tells of work beside the conversation.
    pub of_jobs: bool,
    /// Its text.
    pub text: LineText,
}

/// A place where a line could not be read, with what could still be made out of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// The number of readable entries before it.
    pub at: usize,
    /// The id of the lost entry.
    pub id: Option<EntryId>,
    /// The id of the lost entry's parent.
    pub parent: Option<EntryId>,
}

/// What a file holds.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The header, brought to version 3 when the file is older; as it is when the file is newer.
    pub header: SessionHeader,
    /// The version that the file has.
    pub version: u32,
    /// The readable entries in file order.
    pub lines: Vec<Line>,
    /// Where lines could not be read.
    pub gaps: Vec<Gap>,
    /// What is to be told about that.
    pub damage: Damage,
    /// Bytes of the file.
    pub length: u64,
    /// False when something must end the last line before anything is appended.
    pub ends_with_newline: bool,
}

/// Why a file gives no session.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It has no byte.
    #[error("the file is empty")]
    Empty,
    /// It does not begin with a session's header, and none can be pieced together.
    #[error("it has no session header")]
    NotASession,
}

/// Reads a session from its first byte; `path` only helps to recover a damaged header.
///
/// # Errors
/// When reading fails, or the bytes are no session.
pub fn read(source: impl Read, path: Option<&Path>) -> Result<Loaded, ReadError> {
    let mut reader = Reader::new(0, Stage::Header { damaged: String::new() });
    reader.path = path;
    let length = reader.run(source)?;
    if length == 0 {
        return Err(ReadError::Empty);
    }
    let Stage::Entries { header: Some(mut header), version } = reader.stage else { return Err(ReadError::NotASession) };
    if version <= VERSION {
        header.version = Some(VERSION);
    }
    let Reader { lines, gaps, damage, ends_with_newline, .. } = reader;
    Ok(Loaded { header, version, lines, gaps, damage, length, ends_with_newline })
}

/// Entries that stand behind the first `offset` bytes of a file of version 3.
#[derive(Debug)]
pub struct Tail {
    /// The readable entries.
    pub lines: Vec<Line>,
    /// What could not be read.
    pub damage: Damage,
    /// Bytes of the tail.
    pub length: u64,
    /// False when the last line has no end.
    pub ends_with_newline: bool,
}

/// Reads what was appended to a file that is known up to `offset`.
///
/// # Errors
/// When reading fails.
pub fn read_tail(source: impl Read, offset: u64) -> io::Result<Tail> {
    let mut reader = Reader::new(offset, Stage::Entries { header: None, version: VERSION });
    let length = reader.run(source)?;
    let Reader { lines, damage, ends_with_newline, .. } = reader;
    Ok(Tail { lines, damage, length, ends_with_newline })
}

enum Stage {
    /// Nothing readable was seen yet; holds damaged lines.
    Header { damaged: String },
    /// The header is known, or not needed.
    Entries { header: Option<SessionHeader>, version: u32 },
    /// The first readable line is no header.
    Foreign,
}

struct Reader<'p> {
    path: Option<&'p Path>,
    /// Bytes of the file before the next line.
    offset: u64,
    stage: Stage,
    lines: Vec<Line>,
    /// Ids by entry, for version 1 only.
    numbered: Vec<EntryId>,
    gaps: Vec<Gap>,
    damage: Damage,
    ends_with_newline: bool,
}

impl Reader<'_> {
    fn new(offset: u64, stage: Stage) -> Self {
        Self {
            path: None,
            offset,
            stage,
            lines: Vec::new(),
            numbered: Vec::new(),
            gaps: Vec::new(),
            damage: Damage::default(),
            ends_with_newline: true,
        }
    }

    /// Reads all of `source`; returns its length.
    fn run(&mut self, mut source: impl Read) -> io::Result<u64> {
        let start = self.offset;
        let mut block = vec![0; BLOCK];
        let mut filled = 0;
        while !matches!(self.stage, Stage::Foreign) {
            if filled == block.len() {
                // A line that is longer than the block.
                block.resize(2 * filled, 0);
            }
            let read = match source.read(&mut block[filled..]) {
                Ok(0) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            let unsearched = filled;
            filled += read;
            if let Some(newline) = block[unsearched..filled].iter().rposition(|byte| *byte == b'\n') {
                let complete = unsearched + newline + 1;
                self.complete_lines(&block[..complete]);
                block.copy_within(complete..filled, 0);
                filled -= complete;
            }
        }
        let rest = &block[..filled];
        if !rest.is_empty() {
            self.ends_with_newline = false;
            let unreadable = self.damage.unreadable_lines;
            self.bytes_line(rest);
            self.damage.torn_tail = self.damage.unreadable_lines > unreadable;
            self.offset += rest.len() as u64;
        }
        Ok(self.offset - start)
    }

    /// Takes lines that each end with a newline. All of them are checked for being text at once: that is several
    /// times faster than line by line.
    fn complete_lines(&mut self, block: &[u8]) {
        let Some(body) = block.strip_suffix(b"\n") else { return };
        match std::str::from_utf8(body) {
            Ok(text) => text.split('\n').for_each(|line| {
                self.line(line, true);
                self.offset += line.len() as u64 + 1;
            }),
            Err(_) => body.split(|byte| *byte == b'\n').for_each(|line| {
                self.bytes_line(line);
                self.offset += line.len() as u64 + 1;
            }),
        }
    }

    fn bytes_line(&mut self, line: &[u8]) {
        match std::str::from_utf8(line) {
            Ok(text) => self.line(text, true),
            Err(_) => {
                let found = self.lines.len();
                self.line(&String::from_utf8_lossy(line), false);
                self.damage.bad_text_lines += self.lines.len() - found;
            }
        }
    }

    /// Takes one line; `stored` says that the file holds exactly this text.
    fn line(&mut self, line: &str, stored: bool) {
        let text = line.trim_matches(PADDING);
        if text.len() != line.len() {
            self.damage.nul_bytes += line.bytes().filter(|byte| *byte == 0).count() as u64;
        }
        if text.is_empty() {
            if line.contains('\0') {
                self.gap(Gap::default());
            }
            return;
        }
        if !self.is_past_header(text) {
            return;
        }
        let start = self.offset + (line.len() - line.trim_start_matches(PADDING).len()) as u64;
        if self.entry(text, stored.then_some(start)) {
            return;
        }
        self.damage.unreadable(self.offset..self.offset + line.len() as u64);
        let field = |key| header::string_field(text, key).map(EntryId::from);
        self.gap(Gap { at: 0, id: field("id"), parent: field("parentId") });
        // An entry that was appended right behind a fragment is whole.
        let whole = text.match_indices(r#"{"type":""#).skip(1).map(|(at, _)| at);
        for at in whole {
            if self.entry(&text[at..], stored.then_some(start + at as u64)) {
                self.damage.salvaged_lines += 1;
                break;
            }
        }
    }

    /// True when `text` is to be read as an entry.
    fn is_past_header(&mut self, text: &str) -> bool {
        let Stage::Header { damaged } = &mut self.stage else { return matches!(self.stage, Stage::Entries { .. }) };
        if let Some(header) = header::parse(text) {
            if !damaged.is_empty() {
                self.damage.unreadable(0..self.offset);
            }
            let version = header::version(&header);
            self.stage = Stage::Entries { header: Some(header), version };
            return false;
        }
        match scan(text) {
            None if serde_json::from_str::<serde::de::IgnoredAny>(text).is_err() => {
                if damaged.len() < HEADER_FRAGMENT {
                    damaged.extend(text.chars().take(HEADER_FRAGMENT));
                }
                return false;
            }
            Some(Scan { id: Some(_), .. }) if !damaged.is_empty() => {
                if let Some(header) = header::recover(damaged, self.path) {
                    self.damage.header_recovered = true;
                    self.stage = Stage::Entries { header: Some(header), version: VERSION };
                    return true;
                }
            }
            _ => {}
        }
        self.stage = Stage::Foreign;
        false
    }

    /// Adds the entry that `text` is; false when it is none.
    fn entry(&mut self, text: &str, offset: Option<u64>) -> bool {
        let Stage::Entries { version, .. } = self.stage else { return false };
        if version < VERSION {
            return self.old_entry(text, version);
        }
        let Some(scan) = scan(text) else { return false };
        let stored = offset.and_then(|offset| Some(Span { offset, length: text.len().try_into().ok()? }));
        self.add(&scan, || stored.map_or_else(|| LineText::Own(text.into()), LineText::Stored))
    }

    fn old_entry(&mut self, text: &str, version: u32) -> bool {
        if version < 2 && self.numbered.len() < self.lines.len() {
            self.numbered.extend(self.lines[self.numbered.len()..].iter().map(|line| line.id.clone()));
        }
        let Some(text) = migrate(text, version, &self.numbered) else { return false };
        scan(&text).is_some_and(|scan| self.add(&scan, || LineText::Own(text.as_str().into())))
    }

    fn add(&mut self, scan: &Scan<'_>, text: impl FnOnce() -> LineText) -> bool {
        let Some(id) = &scan.id else { return false };
        let parent = scan.parent.as_deref().map(|parent| match self.lines.last() {
            // Nearly always: the name is shared instead of copied.
            Some(line) if line.id.as_str() == parent => line.id.clone(),
            _ => EntryId::from(parent),
        });
        self.lines.push(Line {
            id: EntryId::from(&**id),
            parent,
            kind: scan.kind,
            of_jobs: scan.of_jobs,
            text: text(),
        });
        true
    }

    fn gap(&mut self, gap: Gap) {
        if matches!(self.stage, Stage::Entries { .. }) {
            self.gaps.push(Gap { at: self.lines.len(), ..gap });
        }
    }
}

/// The lines of a session by id; of equal ids the last one counts.
#[must_use]
pub fn index(lines: &[Line]) -> HashMap<EntryId, u32> {
    let mut index = HashMap::with_capacity(lines.len());
    index.extend(lines.iter().zip(0..).map(|(line, at)| (line.id.clone(), at)));
    index
}
