//! What to show of one session, from a bounded part of its file.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::files::FoundFile;
use crate::{
    protocol::{
        entry::SessionHeader,
        message::Content,
        time::{Millis, parse_iso},
    },
    store::{
        jsonl::{EntryKind, Role, header, scan::scan, surrogates},
        regular_file,
        tree::labels::normal_name,
    },
};

/// A file of up to so many bytes is read whole.
const WHOLE: u64 = 8 << 20;
/// Of a larger one, so many bytes are read at its beginning: who it is and what it is about.
const HEAD: u64 = 1 << 20;
/// And so many at its end: its name, and when somebody last said something.
const TAIL: u64 = 2 << 20;
/// Characters of the first message and of the name that are kept.
const SHOWN: usize = 1000;

/// What to show of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    /// The file.
    pub path: PathBuf,
    /// The session's id.
    pub id: String,
    /// The folder that it runs in.
    pub cwd: String,
    /// Its name; its first 1,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The file of the session that it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    /// When it was made.
    pub created: Millis,
    /// When somebody last said something in it.
    pub modified: Millis,
    /// The number of messages; of a large file, of those that were read.
    pub message_count: usize,
    /// True when the file was too large to be read whole: there may be more messages, and a name that was given in
    /// the middle is not known.
    pub partial: bool,
    /// The first words of a user, 1,000 characters of them; [`NO_MESSAGES`] when there are none.
    pub first_message: String,
}

/// What is shown in place of a first message.
pub const NO_MESSAGES: &str = "(no messages)";

/// What to show of one session; `None` when its file cannot be read or is no session.
#[must_use]
pub fn read_info(file: &FoundFile) -> Option<SessionInfo> {
    let windows = Windows::read(&file.path).ok()?;
    let mut lines = windows.head.split(|byte| *byte == b'\n').map(trimmed);
    let header = lines.by_ref().find_map(first_readable)??;
    let created = parse_iso(&header.timestamp).unwrap_or_else(|| file.stamp.modified_ms());
    let mut info = SessionInfo {
        path: file.path.clone(),
        id: header.id,
        cwd: header.cwd,
        parent_session: header.parent_session,
        created,
        partial: windows.middle_is_missing,
        ..SessionInfo::default()
    };
    lines.for_each(|line| info.add(line));
    if info.first_message.is_empty() && windows.middle_is_missing {
        info.first_message = shown(&opening_words(&windows.cut_line));
    }
    windows.tail.split(|byte| *byte == b'\n').map(trimmed).for_each(|line| info.add(line));
    if info.modified == 0 {
        info.modified = created;
    }
    if info.first_message.is_empty() {
        NO_MESSAGES.clone_into(&mut info.first_message);
    }
    Some(info)
}

/// The header that a line is. `None` for a line that cannot be read, `Some(None)` for one that can and is no header:
/// then the file is no session.
fn first_readable(line: &[u8]) -> Option<Option<SessionHeader>> {
    let line = String::from_utf8_lossy(line);
    serde_json::from_str::<serde::de::IgnoredAny>(&line).is_ok().then(|| header::parse(&line))
}

impl SessionInfo {
    fn add(&mut self, line: &[u8]) {
        // Only what a list needs, and without an id: files of version 1 are listed too. Contents are skipped.
        #[derive(Deserialize)]
        struct Line<'a> {
            #[serde(borrow, rename = "type")]
            kind: Cow<'a, str>,
            #[serde(default)]
            timestamp: Value,
            #[serde(default)]
            name: Value,
            #[serde(borrow)]
            message: Option<Message<'a>>,
        }
        #[derive(Deserialize)]
        struct Message<'a> {
            #[serde(borrow)]
            role: Cow<'a, str>,
            #[serde(default)]
            timestamp: Value,
        }
        if line.is_empty() {
            return;
        }
        let Ok(Line { kind, timestamp, name, message }) = serde_json::from_slice(line) else {
            return self.add_odd(line);
        };
        match EntryKind::parse(&kind, message.as_ref().map(|message| &*message.role)) {
            EntryKind::Message(role) => {
                self.message_count += 1;
                let said = message.and_then(|message| message.timestamp.as_i64()).filter(|said| *said != 0);
                let said = || said.or_else(|| parse_iso(timestamp.as_str()?));
                if matches!(role, Role::User | Role::Assistant) {
                    self.modified = self.modified.max(said().unwrap_or_default());
                }
                if role == Role::User && self.first_message.is_empty() {
                    self.first_message = shown(&words(line));
                }
            }
            EntryKind::SessionInfo => self.rename(name.as_str().unwrap_or_default()),
            _ => {}
        }
    }

    /// A line of odd shape (a key twice, half a surrogate pair, a message that is no object): it counts.
    fn add_odd(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = surrogates::mend(&text);
        let Some(kind) = scan(&text).map(|scan| scan.kind) else { return };
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        match kind {
            EntryKind::Message(role) => {
                self.message_count += 1;
                if role == Role::User && self.first_message.is_empty() {
                    self.first_message = shown(&words(text.as_bytes()));
                }
                if matches!(role, Role::User | Role::Assistant) {
                    let said =
                        value["message"]["timestamp"].as_i64().or_else(|| parse_iso(value["timestamp"].as_str()?));
                    self.modified = self.modified.max(said.unwrap_or_default());
                }
            }
            EntryKind::SessionInfo => self.rename(value["name"].as_str().unwrap_or_default()),
            _ => {}
        }
    }

    fn rename(&mut self, name: &str) {
        let name = shown(&normal_name(name));
        self.name = (!name.is_empty()).then_some(name);
    }
}

/// The words of a message: its texts, joined with a space.
fn words(line: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Line {
        message: Said,
    }
    #[derive(Deserialize)]
    struct Said {
        #[serde(default)]
        content: Content,
    }
    let text = String::from_utf8_lossy(line);
    let read: Result<Line, _> = serde_json::from_str(&surrogates::mend(&text));
    read.map(|line| line.message.content.text(" ")).unwrap_or_default()
}

/// The first words of a user's message that is longer than what was read of it.
fn opening_words(cut_line: &[u8]) -> String {
    /// Roles and kinds stand in front of what makes a line long.
    const NAMES: usize = 1 << 10;
    let start = String::from_utf8_lossy(&cut_line[..cut_line.len().min(NAMES)]).into_owned();
    if !start.contains(r#""role":"user""#) {
        return String::new();
    }
    let text = String::from_utf8_lossy(&cut_line[..cut_line.len().min(NAMES + 8 * SHOWN)]).into_owned();
    let Some(at) = [r#""text":""#, r#""content":""#].iter().find_map(|key| Some(text.find(key)? + key.len())) else {
        return String::new();
    };
    let mut escaped = false;
    let end = text[at..].find(|c: char| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    let literal = &text[at..end.map_or(text.len(), |end| at + end)];
    // Cut off inside an escape, it is none: the longest is six characters long.
    let ends = literal.char_indices().map(|(at, _)| at).chain([literal.len()]).rev().take(7);
    ends.filter_map(|end| serde_json::from_str(&surrogates::mend(&format!("\"{}\"", &literal[..end]))).ok())
        .next()
        .unwrap_or_default()
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

/// A line without what may stand around it: see [`crate::store::jsonl::read`].
fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let is_padding = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | 0);
    let start = line.iter().position(|byte| !is_padding(byte)).unwrap_or(line.len());
    let end = line.iter().rposition(|byte| !is_padding(byte)).map_or(start, |last| last + 1);
    &line[start..end]
}

/// What was read of a file.
struct Windows {
    /// Whole lines of its beginning.
    head: Vec<u8>,
    /// What was read of the line behind them.
    cut_line: Vec<u8>,
    /// Whole lines of its end.
    tail: Vec<u8>,
    middle_is_missing: bool,
}

impl Windows {
    fn read(path: &std::path::Path) -> io::Result<Self> {
        let mut file = regular_file::open_to_read(path)?;
        let length = file.metadata()?.len();
        if length <= WHOLE {
            let head = read_up_to(&mut file, length)?;
            return Ok(Self { head, cut_line: Vec::new(), tail: Vec::new(), middle_is_missing: false });
        }
        let mut head = read_up_to(&mut file, HEAD)?;
        let cut_line = head.split_off(memchr::memrchr(b'\n', &head).map_or(0, |newline| newline + 1));
        file.seek(SeekFrom::Start(length - TAIL))?;
        let tail = read_up_to(&mut file, TAIL)?;
        let whole = memchr::memchr(b'\n', &tail).map_or(tail.len(), |newline| newline + 1);
        Ok(Self { head, cut_line, tail: tail[whole..].to_vec(), middle_is_missing: true })
    }
}

fn read_up_to(file: &mut File, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}
